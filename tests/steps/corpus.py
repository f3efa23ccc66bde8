# SPDX-License-Identifier: MIT
"""Runs programs that know nothing of their steps, and keeps what they did.

    python3 tests/steps/corpus.py [--build DIR] [--python PYTHON] [--out FILE]
                                  [NAME...]

Each program is run under the library; how many steps it truly made was written
down here before.  Prints the table of docs/steps.md, and with --out keeps each
program's stream of regions, one line each: its name, its steps, and the sites in
the order in which the regions of its busiest thread began.  By hand: what isn't
installed is left out.

Python packages: scikit-learn, lightgbm, xgboost-cpu, faiss-cpu, implicit, pyscf,
qiskit-aer.  Debian packages: gromacs, graphicsmagick, kalign, clustalo.
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
KEPT = 60000

KERNELS = {                     # and the step of each, as a person would say
    "jacobi": 150, "conjugate_gradient": 120, "implicit_heat": 40, "multigrid": 40,
    "molecules": 201, "hydro": 163, "clusters": 60, "transformer": 41,
    "small_network": 192, "shuffled_network": 480, "trees": 50,
    "trees_of_classes": 40, "lattice": 300, "least_squares": 30, "mixture": 400,
    "breadth_first": 0, "pipeline": 0}

DATA = """
from sklearn.datasets import make_classification
x, y = make_classification(4000, 20, random_state=0, n_informative=12, n_classes={classes})
"""

PYTHON = {
    "sklearn KMeans": ("sklearn", 40, """
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
x, _ = make_blobs(20000, centers=30, n_features=16, cluster_std=6., random_state=0)
assert KMeans(40, n_init=1, max_iter=40, tol=0, random_state=0).fit(x).n_iter_ == 40
"""),
    "sklearn boosting": ("sklearn", 40, DATA.format(classes=2) + """
from sklearn.ensemble import HistGradientBoostingClassifier
HistGradientBoostingClassifier(max_iter=40, random_state=0, early_stopping=False).fit(x, y)
"""),
    "sklearn boosting, 5 classes": ("sklearn", 40, DATA.format(classes=5) + """
from sklearn.ensemble import HistGradientBoostingClassifier
HistGradientBoostingClassifier(max_iter=40, random_state=0, early_stopping=False).fit(x, y)
"""),
    "sklearn boosting, validated": ("sklearn", 40, DATA.format(classes=2) + """
from sklearn.ensemble import HistGradientBoostingClassifier
HistGradientBoostingClassifier(max_iter=40, random_state=0, early_stopping=True,
                               n_iter_no_change=100).fit(x, y)
"""),
    "LightGBM": ("lightgbm", 40, DATA.format(classes=2) + """
import lightgbm
lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 2},
               lightgbm.Dataset(x, y), num_boost_round=40)
"""),
    "LightGBM, 5 classes": ("lightgbm", 40, DATA.format(classes=5) + """
import lightgbm
lightgbm.train({"objective": "multiclass", "num_class": 5, "verbose": -1,
                "num_threads": 2}, lightgbm.Dataset(x, y), num_boost_round=40)
"""),
    "LightGBM, 5 classes, validated": ("lightgbm", 30, DATA.format(classes=5) + """
import lightgbm
lightgbm.train({"objective": "multiclass", "num_class": 5, "verbose": -1,
                "num_threads": 2}, lightgbm.Dataset(x[:3000], y[:3000]),
               num_boost_round=30, valid_sets=[lightgbm.Dataset(x[3000:], y[3000:])])
"""),
    "XGBoost": ("xgboost", 40, DATA.format(classes=2) + """
import xgboost
xgboost.train({"objective": "binary:logistic", "nthread": 2, "max_depth": 6},
              xgboost.DMatrix(x, y), num_boost_round=40)
"""),
    "XGBoost, 5 classes": ("xgboost", 40, DATA.format(classes=5) + """
import xgboost
xgboost.train({"objective": "multi:softprob", "num_class": 5, "nthread": 2,
               "max_depth": 6}, xgboost.DMatrix(x, y), num_boost_round=40)
"""),
    "XGBoost, validated": ("xgboost", 40, DATA.format(classes=2) + """
import xgboost
d = xgboost.DMatrix(x, y)
xgboost.train({"objective": "binary:logistic", "nthread": 2}, d, num_boost_round=40,
              evals=[(d, "train")], verbose_eval=False)
"""),
    "faiss k-means": ("faiss", 30, """
import faiss
import numpy
x = numpy.random.default_rng(0).random((20000, 32), dtype="float32")
faiss.omp_set_num_threads(2)
faiss.Kmeans(32, 100, niter=30, max_points_per_centroid=1000, seed=1).train(x)
"""),
    "implicit ALS": ("implicit", 25, """
import implicit, scipy.sparse
m = scipy.sparse.random(2000, 1000, 0.02, format="csr", random_state=0)
implicit.als.AlternatingLeastSquares(factors=32, iterations=25, num_threads=2,
                                     use_gpu=False).fit(m, show_progress=False)
"""),
    "implicit BPR": ("implicit", 30, """
import implicit, scipy.sparse
m = scipy.sparse.random(2000, 1000, 0.02, format="csr", random_state=0)
implicit.bpr.BayesianPersonalizedRanking(factors=32, iterations=30, num_threads=2,
                                         use_gpu=False).fit(m, show_progress=False)
"""),
    "pyscf Hartree-Fock": ("pyscf", None, """
from pyscf import gto, scf
m = scf.RHF(gto.M(atom="O 0 0 0; H 0 0 1; H 0 1 0; O 3 0 0; H 3 0 1; H 3 1 0", basis="631g", verbose=0))
m.conv_tol = 1e-13
m.kernel()
print("steps", m.cycles)
"""),
    "qiskit Aer circuit": ("qiskit_aer", 0, """
