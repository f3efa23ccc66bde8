# SPDX-License-Identifier: MIT
"""Programs as people and tutorials write them, the eighth set that no rule was set on,
their steps written down before their first run; for corpus.py.  Of several numbers each is
right, and 0 is none: nobody knows a single answer.  Rules may be set on every second one,
those of `OPEN`, alone; the others are held out.

Python packages: torch, keras, scikit-learn, lightgbm, xgboost-cpu, faiss-cpu, numba,
scipy, emcee, implicit, jax, optax.  Debian packages: openmpi-bin, libopenmpi-dev.
"""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

PROGRAMS = {
    "nomads.c": {
        "burgers": 200, "adi": 120, "potts": (600, 30), "subspace": 40, "plasma": 60,
        "batches": 120, "mlp": 120, "between": 24, "channel": 250, "alloy": 50, "factors": 25,
        "film": 30, "hidden": 15, "chains": (200, 150)},
    "nomads.cpp": {"boosted": 36, "leap": 180, "tours": 80, "vcycles": 30, "layers": 55},
    "nomads.f90": {"water": 90, "argon": 200, "cavity": 60},
}

TORCH = """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
"""

PYTHON = {
    "PyTorch, CNN, 2 batches added up, validated, stopped early": ("torch", 40, TORCH + """
x, y = torch.randn(640, 1, 16, 16), torch.randint(0, 10, (640,))
vx, vy = torch.randn(128, 1, 16, 16), torch.randint(0, 10, (128,))
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 40, shuffle=True)
best, patience = 1e9, 0
for epoch in range(5):
    model.train()
    for i, (a, b) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(a), b) / 2
        loss.backward()
        if i % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        value = sum(nn.functional.cross_entropy(model(vx[i:i + 32]), vy[i:i + 32]).item()
                    for i in range(0, 128, 32))
    patience = 0 if value < best else patience + 1
    best = min(best, value)
    if patience == 8:
        break
"""),
    "PyTorch, LSTM, while the loss is large": ("torch", 60, TORCH + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.head = nn.Linear(64, 50)
    def forward(self, t):
        return self.head(self.lstm(self.embed(t))[0])
model = Model()
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
step, loss = 0, 1e9
while step < 60 and loss > 1e-6:
    t = torch.randint(0, 50, (16, 33))
    out = model(t[:, :-1])
    l = nn.functional.cross_entropy(out.reshape(-1, 50), t[:, 1:].reshape(-1))
    optimizer.zero_grad(set_to_none=True)
    l.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    loss = l.item()
    step += 1
"""),
    "PyTorch, variational coder, warmed up": ("torch", 60, TORCH + """
encoder = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 32))
decoder = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 256), nn.Sigmoid())
parameters = [*encoder.parameters(), *decoder.parameters()]
optimizer = torch.optim.Adam(parameters, 1e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: min(1, (k + 1) / 10))
data = torch.rand(1280, 256)
for epoch in range(3):
    total = 0
    for i in range(0, 1280, 64):
        x = data[i:i + 64]
        mean, log = encoder(x).chunk(2, -1)
        z = mean + torch.randn_like(mean) * (log / 2).exp()
        loss = nn.functional.binary_cross_entropy(decoder(z), x, reduction="sum")
        loss = loss - 0.5 * (1 + log - mean ** 2 - log.exp()).sum() * epoch / 3
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item()
    decoder(torch.randn(8, 16))
    print(epoch, total)
"""),
    "PyTorch, actor and critic, episodes of any length": ("torch", 40, TORCH + """
