# SPDX-License-Identifier: MIT
"""Programs on libraries, their steps written down before their first run; for corpus.py.

Python packages: scikit-learn, lightgbm, xgboost, faiss-cpu, implicit, pyscf, numba,
mlpack, torch.

Of implicit's 25 models its 100 iterations are steps, too.
"""

ROWS = """import numpy
r = numpy.random.default_rng(5)
x = r.normal(size=(3000, 12)).astype("float32")
y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype(int)
"""

PYTHON = {
    "sklearn, k-means with restarts": ("sklearn", 12, ROWS + """
from sklearn.cluster import KMeans
for k in range(12):
    KMeans(4 + k, n_init=1, max_iter=20, random_state=k).fit(x)
"""),
    "sklearn, boosting of 40 settings": ("sklearn", 120, ROWS + """
from sklearn.ensemble import HistGradientBoostingRegressor
for rate in (0.05, 0.1, 0.2, 0.4):
    HistGradientBoostingRegressor(learning_rate=rate, max_iter=30, max_leaf_nodes=15,
                                  early_stopping=False, random_state=0).fit(x, y)
"""),
    "LightGBM, tested, one custom objective": ("lightgbm", 50, ROWS + """
import lightgbm
def logistic(margin, data):
    p = 1 / (1 + numpy.exp(-margin))
    return p - data.get_label(), p * (1 - p)
d = lightgbm.Dataset(x[:2500], y[:2500])
lightgbm.train({"objective": logistic, "verbose": -1, "num_threads": 2}, d, 50,
               valid_sets=[lightgbm.Dataset(x[2500:], y[2500:], reference=d)],
               feval=lambda m, d: ("error", ((m > 0) != d.get_label()).mean(), False))
"""),
    "LightGBM, feature fraction": ("lightgbm", 55, ROWS + """
import lightgbm
lightgbm.train({"objective": "regression", "verbose": -1, "num_threads": 2,
                "feature_fraction": 0.6, "num_leaves": 63}, lightgbm.Dataset(x, y), 55)
"""),
    "XGBoost, lossguide": ("xgboost", 45, ROWS + """
import xgboost
xgboost.train({"objective": "binary:logistic", "nthread": 2, "grow_policy": "lossguide",
               "max_leaves": 31, "max_depth": 0}, xgboost.DMatrix(x, y), 45)
"""),
    "XGBoost, tested, goes on": ("xgboost", 50, ROWS + """
import xgboost
d, t = xgboost.DMatrix(x[:2500], y[:2500]), xgboost.DMatrix(x[2500:], y[2500:])
b = None
for k in range(2):
    b = xgboost.train({"objective": "binary:logistic", "nthread": 2, "max_depth": 4}, d, 25,
                      evals=[(t, "test")], verbose_eval=False, xgb_model=b)
"""),
    "faiss, inverted lists searched": ("faiss", 60, """
import faiss, numpy
faiss.omp_set_num_threads(2)
r = numpy.random.default_rng(0)
x = r.random((8000, 32), dtype="float32")
i = faiss.index_factory(32, "IVF32,Flat")
i.train(x)
for k in range(60):
    i.add(x[k * 100:k * 100 + 100])
    i.search(x[:500], 5)
"""),
    "implicit, BM25 neighbours": ("implicit", (25, 100), """
import implicit, scipy.sparse
m = scipy.sparse.random(1500, 800, 0.03, format="csr", random_state=0)
for k in range(25):
    model = implicit.lmf.LogisticMatrixFactorization(factors=16 + k, iterations=4, num_threads=2)
    model.fit(m, show_progress=False)
"""),
    "pyscf, geometries of water": ("pyscf", 10, """
from pyscf import gto, scf
for k in range(10):
    m = scf.RHF(gto.M(atom=f"O 0 0 0; H 0 1 0; H 0 0 {0.9 + 0.03 * k}", basis="631g", verbose=0))
    m.run()
    g = m.nuc_grad_method()
    g.verbose = 0
    g.kernel()
"""),
    "numba, n bodies in two halves": ("numba", 70, """
import numba, numpy
numba.config.THREADING_LAYER = "omp"
@numba.njit(parallel=True)
def kick(x, v):
    for i in numba.prange(len(x)):
        s = 0.0
        for j in range(len(x)):
            d = x[j] - x[i]
            s += d / (1e-3 + d * d) ** 1.5
        v[i] += 1e-6 * s
@numba.njit(parallel=True)
def drift(x, v):
    for i in numba.prange(len(x)):
        x[i] += 0.1 * v[i]
x, v = numpy.random.default_rng(0).normal(size=600), numpy.zeros(600)
for t in range(70):
    kick(x, v)
    drift(x, v)
    kick(x, v)
"""),
    "mlpack, k-means": ("mlpack", 20, """
import mlpack, numpy
x = numpy.random.default_rng(0).normal(size=(4000, 8))
for k in range(20):
    mlpack.kmeans(input_=x, clusters=5 + k % 3, max_iterations=10, seed=k)
"""),
    "PyTorch, two losses one after the other": ("torch", 55, """
import torch
from torch import nn
torch.manual_seed(0)
body, a, b = nn.Linear(64, 768), nn.Linear(768, 10), nn.Linear(768, 3)
o = torch.optim.AdamW([*body.parameters(), *a.parameters(), *b.parameters()], 1e-3)
s = torch.optim.lr_scheduler.OneCycleLR(o, 1e-2, total_steps=55)
for k in range(55):
    x = torch.randn(256, 64)
    o.zero_grad()
    h = body(x).relu()
    a(h).logsumexp(1).mean().backward(retain_graph=True)
    b(h).square().mean().backward()
    nn.utils.clip_grad_value_(body.parameters(), 1.0)
    o.step()
    s.step()
"""),
    "PyTorch, accumulated, evaluated each 8": ("torch", 48, """
import torch
from torch import nn
torch.manual_seed(0)
m = nn.Sequential(nn.Conv1d(8, 32, 5), nn.ReLU(), nn.Conv1d(32, 32, 5), nn.ReLU(),
                  nn.Flatten(), nn.Linear(32 * 120, 5))
o = torch.optim.RAdam(m.parameters(), 1e-3)
for k in range(48):
    o.zero_grad()
    for part in range(3):
        x, y = torch.randn(32, 8, 128), torch.randint(0, 5, (32,))
        (nn.functional.cross_entropy(m(x), y) / 3).backward()
    o.step()
    if k % 8 == 7:
        with torch.no_grad():
            for part in range(5):
                m(torch.randn(32, 8, 128)).argmax(1)
"""),
}
