# SPDX-License-Identifier: MIT
"""Programs as people write them, the fourteenth set, their steps written down before their
first run; for corpus.py.  Of several numbers each is right; what a program counts itself is
its `counted`; 0 is none.  Each of those in C, C++ and Fortran is a program of its own.  Rules
may be set on those of `OPEN` alone, which were drawn before the first run; the others are
held out.

`records`, `pool` and NumPy's own threads run where nothing is recorded that tells their
loops, and a person names their steps all the same.

Python packages: torch, jax, lightgbm, xgboost, scikit-learn, numpy.  An MPI for the ranks.
"""

import os
import random
import subprocess

from voyagers.voyagers import counted

HERE = os.path.dirname(os.path.abspath(__file__))

PROGRAMS = {
    "seafarers/seafarers.c": {
        "tagger": 150, "process": 40, "strata": counted(30, "passes"), "survival": 45,
        "answers": counted(36, "words"), "placement": counted(50, "passes"), "windows": 55,
        "records": 30},
    "seafarers/seafarers_solvers.c": {
        "doubled": counted(90, "tries"), "contact": counted(18, "newtons"), "smoothed": 35,
        "stars": 120, "demixing": 100, "flatness": counted(20, "sweeps"),
        "multipliers": 60, "surface": 110, "krylov": counted(16, "products")},
    "seafarers/seafarers_graphs.c": {
        "questions": 60, "colours": counted(20, "rounds"), "flow": 200, "sampled": 80,
        "once": 0},
    "seafarers/seafarers.cpp": {
        "pipeline": 64, "crowd": 200, "pool": 50, "light": 44, "forbidden": 240},
    "seafarers/seafarers.f90": {
        "glacier": counted(70, "turns"), "convection": 140, "reactor": 30},
}

