# SPDX-License-Identifier: MIT
"""Programs that the search had not seen, their steps written down before their
first run; for corpus.py.

Python packages: scikit-learn, lightgbm, xgboost, faiss-cpu, implicit, pyscf, tblite,
ase.  Debian packages: bart, iqtree, imagemagick, r-cran-data.table, r-cran-rtsne.
"""

import random
import subprocess

from prepared import script

ROWS = """import numpy
r = numpy.random.default_rng(1)
x = r.normal(size=(3000, 12)).astype("float32")
"""
RANKS = ROWS + "y = r.integers(0, 4, 3000)\n"

# By the module that each needs; None: the program itself says how many it made.
PYTHON = {
    "sklearn mini-batch k-means": ("sklearn", None, ROWS + """
from sklearn.cluster import MiniBatchKMeans
m = MiniBatchKMeans(8, batch_size=1024, max_iter=20, n_init=1, tol=0,
                    max_no_improvement=None, random_state=0).fit(x)
print("steps", m.n_steps_)
"""),
    "sklearn neighbours": ("sklearn", 40, ROWS + """
from sklearn.neighbors import NearestNeighbors
for i in range(40):
    NearestNeighbors(n_neighbors=5, algorithm="brute").fit(x).kneighbors(x[:1500])
"""),
    "sklearn bisecting k-means": ("sklearn", 15, ROWS + """
from sklearn.cluster import BisectingKMeans
BisectingKMeans(16, random_state=0, n_init=1).fit(x)
"""),
    "sklearn, five boosters": ("sklearn", 100, ROWS + """
from sklearn.ensemble import HistGradientBoostingRegressor
y = x[:, 0] * x[:, 1]
for k in range(5):
    HistGradientBoostingRegressor(max_iter=20, early_stopping=False,
                                  random_state=k).fit(x[k::5], y[k::5])
"""),
    "LightGBM, ranking": ("lightgbm", 60, RANKS + """
import lightgbm
lightgbm.train({"objective": "lambdarank", "num_threads": 2, "verbose": -1},
               lightgbm.Dataset(x, y, group=[30] * 100), 60)
"""),
    "LightGBM, GOSS": ("lightgbm", 50, ROWS + """
import lightgbm
y = (x[:, 0] + x[:, 1] ** 2 > 1).astype(int)
lightgbm.train({"objective": "binary", "data_sample_strategy": "goss",
                "num_threads": 2, "verbose": -1}, lightgbm.Dataset(x, y), 50)
"""),
    "XGBoost, ranking": ("xgboost", 50, RANKS + """
import xgboost
d = xgboost.DMatrix(x, y)
d.set_group([30] * 100)
xgboost.train({"objective": "rank:ndcg", "nthread": 2}, d, 50)
"""),
    "XGBoost, survival": ("xgboost", 40, ROWS + """
import xgboost
d = xgboost.DMatrix(x)
d.set_float_info("label_lower_bound", numpy.exp(x[:, 0]))
d.set_float_info("label_upper_bound", numpy.exp(x[:, 0]))
xgboost.train({"objective": "survival:aft", "nthread": 2, "max_depth": 4}, d, 40)
"""),
    "XGBoost, exact": ("xgboost", 40, ROWS + """
import xgboost
xgboost.train({"tree_method": "exact", "nthread": 2, "max_depth": 5},
              xgboost.DMatrix(x, x[:, 0] * x[:, 1]), 40)
"""),
    "faiss, HNSW additions": ("faiss", 30, ROWS + """
import faiss
faiss.omp_set_num_threads(2)
index = faiss.IndexHNSWFlat(12, 16)
for k in range(30):
    index.add(x[k * 100:k * 100 + 100])
"""),
    "faiss k-means, three times": ("faiss", 60, ROWS + """
import faiss
faiss.omp_set_num_threads(2)
faiss.Kmeans(12, 32, niter=20, nredo=3, max_points_per_centroid=1000).train(x)
"""),
    "implicit ALS, with loss": ("implicit", 25, """
import implicit, scipy.sparse
m = scipy.sparse.random(2000, 1000, 0.02, format="csr", random_state=0)
implicit.als.AlternatingLeastSquares(factors=32, iterations=25, num_threads=2,
                                     calculate_training_loss=True,
                                     random_state=0).fit(m, show_progress=False)
"""),
    "tblite dynamics": ("tblite.ase", 50, """
from ase import units
from ase.build import molecule
from ase.md.verlet import VelocityVerlet
from tblite.ase import TBLite
a = molecule("C6H6")
a.rattle(0.02, seed=0)
a.calc = TBLite(method="GFN2-xTB", verbosity=0)
VelocityVerlet(a, 0.5 * units.fs).run(50)
"""),
    "pyscf DFT": ("pyscf", None, """
from pyscf import gto, dft
m = dft.RKS(gto.M(atom="O 0 0 0; H 0 0 1; H 0 1 0; O 3 0 0; H 3 0 1; H 3 1 0",
                  basis="631g*", verbose=0))
m.xc = "pbe"
m.kernel()
print("steps", m.cycles)
"""),
    "pyscf CASSCF": ("pyscf", 6, """
from pyscf import gto, scf, mcscf
m = scf.RHF(gto.M(atom="N 0 0 0; N 0 0 1.4", basis="ccpvdz", verbose=0)).run()
mcscf.CASSCF(m, 6, 6).kernel()
"""),
}


def image(*arguments):
    """The reconstruction alone: what it works on is made before."""
    def prepare(folder):
        for option in (("-k", "k"), ("-S4", "s")):
            more = ["-s4"] if option[0] == "-k" else []
            subprocess.run(["bart", "phantom", "-x128", *more, *option], cwd=folder,
                           check=True, capture_output=True)
        return ["bart", "pics", *arguments, "k", "s", "out"]
    return prepare


def trees(folder):
    rng = random.Random(0)
    rows = [[rng.choice("ACGT") for _ in range(1500)]]
    while len(rows) < 24:
        rows.append([c if rng.random() > 0.08 else rng.choice("ACGT")
                     for c in rng.choice(rows)])
    with open(folder + "/in.phy", "w", encoding="utf-8") as file:
        file.write("24 1500\n" + "".join(f"t{i:<9}{''.join(row)}\n"
                                         for i, row in enumerate(rows)))
    return ["iqtree2", "-s", "in.phy", "-m", "JC", "-nt", "2", "-n", "50", "-seed", "1"]


OTHERS = {
    "BART, conjugate gradient": ("bart", 30, image("-l2", "-r0.001", "-i30")),
    "BART, FISTA": ("bart", 40, image("-l1", "-r0.001", "-e", "-i40")),
    "IQ-TREE": ("iqtree2", 50, trees),
    "ImageMagick, 20 rounds": ("convert", 20, lambda _: [
        "convert", "-seed", "1", "plasma:", "-resize", "500x500!",
        *["-sharpen", "0x1", "-negate", "-despeckle"] * 20, "out.png"]),
    "R data.table": ("Rscript", 40, script(
        "library(data.table); setDTthreads(2); set.seed(1); n <- 200000;"
        "for (i in 1:40) { d <- data.table(a=sample(n), b=runif(n), g=sample(50,n,TRUE));"
        "setorder(d, a); s <- d[b > 0.3, .(m=mean(b)), by=g]; m <- d[order(g, b)] }")),
    "R Rtsne": ("Rscript", 300, script(
        "library(Rtsne); set.seed(1); x <- matrix(rnorm(6000), 600);"
        "Rtsne(x, max_iter=300, num_threads=2, pca=FALSE)")),
}
