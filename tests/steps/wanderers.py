# SPDX-License-Identifier: MIT
"""Real programs and libraries, the fourth set that no rule was set on, their steps
written down before their first run; for corpus.py.

Python packages: dtaidistance, camb, qsimcirq, python-graphblas, small-gicp, treelite,
tl2cgen, proxsuite, sparse_dot_mkl, pypardiso, pyFAI, galpy, scikit-image, pynndescent,
gensim, hmmlearn, abess, cmfrec, scikit-learn, xgboost-cpu, lightgbm, implicit,
faiss-cpu, paddlepaddle, torch, gpytorch, pyro-ppl, torchdiffeq, skorch, timm, diffusers, peft,
transformers, zuko, deepxde, e3nn, botorch, kornia.  Debian packages: tesseract-ocr, cdo,
gnudatalanguage, psi4, r-cran-bdgraph, r-cran-mvnfast, openmpi-bin.

What else a person may name: of botorch the evaluations of its fits, of psi4 the
iterations of its fields.  Of gensim, hmmlearn and proxsuite no thread may be OpenMP's.
"""

import os

from prepared import write

ROWS = """import numpy
r = numpy.random.default_rng(11)
x = r.normal(size=(3000, 12)).astype("float32")
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
"""

TORCH = """import torch
from torch import nn
torch.manual_seed(1)
"""

