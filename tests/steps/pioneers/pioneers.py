# SPDX-License-Identifier: MIT
"""Programs as people write them, the twelfth set, their steps written down before their
first run; for corpus.py.  Trainers with validation, texts and a warm-up, agents, trees that
stop early, solvers in solvers.  Of several numbers each is right; None is what the program
says, 0 is none.  Each of those in C, C++ and Fortran is a program of its own.  Rules may be
set on those of `OPEN` alone, which were drawn before the first run; the others are held out.

Python packages: torch, jax, lightgbm, scikit-learn, numpy.
"""

import random
import re


def counted(steps):
    """Those, or what the program counts: tries of a step, batches of all rounds."""
    return lambda output: (steps, int(re.findall(r"(?:tries|batches) (\d+)", output)[0]))


PROGRAMS = {
    "pioneers/pioneers.c": {
        "gpt2": 41, "glove": 15, "map": 80, "boltzmann": 150, "covariances": 120},
    "pioneers/pioneers_more.c": {
        "actor": 120, "replay": (300, 500), "forest": None, "classes": None,
        "factors": None, "topics": 70},
    "pioneers/pioneers_solvers.c": {
        "soil": counted(50), "grids": 30, "wasserstein": 70, "letters": 110},
    "pioneers/pioneers.cpp": {
        "federation": counted(18), "selfplay": (12, 480), "radiance": 100, "topology": 60},
    "pioneers/pioneers.f90": {"ocean": 96, "geometry": 16},
}

# Written once rules had been set on one half of the others; none is set on these.
LATER = {
    "pioneers/pioneers_later.c": {
        "newton": 80, "plateau": 153, "settings": counted(24), "sentences": 80,
        "proximal": counted(30), "bundle": counted(40), "plastic": 20, "hidden": 15,
        "between": 40, "cooling": counted(60), "leaves": 50},
    "pioneers/pioneers.f90": {"shock": 60},
}

PYTHON = {
    "PyTorch, masked words first, then told apart, 4 batches added up": ("torch", 50, """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.1)
body = nn.Sequential(nn.Embedding(100, 32), nn.TransformerEncoder(layer, 2))
words, kind = nn.Linear(32, 100), nn.Linear(32, 3)
def draw(n):
    return torch.randint(0, 100, (n, 24))
def validate():
    body.eval()
    with torch.no_grad():
        loss = sum(nn.functional.cross_entropy(words(body(x)).transpose(1, 2), x).item()
                   for x in (draw(16) for _ in range(4)))
    body.train()
    return loss
optimizer = torch.optim.AdamW([*body.parameters(), *words.parameters()], 1e-3)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=10)
print("before", validate())
for step in range(30):
    for micro in range(4):
        x = draw(8)
        masked = x.masked_fill(torch.rand(x.shape) < 0.15, 0)
        (nn.functional.cross_entropy(words(body(masked)).transpose(1, 2), x) / 4).backward()
    nn.utils.clip_grad_norm_(body.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    if (step + 1) % 6 == 0:
        print(step, validate())
torch.save(body.state_dict(), "body.pt")
for p in body[0].parameters():
    p.requires_grad = False
tuner = torch.optim.Adam([p for p in [*body.parameters(), *kind.parameters()]
                          if p.requires_grad], 1e-4)
for epoch in range(2):
    for k in range(10):
        x = draw(16)
        tuner.zero_grad()
        nn.functional.cross_entropy(kind(body(x).mean(1)), x[:, 0] % 3).backward()
        tuner.step()
    with torch.no_grad():
        print(epoch, (kind(body(draw(64)).mean(1)).argmax(1) == 1).float().mean().item())
"""),
    "JAX, an agent: a rollout by scan, 4 epochs of 4 minibatches": ("jax", (25, 400), """
import jax, jax.numpy as jnp, numpy as np
key = jax.random.key(0)
def net(p, x):
    x = jnp.tanh(x @ p["a"])
    return x @ p["pi"], (x @ p["v"])[..., 0]
@jax.jit
def rollout(p, state, key):
    def one(state, key):
        logits, v = net(p, state)
        a = jax.random.categorical(key, logits)
        after = 0.9 * state + 0.1 * jnp.sin(state + a[:, None])
        return after, (state, a, after[:, 0], v, jax.nn.log_softmax(logits)[
            jnp.arange(len(a)), a])
    return jax.lax.scan(one, state, jax.random.split(key, 32))
@jax.jit
def advantages(r, v):
    def back(gae, x):
        r, v = x
        gae = r - v + 0.95 * gae
        return gae, gae
    return jax.lax.scan(back, jnp.zeros(r.shape[1]), (r, v), reverse=True)[1]
@jax.jit
def minibatch(p, s, a, adv, old, ret):
    def loss(p):
        logits, v = net(p, s)
        new = jax.nn.log_softmax(logits)[jnp.arange(len(a)), a]
        ratio = jnp.exp(new - old)
        return -jnp.minimum(ratio * adv, jnp.clip(ratio, .8, 1.2) * adv).mean() + (
            (v - ret) ** 2).mean()
    return jax.tree.map(lambda p, g: p - 3e-3 * g, p, jax.grad(loss)(p))
r = np.random.default_rng(0)
p = {"a": jnp.asarray(r.normal(size=(8, 64)) * .3), "pi": jnp.asarray(r.normal(size=(64, 4)) * .1),
     "v": jnp.zeros((64, 1))}
state = jnp.asarray(r.normal(size=(16, 8)))
for update in range(25):
    key, k = jax.random.split(key)
    state, (s, a, rew, v, old) = rollout(p, state, k)
    adv = advantages(rew, v)
    flat = [np.asarray(x).reshape(-1, *x.shape[2:]) for x in (s, a, adv, old, adv + v)]
    for epoch in range(4):
        order = r.permutation(len(flat[0]))
        for part in np.split(order, 4):
            p = minibatch(p, *(x[part] for x in flat))
    if update % 5 == 4:
        print(update, float(rew.mean()))
"""),
    "LightGBM, three classes, stopped early": ("lightgbm", None, """
import lightgbm, numpy
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 10))
y = ((x[:, 0] + x[:, 1] * x[:, 2] + r.normal(size=3000)) * 1.2).round().clip(-1, 1) + 1
model = lightgbm.train({"objective": "multiclass", "num_class": 3, "verbose": -1,
                        "num_threads": 2, "learning_rate": 0.15},
                       lightgbm.Dataset(x[:2200], y[:2200]), 200,
                       valid_sets=[lightgbm.Dataset(x[2200:], y[2200:])],
                       callbacks=[lightgbm.early_stopping(12), lightgbm.log_evaluation(10)])
print("steps", model.best_iteration + 12)
"""),
    "scikit-learn, centres from a stream of batches": ("sklearn", 60, """
import numpy
from sklearn.cluster import MiniBatchKMeans
r = numpy.random.default_rng(0)
centres = r.normal(size=(12, 8)) * 4
def draw(n):
    return centres[r.integers(0, 12, n)] + r.normal(size=(n, 8))
held = draw(2000)
m = MiniBatchKMeans(12, random_state=0, n_init=3)
for k in range(60):
    m.partial_fit(draw(1024))
    if k % 12 == 11:
        print(k, -m.score(held))
"""),
    "NumPy, a network by hand on its own threads": ("numpy", 0, """
import numpy
r = numpy.random.default_rng(0)
x = r.normal(size=(512, 200))
a, b = r.normal(size=(200, 300)) * .1, r.normal(size=(300, 10)) * .1
for k in range(60):
    h = numpy.tanh(x @ a)
    e = h @ b - 1
    b -= 1e-4 * h.T @ e
    a -= 1e-4 * x.T @ ((e @ b.T) * (1 - h * h))
print((e ** 2).mean())
"""),
}

