# SPDX-License-Identifier: MIT
"""What TRACEPROF_STEP=auto finds in programs that know nothing of it.

    python3 tests/real/steps.py [--build DIR] [NAME...]

Runs each program under the library and compares the number of steps in the
trace with what the program itself says that it did; prints the table of
docs/steps.md.  By hand: takes minutes, and programs that are missing are left
out.

Python packages: torch, scikit-learn, lightgbm, xgboost-cpu, faiss-cpu.
Debian package: gromacs.
"""

import argparse
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

TORCH = """
import torch
torch.manual_seed(0)
torch.set_num_threads(2)
"""

MLP = TORCH + """
import sys
sys.argv = ["digits", "--model", "mlp", "--epochs", "14"]
exec(open({digits!r}).read())
print("steps", 14 * 15)
"""

CNN = TORCH + """
import sys
sys.argv = ["digits", "--model", "cnn", "--epochs", "8"]
exec(open({digits!r}).read())
print("steps", 8 * 15)
"""

TRANSFORMER = TORCH + """
from torch import nn
layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
model = nn.Sequential(nn.TransformerEncoder(layer, 4), nn.Linear(128, 50))
data = torch.randn(80, 8, 64, 128)
target = torch.randint(50, (80, 8, 64))
optimiser = torch.optim.AdamW(model.parameters())
steps = 0
for epoch in range(2):
    model.train()
    for x, y in zip(data[:60], target[:60]):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        optimiser.step()
        steps += 1
    model.eval()
    with torch.no_grad():
        for x, y in zip(data[60:], target[60:]):
            nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
print("steps", steps)
"""

KMEANS = """
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
x, _ = make_blobs(100000, centers=30, n_features=16, cluster_std=6., random_state=0)
print("steps", KMeans(40, n_init=1, max_iter=80, tol=0, random_state=0).fit(x).n_iter_)
"""

DATA = """
from sklearn.datasets import make_classification
x, y = make_classification(20000, 40, random_state=0, n_informative=20)
"""

HIST = DATA + """
from sklearn.ensemble import HistGradientBoostingClassifier
model = HistGradientBoostingClassifier(max_iter=60, random_state=0, early_stopping=False)
print("steps", model.fit(x, y).n_iter_)
"""

LIGHTGBM = DATA + """
import lightgbm
lightgbm.train({{"objective": "binary", "verbose": -1, "num_threads": 2}},
               lightgbm.Dataset(x, y), num_boost_round=60)
print("steps", 60)
"""

XGBOOST = DATA + """
import xgboost
xgboost.train({{"objective": "binary:logistic", "nthread": 2, "max_depth": 6}},
              xgboost.DMatrix(x, y), num_boost_round=80)
print("steps", 80)
"""

FAISS = """
import faiss
import numpy
x = numpy.random.default_rng(0).random((60000, 64), dtype="float32")
faiss.omp_set_num_threads(2)
means = faiss.Kmeans(64, 200, niter=60, max_points_per_centroid=1000, seed=1)
means.train(x)
print("steps", len(means.obj))
"""

NUMPY = """
import numpy
a = numpy.random.default_rng(0).random((700, 700))
b = a
for _ in range(60):
    b = a @ b
    b /= numpy.abs(b).max()
print("steps", 60)
"""