LIBRARIES = {
    "dtaidistance, 40 matrices": ("dtaidistance", 40, """
import numpy
from dtaidistance import dtw
r = numpy.random.default_rng(0)
for k in range(40):
    dtw.distance_matrix_fast(r.normal(size=(40, 60)), parallel=True)
"""),
    "CAMB, 8 cosmologies": ("camb", 8, """
import camb
for k in range(8):
    p = camb.set_params(H0=65 + k, ombh2=0.022, omch2=0.12, lmax=300)
    camb.get_results(p).get_cmb_power_spectra(p, CMB_unit="muK")
"""),
    "qsim, a circuit's angles": ("qsimcirq", 40, """
import cirq, qsimcirq
q = cirq.LineQubit.range(12)
s = qsimcirq.QSimSimulator({"t": 2})
for k in range(40):
    c = cirq.Circuit([cirq.rx(0.1 * k + i)(q[i]) for i in range(12)],
                     [cirq.CZ(q[i], q[i + 1]) for i in range(11)],
                     [cirq.ry(0.2 * k)(a) for a in q])
    s.simulate_expectation_values(c, [cirq.Z(a) for a in q])
"""),
    "GraphBLAS, ranks of pages": ("graphblas", 60, """
import numpy, graphblas as gb
r = numpy.random.default_rng(0)
n, m = 20000, 400000
a = gb.Matrix.from_coo(r.integers(0, n, m), r.integers(0, n, m), numpy.ones(m), nrows=n,
                       ncols=n, dup_op=gb.binary.plus)
d = a.reduce_rowwise(gb.monoid.plus).new()
v = gb.Vector.from_scalar(1.0 / n, n)
for k in range(60):
    w = gb.binary.truediv(v & d).new()
    u = gb.semiring.plus_times(a.T @ w).new()
    u << gb.unary.ainv(u) if k < 0 else gb.binary.times(u, 0.85)
    u << gb.binary.plus(u, 0.15 / n)
    v = u
"""),
    "small_gicp, 30 scans": ("small_gicp", 30, """
import numpy, small_gicp
r = numpy.random.default_rng(0)
p = r.uniform(-10, 10, (4000, 3))
p[:, 2] = numpy.sin(p[:, 0]) + numpy.cos(p[:, 1])
for k in range(30):
    small_gicp.align(p, p + [0.05 * k, 0.02, 0.0], registration_type="GICP",
                     downsampling_resolution=0.5, num_threads=2)
"""),
    "treelite, predicted in batches": ("treelite", 50, ROWS + """
import treelite
from sklearn.ensemble import RandomForestClassifier
m = treelite.sklearn.import_model(RandomForestClassifier(20, max_depth=6, n_jobs=1,
                                                         random_state=0).fit(x, y))
for k in range(50):
    treelite.gtil.predict(m, x[k * 10:k * 10 + 2000].astype("float64"), nthread=2)
"""),
    "ProxSuite, programs in parallel": ("proxsuite", 40, """
import numpy
from proxsuite import proxqp
r = numpy.random.default_rng(0)
v = proxqp.dense.VectorQP()
for k in range(16):
    q = proxqp.dense.QP(10, 0, 5)
    a = r.normal(size=(10, 10))
    q.init(a @ a.T + numpy.eye(10), r.normal(size=10), None, None, r.normal(size=(5, 10)),
           -numpy.ones(5), numpy.ones(5))
    v.append(q)
for k in range(40):
    proxqp.dense.solve_in_parallel(qps=v, num_threads=2)
"""),
    "MKL, power iterations": ("sparse_dot_mkl", 100, """
import glob, os, sys
os.environ["MKL_RT"] = glob.glob(sys.prefix + "/lib/libmkl_rt.so*")[0]
import numpy, scipy.sparse
from sparse_dot_mkl import dot_product_mkl
a = scipy.sparse.random(20000, 20000, 0.002, format="csr", random_state=0)
v = numpy.ones(20000)
for k in range(100):
    v = dot_product_mkl(a, v)
    v /= numpy.linalg.norm(v)
"""),
    "Pardiso, 25 time steps": ("pypardiso", 25, """
import numpy, scipy.sparse
from pypardiso import spsolve
n = 60
l = scipy.sparse.diags([-1, 2, -1], [-1, 0, 1], (n, n))
a = scipy.sparse.kron(l, scipy.sparse.eye(n)) + scipy.sparse.kron(scipy.sparse.eye(n), l)
u = numpy.ones(n * n)
for k in range(25):
    d = scipy.sparse.diags(1 + u * u)
    u = spsolve((a + d).tocsr(), u)
"""),
    "pyFAI, 40 images": ("pyFAI", 40, """
import numpy
from pyFAI.integrator.azimuthal import AzimuthalIntegrator
a = AzimuthalIntegrator(dist=0.1, poni1=0.02, poni2=0.02, pixel1=1e-4, pixel2=1e-4,
                        wavelength=1e-10)
r = numpy.random.default_rng(0)
for k in range(40):
    a.integrate1d(r.poisson(50, (400, 400)).astype("float32"), 300,
                  method=("bbox", "csr", "cython"))
"""),
    "galpy, orbits of 30 clusters": ("galpy", 30, """
import numpy
from galpy.orbit import Orbit
from galpy.potential import MWPotential2014
r = numpy.random.default_rng(0)
t = numpy.linspace(0, 5, 301)
for k in range(30):
    o = Orbit(numpy.c_[r.uniform(0.8, 1.2, 40), r.normal(0, 0.1, 40), r.normal(1, 0.1, 40),
                       r.normal(0, 0.1, 40), r.normal(0, 0.1, 40), r.uniform(0, 6, 40)])
    o.integrate(t, MWPotential2014, method="dop853_c", progressbar=False)
"""),
    "scikit-image, 40 backgrounds": ("skimage", 40, """
import numpy
from skimage.restoration import rolling_ball
r = numpy.random.default_rng(0)
for k in range(40):
    i = r.uniform(0, 255, (120, 120))
    numpy.abs(i - rolling_ball(i, radius=12, num_threads=2)).mean()
"""),
    "pynndescent, 20 indices": ("pynndescent", 20, """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numpy, pynndescent
r = numpy.random.default_rng(0)
for k in range(20):
    pynndescent.NNDescent(r.normal(size=(800, 8)).astype("float32"), n_neighbors=10,
                          n_iters=4, random_state=k, n_jobs=2).neighbor_graph
"""),
    "gensim, 20 epochs": ("gensim", 20, """
import random
from gensim.models import Word2Vec
random.seed(0)
s = [[str(int(random.paretovariate(1)) % 500) for i in range(20)] for j in range(2000)]
Word2Vec(s, vector_size=32, epochs=20, workers=2, min_count=1)
"""),
    "hmmlearn, 30 iterations": ("hmmlearn", 30, """
import numpy
from hmmlearn.hmm import GaussianHMM
x = numpy.random.default_rng(0).normal(size=(3000, 3)).cumsum(0) % 5
GaussianHMM(5, n_iter=30, tol=0, random_state=0).fit(x)
"""),
    "abess, 25 resamplings": ("abess", 25, ROWS + """
from abess import LinearRegression
for k in range(25):
    at = r.integers(0, 3000, 1500)
    LinearRegression(support_size=range(6), cv=4, thread=2).fit(x[at], x[at, 0] + y[at])
"""),
    "cmfrec, 15 rounds": ("cmfrec", 15, """
import numpy, pandas, cmfrec
r = numpy.random.default_rng(0)
d = pandas.DataFrame({"UserId": r.integers(0, 300, 6000), "ItemId": r.integers(0, 200, 6000),
                      "Rating": r.uniform(1, 5, 6000)}).drop_duplicates(["UserId", "ItemId"])
cmfrec.CMF(k=12, niter=15, nthreads=2, use_cg=False, finalize_chol=False,
           verbose=False).fit(d)
"""),
    "sklearn, DBSCAN in 30 windows": ("sklearn", 30, ROWS + """
from sklearn.cluster import DBSCAN
for k in range(30):
    DBSCAN(2.5, algorithm="brute").fit(x[k * 50:k * 50 + 1000])
"""),
    "sklearn, labels spread over 20 graphs": ("sklearn", 20, ROWS + """
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
for k in range(20):
    a = KNeighborsClassifier(3 + k, algorithm="brute").fit(x[:2000], y[:2000])
    b = KNeighborsRegressor(3 + k, algorithm="brute").fit(x[:2000], x[:2000, 1])
    a.predict(x[2000:]), b.predict(x[2000:])
"""),
    "XGBoost, 60 requests": ("xgboost", 60, ROWS + """
import xgboost
b = xgboost.train({"objective": "binary:logistic", "nthread": 2, "tree_method": "hist"},
                  xgboost.DMatrix(x, y), 12)
for k in range(60):
    b.inplace_predict(x[k * 20:k * 20 + 1500])
"""),
    "XGBoost, stopped early": ("xgboost", None, ROWS + """
import xgboost
b = xgboost.XGBClassifier(n_estimators=200, learning_rate=0.3, n_jobs=2,
                          early_stopping_rounds=8).fit(x[:2000], y[:2000],
                          eval_set=[(x[2000:], y[2000:])], verbose=False)
print("steps", b.get_booster().num_boosted_rounds())
"""),
    "LightGBM, three times 15, refitted": ("lightgbm", 45, ROWS + """
import lightgbm
m = None
for k in range(3):
    d = lightgbm.Dataset(x[k * 500:], y[k * 500:], free_raw_data=False)
    m = lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 2,
                        "force_row_wise": True}, d, 15, init_model=m)
"""),
    "LightGBM, explained": ("lightgbm", 30, ROWS + """
import lightgbm
m = lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 2},
                   lightgbm.Dataset(x, y), 40)
for k in range(30):
    m.predict(x[k * 40:k * 40 + 600], pred_contrib=True)
"""),
    "implicit, items for 45 groups": ("implicit", 45, """
import numpy, scipy.sparse, implicit.als
m = scipy.sparse.random(2000, 900, 0.02, format="csr", random_state=0, dtype="float32")
a = implicit.als.AlternatingLeastSquares(16, iterations=4, num_threads=2, random_state=0)
a.fit(m, show_progress=False)
for k in range(45):
    u = numpy.arange(k * 40, k * 40 + 200)
    a.recommend(u, m[u], N=10)
"""),
    "faiss, scalar quantizer, 35 shards": ("faiss", 35, """
import faiss, numpy
faiss.omp_set_num_threads(2)
r = numpy.random.default_rng(0)
for k in range(35):
    i = faiss.IndexScalarQuantizer(16, faiss.ScalarQuantizer.QT_8bit)
    x = r.normal(size=(2500, 16)).astype("float32")
    i.train(x)
    i.add(x)
    i.search(x[:200], 5)
"""),
}

