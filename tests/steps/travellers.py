# SPDX-License-Identifier: MIT
"""Programs on libraries, the third set that no rule was set on, their steps written
down before their first run; for corpus.py.

Python packages: scikit-learn, lightgbm, xgboost-cpu, faiss-cpu, lightfm-next, catboost,
statsmodels, pyscf, torch, torch-geometric, transformers, accelerate,
stable-baselines3, lightning.  Debian packages: gromacs, plastimatch, r-cran-kohonen,
r-cran-rcppml.

None of catboost's and statsmodels' threads are OpenMP's.  Of the search over settings
its 12 fits, of the cross-validation the trees of all folds are steps, too.
"""

import os
import subprocess

ROWS = """import numpy
r = numpy.random.default_rng(7)
x = r.normal(size=(2500, 10)).astype("float32")
y = (x[:, 0] - x[:, 1] * x[:, 2] > 0).astype(int)
"""

TORCH = """import torch
from torch import nn
torch.manual_seed(0)
"""

PYTHON = {
    "sklearn, search over settings": ("sklearn", 240, ROWS + """
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
GridSearchCV(HistGradientBoostingClassifier(max_iter=20, early_stopping=False),
             {"max_leaf_nodes": [7, 15], "learning_rate": [0.1, 0.3]}, cv=3,
             refit=False).fit(x, y)
"""),
    "sklearn, k-means by parts": ("sklearn", 60, ROWS + """
from sklearn.cluster import MiniBatchKMeans
k = MiniBatchKMeans(12, random_state=0)
for i in range(60):
    k.partial_fit(x[r.permutation(2500)[:300]])
"""),
    "sklearn, outliers in windows": ("sklearn", 25, ROWS + """
from sklearn.neighbors import LocalOutlierFactor
for i in range(25):
    LocalOutlierFactor(15, algorithm="brute").fit_predict(x[i * 50:i * 50 + 1200])
"""),
    "sklearn, nearest in cross-validation": ("sklearn", 30, ROWS + """
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
for a, b in KFold(30).split(x):
    KNeighborsClassifier(5, algorithm="brute").fit(x[a], y[a]).score(x[b], y[b])
"""),
    "LightGBM, monotone, extra trees": ("lightgbm", 45, ROWS + """
import lightgbm
lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 2,
                "extra_trees": True, "monotone_constraints": [1] + [0] * 9},
               lightgbm.Dataset(x, y), 45)
"""),
    "LightGBM, cross-validated": ("lightgbm", 40, ROWS + """
import lightgbm
lightgbm.cv({"objective": "binary", "verbose": -1, "num_threads": 2},
            lightgbm.Dataset(x, y), 40, nfold=4)
"""),
    "LightGBM, predicted in batches": ("lightgbm", 50, ROWS + """
import lightgbm
m = lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 2},
                   lightgbm.Dataset(x, y), 4)
for i in range(50):
    m.predict(x[r.permutation(2500)[:1000]])
"""),
    "XGBoost, own objective": ("xgboost", 35, ROWS + """
import xgboost
def squared(p, d):
    return p - d.get_label(), numpy.ones_like(p)
d = xgboost.QuantileDMatrix(x, y, max_bin=64)
xgboost.train({"nthread": 2, "tree_method": "hist", "max_bin": 64}, d, 35, obj=squared,
              custom_metric=lambda p, d: ("mae", float(abs(p - d.get_label()).mean())),
              evals=[(d, "train")], verbose_eval=False)
"""),
    "XGBoost, approximate, columns drawn": ("xgboost", 55, ROWS + """
import xgboost
xgboost.train({"objective": "binary:logistic", "nthread": 2, "tree_method": "approx",
               "colsample_bynode": 0.5, "max_depth": 4}, xgboost.DMatrix(x, y), 55)
"""),
    "faiss, within a radius": ("faiss", 45, ROWS + """
import faiss
faiss.omp_set_num_threads(2)
i = faiss.IndexFlatL2(10)
i.add(x)
for k in range(45):
    i.range_search(x[k * 40:k * 40 + 40], 4.0)
"""),
    "LightFM, tested": ("lightfm", 30, """
import numpy, scipy.sparse
from lightfm import LightFM
from lightfm.evaluation import auc_score
m = scipy.sparse.random(400, 300, 0.05, format="coo", random_state=0, dtype=numpy.float32)
m.data[:] = 1
model = LightFM(16, loss="warp", random_state=0)
for epoch in range(30):
    model.fit_partial(m, epochs=1, num_threads=2)
    auc_score(model, m, num_threads=2)
"""),
    "catboost": ("catboost", 40, ROWS + """
import catboost
catboost.CatBoostClassifier(iterations=40, thread_count=2, verbose=False,
                            allow_writing_files=False).fit(x, y)
"""),
    "statsmodels, 40 resamplings": ("statsmodels", 40, ROWS + """
import statsmodels.api as sm
for k in range(40):
    at = r.integers(0, 2500, 2500)
    sm.Logit(y[at], sm.add_constant(x[at])).fit(disp=0)
"""),
    "pyscf, coupled clusters": ("pyscf", None, """
from pyscf import gto, scf, cc
m = scf.RHF(gto.M(atom="O 0 0 0; H 0 0 1; H 0 1 0", basis="631g", verbose=0)).run()
c = cc.CCSD(m)
c.conv_tol = 1e-11
c.kernel()
print("steps", c.cycles)
"""),
    "PyTorch, REINFORCE": ("torch", 40, TORCH + """
p = nn.Sequential(nn.Linear(4, 512), nn.Tanh(), nn.Linear(512, 2))
o = torch.optim.Adam(p.parameters(), 1e-2)
for episode in range(40):
    s, logs, rewards = torch.zeros(4), [], []
    for t in range(10 + int(torch.randint(0, 30, ()))):
        d = torch.distributions.Categorical(logits=p(s))
        a = d.sample()
        logs.append(d.log_prob(a))
        s = 0.9 * s + 0.1 * torch.randn(4) + (a - 0.5) * 0.1
        rewards.append(1 - s.abs().sum())
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0).detach()
    loss = -(torch.stack(logs) * (returns - returns.mean())).sum()
    o.zero_grad()
    loss.backward()
    o.step()
"""),
    "stable-baselines3, PPO": ("stable_baselines3", 64, """
from stable_baselines3 import PPO
PPO("MlpPolicy", "CartPole-v1", n_steps=128, batch_size=64, n_epochs=4, device="cpu",
    policy_kwargs={"net_arch": [256, 256]}, seed=0).learn(1024)
"""),
    "PyTorch, diffusion, sampled last": ("torch", 40, TORCH + """
net = nn.Sequential(nn.Conv2d(2, 32, 3, padding=1), nn.SiLU(), nn.Conv2d(32, 32, 3, padding=1),
                    nn.SiLU(), nn.Conv2d(32, 1, 3, padding=1))
ema = [p.detach().clone() for p in net.parameters()]
o = torch.optim.AdamW(net.parameters(), 1e-3)
beta = torch.linspace(1e-4, 0.02, 100)
alpha = (1 - beta).cumprod(0)
for k in range(40):
    x, e = torch.rand(16, 1, 16, 16), torch.randn(16, 1, 16, 16)
    t = torch.randint(0, 100, (16,))
    a = alpha[t].view(-1, 1, 1, 1)
    z = torch.cat([a.sqrt() * x + (1 - a).sqrt() * e, (t / 100).view(-1, 1, 1, 1).expand_as(x)], 1)
    o.zero_grad()
    nn.functional.mse_loss(net(z), e).backward()
    o.step()
    with torch.no_grad():
        for m, p in zip(ema, net.parameters()):
            m.lerp_(p, 0.01)
with torch.no_grad():
    x = torch.randn(16, 1, 16, 16)
    for t in range(20):
        x = x - 0.05 * net(torch.cat([x, torch.full_like(x, t / 20)], 1))
"""),
    "torch_geometric, graph convolutions": ("torch_geometric", 60, TORCH + """
from torch_geometric.nn import GCNConv
x, edge = torch.randn(1500, 64), torch.randint(0, 1500, (2, 8000))
y = torch.randint(0, 5, (1500,))
a, b = GCNConv(64, 128), GCNConv(128, 5)
o = torch.optim.Adam([*a.parameters(), *b.parameters()], 0.01, weight_decay=5e-4)
for epoch in range(60):
    a.train()
    o.zero_grad()
    out = b(nn.functional.dropout(a(x, edge).relu()), edge)
    nn.functional.cross_entropy(out[:1000], y[:1000]).backward()
    o.step()
    a.eval()
    with torch.no_grad():
        (b(a(x, edge).relu(), edge).argmax(1)[1000:] == y[1000:]).float().mean()
"""),
    "PyTorch, characters, text each 10": ("torch", 50, TORCH + """
net, head = nn.GRU(32, 128, batch_first=True), nn.Linear(128, 40)
embed = nn.Embedding(40, 32)
o = torch.optim.RMSprop([*net.parameters(), *head.parameters(), *embed.parameters()], 1e-3)
h = None
for k in range(50):
    x = torch.randint(0, 40, (16, 21))
    out, h = net(embed(x[:, :-1]), None if h is None else h.detach())
    o.zero_grad()
    nn.functional.cross_entropy(head(out).flatten(0, 1), x[:, 1:].flatten()).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    o.step()
    if k % 10 == 9:
        with torch.no_grad():
            c, s = torch.zeros(1, 1, dtype=torch.long), None
            for i in range(30):
                out, s = net(embed(c), s)
                c = head(out[:, -1:]).softmax(-1)[0].multinomial(1)
"""),
    "transformers, Trainer, accumulated": ("transformers", 24, TORCH + """
import os
os.environ["HF_HUB_OFFLINE"] = "1"
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
m = BertForSequenceClassification(BertConfig(vocab_size=300, hidden_size=64, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=128, max_position_embeddings=32))
rows = [{"input_ids": torch.randint(0, 300, (16,)), "labels": torch.tensor(i % 2)}
        for i in range(128)]
Trainer(m, TrainingArguments("out", num_train_epochs=3, per_device_train_batch_size=8,
        gradient_accumulation_steps=2, eval_strategy="epoch", save_strategy="no",
        report_to=[], use_cpu=True, disable_tqdm=True), train_dataset=rows,
        eval_dataset=rows[:32]).train()
"""),
    "lightning, validated": ("lightning", 50, TORCH + """
import lightning
class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 4))
    def training_step(self, batch, i):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])
    def validation_step(self, batch, i):
        self.log("v", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
data = torch.utils.data.TensorDataset(torch.randn(400, 32), torch.randint(0, 4, (400,)))
load = lambda: torch.utils.data.DataLoader(data, 16)
lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                  enable_progress_bar=False).fit(Module(), load(), load())
"""),
    "PyTorch, two generators, two judges": ("torch", 30, TORCH + """
import itertools
net = lambda: nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
f, g, a, b = net(), net(), net(), net()
both = torch.optim.Adam(itertools.chain(f.parameters(), g.parameters()), 2e-4)
first, second = torch.optim.Adam(a.parameters(), 2e-4), torch.optim.Adam(b.parameters(), 2e-4)
for k in range(30):
    x, y = torch.randn(64, 64), torch.rand(64, 64)
    both.zero_grad()
    u, v = f(x), g(y)
    (a(u).mean() + b(v).mean() + (g(u) - x).abs().mean() + (f(v) - y).abs().mean()).backward()
    both.step()
    first.zero_grad()
    ((a(y) - 1).square().mean() + a(u.detach()).square().mean()).backward()
    first.step()
    second.zero_grad()
    ((b(x) - 1).square().mean() + b(v.detach()).square().mean()).backward()
    second.step()
"""),
    "PyTorch, head first, then all": ("torch", 70, TORCH + """
body, head = nn.Sequential(nn.Linear(64, 512), nn.ReLU()), nn.Linear(512, 8)
for p in body.parameters():
    p.requires_grad_(False)
def stage(parameters, rate, steps):
    o = torch.optim.AdamW(parameters, rate)
    for k in range(steps):
        x, y = torch.randn(128, 64), torch.randint(0, 8, (128,))
        o.zero_grad()
        nn.functional.cross_entropy(head(body(x)), y).backward()
        o.step()
stage(head.parameters(), 1e-3, 20)
for p in body.parameters():
    p.requires_grad_(True)
stage([*body.parameters(), *head.parameters()], 1e-4, 50)
"""),
    "PyTorch, contrasted, scaled": ("torch", 40, TORCH + """
net = nn.Sequential(nn.Conv1d(4, 32, 5), nn.BatchNorm1d(32), nn.ReLU(), nn.Flatten(),
                    nn.Linear(32 * 60, 64))
o = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9, nesterov=True)
s = torch.optim.lr_scheduler.CosineAnnealingLR(o, 40)
for k in range(40):
    x = torch.randn(64, 4, 64)
    with torch.autocast("cpu", torch.bfloat16):
        a = nn.functional.normalize(net(x + 0.1 * torch.randn_like(x)), dim=1)
        b = nn.functional.normalize(net(x.flip(2)), dim=1)
        loss = nn.functional.cross_entropy(a @ b.T / 0.1, torch.arange(64))
    o.zero_grad()
    loss.backward()
    o.step()
    s.step()
"""),
    "PyTorch, requests of any size": ("torch", 45, TORCH + """
net = nn.Sequential(nn.Embedding(500, 64), nn.TransformerEncoder(
    nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), 2)).eval()
with torch.inference_mode():
    for k in range(45):
        net(torch.randint(0, 500, (1 + k % 7, 8 + k % 11))).mean(1)
"""),
}


