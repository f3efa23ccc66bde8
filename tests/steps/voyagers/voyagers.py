# SPDX-License-Identifier: MIT
"""Programs as people write them, the thirteenth set, their steps written down before their
first run; for corpus.py.  Trainers, agents, models made anew, solvers in solvers, graphs,
jobs of ranks, threads of a program's own.  Of several numbers each is right; what a program
counts itself is its `counted`; 0 is none.  Each of those in C, C++ and Fortran is a program
of its own.  Rules may be set on those of `OPEN` alone, which were drawn before the first
run; the others are held out.

`pictures`, NumPy and `tasks` run on threads of their own, BLAS's and TBB's: little or nothing
is recorded that tells their loops, and a person names their steps all the same.

Python packages: torch, jax, lightgbm, xgboost, scikit-learn, numpy.  An MPI for the ranks.
"""

import os
import random
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def counted(steps, *words):
    """Those, or what the program counts: tries of a step, iterations of all solutions."""
    return lambda output: (steps, *(int(re.findall(rf"{word} +(\d+)", output)[-1])
                                    for word in words))


PROGRAMS = {
    "voyagers/voyagers.c": {
        "folds": 315, "forger": 90, "thaw": 160, "patience": None, "replay": (600, 134),
        "pieces": 96, "pupil": 100, "walker": 70},
    "voyagers/voyagers_solvers.c": {
        "embedded": counted(110, "tries"), "stiff": 85, "load": counted(24, "newtons"),
        "wheels": 26, "plate": 45, "inversion": counted(25, "tries"), "leaps": 60,
        "atoms": 400, "nested_grids": 80},
    "voyagers/voyagers_graphs.c": {
        "communities": None, "arrivals": 40, "cores": None, "seeds": counted(30, "turns"),
        "roots": 32, "triangles": 0, "reads": 36},
    "voyagers/voyagers.cpp": {"stack": 96, "breaks": 65, "orchard": 80, "pictures": 70},
    "voyagers/voyagers.f90": {"plasma": 150, "curve": counted(14, "turns"), "directions": 90},
}

