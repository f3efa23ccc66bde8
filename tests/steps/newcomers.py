# SPDX-License-Identifier: MIT
"""Programs on libraries and of Debian's, the fifth set that no rule was set on, their
steps written down before their first run; for corpus.py.  Of several numbers each is
right, and 0 is none: nobody knows a single answer.  newcomers.c, .cpp, .f90 and
newcomers_ranks.c have more.  latecomers.c was written when the rules were set that
came of those.

Python packages: isotree, stochtree, glum, treecorr, MDAnalysis, mdtraj, pot,
scikit-network, lightgbm, xgboost-cpu, scikit-learn.  Debian packages: ergo,
r-cran-stringdist, r-cran-genieclust, r-cran-collapse, openmpi-bin, libopenmpi-dev.
"""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

PROGRAMS = {
    "newcomers.c": {
        "kmeans": None, "em": 80, "som": (600, 12), "rbm": 90, "lstm": 60, "gpt": 25,
        "ppo": (20, 320), "rivals": 70, "reheat": (120, 1200), "lattice": 240, "newton": 25,
        "spectral": 50, "amr": 90, "barnes": 80, "stages": (0, 50, 40, 90), "tested": 120,
        "folds": (320, 32, 4), "search": (180, 6), "ensemble": (240, 8), "early": None,
        "loader": 100},
    "newcomers.cpp": {"agent": (250, 300), "frames": (30, 240), "sorted": 20, "ants": 45},
    "newcomers.f90": {"argon": 200, "fields": 10, "ocean": 60},
    "latecomers.c": {
        "bert": 40, "mcts": (30, 1500), "kalman": 90, "topics": 35, "sequence": (24, 261),
        "vae": 75, "multistep": 110, "eigen": (18, 306), "crawl": 55, "warm": (100, 125),
        "twins": (0, 60, 120), "boost": 32, "pipeline": 48, "cross": (40, 640)},
}

ROWS = """import numpy
r = numpy.random.default_rng(17)
x = r.normal(size=(3000, 12))
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
"""

