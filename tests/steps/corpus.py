# SPDX-License-Identifier: MIT
"""Runs programs that know nothing of their steps, and keeps what they did.

    python3 tests/steps/corpus.py [--build DIR] [--python PYTHON] [--out FILE]
                                  [NAME...]

Each program is run under the library; how many steps it truly made was written down here
before.  Prints the tables of docs/steps-found.md, and with --out keeps each program's stream of
regions, one line each: its name, its steps, and the sites in the order in which the regions of
its busiest thread began.  By hand: what isn't installed is left out.

Python packages: scikit-learn, lightgbm, xgboost-cpu, faiss-cpu, implicit, pyscf, qiskit-aer,
openTSNE, pennylane-lightning, qulacs, devito, brian2, quippy-ase, finufft, cornac, umap-learn.
Debian packages: gromacs, graphicsmagick, kalign, clustalo, xtb, cp2k, elk-lapw, yade, gmic,
cd-hit.  The other files name more."""

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
import time
import zlib

import guests
import newcomers
import nomads
import pilgrims
import settlers
import strangers
import travellers
import visitors
import wanderers
from drifters import drifters
from pioneers import pioneers
from prepared import files, write
from roamers import roamers
from rovers import rovers
from seafarers import seafarers
from voyagers import voyagers

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KEPT = 60000

KERNELS = {                     # and the step of each, as a person would say
    "jacobi": 150, "conjugate_gradient": 120, "implicit_heat": 40, "multigrid": 40,
    "molecules": 201, "hydro": 163, "clusters": 60, "transformer": 41,
    "validated_transformer": 60, "attention_batches": 20,
    "small_network": 192, "shuffled_network": 480, "trees": 50,
    "trees_of_classes": 40, "lattice": 300, "least_squares": 30, "mixture": 400,
    "breadth_first": 0, "pipeline": 0}

UNSEEN_KERNELS = {              # written down before their first run
    "particles": 120, "centres": 50, "rank": 80, "rivals": 100, "episodes": 80,
    "denoiser": 150}

LATER_KERNELS = {               # the same, once no rule was to be set any more
    "annealing": 90, "bodies": 70, "transport": 200, "samples": 60, "generations": 75, "frames": 48}
PLACES_KERNELS = {              # and once more
    "inference": 64, "factors": 45, "codec": 70, "waves": 220, "filter": 90, "subspace": 36}

NESTED_KERNELS = {              # and again; a rule was set on newton
    "newton": 60, "fluid": 200, "graph": 100, "policy": 50, "neighbours": 300,
    "shallow": 250, "damped": 40, "pressure": 120}
FRESH_KERNELS = {               # and again; none was set on them but on index
    "waves": 200, "runge": 150, "redblack": 90, "labels": 40, "logistic": 100,
    "align": 40, "poisson": 120, "baum": 20, "index": 30}

GUESTS = {                      # and again, in the languages that people write in
    "guests.c": {"lenet": 90, "quasi": 60, "leapfrog": 500, "sph": 120, "implicit": 30,
                 "routes": 16, "ising": 600, "blocks": 24, "radix": 20,
                 "recurrent": 50, "fdtd": 300, "gibbs": 200},
    "guests.f90": {"wave": 400, "argon": 250, "cavity": 80},
    "guests.cpp": {"server": 30, "agent": 200, "colony": 45}}

VISITORS = {                     # and again; 600 moves of walkers are steps, too
    "mudball": 80, "amr": 60, "spectral": 120, "restarts": 90, "evolve": 70, "walkers": 150,
    "vcycle": 35, "components": 40, "gmres": 25, "lulesh": 110, "minife": 50,
    "quicksilver": 45, "auction": 30, "stencils": 200, "adaboost": 60}

TRAVELLERS = {                  # the third set
    "travellers.c": {"darknet": 64, "lattice3": 180, "euler": 140, "minimd": 300, "amg": 30,
                     "tree": 60, "strata": 20, "kinetic": 250, "gru": 45, "samples": 32,
                     "delta": 50, "embed": 12, "flip": 70, "swarm": 120},
    "travellers.f90": {"filtered": 220, "splitstep": 150},
    "travellers.cpp": {"decode": 80, "boost": 36, "image": 55}}

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