PYTHON = {
    "PyTorch, into another language, 2 batches added up, a checkpoint": ("torch", (36, 72), """
import os, tempfile, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(200, 48), nn.Linear(48, 200)
        self.body = nn.Transformer(48, 4, 2, 2, 96, dropout=0.1, batch_first=True)
    def forward(self, x, y):
        mask = nn.Transformer.generate_square_subsequent_mask(y.shape[1])
        return self.out(self.body(self.words(x), self.words(y), tgt_mask=mask))
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
loss_of = nn.CrossEntropyLoss()
def batch():
    x = torch.randint(0, 200, (16, 12))
    return x, x.flip(1)
def validate():
    model.eval()
    with torch.no_grad():
        for k in range(6):
            x, y = batch()
            loss = loss_of(model(x, y[:, :-1]).flatten(0, 1), y[:, 1:].flatten())
    model.train()
    return loss.item()
for step in range(36):
    optimizer.zero_grad()
    for part in range(2):
        x, y = batch()
        loss = loss_of(model(x, y[:, :-1]).flatten(0, 1), y[:, 1:].flatten()) / 2
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 12 == 11:
        print(step, validate())
        torch.save(model.state_dict(), os.path.join(tempfile.mkdtemp(), "model.pt"))
"""),
    "PyTorch, two views of a picture, one network follows the other": ("torch", 48, """
import copy, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
online = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
                       nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 24))
guess = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 24))
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD([*online.parameters(), *guess.parameters()], 0.05, momentum=0.9)
images = torch.rand(512, 3, 32, 32)
for epoch in range(3):
    for k in torch.randperm(512).split(32):
        a, b = images[k] + torch.randn(32, 3, 32, 32) * .1, images[k].flip(3)
        with torch.no_grad():
            ta, tb = target(a), target(b)
        loss = -(nn.functional.cosine_similarity(guess(online(a)), tb).mean()
                 + nn.functional.cosine_similarity(guess(online(b)), ta).mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for p, q in zip(target.parameters(), online.parameters()):
                p.mul_(0.99).add_(q, alpha=0.01)
    print(epoch, loss.item())
"""),
    "PyTorch, an equation of time, as many evaluations as it needs": ("torch", 40, """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
field = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(field.parameters(), 5e-3)
def solve(y, end):
    t, h, calls = 0.0, 0.2, 0
    while t < end:
        h = min(h, end - t)
        k1 = field(y)
        k2 = field(y + h / 2 * k1)
        k3 = field(y + 3 * h / 4 * k2)
        new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = field(new)
        error = h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - k4 / 8).abs().max().item()
        calls += 4
        if error < 1e-3:
            t, y = t + h, new
        h *= min(2.0, max(0.3, 0.9 * (1e-3 / (error + 1e-12)) ** (1 / 3)))
    return y, calls
for step in range(40):
    y0 = torch.randn(256, 4)
    want = torch.stack([y0[:, 1], -y0[:, 0], y0[:, 3], -y0[:, 2]], 1)
    got, calls = solve(y0, 1.0 + float(torch.rand(())))
    loss = (got - want).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, loss.item(), calls)
"""),
    "PyTorch, an equation of waves, Adam and then LBFGS": ("torch", (70, 60, 10), """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
net = nn.Sequential(nn.Linear(2, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
inside, edge = torch.rand(400, 2), torch.rand(100, 2)
edge[:, 0] = edge[:, 0].round()
def loss_of():
    x = inside.clone().requires_grad_()
    u = net(x)
    g = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    uxx = torch.autograd.grad(g[:, 0].sum(), x, create_graph=True)[0][:, 0]
    utt = torch.autograd.grad(g[:, 1].sum(), x, create_graph=True)[0][:, 1]
    return (utt - uxx).pow(2).mean() + (net(edge) - torch.sin(3 * edge[:, 1:])).pow(2).mean()
adam = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(60):
    adam.zero_grad()
    loss = loss_of()
    loss.backward()
    adam.step()
print("adam", loss.item())
lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=8)
def closure():
    lbfgs.zero_grad()
    loss = loss_of()
    loss.backward()
    return loss
for step in range(10):
    loss = lbfgs.step(closure)
print("lbfgs", loss.item())
"""),
    "PyTorch, texts are told apart, 50 batches, no training": ("torch", 50, """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
words = nn.Embedding(500, 64)
body = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 3)
head = nn.Linear(64, 5)
for m in (words, body, head):
    m.eval()
counts = torch.zeros(5, dtype=torch.long)
with torch.inference_mode():
    for batch in range(50):
        x = torch.randint(0, 500, (16, int(torch.randint(10, 41, ()))))
        y = head(body(words(x)).mean(1)).argmax(1)
        counts += torch.bincount(y, minlength=5)
print(counts.tolist())
"""),
    "PyTorch, an actor and its critic, tried each 10": ("torch", 60, """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.pi, self.v = nn.Linear(10, 128), nn.Linear(128, 3), nn.Linear(128, 1)
    def forward(self, x):
        h = torch.tanh(self.body(x))
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)
net = Both()
optimizer = torch.optim.RMSprop(net.parameters(), 7e-4)
def move(state, a):
    new = state * 0.9 + nn.functional.one_hot(a, 10) * 0.2 + torch.randn_like(state) * 0.05
    return new, -new.pow(2).sum(-1)
state = torch.zeros(64, 10)
for update in range(60):
    logs, values, rewards, entropies = [], [], [], []
    for t in range(5):
        d, v = net(state)
        a = d.sample()
        state, r = move(state, a)
        logs.append(d.log_prob(a)); values.append(v); rewards.append(r)
        entropies.append(d.entropy())
    with torch.no_grad():
        g = net(state)[1]
    loss = 0
    for t in reversed(range(5)):
        g = rewards[t] + 0.99 * g
        gain = g - values[t]
        loss = loss + gain.pow(2).mean() / 2 - (logs[t] * gain.detach()).mean()
        loss = loss - 0.01 * entropies[t].mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
    if update % 10 == 9:
        with torch.no_grad():
            s, total = torch.zeros(8, 10), 0.0
            for t in range(20):
                s, r = move(s, net(s)[0].probs.argmax(-1))
                total += r.mean().item()
        print(update, total)
"""),
    "JAX, a network of two layers, tested each 20": ("jax", 80, """
import jax, jax.numpy as jnp, numpy as np
r = np.random.default_rng(0)
x, y = r.normal(size=(4096, 32)).astype("f"), r.integers(0, 4, 4096)
params = [jnp.asarray(r.normal(size=s) * .1) for s in ((32, 64), (64, 4))]
moments = [jnp.zeros_like(p) for p in params]
def loss_fn(params, x, y):
    z = jax.nn.relu(x @ params[0]) @ params[1]
    return -jnp.take_along_axis(jax.nn.log_softmax(z), y[:, None], 1).mean()
@jax.jit
def train_step(params, moments, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    moments = [.9 * m + g for m, g in zip(moments, grads)]
    return [p - .05 * m for p, m in zip(params, moments)], moments, loss
@jax.jit
def accuracy(params, x, y):
    return ((jax.nn.relu(x @ params[0]) @ params[1]).argmax(1) == y).mean()
for step in range(80):
    k = r.integers(0, 4096, 128)
    params, moments, loss = train_step(params, moments, x[k], y[k])
    if step % 20 == 19:
        print(step, float(loss), [float(accuracy(params, x[i:i + 1024], y[i:i + 1024]))
                                  for i in range(0, 4096, 1024)])
"""),
    "JAX, a fluid, 100 steps, looked at each 10": ("jax", 100, """
import jax, jax.numpy as jnp
n = 128
@jax.jit
def advance(u, v, dt):
    def slope(f, axis):
        return (jnp.roll(f, -1, axis) - jnp.roll(f, 1, axis)) / 2
    du = -u * slope(u, 0) - v * slope(u, 1) + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u)
    dv = -u * slope(v, 0) - v * slope(v, 1) + 0.1 * (jnp.roll(v, 1, 1) + jnp.roll(v, -1, 1) - 2 * v)
    return u + dt * du, v + dt * dv
@jax.jit
def energy(u, v):
    return 0.5 * (u ** 2 + v ** 2).mean()
x = jnp.arange(n) * 2 * jnp.pi / n
u, v = jnp.sin(x)[:, None] * jnp.cos(x)[None], -jnp.cos(x)[:, None] * jnp.sin(x)[None]
for step in range(100):
    u, v = advance(u, v, 0.01)
    if step % 10 == 9:
        print(step, float(energy(u, v)))
"""),
    "XGBoost, six settings of 15 rounds": ("xgboost", (90, 6), """
import numpy, xgboost
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 12))
y = (x[:, 0] * x[:, 1] + r.normal(size=3000) * .5 > 0).astype(int)
train, test = xgboost.DMatrix(x[:2400], y[:2400]), xgboost.DMatrix(x[2400:], y[2400:])
best = None
for depth in (3, 5, 7):
    for eta in (.1, .3):
        m = xgboost.train({"objective": "binary:logistic", "max_depth": depth, "eta": eta,
                           "nthread": 2}, train, 15)
        score = ((m.predict(test) > .5) == y[2400:]).mean()
        best = max(best or (0, 0, 0), (score, depth, eta))
print(best)
"""),
    "LightGBM, a loss of one's own, told each round": ("lightgbm", 45, """
import lightgbm, numpy
r = numpy.random.default_rng(0)
x = r.normal(size=(4000, 12))
y = numpy.exp(x[:, 0] * .5 + r.normal(size=4000) * .2)
def loss(z, data):
    e = numpy.exp(z)
    return e - data.get_label(), e
def error(z, data):
    return "error", float(((numpy.exp(z) - data.get_label()) ** 2).mean()), False
told = []
lightgbm.train({"objective": loss, "verbose": -1, "num_threads": 2, "force_col_wise": True,
                "num_leaves": 15}, lightgbm.Dataset(x[:3000], y[:3000]), 45,
               valid_sets=[lightgbm.Dataset(x[3000:], y[3000:])],
               feval=error, callbacks=[lambda env: told.append(env.iteration)])
print("rounds", len(told))
"""),
    "scikit-learn, who is near whom, streets by streets": ("sklearn", 34, """
import numpy
from sklearn.neighbors import NearestNeighbors
r = numpy.random.default_rng(0)
known = r.normal(size=(3000, 24))
model = NearestNeighbors(n_neighbors=6, algorithm="brute").fit(known)
odd = 0
for street in range(34):
    new = r.normal(size=(int(r.integers(600, 1200)), 24))
    distance, _ = model.kneighbors(new)
    odd += int((distance.mean(1) > 6.2).sum())
    if street % 8 == 7:
        print(street, odd)
"""),
    "NumPy, a picture is made sharp on BLAS of its own": ("numpy", 60, """
import numpy
r = numpy.random.default_rng(0)
a, b = r.normal(size=(300, 400)) / 20, r.normal(size=(300, 200))
x = numpy.zeros((400, 200))
for turn in range(60):
    x -= 0.5 * a.T @ (a @ x - b)
    x = numpy.sign(x) * numpy.maximum(abs(x) - 1e-3, 0)
    if turn % 15 == 14:
        print(turn, float(((a @ x - b) ** 2).sum()))
"""),
}


def ranks(name, count):
    def prepare(folder):
        path = os.path.join(folder, "program")
        subprocess.run(["mpicc", "-O2", "-fopenmp", os.path.join(HERE, "seafarers_ranks.c"),
                        "-o", path, "-lm"], check=True)
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(count), path, name]
    return prepare


OTHERS = {
    "islands on three ranks": ("mpicc", 60, ranks("islands", 3)),
    "a halo on two ranks, solved in each step": ("mpicc", 32, ranks("halo", 2)),
}

NAMES = [*(name for names in PROGRAMS.values() for name in names), *PYTHON, *OTHERS]
OPEN = random.Random(14).sample(NAMES, len(NAMES) // 2)