LIBRARIES["Paddle, 60 batches"] = ("paddle", 60, """
import paddle
from paddle import nn
paddle.seed(0)
n = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10))
o = paddle.optimizer.Adam(1e-3, parameters=n.parameters())
for k in range(60):
    x, y = paddle.randn([256, 128]), paddle.randint(0, 10, [256])
    loss = nn.functional.cross_entropy(n(x), y)
    loss.backward()
    o.step()
    o.clear_grad()
""")

TORCHES = {
    "gpytorch, exact": ("gpytorch", 50, TORCH + """
import gpytorch
class Model(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))
x = torch.rand(300, 2)
y = (6 * x).sin().sum(1)
l = gpytorch.likelihoods.GaussianLikelihood()
m = Model(x, y, l)
o = torch.optim.Adam(m.parameters(), 0.1)
f = gpytorch.mlls.ExactMarginalLogLikelihood(l, m)
for k in range(50):
    o.zero_grad()
    loss = -f(m(x), y)
    loss.backward()
    o.step()
"""),
    "Pyro, variational": ("pyro", 60, TORCH + """
import pyro, pyro.distributions as dist
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal
x = torch.randn(2000, 100)
y = x @ torch.randn(100) + 0.1 * torch.randn(2000)
def model(x, y):
    w = pyro.sample("w", dist.Normal(torch.zeros(100), 1.0).to_event(1))
    b = pyro.sample("b", dist.Normal(0.0, 1.0))
    with pyro.plate("rows", 2000):
        pyro.sample("y", dist.Normal(x @ w + b, 0.1), obs=y)
s = SVI(model, AutoNormal(model), pyro.optim.Adam({"lr": 0.01}), Trace_ELBO())
for k in range(60):
    s.step(x, y)
"""),
    "torchdiffeq, adaptive": ("torchdiffeq", 35, TORCH + """
from torchdiffeq import odeint
f = nn.Sequential(nn.Linear(2, 256), nn.Tanh(), nn.Linear(256, 2))
o = torch.optim.RMSprop(f.parameters(), 1e-3)
t = torch.linspace(0, 2, 12)
for k in range(35):
    o.zero_grad()
    y = odeint(lambda t, y: f(y ** 3), torch.rand(512, 2), t, rtol=1e-3, atol=1e-4)
    y.abs().mean().backward()
    o.step()
"""),
    "skorch, 3 epochs": ("skorch", 48, TORCH + """
from skorch import NeuralNetClassifier
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 3))
    def forward(self, x):
        return self.net(x).softmax(-1)
NeuralNetClassifier(Net, max_epochs=3, batch_size=40, optimizer=torch.optim.Adam, verbose=0,
                    iterator_train__shuffle=True).fit(torch.randn(800, 64).numpy(),
                    torch.randint(0, 3, (800,)).numpy())
"""),
    "timm, averaged weights": ("timm", 20, TORCH + """
import timm, timm.optim, timm.scheduler
from timm.utils import ModelEmaV2
m = timm.create_model("mobilenetv3_small_050", num_classes=10)
e = ModelEmaV2(m, 0.99)
o = timm.optim.create_optimizer_v2(m, "adamw", lr=1e-3)
s = timm.scheduler.CosineLRScheduler(o, 20)
for k in range(20):
    x, y = torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,))
    o.zero_grad()
    nn.functional.cross_entropy(m(x), y, label_smoothing=0.1).backward()
    o.step()
    e.update(m)
    s.step_update(k)
"""),
    "diffusers, noise, sampled last": ("diffusers", 24, TORCH + """
from diffusers import DDPMScheduler, UNet2DModel
u = UNet2DModel(16, 3, 3, block_out_channels=(32, 32), layers_per_block=1, norm_num_groups=8,
                down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                up_block_types=("AttnUpBlock2D", "UpBlock2D"))
d = DDPMScheduler(100)
o = torch.optim.AdamW(u.parameters(), 1e-4)
for k in range(24):
    x, e, t = torch.randn(8, 3, 16, 16), torch.randn(8, 3, 16, 16), torch.randint(0, 100, (8,))
    nn.functional.mse_loss(u(d.add_noise(x, e, t), t).sample, e).backward()
    nn.utils.clip_grad_norm_(u.parameters(), 1.0)
    o.step()
    o.zero_grad()
d.set_timesteps(10)
x = torch.randn(4, 3, 16, 16)
with torch.no_grad():
    for t in d.timesteps:
        x = d.step(u(x, t).sample, t, x).prev_sample
"""),
    "peft, adapters of a language model": ("peft", 30, TORCH + """
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel
m = get_peft_model(GPT2LMHeadModel(GPT2Config(vocab_size=300, n_positions=64, n_embd=128,
                                              n_layer=3, n_head=4)),
                   LoraConfig(r=4, target_modules=["c_attn"], fan_in_fan_out=True))
o = torch.optim.AdamW([p for p in m.parameters() if p.requires_grad], 1e-3)
for epoch in range(3):
    for k in range(10):
        x = torch.randint(0, 300, (8, 48))
        m(input_ids=x, labels=x).loss.backward()
        o.step()
        o.zero_grad()
    with torch.no_grad():
        for k in range(3):
            x = torch.randint(0, 300, (8, 48))
            m(input_ids=x, labels=x).loss
"""),
    "zuko, a flow": ("zuko", 60, TORCH + """
import zuko
f = zuko.flows.MAF(6, 2, transforms=3, hidden_features=(128, 128))
o = torch.optim.Adam(f.parameters(), 1e-3)
for k in range(60):
    x, c = torch.randn(256, 6), torch.rand(256, 2)
    loss = -f(c).log_prob(x * (1 + c.sum(1, keepdim=True))).mean()
    o.zero_grad()
    loss.backward()
    o.step()
"""),
    "DeepXDE, Poisson's equation": ("deepxde", 80, """
import os
os.environ["DDE_BACKEND"] = "pytorch"
import deepxde as dde
g = dde.geometry.Rectangle([0, 0], [1, 1])
def pde(x, u):
    return dde.grad.hessian(u, x, i=0, j=0) + dde.grad.hessian(u, x, i=1, j=1) + 1
d = dde.data.PDE(g, pde, dde.icbc.DirichletBC(g, lambda x: 0, lambda x, on: on), 400, 80)
m = dde.Model(d, dde.nn.FNN([2, 64, 64, 1], "tanh", "Glorot normal"))
m.compile("adam", lr=1e-3)
m.train(iterations=80, display_every=20, verbose=0)
"""),
    "e3nn, energies and forces": ("e3nn", 25, TORCH + """
from e3nn import o3
from e3nn.nn.models.v2106.gate_points_networks import SimpleNetwork
n = SimpleNetwork("0e", "0e", max_radius=2.0, num_neighbors=4.0, num_nodes=20.0, layers=2,
                  mul=8, lmax=1)
o = torch.optim.Adam(n.parameters(), 1e-2)
for k in range(25):
    p = (torch.rand(20, 3) * 3).requires_grad_()
    e = n({"pos": p, "x": torch.ones(20, 1)}).sum()
    f, = torch.autograd.grad(e, p, create_graph=True)
    o.zero_grad()
    (e.square() + f.square().mean()).backward()
    o.step()
"""),
    "BoTorch, 12 questions": ("botorch", 12, TORCH + """
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
f = lambda x: -(x - 0.3).square().sum(1, keepdim=True) + (9 * x).sin().sum(1, keepdim=True)
x = torch.rand(30, 3, dtype=torch.double)
y = f(x)
for k in range(12):
    m = SingleTaskGP(x, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(m.likelihood, m))
    c, _ = optimize_acqf(LogExpectedImprovement(m, y.max()), torch.stack(
        [torch.zeros(3), torch.ones(3)]).double(), 1, num_restarts=4, raw_samples=64)
    x, y = torch.cat([x, c]), torch.cat([y, f(c)])
"""),
    "kornia, a picture moved into place": ("kornia", 40, TORCH + """
import kornia
a = kornia.filters.gaussian_blur2d(torch.rand(2, 3, 96, 96), (9, 9), (2.0, 2.0))
b = torch.roll(a, 3, 3)
h = nn.Parameter(torch.eye(3).repeat(2, 1, 1))
o = torch.optim.Adam([h], 1e-3)
for k in range(40):
    w = kornia.geometry.transform.warp_perspective(a, h, (96, 96))
    loss = (w - b).abs().mean() + kornia.losses.ssim_loss(w, b, 5)
    o.zero_grad()
    loss.backward()
    o.step()
"""),
    "PyTorch, one optimizer a layer": ("torch", 40, TORCH + """
layers = nn.ModuleList(nn.Linear(128, 128) for i in range(3))
each = [torch.optim.SGD(l.parameters(), 0.05) for l in layers]
for k in range(40):
    x = torch.randn(256, 128)
    for l, o in zip(layers, each):
        good, bad = l(x).relu(), l(x.roll(1, 0) * 1.5).relu()
        loss = (1 + (bad.square().mean(1) - good.square().mean(1)).exp()).log().mean()
        o.zero_grad()
        loss.backward()
        o.step()
        x = good.detach()
"""),
    "PyTorch, weights by evolution": ("torch", 45, TORCH + """
n = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 1))
w = nn.utils.parameters_to_vector(n.parameters()).detach()
x = torch.randn(1024, 64)
y = x[:, :1].sin()
with torch.no_grad():
    for k in range(45):
        noise = torch.randn(12, len(w))
        score = []
        for e in noise:
            nn.utils.vector_to_parameters(w + 0.05 * e, n.parameters())
            score.append(-(n(x) - y).square().mean())
        s = torch.stack(score)
        w += 0.02 * ((s - s.mean()) / s.std()) @ noise
"""),
}