# Those that no rule was set on, and their steps before any of them was run.
UNSEEN = {
    "openTSNE": ("openTSNE", 200, """
import numpy, openTSNE
x = numpy.random.default_rng(0).normal(size=(1500, 10))
openTSNE.TSNE(early_exaggeration_iter=60, n_iter=140, n_jobs=2, neighbors="exact",
              negative_gradient_method="bh", initialization="random",
              random_state=0).fit(x)
"""),
    "sklearn t-SNE": ("sklearn", 300, """
import numpy
from sklearn.manifold import TSNE
x = numpy.random.default_rng(0).normal(size=(600, 10))
m = TSNE(max_iter=300, n_iter_without_progress=300, min_grad_norm=0, init="random",
         random_state=0, n_jobs=2)
m.fit(x)
"""),
    "sklearn boosting, regression": ("sklearn", 50, """
from sklearn.datasets import make_regression
from sklearn.ensemble import HistGradientBoostingRegressor
x, y = make_regression(4000, 20, random_state=0)
HistGradientBoostingRegressor(max_iter=50, random_state=0, l2_regularization=1.,
                              max_leaf_nodes=15, early_stopping=False).fit(x, y)
"""),
    "LightGBM, bagged regression": ("lightgbm", 60, """
import lightgbm
from sklearn.datasets import make_regression
x, y = make_regression(4000, 20, random_state=0)
lightgbm.train({"objective": "regression", "verbose": -1, "num_threads": 2,
                "bagging_freq": 5, "bagging_fraction": 0.7, "num_leaves": 20},
               lightgbm.Dataset(x, y), num_boost_round=60)
"""),
    "LightGBM, DART": ("lightgbm", 50, DATA.format(classes=2) + """
import lightgbm
lightgbm.train({"objective": "binary", "boosting": "dart", "verbose": -1,
                "num_threads": 2}, lightgbm.Dataset(x, y), num_boost_round=50)
"""),
    "XGBoost, forests": ("xgboost", 30, DATA.format(classes=2) + """
import xgboost
xgboost.train({"objective": "binary:logistic", "nthread": 2, "num_parallel_tree": 4,
               "subsample": 0.7}, xgboost.DMatrix(x, y), num_boost_round=30)
"""),
    "XGBoost, DART": ("xgboost", 50, DATA.format(classes=2) + """
import xgboost
xgboost.train({"objective": "binary:logistic", "nthread": 2, "booster": "dart",
               "rate_drop": 0.1}, xgboost.DMatrix(x, y), num_boost_round=50)
"""),
    "XGBoost, linear": ("xgboost", 60, DATA.format(classes=2) + """
import xgboost
xgboost.train({"objective": "binary:logistic", "nthread": 2, "booster": "gblinear"},
              xgboost.DMatrix(x, y), num_boost_round=60)
"""),
    "implicit LMF": ("implicit", 30, """
import implicit, scipy.sparse
m = scipy.sparse.random(2000, 1000, 0.02, format="csr", random_state=0)
implicit.lmf.LogisticMatrixFactorization(factors=30, iterations=30, num_threads=2,
                                         random_state=0).fit(m, show_progress=False)
"""),
    "faiss searches": ("faiss", 50, """
import faiss
import numpy
x = numpy.random.default_rng(0).random((20000, 32), dtype="float32")
faiss.omp_set_num_threads(2)
index = faiss.index_factory(32, "IVF64,Flat")
index.train(x)
index.add(x)
for i in range(50):
    index.search(x[i * 100:i * 100 + 100], 10)
"""),
    "PennyLane": ("pennylane_lightning", 30, """
import pennylane
from pennylane import numpy
device = pennylane.device("lightning.qubit", wires=8)
@pennylane.qnode(device, diff_method="adjoint")
def cost(w):
    for layer in w:
        for i in range(8):
            pennylane.RY(layer[i], wires=i)
        for i in range(7):
            pennylane.CNOT(wires=[i, i + 1])
    return pennylane.expval(pennylane.PauliZ(0))
w = numpy.full((3, 8), 0.1, requires_grad=True)
optimiser = pennylane.GradientDescentOptimizer(0.1)
for _ in range(30):
    w = optimiser.step(cost, w)
"""),
    "Qulacs": ("qulacs", 40, """
import qulacs
n = 14
h = qulacs.Observable(n)
for i in range(n - 1):
    h.add_operator(1.0, f"Z {i} Z {i + 1}")
    h.add_operator(0.5, f"X {i}")
c = qulacs.ParametricQuantumCircuit(n)
for _ in range(2):
    for i in range(n):
        c.add_parametric_RX_gate(i, 0.1)
        c.add_parametric_RZ_gate(i, 0.2)
    for i in range(n - 1):
        c.add_CNOT_gate(i, i + 1)
for _ in range(40):
    g = c.backprop(h)
    for i in range(c.get_parameter_count()):
        c.set_parameter(i, c.get_parameter(i) - 0.05 * g[i])
"""),
    "Devito, waves": ("devito", 151, """
import os
os.environ["DEVITO_LANGUAGE"] = "openmp"
from devito import *
g = Grid((101, 101), extent=(1000., 1000.))
u = TimeFunction(name="u", grid=g, time_order=2, space_order=4)
source = SparseTimeFunction(name="src", grid=g, npoint=1, nt=200,
                            coordinates=[[500., 500.]])
source.data[:] = 1.
step = Eq(u.forward, solve(u.dt2 - u.laplace * 2.25, u.forward))
Operator([step] + source.inject(u.forward, expr=source)).apply(time_m=0, time_M=150, dt=0.5)
"""),
    "Brian, spikes": ("brian2", 500, """
from brian2 import *
set_device("cpp_standalone", directory="brian")
prefs.devices.cpp_standalone.openmp_threads = 2
n = NeuronGroup(800, "dv/dt = (g - v) / (20*ms) : 1\\ndg/dt = -g / (5*ms) : 1",
                threshold="v > 1", reset="v = 0", method="exact")
n.v = "rand()"
n.g = "rand() * 5"
s = Synapses(n, n, on_pre="g += 0.3")
s.connect(p=0.05)
m = SpikeMonitor(n)
run(50 * ms)
"""),
    "QUIP, silicon": ("quippy", 40, """
import quippy.potential
from ase.build import bulk
from ase.md.verlet import VelocityVerlet
from ase import units
a = bulk("Si", cubic=True) * (4, 4, 4)
a.rattle(0.05, seed=0)
a.calc = quippy.potential.Potential("IP SW", param_str=(
    '<SW_params n_types="1"><per_type_data type="1" atomic_num="14"/>'
    '<per_pair_data atnum_i="14" atnum_j="14" AA="7.049556277" BB="0.6022245584" p="4"'
    ' q="0" a="1.80" sigma="2.0951" eps="2.1675"/><per_triplet_data atnum_c="14"'
    ' atnum_j="14" atnum_k="14" lambda="21.0" gamma="1.20" eps="2.1675"/></SW_params>'))
VelocityVerlet(a, 1 * units.fs).run(40)
"""),
    "finufft, gradients": ("finufft", 30, """
import finufft
import numpy
rng = numpy.random.default_rng(0)
x, y = rng.uniform(-3, 3, (2, 20000))
c = rng.normal(size=20000) + 0j
f = numpy.zeros((64, 64), complex)
r = finufft.nufft2d1(x, y, c, (64, 64), nthreads=2)
p = r
for _ in range(30):
    q = finufft.nufft2d1(x, y, finufft.nufft2d2(x, y, p, nthreads=2), (64, 64), nthreads=2)
    a = numpy.vdot(r, r) / numpy.vdot(p, q)
    f = f + a * p
    s = r - a * q
    p, r = s + numpy.vdot(s, s) / numpy.vdot(r, r) * p, s
"""),
    "cornac BPR": ("cornac", 30, """
import cornac, numpy
rng = numpy.random.default_rng(0)
data = [(int(u), int(i), 1.) for u, i in rng.integers(0, 500, (20000, 2))]
t = cornac.data.Dataset.from_uir(list({d[:2]: d for d in data}.values()), seed=0)
cornac.models.BPR(k=10, max_iter=30, num_threads=2, seed=0, verbose=False).fit(t)
"""),
    "pyscf dynamics": ("pyscf", 12, """
from pyscf import gto, scf, md
m = scf.RHF(gto.M(atom="O 0 0 0; H 0 0 1; H 0 1 0", basis="631g", verbose=0))
md.NVE(m, dt=10, steps=12).run()
"""),
    "umap": ("umap", 100, """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numpy, umap
umap.UMAP(n_epochs=100, n_jobs=2, init="random").fit(
    numpy.random.default_rng(0).normal(size=(1000, 10)))
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


WATERS = """6

O 0.0 0.0 0.0
H 0.96 0.0 0.0
H -0.24 0.93 0.0
O 2.9 0.0 0.3
H 3.4 0.8 0.3
H 3.4 -0.8 0.3
"""

CP2K = """&GLOBAL
  PROJECT w
  RUN_TYPE MD
&END
&MOTION
  &MD
    STEPS 15
    TIMESTEP 0.5
  &END
&END
&FORCE_EVAL
  METHOD QS
  &DFT
    &QS
      METHOD XTB
    &END
    &SCF
      MAX_SCF 40
    &END
  &END
  &SUBSYS
    &CELL
      ABC 10 10 10
    &END
    &TOPOLOGY
      COORD_FILE_NAME w.xyz
      COORD_FILE_FORMAT XYZ
    &END
  &END
&END
"""

ELK = """tasks
  0

maxscl
  30

epspot
  0

epsengy
  0

avec
  3.8 3.8 0.0
  3.8 0.0 3.8
  0.0 3.8 3.8

sppath
  '/usr/share/elk-lapw/species/'

atoms
  1
  'Al.in'
  1
  0.0 0.0 0.0

ngridk
  2 2 2

"""

YADE = """
from yade import geom, pack
O.bodies.append(geom.facetBox((.5, .5, .5), (.5, .5, .5), wallMask=31))
s = pack.SpherePack()
s.makeCloud((0, 0, 0), (1, 1, 1), rMean=.08, rRelFuzz=.3, seed=1)
s.toSimulation()
O.engines = [ForceResetter(), InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Facet_Aabb()]),
             InteractionLoop([Ig2_Sphere_Sphere_ScGeom(), Ig2_Facet_Sphere_ScGeom()],
                             [Ip2_FrictMat_FrictMat_FrictPhys()],
                             [Law2_ScGeom_FrictPhys_CundallStrack()]),
             NewtonIntegrator(gravity=(0, 0, -9.81), damping=.4)]
