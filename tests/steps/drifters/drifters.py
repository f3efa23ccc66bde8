# SPDX-License-Identifier: MIT
"""Programs as people write them, the ninth set that no rule was set on, their steps
written down before their first run; for corpus.py.  Of several numbers each is right; None
is what the program says.  Each of those in C, C++ and Fortran is a program of its own.
Rules may be set on every second one, those of `OPEN`, alone; the others are held out.

Python packages: torch, scikit-learn, lightgbm, xgboost-cpu, faiss-cpu, numba, emcee,
implicit.  Debian packages: openmpi-bin, libopenmpi-dev.
"""

import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def tries(output):
    """Those of an adaptive step, or those that were not refused."""
    return int(re.findall(r"tries (\d+)", output)[0]), 120


PROGRAMS = {
    "drifters/drifters.c": {
        "gait": (30, 90), "tides": 180, "gravity": 160, "reactor": 40, "language": 60,
        "cycles": 24, "centres": None, "mixture": 70, "magnet": 500, "vortices": 80,
        "routes": 20},
    "drifters/drifters_more.c": {
        "cells": 150, "edges": 40, "ratings": 18, "words": 500, "walkers": (600, 30),
        "spreading": tries, "digits": 96, "breed": 110},
    "drifters/drifters.cpp": {
        "agent": (400, 100), "rounds": 50, "light": 32, "frames": 60, "molecules": 300},
    "drifters/drifters.f90": {"duct": 70, "weather": 144, "bonds": 15},
}

TORCH = """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
"""

NUMBA = """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numba, numpy
"""