def kohonen(_):
    return ["Rscript", "-e", """
library(kohonen); set.seed(1)
x <- matrix(rnorm(20000), ncol = 10)
som(x, grid = somgrid(6, 6, "hexagonal"), rlen = 40, mode = "pbatch", cores = 2)"""]


def factors(_):
    return ["Rscript", "-e", """
library(RcppML); library(Matrix); set.seed(1)
nmf(rsparsematrix(800, 500, 0.05), 8, tol = 0, maxit = 50, verbose = FALSE)"""]


def registration(folder):
    for name, at in (("a", "0 0 0"), ("b", "8 -6 5")):
        subprocess.run(["plastimatch", "synth", "--pattern", "gauss", "--dim", "40 40 40",
                        "--gauss-center", at, "--output", name + ".mha"],
                       cwd=folder, check=True, capture_output=True)
    with open(os.path.join(folder, "r.txt"), "w", encoding="utf-8") as file:
        file.write("[GLOBAL]\nfixed=a.mha\nmoving=b.mha\nxform_out=x.txt\n[STAGE]\n"
                   "xform=bspline\noptim=steepest\nimpl=plastimatch\nmetric=mse\n"
                   "threading=openmp\nmax_its=30\nconvergence_tol=0\ngrid_spac=20 20 20\n")
    return ["plastimatch", "register", "r.txt"]