PYTHON = {
    "isotree, 25 forests": ("isotree", 25, ROWS + """
from isotree import IsolationForest
for k in range(25):
    m = IsolationForest(ntrees=20, nthreads=2, random_seed=k).fit(x[k * 40:k * 40 + 1500])
    m.predict(x[:1000])
"""),
    "stochtree, 40 samples of trees": ("stochtree", 40, ROWS + """
from stochtree import BARTModel
BARTModel().sample(X_train=x, y_train=x[:, 0] + y, num_gfr=0, num_burnin=0, num_mcmc=40,
                   general_params={"num_threads": 2, "random_seed": 1})
"""),
    "glum, 20 penalties": ("glum", 20, ROWS + """
from glum import GeneralizedLinearRegressor
for k in range(20):
    GeneralizedLinearRegressor(family="binomial", alpha=0.001 * (k + 1), l1_ratio=0.5
                               ).fit(x, y)
"""),
    "TreeCorr, 15 catalogs": ("treecorr", 15, ROWS + """
import treecorr
for k in range(15):
    c = treecorr.Catalog(x=x[:, k % 12], y=x[:, (k + 1) % 12], k=x[:, 2])
    n = treecorr.NNCorrelation(min_sep=0.1, max_sep=2, nbins=8, num_threads=2)
    n.process(c)
    n = treecorr.KKCorrelation(min_sep=0.1, max_sep=2, nbins=8, num_threads=2)
    n.process(c)
"""),
    "MDAnalysis, 50 frames": ("MDAnalysis", 50, ROWS + """
from MDAnalysis.lib import distances
box = numpy.array([20, 20, 20, 90, 90, 90], "float32")
p = r.uniform(0, 20, (600, 3)).astype("float32")
for k in range(50):
    d = distances.distance_array(p, p[:300], box=box, backend="OpenMP")
    b = distances.calc_bonds(p[:300], p[300:], box=box, backend="OpenMP")
    p += r.normal(0, 0.1, p.shape).astype("float32")
"""),
    "mdtraj, 40 references": ("mdtraj", 40, ROWS + """
import mdtraj
top = mdtraj.Topology()
chain = top.add_chain()
for i in range(100):
    top.add_atom("CA", mdtraj.element.carbon, top.add_residue("ALA", chain))
t = mdtraj.Trajectory(r.normal(size=(300, 100, 3)).astype("float32"), top)
for k in range(40):
    mdtraj.rmsd(t, t, k, parallel=True)
"""),
    "POT, 30 transports": ("ot", 30, ROWS + """
import ot
for k in range(30):
    a, b = r.normal(size=(200, 2)), r.normal(size=(200, 2)) + k
    ot.emd2([], [], ot.dist(a, b), numThreads=2)
"""),
    "scikit-network, 20 graphs": ("sknetwork", 20, """
import numpy
from sknetwork.data import erdos_renyi
from sknetwork.ranking import Betweenness
for k in range(20):
    Betweenness().fit_predict(erdos_renyi(150, 0.1, seed=k))
"""),
    "LightGBM, 45 rounds and 25 explanations": ("lightgbm", (0, 45, 25), ROWS + """
import lightgbm
m = lightgbm.train({"objective": "tweedie", "verbose": -1, "num_threads": 2},
                   lightgbm.Dataset(x, y), 45)
for k in range(25):
    m.predict(x[k * 40:k * 40 + 600], pred_contrib=True)
"""),
    "LightGBM, ranked, evaluated": ("lightgbm", 35, ROWS + """
import lightgbm
d = lightgbm.Dataset(x[:2000], y[:2000], group=[20] * 100)
v = lightgbm.Dataset(x[2000:], y[2000:], group=[20] * 50, reference=d)
lightgbm.train({"objective": "rank_xendcg", "metric": "ndcg", "verbose": -1,
                "num_threads": 2}, d, 35, valid_sets=[v])
"""),
    "XGBoost, 50 rounds and 50 predictions": ("xgboost", (0, 50), ROWS + """
import xgboost
d = xgboost.DMatrix(x, y)
b = xgboost.train({"objective": "binary:logistic", "nthread": 2, "max_depth": 4}, d, 50)
for k in range(50):
    b.predict(xgboost.DMatrix(x[k * 20:k * 20 + 1500]))
"""),
    "XGBoost, explained": ("xgboost", (0, 60, 20), ROWS + """
import xgboost
d = xgboost.DMatrix(x, y)
b = xgboost.train({"objective": "reg:squarederror", "nthread": 2}, d, 60)
for k in range(20):
    b.predict(xgboost.DMatrix(x[k * 40:k * 40 + 300]), pred_contribs=True)
"""),
    "sklearn boosting, 8 times 5 more": ("sklearn", (40, 8), ROWS + """
from sklearn.ensemble import HistGradientBoostingClassifier
m = HistGradientBoostingClassifier(warm_start=True, early_stopping=False, random_state=0)
for k in range(8):
    m.set_params(max_iter=5 * (k + 1)).fit(x, y)
    m.score(x[:1000], y[:1000])
"""),
    "sklearn boosting, importances": ("sklearn", (0, 30, 36), ROWS + """
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import permutation_importance
m = HistGradientBoostingClassifier(max_iter=30, early_stopping=False, random_state=0)
permutation_importance(m.fit(x, y), x[:800], y[:800], n_repeats=3, random_state=0)
"""),
}


def consistent(folder):
    with open(os.path.join(folder, "water.ergo"), "w", encoding="utf-8") as file:
        file.write("molecule_inline\nO 0 0 0\nH 1.8 0 0\nH -0.45 1.75 0\nEOF\n"
                   'basis = "6-31Gss"\nJ_K.threads_J = 2\nJ_K.threads_K = 2\nrun "HF"\n')
    return ["ergo", "water.ergo"]


def in_r(text):
    return lambda _: ["Rscript", "-e", text]


def waves(folder):
    path = os.path.join(folder, "ranks")
    subprocess.run(["mpicc", "-O2", "-fopenmp", os.path.join(HERE, "newcomers_ranks.c"),
                    "-o", path], check=True)
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", path]


OTHERS = {
    "ergo, water": ("ergo", 12, consistent),
    "R stringdist": ("Rscript", 35, in_r("""
library(stringdist); set.seed(1)
w <- replicate(300, paste(sample(letters, 12, TRUE), collapse = ""))
for (k in 1:35) d <- stringdistmatrix(w, w, method = "osa", nthread = 2)""")),
    "R genieclust": ("Rscript", 25, in_r("""
library(genieclust); set.seed(1)
for (k in 1:25) h <- genie(matrix(rnorm(4000), ncol = 4), 5)""")),
    "R collapse": ("Rscript", 30, in_r("""
library(collapse); set.seed(1)
m <- matrix(rnorm(1e6), ncol = 20); g <- sample(50, 5e4, TRUE)
for (k in 1:30) { a <- fmean(m, g, nthreads = 2); s <- fsum(m, g, nthreads = 2) }""")),
    "waves on two ranks": ("mpicc", 70, waves),
}
