# SPDX-License-Identifier: MIT
"""Programs on libraries that the search had not seen, their steps written down before
their first run; for corpus.py.

Python packages: networkit, healpy, numba, pyscf, pykdtree, torch, lightgbm, xgboost.
"""

ROWS = """import numpy
r = numpy.random.default_rng(3)
x = r.normal(size=(4000, 10)).astype("float32")
"""

PYTHON = {
    "NetworKit, PageRank": ("networkit", 25, """
import networkit as nk
nk.setNumberOfThreads(2)
g = nk.generators.BarabasiAlbertGenerator(4, 3000).generate()
for k in range(25):
    g.addEdge(k, 2000 + k)
    ranks = nk.centrality.PageRank(g, 0.85, tol=1e-9).run().scores()
"""),
    "NetworKit, communities": ("networkit", 20, """
import networkit as nk
nk.setNumberOfThreads(2)
for k in range(20):
    nk.setSeed(k, True)
    g = nk.generators.ErdosRenyiGenerator(1500, 0.01).generate()
    found = nk.community.PLM(g, refine=True).run().getPartition()
    quality = nk.community.Modularity().getQuality(found, g)
"""),
    "healpy, sky maps": ("healpy", 20, """
import healpy, numpy
r = numpy.random.default_rng(1)
for k in range(20):
    m = r.normal(size=healpy.nside2npix(64))
    a = healpy.map2alm(m, lmax=96, iter=3)
    m = healpy.alm2map(healpy.almxfl(a, numpy.exp(-numpy.arange(97) / 30)), 64)
"""),
    "pykdtree, nearest points": ("pykdtree", 50, """
import numpy
from pykdtree.kdtree import KDTree
r = numpy.random.default_rng(1)
fixed, moved = r.normal(size=(5000, 3)), r.normal(size=(5000, 3))
tree = KDTree(fixed)
for k in range(50):
    away, index = tree.query(moved, k=1)
    moved += 0.1 * (fixed[index] - moved)
"""),
    "pyscf, a bond stretched": ("pyscf", 12, """
from pyscf import gto, scf, mp
for k in range(12):
    m = scf.RHF(gto.M(atom=f"N 0 0 0; N 0 0 {1 + 0.05 * k}", basis="ccpvdz", verbose=0))
    m.run()
    e = mp.MP2(m).run().e_tot
"""),
    "numba, reaction and diffusion": ("numba", 80, """
import numba, numpy
numba.config.THREADING_LAYER = "omp"
@numba.njit(parallel=True)
def laplace(u, out):
    for i in numba.prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            out[i, j] = u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4 * u[i, j]
@numba.njit(parallel=True)
def react(u, v, lu, lv):
    for i in numba.prange(u.shape[0]):
        for j in range(u.shape[1]):
            c = u[i, j] * v[i, j] ** 2
            u[i, j] += 0.2 * lu[i, j] - c + 0.04 * (1 - u[i, j])
            v[i, j] += 0.1 * lv[i, j] + c - 0.1 * v[i, j]
u, v = numpy.ones((300, 300)), numpy.zeros((300, 300))
v[140:160, 140:160] = 0.5
lu, lv = numpy.zeros_like(u), numpy.zeros_like(v)
for t in range(80):
    laplace(u, lu)
    laplace(v, lv)
    react(u, v, lu, lv)
"""),
    "PyTorch, variational coder": ("torch", 90, """
import torch
torch.set_num_threads(2)
torch.manual_seed(0)
from torch import nn
coder = nn.Sequential(nn.Linear(256, 400), nn.ReLU(), nn.Linear(400, 40))
decoder = nn.Sequential(nn.Linear(20, 400), nn.ReLU(), nn.Linear(400, 256))
both = nn.ModuleList([coder, decoder])
o = torch.optim.AdamW(both.parameters(), 1e-3)
s = torch.optim.lr_scheduler.CosineAnnealingLR(o, 90)
def loss_of(x):
    m, v = coder(x).chunk(2, 1)
    z = m + torch.randn_like(m) * (v / 2).exp()
    return nn.functional.mse_loss(decoder(z), x) - 1e-3 * (1 + v - m ** 2 - v.exp()).mean()
for epoch in range(3):
    for batch in range(30):
        o.zero_grad()
        loss = loss_of(torch.randn(512, 256))
        loss.backward()
        o.step()
        s.step()
    with torch.no_grad():
        for batch in range(8):
            loss_of(torch.randn(512, 256))
"""),
    "PyTorch, text generated": ("torch", 40, """
import torch
torch.set_num_threads(2)
torch.manual_seed(0)
from torch import nn
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.a, self.b = nn.LayerNorm(d), nn.LayerNorm(d)
    def forward(self, x, kept):
        q, k, v = self.qkv(self.a(x)).chunk(3, -1)
        if kept is not None:
            k, v = torch.cat([kept[0], k], 1), torch.cat([kept[1], v], 1)
        heads = [t.unflatten(-1, (8, -1)).transpose(1, 2) for t in (q, k, v)]
        y = nn.functional.scaled_dot_product_attention(*heads)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.b(x)))), (k, v)
d = 512
tokens, head = nn.Embedding(8000, d), nn.Linear(d, 8000)
blocks = nn.ModuleList(Block(d) for _ in range(4))
with torch.no_grad():
    now = torch.randint(0, 8000, (8, 64))
    kept = [None] * 4
    for t in range(40):
        x = tokens(now)
        for i, block in enumerate(blocks):
            x, kept[i] = block(x, kept[i])
        now = head(x[:, -1:]).softmax(-1).argmax(-1)
"""),
    "LightGBM, linear trees": ("lightgbm", 40, ROWS + """
import lightgbm
lightgbm.train({"objective": "regression", "linear_tree": True, "num_threads": 2,
                "verbose": -1}, lightgbm.Dataset(x, x[:, 0] * x[:, 1]), 40)
"""),
    "XGBoost, trees of several outputs": ("xgboost", 30, ROWS + """
import xgboost
xgboost.train({"tree_method": "hist", "multi_strategy": "multi_output_tree",
               "nthread": 2, "max_depth": 4}, xgboost.DMatrix(x, x[:, :3] ** 2), 30)
"""),
}