GROMACS_TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
"""

GROMACS_RUN = """integrator = md
dt = 0.001
nsteps = 300
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
constraints = h-bonds
tcoupl = v-rescale
tc-grps = System
tau-t = 0.5
ref-t = 300
gen-vel = yes
"""


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def python(text):
    def prepare(folder):
        digits = os.path.join(HERE, "torch_digits.py")
        write(folder, "program.py", text.format(digits=digits))
        return [sys.executable, "program.py"]
    return prepare


def gromacs(folder):
    write(folder, "topol.top", GROMACS_TOPOLOGY)
    write(folder, "md.mdp", GROMACS_RUN)
    for command in (["solvate", "-cs", "spc216", "-box", "4", "4", "4", "-o",
                     "box.gro", "-p", "topol.top"],
                    ["grompp", "-f", "md.mdp", "-c", "box.gro", "-o", "md.tpr",
                     "-maxwarn", "5"]):
        subprocess.run(["gmx", *command], cwd=folder, check=True, capture_output=True)
    return ["gmx", "mdrun", "-s", "md.tpr", "-ntmpi", "1", "-ntomp", "2"]


def gromacs_steps(folder, _):
    """Step 0 is one, too."""
    with open(os.path.join(folder, "md.log"), encoding="utf-8") as file:
        return int(re.findall(r"^\s+nsteps\s+= (\d+)", file.read(), re.M)[0]) + 1


def printed_steps(_, output):
    return int(re.findall(r"^steps (\d+)", output, re.M)[-1])


PROGRAMS = [
    # name, what has to be there, command, its own number of steps, what a step is
    ("PyTorch, MLP on digits", "torch", python(MLP), printed_steps, "batch"),
    ("PyTorch, CNN on digits", "torch", python(CNN), printed_steps, "batch"),
    ("PyTorch, transformer, evaluated", "torch", python(TRANSFORMER), printed_steps,
     "batch"),
    ("scikit-learn, KMeans", "sklearn", python(KMEANS), printed_steps, "iteration"),
    ("scikit-learn, HistGradientBoosting", "sklearn", python(HIST), printed_steps,
     "tree"),
    ("LightGBM", "lightgbm", python(LIGHTGBM), printed_steps, "tree"),
    ("XGBoost", "xgboost", python(XGBOOST), printed_steps, "tree"),
    ("faiss, k-means", "faiss", python(FAISS), printed_steps, "iteration"),
    ("NumPy, matrix products", "numpy", python(NUMPY), printed_steps, "product"),
    ("GROMACS, water", "gmx", gromacs, gromacs_steps, "time step"),
]


def is_there(what):
    if shutil.which(what):
        return True
    return subprocess.run([sys.executable, "-c", f"import {what}"],
                          capture_output=True).returncode == 0


def traced(command, folder, library):
    env = os.environ | {"LD_PRELOAD": library, "OMP_NUM_THREADS": "2",
                        "OMP_WAIT_POLICY": "passive", "TRACEPROF_RECOVER": "0",
                        "TRACEPROF_DIR": os.path.join(folder, "traces")}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout, done.stderr


def steps_of(folder):
    """Lengths in ms of the steps in the largest trace."""
    files = glob.glob(os.path.join(folder, "traces", "*.gz"))
    if not files:
        return None
    with gzip.open(max(files, key=os.path.getsize), "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return [event["dur"] / 1000 for event in events
            if event["name"].startswith("ProfilerStep#")]


def look_at(program, library):
    name, _, prepare, true_steps, unit = program
    with tempfile.TemporaryDirectory() as folder:
        output, errors = traced(prepare(folder), folder, library)
        wanted = true_steps(folder, output)
        seen = steps_of(folder)
    said = re.findall(r"step = (.*?), every (.*)", errors)
    marker, period = said[0] if said else ("none", "")
    marker = marker if len(marker) < 60 else marker[:57] + '..."'
    found = len(seen or [])
    # Before the first marker and behind the last one there is no step.
    verdict = "refused" if not said else "right" if abs(found - wanted) <= 2 else "WRONG"
    print(f"| {name} | {marker} | {found if said else ''} | {period} "
          f"| {wanted} ({unit}) | {verdict} |", flush=True)
    return verdict


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    library = os.path.join(os.path.abspath(options.build), "libtraceprof.so")
    print("| program | marker | steps found | every | true | |\n|---|---|---|---|---|---|")
    verdicts = []
    for program in PROGRAMS:
        if options.names and not any(name in program[0] for name in options.names):
            continue
        if not is_there(program[1]):
            print(f"| {program[0]} | | | | | {program[1]} is not there |")
            continue
        verdicts.append(look_at(program, library))
    return int("WRONG" in verdicts)


if __name__ == "__main__":
    sys.exit(main())