PYTHON = LIBRARIES | TORCHES


def pages(folder):
    from PIL import Image, ImageDraw
    made = []
    for k in range(10):
        page = Image.new("L", (900, 300), 255)
        draw = ImageDraw.Draw(page)
        for line in range(6):
            draw.text((20, 20 + 40 * line), f"Page {k}, line {line}: the quick brown fox "
                      "jumps over the lazy dog and 12 others", 0, font_size=24)
        page.save(os.path.join(folder, f"{k}.png"))
        made.append(f"{k}.png")
    write(folder, "pages.txt", "\n".join(made) + "\n")
    return ["tesseract", "pages.txt", "out"]


def remapped(_):
    return ["cdo", "-s", "-P", "2", "-f", "nc", "-remapbil,r72x36", "-addc,1",
            "-duplicate,60", "-random,r180x90,1", "out.nc"]


def heat(folder):
    write(folder, "heat.pro", "u = randomu(1, 400, 400)\nfor k = 0, 79 do begin & "
          "u = u + 0.2 * (shift(u, 1, 0) + shift(u, -1, 0) + shift(u, 0, 1) + "
          "shift(u, 0, -1) - 4 * u) & endfor\nprint, total(u)\nexit\n")
    return ["gdl", "-quiet", "heat.pro"]