body = nn.Sequential(nn.Linear(64, 256), nn.ReLU())
actor, critic = nn.Linear(256, 4), nn.Linear(256, 1)
optimizer = torch.optim.Adam([p for m in (body, actor, critic) for p in m.parameters()], 3e-4)
for episode in range(40):
    state, logs, values, rewards = torch.randn(1, 64), [], [], []
    for t in range(5 + (episode * 7) % 12):
        hidden = body(state)
        d = torch.distributions.Categorical(logits=actor(hidden))
        action = d.sample()
        logs.append(d.log_prob(action))
        values.append(critic(hidden).squeeze())
        rewards.append(float(action))
        state = torch.randn(1, 64)
    back, returns = 0, []
    for r in reversed(rewards):
        back = r + 0.99 * back
        returns.insert(0, back)
    returns = torch.tensor(returns)
    values = torch.stack(values)
    advantage = returns - values.detach()
    loss = -(torch.cat(logs) * advantage).mean() + ((returns - values) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""),
    "PyTorch, two Adam, one each, gradient penalty": ("torch", 45, TORCH + """
make = lambda i, o: nn.Sequential(nn.Linear(i, 256), nn.LeakyReLU(0.2), nn.Linear(256, o))
generator, judge = make(32, 256), make(256, 1)
g = torch.optim.Adam(generator.parameters(), 2e-4)
d = torch.optim.Adam(judge.parameters(), 2e-4)
for step in range(45):
    real, fake = torch.randn(64, 256), generator(torch.randn(64, 32))
    mix = (0.5 * real + 0.5 * fake.detach()).requires_grad_()
    gradient, = torch.autograd.grad(judge(mix).sum(), mix, create_graph=True)
    loss = judge(fake.detach()).mean() - judge(real).mean()
    loss = loss + ((gradient.norm(2, 1) - 1) ** 2).mean()
    d.zero_grad()
    loss.backward()
    d.step()
    g.zero_grad()
    (-judge(fake).mean()).backward()
    g.step()
"""),
    "PyTorch, attention, epochs with text": ("torch", 75, TORCH + """
layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.1)
model = nn.Sequential(nn.Embedding(40, 64), nn.TransformerEncoder(layer, 2), nn.Linear(64, 40))
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
text = torch.randint(0, 40, (5000,))
for epoch in range(3):
    model.train()
    for k in range(25):
        at = torch.randint(0, 4900, (8,))
        x = torch.stack([text[a:a + 32] for a in at])
        y = torch.stack([text[a + 1:a + 33] for a in at])
        loss = nn.functional.cross_entropy(model(x).transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    said = torch.zeros(1, 1, dtype=torch.long)
    with torch.no_grad():
        for _ in range(12):
            said = torch.cat([said, model(said)[:, -1:].argmax(-1)], 1)
"""),
    "Keras on PyTorch, fitted and validated": ("keras", 48, """
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras, numpy, torch
torch.set_num_threads(2)
r = numpy.random.default_rng(0)
x, y = r.normal(size=(512, 64)).astype("float32"), r.integers(0, 5, 512)
model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(256, "relu"),
                          keras.layers.Dense(128, "relu"), keras.layers.Dense(5)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
model.fit(x, y, batch_size=32, epochs=3, validation_data=(x[:128], y[:128]), verbose=0)
"""),
    "scikit-learn, centres by partial_fit": ("sklearn", 50, """
import numpy
from sklearn.cluster import MiniBatchKMeans
r = numpy.random.default_rng(0)
model = MiniBatchKMeans(12, random_state=0)
for k in range(50):
    model.partial_fit(r.normal(size=(600, 16)) + k % 3)
    if k % 10 == 9:
        print(model.predict(r.normal(size=(600, 16))).sum())
"""),
    "scikit-learn, boosting that goes on, scored": ("sklearn", (60, 12), """
import numpy
from sklearn.ensemble import HistGradientBoostingClassifier
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 10))
y = (x[:, 0] + x[:, 1] ** 2 > 1).astype(int)
model = HistGradientBoostingClassifier(max_iter=5, warm_start=True, early_stopping=False)
for k in range(12):
    model.set_params(max_iter=5 * (k + 1))
    model.fit(x[:2500], y[:2500])
    print(model.score(x[2500:], y[2500:]))
"""),
    "LightGBM, callbacks, stopped early": ("lightgbm", None, """
import lightgbm, numpy
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 10))
y = x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * r.normal(size=3000)
rounds = []
lightgbm.train({"objective": "regression", "verbose": -1, "num_threads": 2,
                "learning_rate": 0.3}, lightgbm.Dataset(x[:2000], y[:2000]), 200,
               valid_sets=[lightgbm.Dataset(x[2000:], y[2000:])],
               callbacks=[lightgbm.early_stopping(10, verbose=False),
                          lambda e: rounds.append(e.iteration)])
print("steps", len(rounds))
"""),
    "XGBoost, a callback of ours": ("xgboost", 45, """
import numpy, xgboost
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 10))
y = (x[:, 0] * x[:, 1] > 0).astype(int)
d, v = xgboost.DMatrix(x[:2000], y[:2000]), xgboost.DMatrix(x[2000:], y[2000:])
class Look(xgboost.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        if epoch % 9 == 8:
            model.predict(v)
        return False
xgboost.train({"objective": "binary:logistic", "nthread": 2, "max_depth": 4}, d, 45,
              evals=[(v, "v")], verbose_eval=False, callbacks=[Look()])
"""),
    "faiss, 30 loads into an index of codes": ("faiss", 30, """
import faiss, numpy
faiss.omp_set_num_threads(2)
r = numpy.random.default_rng(0)
x = r.random((6000, 32), dtype="float32")
index = faiss.index_factory(32, "IVF32,PQ8")
index.train(x)
for k in range(30):
    index.add(r.random((400, 32), dtype="float32"))
    index.search(x[:64], 5)
"""),
    "numba, while the time is not over": ("numba", 80, """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numba, numpy
@numba.njit(parallel=True)
def flux(u, f):
    for i in numba.prange(1, u.size - 1):
        f[i] = u[i + 1] - 2 * u[i] + u[i - 1]
@numba.njit(parallel=True)
def move(u, f, dt):
    for i in numba.prange(u.size):
        u[i] += dt * f[i]
u = numpy.random.default_rng(0).random(20000)
f = numpy.zeros_like(u)
t = 0.0
while t < 0.799:
    flux(u, f)
    move(u, f, 0.01)
    t += 0.01
"""),
    "SciPy, minimized, distances in the objective": ("scipy", None, """
import numpy
from scipy.optimize import minimize
from sklearn.metrics import pairwise_distances_argmin_min
r = numpy.random.default_rng(0)
x = r.normal(size=(2000, 8))
def loss(w):
    c = w.reshape(12, 8)
    i, d = pairwise_distances_argmin_min(x, c)
    g = numpy.zeros_like(c)
    numpy.add.at(g, i, c[i] - x)
    return (d ** 2).sum() / 2, g.ravel()
m = minimize(loss, x[:12].ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 30})
print("steps", m.nfev)
"""),
    "emcee, walkers, likelihoods by numba": ("emcee", (60, 120, 121), """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import emcee, numba, numpy
@numba.njit(parallel=True)
def likely(p, x, out):
    for i in numba.prange(p.shape[0]):
        s = 0.0
        for k in range(x.size):
            s -= (x[k] - p[i, 0]) ** 2 / 2 + p[i, 1] ** 2
        out[i] = s
x = numpy.random.default_rng(0).normal(size=500)
def log(p):
    out = numpy.zeros(len(p))
    likely(p, x, out)
    return out
s = emcee.EnsembleSampler(32, 2, log, vectorize=True)
s.run_mcmc(numpy.random.default_rng(1).normal(size=(32, 2)), 60)
"""),
    "implicit, ALS in a loop of ours, scored": ("implicit", (20, 40), """
import implicit, numpy, scipy.sparse
m = scipy.sparse.random(1500, 800, 0.02, format="csr", random_state=0, dtype="float32")
model = implicit.als.AlternatingLeastSquares(factors=16, iterations=2, num_threads=2,
                                             use_gpu=False, random_state=0)
for k in range(20):
    model.fit(m, show_progress=False)
    ids, scores = model.recommend(numpy.arange(100), m[:100], N=5)
"""),
    "numba, annealed pictures, cooled in a while": ("numba", (96, 12), """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numba, numpy
@numba.njit(parallel=True)
def sweep(s, u, heat):
    for i in numba.prange(1, s.shape[0] - 1):
        for j in range(1, s.shape[1] - 1):
            h = s[i - 1, j] + s[i + 1, j] + s[i, j - 1] + s[i, j + 1] - u[i, j]
            s[i, j] = 1 if h > heat * (j % 3 - 1) else -1
@numba.njit(parallel=True)
def energy(s):
    e = 0.0
    for i in numba.prange(s.shape[0] - 1):
        for j in range(s.shape[1]):
            e -= s[i, j] * s[i + 1, j]
    return e
r = numpy.random.default_rng(0)
s, u = numpy.where(r.random((120, 120)) > .5, 1, -1), r.normal(size=(120, 120))
heat = 4.0
while heat > 0.34:
    for k in range(8):
        sweep(s, u, heat)
    print(heat, energy(s))
    heat *= 0.81
"""),
    "PyTorch, graph of nodes, whole graph, best kept": ("torch", 70, TORCH + """
n = 400
at = torch.randint(0, n, (2, 3000))
adjacency = torch.sparse_coo_tensor(at, torch.full((3000,), 1 / 8), (n, n)).coalesce()
x, y = torch.randn(n, 64), torch.randint(0, 6, (n,))
first, second = nn.Linear(64, 128), nn.Linear(128, 6)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], 1e-2)
def out():
    return torch.sparse.mm(adjacency, second(torch.relu(torch.sparse.mm(adjacency, first(x)))))
best = 0
for epoch in range(70):
    loss = nn.functional.cross_entropy(out()[:200], y[:200])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        right = (out()[200:].argmax(1) == y[200:]).float().mean().item()
    if right > best:
        best, kept = right, [p.detach().clone() for p in first.parameters()]
"""),
}


def ring(folder):
    path = os.path.join(folder, "ring")
    subprocess.run(["mpicc", "-O2", "-fopenmp", os.path.join(HERE, "nomads_ranks.c"), "-o", path],
                   check=True)
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", path]


OTHERS = {"bodies on a ring of two ranks": ("mpicc", 40, ring)}

OPEN = [*(name for names in PROGRAMS.values() for name in names), *PYTHON, *OTHERS][::2]
