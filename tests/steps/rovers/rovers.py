# SPDX-License-Identifier: MIT
"""Programs as people write them, the tenth set that no rule was set on, their steps
written down before their first run; for corpus.py.  Of several numbers each is right; None
is what the program says.  Each of those in C, C++ and Fortran is a program of its own.
Rules may be set on every second one, those of `OPEN`, alone; the others are held out.

Python packages: torch, lightgbm, numba, networkit, scikit-learn.  Debian packages:
openmpi-bin, libopenmpi-dev.
"""

import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def tries(output):
    """Steps that were tried, or those that were taken."""
    return (int(re.findall(r"tries (\d+)", output)[0]),
            int(re.findall(r"steps (\d+)", output)[0]))


PROGRAMS = {
    "rovers/rovers.c": {
        "ensemble": tries, "gaussians": None, "salesman": 75, "dam": 240, "grids": 35,
        "pages": None, "pictures": 24, "pieces": 130, "stumps": 55, "flows": 650,
        "wavelets": 32, "alloy": 500},
    "rovers/rovers.cpp": {"boosted": 30, "tracer": 44, "swarm": 150, "tempered": 210},
    "rovers/rovers.f90": {"ocean": 320, "air": 90},
}

NUMBA = """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numba, numpy
"""

PYTHON = {
    "numba, an epidemic by days": ("numba", 120, NUMBA + """
@numba.njit(parallel=True)
def move(x, y):
    for i in numba.prange(x.size):
        x[i] = (x[i] + 0.01 * (i % 7)) % 1.0
        y[i] = (y[i] + 0.01 * (i % 5)) % 1.0
@numba.njit(parallel=True)
def infect(x, y, ill, risk):
    for i in numba.prange(x.size):
        s = 0.0
        for k in range(0, x.size, 16):
            s += ill[k] * (abs(x[i] - x[k]) + abs(y[i] - y[k]) < 0.05)
        risk[i] = s
@numba.njit(parallel=True)
def recover(ill, risk):
    for i in numba.prange(ill.size):
        ill[i] = 1.0 if risk[i] > 2 and ill[i] == 0 else ill[i] * 0.9
def main():
    r = numpy.random.default_rng(0)
    x, y, ill = r.random(2000), r.random(2000), (r.random(2000) < 0.05) * 1.0
    risk = numpy.zeros(2000)
    history = []
    for day in range(120):
        move(x, y)
        infect(x, y, ill, risk)
        recover(ill, risk)
        history.append(ill.sum())
main()
"""),
    "numba, rays in 48 frames": ("numba", 48, NUMBA + """
@numba.njit(parallel=True)
def render(out, t):
    for i in numba.prange(out.shape[0]):
        for j in range(out.shape[1]):
            z, c = 0j, complex(i / 60 - 1.5, j / 60 - 1 + t)
            n = 0
            while abs(z) < 2 and n < 40:
                z = z * z + c
                n += 1
            out[i, j] = n
frames = []
out = numpy.zeros((120, 120))
t = 0.0
while len(frames) < 48:
    render(out, t)
    frames.append(out.mean())
    t += 0.01
"""),
    "LightGBM, ranks, a metric each 5 rounds": ("lightgbm", 45, """
import lightgbm, numpy
r = numpy.random.default_rng(0)
x = r.normal(size=(4000, 10))
y = numpy.clip((x[:, 0] + r.normal(size=4000)).astype(int) + 1, 0, 3)
data = lightgbm.Dataset(x, y, group=[20] * 200)
seen = []
lightgbm.train({"objective": "lambdarank", "verbose": -1, "num_threads": 2,
                "num_leaves": 15, "metric_freq": 5}, data, 45,
               callbacks=[lambda env: seen.append(env.iteration)])
print(len(seen))
"""),
    "PyTorch, five critics' steps for each generator's": ("torch", (30, 150, 180), """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(2)
make = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 64))
judge = nn.Sequential(nn.Linear(64, 256), nn.LeakyReLU(), nn.Linear(256, 1))
for_make = torch.optim.RMSprop(make.parameters(), 5e-5)
for_judge = torch.optim.RMSprop(judge.parameters(), 5e-5)
for round in range(30):
    for _ in range(5):
        real, fake = torch.randn(256, 64), make(torch.randn(256, 32)).detach()
        loss = judge(fake).mean() - judge(real).mean()
        for_judge.zero_grad()
        loss.backward()
        for_judge.step()
        for p in judge.parameters():
            p.data.clamp_(-0.01, 0.01)
    loss = -judge(make(torch.randn(256, 32))).mean()
    for_make.zero_grad()
    loss.backward()
    for_make.step()
"""),
    "PyTorch, sentences told apart, validated each epoch": ("torch", 120, """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
torch.set_num_threads(2)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.EmbeddingBag(500, 64)
        self.body = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.1),
                                  nn.Linear(256, 4))
    def forward(self, x):
        return self.body(self.embed(x))
def data(n):
    x = torch.randint(0, 500, (n, 24))
    return DataLoader(TensorDataset(x, x[:, 0] % 4), batch_size=64, shuffle=True)
train, test = data(1280), data(320)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(6):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, sum((model(x).argmax(1) == y).sum().item() for x, y in test) / 320)
"""),
    "networkit, 15 networks that grow": ("networkit", 15, """
import networkit as nk
nk.setNumberOfThreads(2)
nk.setSeed(1, False)
for n in range(15):
    g = nk.generators.BarabasiAlbertGenerator(4, 400 + 100 * n).generate()
    nk.centrality.PageRank(g).run()
    c = nk.components.ConnectedComponents(g).run()
    b = nk.centrality.EstimateBetweenness(g, 20, parallel=True).run()
    m = nk.community.PLM(g).run()
    print(n, c.numberOfComponents(), m.getPartition().numberOfSubsets())
"""),
    "scikit-learn, centres in batches, 80 calls": ("sklearn", 80, """
import numpy
from sklearn.cluster import MiniBatchKMeans
r = numpy.random.default_rng(0)
model = MiniBatchKMeans(12, random_state=0, n_init=1)
for k in range(80):
    model.partial_fit(r.normal(size=(600, 8)) + k % 3)
    if k % 20 == 19:
        print(k, model.score(r.normal(size=(200, 8))))
"""),
}


def ranks(folder):
    path = os.path.join(folder, "ranks")
    subprocess.run(["mpicc", "-O2", "-fopenmp", os.path.join(HERE, "rovers_ranks.c"), "-o",
                    path], check=True)
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", path]


OTHERS = {"conjugate gradients on two ranks": ("mpicc", 160, ranks)}

OPEN = [*(name for names in PROGRAMS.values() for name in names), *PYTHON, *OTHERS][::2]