def stretched(folder):
    write(folder, "h2.dat", "memory 500 mb\nset basis cc-pvdz\nset scf_type df\n"
          "for d in [0.5 + 0.05 * i for i in range(12)]:\n"
          "    molecule = psi4.geometry('H\\nF 1 %f' % (d + 0.3))\n"
          "    energy('scf')\n")
    return ["psi4", "-n", "2", "-i", "h2.dat", "-o", "h2.out"]


def graphs(_):
    return ["Rscript", "-e", """
library(BDgraph); set.seed(1)
d <- bdgraph.sim(n = 60, p = 30, vis = FALSE)
bdgraph(d, iter = 300, burnin = 0, cores = 2, verbose = FALSE)"""]


def normals(_):
    return ["Rscript", "-e", """
library(mvnfast); set.seed(1)
s <- diag(8) + 0.3
for (k in 1:40) { x <- rmvn(20000, rep(0, 8), s, ncores = 2)
  d <- dmvn(x, rep(0, 8), s, ncores = 2) }"""]


SHARED = """
import os, torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
dist.init_process_group("gloo", init_method="file://" + os.path.abspath("meet"), rank=rank,
                        world_size=2)
torch.manual_seed(0)
m = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(128, 512), nn.ReLU(),
                                                      nn.Linear(512, 10)))
o = torch.optim.SGD(m.parameters(), 0.1, momentum=0.9)
for epoch in range(2):
    for k in range(25):
        o.zero_grad()
        nn.functional.cross_entropy(m(torch.randn(256, 128)), torch.randint(0, 10, (256,))
                                    ).backward()
        o.step()
    with torch.no_grad():
        m.module(torch.randn(256, 128))
dist.destroy_process_group()
"""

GROWN = """
import os, numpy, lightgbm
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
r = numpy.random.default_rng(rank)
x = r.normal(size=(2000, 10))
lightgbm.train({"objective": "regression", "verbose": -1, "num_threads": 2,
                "tree_learner": "data", "num_machines": 2, "local_listen_port": 23456 + rank,
                "machines": "127.0.0.1:23456,127.0.0.1:23457", "pre_partition": True},
               lightgbm.Dataset(x, x[:, 0] * x[:, 1]), 30)
"""


def ranks(text):
    def prepare(folder):
        write(folder, "rank.py", text)
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2",
                os.environ.get("RANKS_PYTHON", "python3"), "rank.py"]
    return prepare


OTHERS = {
    "tesseract, 10 pages": ("tesseract", 10, pages),
    "CDO, 60 fields": ("cdo", 60, remapped),
    "GDL, heat": ("gdl", 80, heat),
    "psi4, a bond stretched": ("psi4", 12, stretched),
    "R BDgraph": ("Rscript", 300, graphs),
    "R mvnfast": ("Rscript", 40, normals),
    "PyTorch, two ranks": ("mpirun", 50, ranks(SHARED)),
    "LightGBM, two ranks": ("mpirun", 30, ranks(GROWN)),
}