PYTHON = {
    "PyTorch, residual network, 3 batches added up, cosine": ("torch", 40, TORCH + """
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1)
        self.n = nn.BatchNorm2d(c)
    def forward(self, x):
        return torch.relu(x + self.b(torch.relu(self.n(self.a(x)))))
model = nn.Sequential(nn.Conv2d(3, 8, 3), Block(8), Block(8), nn.Flatten(),
                      nn.Linear(8 * 14 * 14, 10))
optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
done = 0
for epoch in range(4):
    model.train()
    for i in range(30):
        x, y = torch.randn(16, 3, 16, 16), torch.randint(0, 10, (16,))
        (nn.functional.cross_entropy(model(x), y) / 3).backward()
        if (i + 1) % 3 == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            done += 1
    model.eval()
    with torch.inference_mode():
        right = sum((model(torch.randn(16, 3, 16, 16)).argmax(1) == 3).sum().item()
                    for _ in range(5))
print(done, right)
"""),
    "PyTorch, deterministic policy, soft targets": ("torch", 50, TORCH + """
import copy
make = lambda i, o: nn.Sequential(nn.Linear(i, 256), nn.ReLU(), nn.Linear(256, o))
actor, critic = make(16, 4), make(20, 1)
actor2, critic2 = copy.deepcopy(actor), copy.deepcopy(critic)
a = torch.optim.Adam(actor.parameters(), 1e-4)
c = torch.optim.Adam(critic.parameters(), 1e-3)
for step in range(50):
    s, s2, r = torch.randn(64, 16), torch.randn(64, 16), torch.randn(64, 1)
    act = actor(s).detach() + 0.1 * torch.randn(64, 4)
    with torch.no_grad():
        goal = r + 0.99 * critic2(torch.cat([s2, actor2(s2)], 1))
    loss = nn.functional.mse_loss(critic(torch.cat([s, act], 1)), goal)
    c.zero_grad()
    loss.backward()
    c.step()
    a.zero_grad()
    (-critic(torch.cat([s, actor(s)], 1)).mean()).backward()
    a.step()
    with torch.no_grad():
        for new, old in ((actor, actor2), (critic, critic2)):
            for p, q in zip(new.parameters(), old.parameters()):
                q.lerp_(p, 0.01)
"""),
    "PyTorch, encoder and decoder, sentences said each 10": ("torch", 50, TORCH + """
encoder = nn.GRU(32, 64, batch_first=True)
decoder = nn.GRU(32, 64, batch_first=True)
embed, head = nn.Embedding(60, 32), nn.Linear(64, 60)
parameters = [p for m in (encoder, decoder, embed, head) for p in m.parameters()]
optimizer = torch.optim.AdamW(parameters, 1e-3)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=50)
for step in range(50):
    source, target = torch.randint(0, 60, (16, 12)), torch.randint(0, 60, (16, 13))
    _, state = encoder(embed(source))
    out, _ = decoder(embed(target[:, :-1]), state)
    loss = nn.functional.cross_entropy(head(out).transpose(1, 2), target[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if step % 10 == 9:
        with torch.no_grad():
            _, state = encoder(embed(source[:1]))
            word, said = torch.zeros(1, 1, dtype=torch.long), []
            while len(said) < 15:
                out, state = decoder(embed(word), state)
                word = head(out).argmax(-1)
                said.append(word.item())
"""),
    "scikit-learn, centres of 2 to 16": ("sklearn", 15, """
import numpy
from sklearn.cluster import KMeans
x = numpy.random.default_rng(0).normal(size=(4000, 8))
for k in range(2, 17):
    print(k, KMeans(k, n_init=1, max_iter=12, random_state=0).fit(x).inertia_)
"""),
    "faiss, 25 batches asked for, then added": ("faiss", 25, """
import faiss, numpy
faiss.omp_set_num_threads(2)
r = numpy.random.default_rng(0)
index = faiss.IndexIVFFlat(faiss.IndexFlatL2(32), 32, 40)
index.train(r.random((4000, 32), dtype="float32"))
for k in range(25):
    x = r.random((500, 32), dtype="float32")
    if k:
        distance, near = index.search(x, 3)
    index.add(x)
"""),
    "LightGBM, five folds of 20": ("lightgbm", (100, 5), """
import lightgbm, numpy
from sklearn.model_selection import KFold
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 12))
y = x[:, 0] * x[:, 1] + r.normal(size=3000)
scores = []
for train, test in KFold(5).split(x):
    model = lightgbm.train({"objective": "regression", "verbose": -1, "num_threads": 2},
                           lightgbm.Dataset(x[train], y[train]), 20)
    scores.append(((model.predict(x[test]) - y[test]) ** 2).mean())
print(scores)
"""),
    "XGBoost, 12 parts of the data, 4 rounds each": ("xgboost", (48, 12), """
import numpy, xgboost
r = numpy.random.default_rng(0)
model = None
for part in range(12):
    x = r.normal(size=(1500, 10))
    d = xgboost.DMatrix(x, x[:, 0] ** 2 + x[:, 1])
    model = xgboost.train({"nthread": 2, "max_depth": 5}, d, 4, xgb_model=model)
"""),
    "numba, heat until it is even": ("numba", None, NUMBA + """
@numba.njit(parallel=True)
def move(u, v):
    for i in numba.prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
@numba.njit(parallel=True)
def change(u, v):
    s = 0.0
    for i in numba.prange(u.shape[0]):
        for j in range(u.shape[1]):
            s += abs(u[i, j] - v[i, j])
    return s
u = numpy.zeros((90, 90))
u[0] = 100
v, k = u.copy(), 0
while True:
    move(u, v)
    k += 1
    if k % 10 == 0 and change(u, v) < 60:
        break
    u, v = v, u
print("steps", k)
"""),
    "emcee, by a generator, stopped when it is even": ("emcee", (80, 160, 161), NUMBA + """
import emcee
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
s = emcee.EnsembleSampler(24, 2, log, vectorize=True)
for k, now in enumerate(s.sample(numpy.random.default_rng(1).normal(size=(24, 2)),
                                 iterations=80)):
    if k % 20 == 19:
        print(k, s.acceptance_fraction.mean())
"""),
    "implicit, ALS, 15 iterations by a callback": ("implicit", 15, """
import implicit, numpy, scipy.sparse
m = scipy.sparse.random(1500, 800, 0.02, format="csr", random_state=0, dtype="float32")
seen = []
implicit.als.AlternatingLeastSquares(
    factors=24, iterations=15, num_threads=2, use_gpu=False, random_state=0,
    calculate_training_loss=True).fit(m, show_progress=False,
                                      callback=lambda k, s, loss: seen.append(loss))
print(len(seen))
"""),
    "numba, batches from a generator": ("numba", 72, NUMBA + """
@numba.njit(parallel=True)
def gradient(x, w, out):
    for i in numba.prange(x.shape[0]):
        s = 0.0
        for k in range(x.shape[1]):
            s += x[i, k] * w[k]
        out[i] = s
def batches(x, size):
    r = numpy.random.default_rng(1)
    at = r.permutation(len(x))
    for i in range(0, len(x), size):
        yield x[at[i:i + size]]
x = numpy.random.default_rng(0).normal(size=(2400, 16))
w, out = numpy.zeros(16), numpy.zeros(100)
for epoch in range(3):
    for b in batches(x, 100):
        gradient(b, w, out)
        w -= 1e-3 * b.T @ (out - 1) / len(b)
    print(epoch, w[0])
"""),
    "scikit-learn, boosting, grid of six by hand": ("sklearn", (150, 6), """
import numpy
from sklearn.ensemble import HistGradientBoostingRegressor
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 8))
y = x[:, 0] + x[:, 1] ** 2
for rate in (0.05, 0.1, 0.2):
    for leaves in (15, 31):
        m = HistGradientBoostingRegressor(max_iter=25, learning_rate=rate,
                                          max_leaf_nodes=leaves, early_stopping=False)
        print(rate, leaves, m.fit(x[:2500], y[:2500]).score(x[2500:], y[2500:]))
"""),
}


def ranks(folder):
    path = os.path.join(folder, "ranks")
    subprocess.run(["mpicc", "-O2", "-fopenmp", os.path.join(HERE, "drifters_ranks.c"), "-o",
                    path], check=True)
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", path]


OTHERS = {"heat on two ranks": ("mpicc", 100, ranks)}

OPEN = [*(name for names in PROGRAMS.values() for name in names), *PYTHON, *OTHERS][::2]