LATER_PYTHON = {
    "XGBoost, cross-validated, 3 parts": ("xgboost", 30, """
import numpy, xgboost
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 10))
xgboost.cv({"nthread": 2, "max_depth": 4}, xgboost.DMatrix(x, x[:, 0] * x[:, 1]), 30, nfold=3)
"""),
    "LightGBM, cross-validated, stopped early": ("lightgbm", None, """
import lightgbm, numpy
r = numpy.random.default_rng(0)
x = r.normal(size=(2500, 10))
y = x[:, 0] + x[:, 1] * x[:, 2] + r.normal(size=2500)
seen = []
lightgbm.cv({"objective": "regression", "verbose": -1, "num_threads": 2, "learning_rate": 0.2},
            lightgbm.Dataset(x, y), 150, nfold=3, stratified=False,
            callbacks=[lightgbm.early_stopping(8), lambda env: seen.append(env.iteration)])
print("steps", len(seen))
"""),
    "scikit-learn, a booster that goes on 8 times": ("sklearn", (40, 8), """
import numpy
from sklearn.ensemble import HistGradientBoostingRegressor
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 8))
y = x[:, 0] + x[:, 1] ** 2
m = HistGradientBoostingRegressor(warm_start=True, max_iter=0, early_stopping=False)
for k in range(8):
    m.set_params(max_iter=5 * (k + 1))
    print(k, m.fit(x[:2500], y[:2500]).score(x[2500:], y[2500:]))
"""),
    "PyTorch, packed sentences, stopped when it is worse": ("torch", None, """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(200, 32), nn.LSTM(32, 64, batch_first=True)
        self.head = nn.Linear(64, 2)
    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.words(x), lengths, batch_first=True,
                                                   enforce_sorted=False)
        return self.head(self.lstm(packed)[1][0][-1])
def draw():
    lengths = torch.randint(5, 40, (16,))
    return torch.randint(0, 200, (16, int(lengths.max()))), lengths
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
best, worse, steps = 1e9, 0, 0
while worse < 3 and steps < 120:
    model.train()
    for k in range(12):
        x, lengths = draw()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x, lengths), (x[:, 0] > 100).long()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        steps += 1
    model.eval()
    with torch.no_grad():
        loss = sum(nn.functional.cross_entropy(model(x, n), (x[:, 0] > 100).long()).item()
                   for x, n in (draw() for _ in range(5)))
    schedule.step(loss)
    best, worse = min(best, loss), worse + 1 if loss >= best else 0
print("steps", steps)
"""),
}

NAMES = [*(name for names in PROGRAMS.values() for name in names), *PYTHON]
OPEN = random.Random(12).sample(NAMES, len(NAMES) // 2)

ALL = {source: PROGRAMS.get(source, {}) | LATER.get(source, {}) for source in PROGRAMS | LATER}
ALL_PYTHON = PYTHON | LATER_PYTHON