from qiskit import QuantumCircuit
from qiskit_aer import AerSimulator
c = QuantumCircuit(16)
for i in range(16):
    c.h(i)
c.measure_all()
AerSimulator(method="statevector", max_parallel_threads=2).run(c).result()
"""),
}

TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
"""

MD = """integrator = md
dt = 0.001
nsteps = 200
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


def gromacs(folder):
    write(folder, "topol.top", TOPOLOGY)
    write(folder, "md.mdp", MD)
    for command in (["solvate", "-cs", "spc216", "-box", "3", "3", "3", "-o",
                     "box.gro", "-p", "topol.top"],
                    ["grompp", "-f", "md.mdp", "-c", "box.gro", "-o", "md.tpr",
                     "-maxwarn", "5"]):
        subprocess.run(["gmx", *command], cwd=folder, check=True, capture_output=True)
    return ["gmx", "mdrun", "-s", "md.tpr", "-ntmpi", "1", "-ntomp", "2"]


def image(*operations):
    def prepare(folder):
        subprocess.run(["gm", "convert", "-size", "600x600", "plasma:", "in.ppm"],
                       cwd=folder, check=True)
        return ["gm", "convert", "in.ppm", *operations, "out.ppm"]
    return prepare


def sequences(*command):
    def prepare(folder):
        import random
        rng = random.Random(0)
        write(folder, "in.fa", "".join(
            f">s{i}\n" + "".join(rng.choice("ACGT") for _ in range(300)) + "\n"
            for i in range(60)))
        return list(command)
    return prepare


OTHERS = {
    "GROMACS, water": ("gmx", 201, gromacs),
    "GraphicsMagick, one filter": ("gm", 0, image("-blur", "0x3")),
    "GraphicsMagick, 60 rotations": ("gm", 60, image(*["-roll", "+7+3"] * 60)),
    "GraphicsMagick, 30 blurs": ("gm", 30, image(*["-blur", "0x1"] * 30)),
    "kalign": ("kalign", 0, sequences("kalign", "-i", "in.fa", "-o", "out.fa")),
    "Clustal Omega": ("clustalo", 0, sequences("clustalo", "-i", "in.fa", "-o", "out.fa",
                                               "--threads=2")),
}


def kernels(name, folder):
    path = os.path.join(folder, "kernels")
    subprocess.run(["gcc", "-O2", "-fopenmp", os.path.join(HERE, "kernels.c"),
                    "-o", path, "-lm"], check=True)
    return [path, name]


def programs(python):
    """(name, is there, true steps, function that makes the command)"""
    for name, steps in KERNELS.items():
        yield name, True, steps, lambda folder, name=name: kernels(name, folder)
    for name, (module, steps, text) in PYTHON.items():
        there = subprocess.run([python, "-c", f"import {module}"],
                               capture_output=True).returncode == 0
        yield name, there, steps, lambda _, text=text: [python, "-c", text]
    for name, (command, steps, prepare) in OTHERS.items():
        yield name, shutil.which(command), steps, prepare


def stream(path):
    """The sites of the busiest thread's regions, and the steps in the file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    lanes = {}
    for event in events:
        if event.get("args", {}).get("omp") == "parallel":
            lanes.setdefault(event["tid"], []).append(
                (event["ts"], -event["dur"], event["name"]))
    lane = sorted(max(lanes.values(), key=len, default=[]))
    numbers = {}
    sites = [numbers.setdefault(name, len(numbers)) for _, _, name in lane]
    return sites, sum(event["name"].startswith("ProfilerStep#") for event in events)


def run(command, folder, library):
    env = os.environ | {"LD_PRELOAD": library, "OMP_NUM_THREADS": "2",
                        "OMP_WAIT_POLICY": "passive", "TRACEPROF_RECOVER": "0",
                        "TRACEPROF_DIR": os.path.join(folder, "traces")}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.returncode}\n{done.stderr[-2000:]}")
    files = glob.glob(os.path.join(folder, "traces", "*.gz"))
    said = re.findall(r"step = (.*?), every", done.stderr)
    return done.stdout, said, max(files, key=os.path.getsize, default=None)


def look_at(name, true, prepare, library):
    with tempfile.TemporaryDirectory() as folder:
        output, said, path = run(prepare(folder), folder, library)
        sites, found = stream(path) if path else ([], 0)
    if true is None:
        true = int(re.findall(r"^steps (\d+)", output, re.M)[-1])
    verdict = ("right" if found == true or (true and found and abs(found - true) <= 1)
               else "none" if not found else "WRONG")
    marker = said[0] if said else ""
    marker = marker if len(marker) < 60 else marker[:57] + '..."'
    print(f"| {name} | {true or 'none'} | {found or 'none'} | {marker} | {verdict} |",
          flush=True)
    return sites, true


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    library = os.path.join(os.path.abspath(options.build), "libtraceprof.so")
    kept = []
    print("| program | true | found | marker | |\n|---|---|---|---|---|")
    for name, there, true, prepare in programs(options.python):
        if options.names and not any(part in name for part in options.names):
            continue
        if not there:
            print(f"| {name} | | | | is not there |")
            continue
        try:
            sites, true = look_at(name, true, prepare, library)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print(f"| {name} | | | | failed: {str(error)[-300:]!r} |")
            continue
        if sites:
            kept.append(" ".join([name.replace(" ", "_"), str(true),
                                  str(len(sites[:KEPT])), *map(str, sites[:KEPT])]))
    if options.out:
        with gzip.GzipFile(options.out, "wb", mtime=0) as file:
            file.write(("\n".join(kept) + "\n").encode())


if __name__ == "__main__":
    main()
