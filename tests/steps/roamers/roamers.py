# SPDX-License-Identifier: MIT
"""Programs as people write them, the eleventh set, their steps written down before their
first run; for corpus.py.  Loops through callbacks, virtual functions and tables, of any
length, by generators of Python.  Of several numbers each is right; None is what the
program says.  Each of those in C, C++ and Fortran is a program of its own.

Python packages: torch, lightgbm, scikit-learn.
"""

PROGRAMS = {
    "roamers/roamers.c": {
        "kalman": 60, "paths": 150, "stages": 120, "alloys": 300, "arnoldi": (22, 308)},
    "roamers/roamers.cpp": {"closures": 70, "clocks": 90, "search": 45, "walks": 60},
    "roamers/roamers.f90": {"waves": 180, "field": None},
}

TORCH = """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 64), nn.ReLU(),
                      nn.Linear(64, 1))
"""

PYTHON = {
    "PyTorch, batches by a generator": ("torch", 80, TORCH + """
def batches(count):
    for k in range(count):
        x = torch.randn(128, 64)
        yield x, x.sum(1, keepdim=True)
optimizer = torch.optim.RMSprop(model.parameters(), 1e-3)
for x, y in batches(80):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
"""),
    "PyTorch, a generator that trains, by hand": ("torch", 64, TORCH + """
def train(count):
    x = torch.randn(256, 64)
    y = x[:, :1] * 2
    for k in range(count):
        loss = nn.functional.mse_loss(model(x), y)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for p, g in zip(model.parameters(), gradients):
                p -= 0.01 * g
        yield loss.item()
for k, loss in enumerate(train(64)):
    if k % 16 == 15:
        print(k, loss)
"""),
    "PyTorch, a GAN with two optimizers": ("torch", 55, TORCH + """
make = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 64))
judge, maker = torch.optim.RMSprop(model.parameters(), 1e-4), torch.optim.Adam(make.parameters())
tell = nn.BCEWithLogitsLoss()
yes, no = torch.ones(128, 1), torch.zeros(128, 1)
for k in range(55):
    judge.zero_grad()
    real, fake = torch.randn(128, 64) + 1, make(torch.randn(128, 16))
    (tell(model(real), yes) + tell(model(fake.detach()), no)).backward()
    judge.step()
    maker.zero_grad()
    tell(model(fake), yes).backward()
    maker.step()
"""),
    "PyTorch, batches added up, stopped early": ("torch", None, TORCH + """
x = torch.randn(1536, 64)
y, test = x[:, :1] - x[:, 1:2], torch.randn(512, 64)
optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
best, waits, steps = 1e9, 0, 0
while waits < 3 and steps < 200:
    model.train()
    for k in range(12):
        loss = nn.functional.mse_loss(model(x[k * 128:][:128]), y[k * 128:][:128])
        (loss / 3).backward()
        if k % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()
            steps += 1
    model.eval()
    with torch.no_grad():
        found = nn.functional.mse_loss(model(test), test[:, :1] - test[:, 1:2]).item()
    waits = 0 if found < best - 0.01 else waits + 1
    best = min(best, found)
print("steps", steps)
"""),
    "LightGBM, 4 folds of 25 rounds, by hand": ("lightgbm", 100, """
import lightgbm, numpy
from sklearn.model_selection import KFold
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 12))
y = x[:, 0] * x[:, 1] + r.normal(size=3000) * 0.1
for train, test in KFold(4).split(x):
    data = lightgbm.Dataset(x[train], y[train])
    booster = lightgbm.Booster({"objective": "regression", "num_threads": 2, "verbose": -1},
                               data)
    for k in range(25):
        booster.update()
    print(numpy.abs(booster.predict(x[test]) - y[test]).mean())
"""),
}