def argon(folder):
    with open(os.path.join(folder, "ar.gro"), "w", encoding="utf-8") as file:
        file.write("argon\n1000\n")
        for i in range(1000):
            file.write("%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n"
                       % (i + 1, "AR", "AR", i + 1, i % 10 * 0.36, i // 10 % 10 * 0.36,
                          i // 100 * 0.36))
        file.write("   3.60000   3.60000   3.60000\n")
    with open(os.path.join(folder, "topol.top"), "w", encoding="utf-8") as file:
        file.write("[ defaults ]\n1 2 no 1.0 1.0\n[ atomtypes ]\nAR 39.948 0 A 0.3405 0.996\n"
                   "[ moleculetype ]\nAR 1\n[ atoms ]\n1 AR 1 AR AR 1 0\n[ system ]\nargon\n"
                   "[ molecules ]\nAR 1000\n")
    with open(os.path.join(folder, "md.mdp"), "w", encoding="utf-8") as file:
        file.write("integrator = sd\ndt = 0.002\nnsteps = 150\ncoulombtype = cut-off\n"
                   "rcoulomb = 1.0\nrvdw = 1.0\ntc-grps = System\ntau-t = 1\nref-t = 90\n"
                   "nstlist = 10\ngen-vel = yes\n")
    subprocess.run(["gmx", "grompp", "-f", "md.mdp", "-c", "ar.gro", "-o", "md.tpr",
                    "-maxwarn", "5"], cwd=folder, check=True, capture_output=True)
    return ["gmx", "mdrun", "-s", "md.tpr", "-ntmpi", "1", "-ntomp", "2", "-nb", "cpu"]


OTHERS = {
    "R kohonen, in batches": ("Rscript", 40, kohonen),
    "R RcppML": ("Rscript", 50, factors),
    "plastimatch, registered": ("plastimatch", 30, registration),
    "GROMACS, argon": ("gmx", 151, argon),
}