O.dt = .5 * PWaveTimeStep()
O.run(300, True)
"""


def minimised(folder):
    gromacs(folder)
    write(folder, "em.mdp", "integrator = steep\nnsteps = 100\nemtol = 0.001\n"
          "coulombtype = PME\nrcoulomb = 0.9\nrvdw = 0.9\n")
    subprocess.run(["gmx", "grompp", "-f", "em.mdp", "-c", "box.gro", "-o", "em.tpr",
                    "-maxwarn", "5"], cwd=folder, check=True, capture_output=True)
    return ["gmx", "mdrun", "-s", "em.tpr", "-ntmpi", "1", "-ntomp", "2"]


def picture(*operations):
    return lambda folder: ["gmic", "300,300,1,3,x+7*y", *operations, "-o", "out.ppm"]


UNSEEN_OTHERS = {
    "xtb, dynamics": ("xtb", 100, files(
        ["xtb", "w.xyz", "--md", "--input", "md.inp"], w_xyz=WATERS,
        md_inp="$md\n time=0.1\n step=1.0\n shake=0\n hmass=1\n temp=300\n$end\n")),
    "CP2K, dynamics": ("cp2k.psmp", 15, files(
        ["cp2k.psmp", "-i", "w.inp"], w_xyz=WATERS, w_inp=CP2K)),
    "Elk, aluminium": ("elk-lapw", 30, files(["elk-lapw"], elk_in=ELK)),
    "Yade, spheres": ("yade", 300, files(["yade", "-x", "-n", "-j2", "s.py"], s_py=YADE)),
    "GROMACS, minimised": ("gmx", 101, minimised),
    "G'MIC, 40 rounds": ("gmic", 40, picture(
        "-repeat", "40", "-blur", "1", "-sharpen", "20", "-done")),
    "G'MIC, smoothed": ("gmic", 0, picture("-median", "3", "-blur", "2")),
    "CD-HIT": ("cd-hit-est", 0, sequences("cd-hit-est", "-i", "in.fa", "-o", "out", "-T", "2")),
}

OTHERS = {
    "GROMACS, water": ("gmx", 201, gromacs),
    "GraphicsMagick, one filter": ("gm", 0, image("-blur", "0x3")),
    "GraphicsMagick, 60 rotations": ("gm", 60, image(*["-roll", "+7+3"] * 60)),
    "GraphicsMagick, 30 blurs": ("gm", 30, image(*["-blur", "0x1"] * 30)),
    "kalign": ("kalign", 0, sequences("kalign", "-i", "in.fa", "-o", "out.fa")),
    "Clustal Omega": ("clustalo", 0, sequences("clustalo", "-i", "in.fa", "-o", "out.fa",
                                               "--threads=2")),
}


def kernels(name, folder, source="kernels"):
    path = os.path.join(folder, source)
    subprocess.run(["gcc", "-O2", "-fopenmp", f"-I{ROOT}/include",
                    os.path.join(HERE, source + ".c"),
                    "-o", path, "-lm"], check=True)
    return [path, name]


COMPILERS = {".c": "gcc", ".cpp": "g++", ".f90": "gfortran"}


def guest(name, folder, source):
    path = os.path.join(folder, name)
    subprocess.run([COMPILERS[os.path.splitext(source)[1]], "-O2", "-fopenmp",
                    f"-DPROGRAM={name}", os.path.join(HERE, source), "-o", path, "-lm"],
                   cwd=folder, check=True)
    return [path, name]


def has_module(python, name):
    return subprocess.run([python, "-c", f"import {name}"],
                          capture_output=True).returncode == 0


def programs(python):
    """(name, is it there, true steps or several, function that makes the command)"""
    for name, steps in KERNELS.items():
        yield name, lambda: True, steps, lambda folder, name=name: kernels(name, folder)
    for source, known in (("unseen", UNSEEN_KERNELS), ("later", LATER_KERNELS),
                          ("places", PLACES_KERNELS), ("ways", {"sampled": 50}),
                          ("nested", NESTED_KERNELS), ("fresh", FRESH_KERNELS)):
        for name, steps in known.items():
            yield (name, lambda: True, steps,
                   lambda folder, name=name, source=source:
                   kernels(name, folder, source))
    for source, known in (GUESTS | TRAVELLERS | newcomers.PROGRAMS | nomads.PROGRAMS
                          | drifters.PROGRAMS | rovers.PROGRAMS | roamers.PROGRAMS | voyagers.PROGRAMS
                          | pioneers.ALL | seafarers.PROGRAMS | {"visitors.c": VISITORS}).items():
        for name, steps in known.items():
            yield (f"{source} {name}", lambda: True, steps,
                   lambda folder, name=name, source=source: guest(name, folder, source))
    for name, (module, steps, text) in (PYTHON | UNSEEN | strangers.PYTHON
                                        | guests.PYTHON | visitors.PYTHON | travellers.PYTHON
                                        | wanderers.PYTHON | newcomers.PYTHON | nomads.PYTHON
                                        | settlers.PYTHON | pilgrims.PYTHON
                                        | drifters.PYTHON | rovers.PYTHON
                                        | roamers.PYTHON | pioneers.ALL_PYTHON
                                        | voyagers.PYTHON | seafarers.PYTHON).items():
        yield (name, lambda module=module: has_module(python, module), steps,
               lambda _, text=text: [python, "-c", text])
    for name, (command, steps, prepare) in (OTHERS | UNSEEN_OTHERS | strangers.OTHERS
                                         | travellers.OTHERS | wanderers.OTHERS
                                         | newcomers.OTHERS | settlers.OTHERS
                                         | pilgrims.OTHERS | nomads.OTHERS
                                         | drifters.OTHERS | rovers.OTHERS
                                         | voyagers.OTHERS | seafarers.OTHERS).items():
        yield (name, lambda command=command: shutil.which(command) or os.path.isdir(
            os.path.join(pilgrims.SOURCES or os.devnull, command)), steps, prepare)


def is_whole(path):
    """Not one that is still written after its program's end."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return json.load(file)["traceprof"]["final"]
    except (EOFError, ValueError, gzip.BadGzipFile, zlib.error):
        return False


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