PYTHON = {
    "PyTorch, by hand without an optimizer, tested each 5": ("torch", 60, """
import torch
torch.manual_seed(0)
torch.set_num_threads(2)
x, y = torch.randn(4096, 64), torch.randn(4096, 1)
w1 = (torch.randn(64, 96) / 8).requires_grad_()
w2 = (torch.randn(96, 64) / 10).requires_grad_()
w3 = (torch.randn(64, 1) / 8).requires_grad_()
def model(x):
    return torch.relu(torch.relu(x @ w1) @ w2) @ w3
for step in range(60):
    k = torch.randint(0, 4096, (512,))
    loss = ((model(x[k]) - y[k]) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2, w3):
            w -= 0.01 * w.grad
            w.grad.zero_()
    if step % 5 == 4:
        with torch.no_grad():
            print(step, loss.item(), ((model(x[:1024]) - y[:1024]) ** 2).mean().item())
"""),
    "PyTorch, a coder that is trained first, then a head": ("torch", (100, 60, 40), """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
x = torch.randn(2048, 80)
y = (x[:, 0] > 0).long()
encoder = nn.Sequential(nn.Linear(80, 64), nn.ReLU(), nn.Linear(64, 16))
decoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 80))
def pretrain():
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 1e-3)
    for step in range(40):
        k = torch.randint(0, 2048, (256,))
        loss = nn.functional.mse_loss(decoder(encoder(x[k])), x[k])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("coder", loss.item())
def finetune():
    head = nn.Linear(16, 2)
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 1e-3)
    for epoch in range(4):
        for batch in range(15):
            k = torch.randint(0, 2048, (128,))
            loss = nn.functional.cross_entropy(head(encoder(x[k])), y[k])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            print(epoch, (head(encoder(x)).argmax(1) == y).float().mean().item())
pretrain()
finetune()
"""),
    "PyTorch, three folds, model and optimizer anew": ("torch", 120, """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
x = torch.randn(1500, 3, 16, 16)
y = torch.randint(0, 5, (1500,))
def make():
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(32, 5))
parts = torch.randperm(1500).chunk(3)
for fold in range(3):
    train = torch.cat([p for k, p in enumerate(parts) if k != fold])
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for epoch in range(4):
        model.train()
        for k in train[torch.randperm(1000)].split(100):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[k]), y[k]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        print(fold, (model(x[parts[fold]]).argmax(1) == y[parts[fold]]).float().mean().item())
"""),
    "PyTorch, two that play against each other, pictures each 20": ("torch", 50, """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
maker = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 128))
judge = nn.Sequential(nn.Linear(128, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_d = torch.optim.Adam(judge.parameters(), 2e-4, betas=(0.5, 0.999))
opt_g = torch.optim.Adam(maker.parameters(), 2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(128, 1), torch.zeros(128, 1)
for it in range(50):
    real = torch.randn(128, 128) * 0.5 + 1
    fake = maker(torch.randn(128, 16))
    loss_d = bce(judge(real), ones) + bce(judge(fake.detach()), zeros)
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = bce(judge(fake), ones)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if it % 20 == 19:
        with torch.no_grad():
            print(it, loss_d.item(), loss_g.item(), maker(torch.randn(64, 16)).std().item())
"""),
    "PyTorch, an agent's episodes, and what they were worth": ("torch", 40, """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
policy = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 4))
value = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], 3e-3)
mean = 0.0
for episode in range(40):
    state, logs, rewards, values = torch.zeros(32, 8), [], [], []
    for t in range(200):
        d = torch.distributions.Categorical(logits=policy(state))
        a = d.sample()
        state = 0.95 * state + 0.1 * nn.functional.one_hot(a, 4).repeat(1, 2) * torch.rand(32, 8)
        logs.append(d.log_prob(a))
        values.append(value(state).squeeze(1))
        rewards.append(state[:, 0] - state[:, 1])
        if torch.rand(()) < 0.05:
            break
    g, returns = torch.zeros(32), []
    for r in reversed(rewards):
        g = r + 0.99 * g
        returns.insert(0, g)
    returns, logs, values = torch.stack(returns), torch.stack(logs), torch.stack(values)
    loss = -(logs * (returns - values.detach())).mean() + ((returns - values) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
    optimizer.step()
    mean = 0.9 * mean + 0.1 * returns[0].mean().item()
    if episode % 10 == 9:
        print(episode, len(rewards), mean)
"""),
    "PyTorch, gates in a loop over words, an average of weights": ("torch", 48, """
import copy, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.cell, self.out = nn.Embedding(300, 48), nn.GRUCell(48, 64), nn.Linear(64, 9)
    def forward(self, x):
        h, made = torch.zeros(len(x), 64), []
        for t in range(x.shape[1]):
            h = self.cell(self.words(x[:, t]), h)
            made.append(self.out(h))
        return torch.stack(made, 1)
model = Tagger()
average = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 48)
for epoch in range(3):
    for batch in range(16):
        x = torch.randint(0, 300, (64, int(torch.randint(8, 21, ()))))
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), (x % 9).flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            for a, b in zip(average.parameters(), model.parameters()):
                a.lerp_(b, 0.01)
    average.eval()
    with torch.no_grad():
        for k in range(4):
            x = torch.randint(0, 300, (64, 16))
            print(epoch, (average(x).argmax(-1) == x % 9).float().mean().item())
"""),
    "XGBoost, four classes, stopped early": ("xgboost", None, """
import numpy, xgboost
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 10))
y = numpy.clip((x[:, 0] + x[:, 1] * x[:, 2] + r.normal(size=3000)).round() + 2, 0, 3)
rounds = []
class Count(xgboost.callback.TrainingCallback):
    def after_iteration(self, model, epoch, log):
        rounds.append(epoch)
        return False
xgboost.train({"objective": "multi:softprob", "num_class": 4, "nthread": 2, "eta": 0.4,
               "max_depth": 4}, xgboost.DMatrix(x[:2200], y[:2200]), 150,
              evals=[(xgboost.DMatrix(x[2200:], y[2200:]), "held")], verbose_eval=False,
              early_stopping_rounds=8, callbacks=[Count()])
print("steps", len(rounds))
"""),
    "LightGBM, three times 20 rounds more": ("lightgbm", (60, 3), """
import lightgbm, numpy
r = numpy.random.default_rng(0)
x = r.normal(size=(4000, 12))
y = x[:, 0] * x[:, 1] + r.normal(size=4000) * .3
model = None
for part in range(3):
    k = slice(part * 1000, part * 1000 + 2000)
    model = lightgbm.train({"objective": "regression", "verbose": -1, "num_threads": 2,
                            "force_row_wise": True}, lightgbm.Dataset(x[k], y[k]), 20,
                           init_model=model)
    print(part, numpy.mean((model.predict(x) - y) ** 2))
"""),
    "scikit-learn, boosted, stopped when it is no better": ("sklearn", None, """
import numpy
from sklearn.ensemble import HistGradientBoostingClassifier
r = numpy.random.default_rng(0)
x = r.normal(size=(4000, 12))
y = (x[:, 0] * x[:, 1] + r.normal(size=4000) * .5 > 0).astype(int)
m = HistGradientBoostingClassifier(max_iter=200, early_stopping=True, n_iter_no_change=6,
                                   validation_fraction=0.2, random_state=0).fit(x, y)
print("steps", m.n_iter_)
"""),
    "JAX, an epoch by scan, and a test": ("jax", 30, """
import jax, jax.numpy as jnp, numpy as np
r = np.random.default_rng(0)
x, y = jnp.asarray(r.normal(size=(40, 64, 32))), jnp.asarray(r.normal(size=(40, 64)))
p = {"a": jnp.asarray(r.normal(size=(32, 64)) * .2), "b": jnp.asarray(r.normal(size=64) * .1)}
def loss(p, x, y):
    return ((jnp.tanh(x @ p["a"]) @ p["b"] - y) ** 2).mean()
@jax.jit
def train_epoch(p, key):
    order = jax.random.permutation(key, 40)
    def one(p, k):
        l, g = jax.value_and_grad(loss)(p, x[k], y[k])
        return jax.tree.map(lambda p, g: p - 1e-2 * g, p, g), l
    return jax.lax.scan(one, p, order)
@jax.jit
def evaluate(p):
    return jax.vmap(loss, (None, 0, 0))(p, x, y).mean()
key = jax.random.key(1)
for epoch in range(30):
    key, k = jax.random.split(key)
    p, l = train_epoch(p, k)
    if epoch % 6 == 5:
        print(epoch, float(l.mean()), float(evaluate(p)))
"""),
    "NumPy, centres by hand on BLAS of its own": ("numpy", 50, """
import numpy
r = numpy.random.default_rng(0)
x = r.normal(size=(4000, 64))
c = x[:30].copy()
for turn in range(50):
    d = (x ** 2).sum(1)[:, None] - 2 * x @ c.T + (c ** 2).sum(1)
    k = d.argmin(1)
    c = numpy.stack([x[k == i].mean(0) if (k == i).any() else c[i] for i in range(30)])
print(d.min(1).mean())
"""),
}


def build(compiler, source, *flags):
    def prepare(folder):
        path = os.path.join(folder, "program")
        subprocess.run([compiler, "-O2", "-fopenmp", os.path.join(HERE, source), "-o", path,
                        *flags], check=True)
        return path
    return prepare


def ranks(name, count):
    def prepare(folder):
        path = build("mpicc", "voyagers_ranks.c", "-lm")(folder)
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(count), path, name]
    return prepare


OTHERS = {
    "a shock on three ranks": ("mpicc", 120, ranks("shock", 3)),
    "one network on two ranks, validated": ("mpicc", 84, ranks("replicas", 2)),
    "TBB, heat, a sum in each step": ("g++", 90, lambda folder: [
        build("g++", "voyagers.cpp", "-DHAS_TBB", "-DPROGRAM=tasks", "-ltbb")(folder)]),
}

NAMES = [*(name for names in PROGRAMS.values() for name in names), *PYTHON, *OTHERS]
OPEN = random.Random(13).sample(NAMES, len(NAMES) // 2)