def run(command, folder, library, **settings):
    env = os.environ | {"LD_PRELOAD": library, "OMP_NUM_THREADS": "2",
                        "OMP_WAIT_POLICY": "passive", "TRACEPROF_RECOVER": "0",
                        "TRACEPROF_EXIT_MS": "100000",
                        "TRACEPROF_DIR": os.path.join(folder, "traces"), **settings}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.returncode}\n{done.stderr[-2000:]}")
    files = glob.glob(os.path.join(folder, "traces", "*.gz"))
    for _ in range(600):
        if "after the program's end" not in done.stderr or all(map(is_whole, files)):
            break
        time.sleep(0.1)
    said = re.findall(r"step = (.*?), every", done.stderr)
    return done.stdout, said, max(files, key=os.path.getsize, default=None)


def look_at(name, true, prepare, library):
    with tempfile.TemporaryDirectory() as folder:
        output, said, path = run(prepare(folder), folder, library)
        sites, found = stream(path) if path else ([], 0)
    if true is None:
        true = int(re.findall(r"^ ?steps +(\d+)", output, re.M)[-1])
    true = true(output) if callable(true) else true
    rights = true if isinstance(true, tuple) else (true,)
    true = rights[0]
    verdict = ("right" if any(found == one or (one and found and abs(found - one) <= 1)
                              for one in rights)
               else "none" if not found
               else "near" if true and 0 < found - true <= true // 50 else "WRONG")
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
        if options.names and name not in options.names:
            continue
        if not there():
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
