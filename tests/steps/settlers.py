# SPDX-License-Identifier: MIT
"""Public programs and libraries, the sixth set that no rule was set on, their steps
written down before their first run; for corpus.py.  Of several numbers each is right, 0
is none: nobody knows a single answer.  Where the program's own log has it, a function finds
it there.  Rules may be set on those of `is_open` alone, which splits the set by its names;
the others are held out.

Python packages: gpboost, mlpack, lammps, open3d, dipy, pyagrum,
phono3py, galsim, pynbody, pyrocko, gstools-cython, cornac, block2, pyscf,
stumpy, scikit-learn, torch, pytorch-tabnet, pykeen, sbi,
denoising-diffusion-pytorch, stable-baselines3, fastai, x-transformers, pyod.  Debian
packages: python3-pysph, python3-escript, python3-graph-tool, python3-astroscrappy,
xgboost, mopac, quantum-espresso, cp2k, elk-lapw, gromacs, gretl, ngspice, muscle,
rawtherapee, imagemagick, ffmpeg, pfstools, pfstmo, enfuse, r-cran-mgcv, r-cran-glmmtmb,
r-cran-huge, r-cran-parmigene, r-cran-gower, r-cran-amore, r-cran-genie, octave, elastix,
libopenblas0-openmp.
"""

import hashlib
import os
import random
import re
import subprocess

from prepared import files, script, write


def is_open(name):
    return int(hashlib.md5(name.encode()).hexdigest(), 16) % 2 == 0


def said(text):
    """It says so once a step."""
    return lambda output: output.count(text)


def printed(output):
    """Any of the numbers that it prints."""
    return tuple(map(int, re.findall(r"^ ?steps +(\d+)", output, re.M)))


ROWS = """import numpy
r = numpy.random.default_rng(5)
x = r.normal(size=(3000, 12))
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
"""

# How often any optimizer of PyTorch stepped, for trainings in libraries.
COUNTED = """
import atexit, torch
from torch.optim.optimizer import register_optimizer_step_post_hook
torch.manual_seed(1)
steps = []
register_optimizer_step_post_hook(lambda *_: steps.append(1))
atexit.register(lambda: print("\\nsteps", len(steps)))
"""

LIBRARIES = {
    "GPBoost, 40 rounds, groups": ("gpboost", 40, ROWS + """
import gpboost
m = gpboost.GPModel(group_data=r.integers(0, 60, 3000), likelihood="gaussian")
gpboost.train({"objective": "regression_l2", "verbose": 0, "num_threads": 2},
              gpboost.Dataset(x, x[:, 0] * x[:, 1]), gp_model=m, num_boost_round=40)
"""),
    "mlpack, 20 forests": ("mlpack", 20, ROWS + """
import mlpack
for k in range(20):
    mlpack.random_forest_train(labels=y[:1000].astype("uint64"), training=x[:1000],
                               num_trees=5 + k, minimum_leaf_size=5)
"""),
    "Open3D, 25 scans": ("open3d", 25, """
import numpy, open3d
r = numpy.random.default_rng(0)
p = r.uniform(-1, 1, (4000, 3))
p[:, 2] = numpy.sin(3 * p[:, 0]) * numpy.cos(2 * p[:, 1])
a = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(p))
a.estimate_normals()
for k in range(25):
    b = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(p + 0.002 * k))
    b = b.voxel_down_sample(0.05)
    b.estimate_normals()
    open3d.pipelines.registration.registration_icp(
        b, a, 0.2, numpy.eye(4),
        open3d.pipelines.registration.TransformationEstimationPointToPlane())
"""),
    "DIPY, 15 volumes": ("dipy", 15, """
import numpy
from dipy.denoise.nlmeans import nlmeans
r = numpy.random.default_rng(0)
for k in range(15):
    v = 100 + r.normal(0, 5, (24, 24, 24))
    nlmeans(v, sigma=5.0, patch_radius=1, block_radius=2, num_threads=2)
"""),
    "pyAgrum, 30 networks": ("pyagrum", 30, """
import pyagrum as gum
gum.initRandom(1)
for k in range(30):
    b = gum.fastBN("A->B->C;A->D->C;D->E;C->F;E->G<-F")
    gum.LazyPropagation(b).makeInference()
    g = gum.BNDatabaseGenerator(b)
    g.drawSamples(2000)
    gum.BNLearner(g.to_pandas()).learnBN()
"""),
    "phono3py, aluminium": ("phono3py", printed, """
import numpy
from ase.build import bulk
from ase.calculators.emt import EMT
from phono3py import Phono3py
from phonopy.structure.atoms import PhonopyAtoms
c = bulk("Al", cubic=True)
u = PhonopyAtoms(c.symbols, cell=c.cell[:], scaled_positions=c.get_scaled_positions())
p = Phono3py(u, numpy.eye(3) * 2, "auto", log_level=1)
p.generate_displacements()
f = []
for s in p.supercells_with_displacements:
    from ase import Atoms
    a = Atoms(s.symbols, cell=s.cell, scaled_positions=s.scaled_positions, pbc=True)
    a.calc = EMT()
    f.append(a.get_forces())
p.forces = numpy.array(f)
p.produce_fc3()
p.mesh_numbers = [9, 9, 9]
p.init_phph_interaction()
p.run_thermal_conductivity(temperatures=[300])
print("steps", len(p.thermal_conductivity.grid_points))
"""),
    "GalSim, 40 images": ("galsim", 40, """
import galsim
for k in range(40):
    g = galsim.Convolve(galsim.Sersic(2.5, half_light_radius=1 + 0.02 * k).shear(g1=0.1),
                        galsim.Moffat(beta=3, fwhm=0.8))
    i = g.drawImage(nx=128, ny=128, scale=0.2)
    galsim.hsm.FindAdaptiveMom(i)
"""),
    "pynbody, 12 pictures": ("pynbody", 12, """
import numpy, pynbody
pynbody.config["number_of_threads"] = 2
r = numpy.random.default_rng(0)
for k in range(12):
    s = pynbody.new(gas=8000)
    s["pos"] = r.normal(size=(8000, 3))
    s["mass"] = numpy.ones(8000) / 8000
    s["pos"].units, s["mass"].units = "kpc", "Msol"
    s.gas["rho"]
    s.gas["smooth"]
"""),
    "Pyrocko, 30 windows stacked": ("pyrocko", 30, """
import numpy
from pyrocko import parstack
r = numpy.random.default_rng(0)
w = r.uniform(0.5, 1, (200, 10))
s = r.integers(0, 30, (200, 10)).astype("int32")
for k in range(30):
    a = [r.normal(size=2000) for i in range(10)]
    parstack.parstack(a, numpy.zeros(10, "int32"), s, w, method=0, nparallel=2)
"""),
    "GSTools, 20 fields": ("gstools", 20, """
import gstools, numpy
gstools.config.NUM_THREADS = 2
r = numpy.random.default_rng(0)
x, y = r.uniform(0, 100, (2, 600))
f = gstools.SRF(gstools.Gaussian(dim=2, var=1, len_scale=10), mode_no=200)
for k in range(20):
    v = f((x, y), seed=k)
    gstools.vario_estimate((x, y), v, numpy.arange(0, 40, 4))
"""),
    "Cornac, factors of a matrix": ("cornac", 30, """
import cornac, numpy
rng = numpy.random.default_rng(0)
data = [(int(u), int(i), 1. + u % 5) for u, i in rng.integers(0, 500, (20000, 2))]
t = cornac.data.Dataset.from_uir(list({d[:2]: d for d in data}.values()), seed=0)
cornac.models.MF(k=10, max_iter=30, num_threads=2, seed=0, early_stop=False,
                 verbose=False).fit(t)
"""),
    "block2, sweeps": ("block2", said("Sweep = "), """
import numpy
from pyblock2.driver.core import DMRGDriver, SymmetryTypes
d = DMRGDriver(scratch="./scratch", symm_type=SymmetryTypes.SU2, n_threads=2)
d.initialize_system(n_sites=8, n_elec=8, spin=0)
b = d.expr_builder()
i = numpy.arange(7)
b.add_term("(C+D)0", numpy.ravel([[a, a + 1, a + 1, a] for a in i]), -numpy.sqrt(2))
b.add_term("((C+(C+D)0)1+D)0", numpy.ravel([[a] * 4 for a in range(8)]), 2)
m = d.get_mpo(b.finalize(), iprint=0)
k = d.get_random_mps(tag="KET", bond_dim=60, nroots=1)
d.dmrg(m, k, n_sweeps=12, bond_dims=[60] * 12, noises=[1e-5] * 12, thrds=[1e-8] * 12,
       iprint=1, tol=0)
"""),
    "pyscf, all configurations": ("pyscf", said("davidson "), """
from pyscf import gto, scf, fci
m = gto.M(atom="; ".join(f"H 0 0 {1.5 * k}" for k in range(10)), basis="sto3g", verbose=0)
f = scf.RHF(m).run()
c = fci.FCI(f)
c.verbose = 5
c.stdout = __import__("sys").stdout
c.kernel()
"""),
    "pyscf, excited states at 9 bonds": ("pyscf", 9, """
from pyscf import gto, scf, tdscf
for k in range(9):
    m = gto.M(atom=f"N 0 0 0; N 0 0 {1.0 + 0.05 * k}", basis="631g", verbose=0)
    f = scf.RHF(m).run()
    tdscf.TDA(f).run(nstates=3)
"""),
    "STUMPY, 20 series": ("stumpy", 20, """
import numpy, stumpy
r = numpy.random.default_rng(0)
for k in range(20):
    stumpy.stump(r.normal(size=1500).cumsum(), 50)
"""),
    "sklearn, holes filled in by boosting": ("sklearn", (6, 24), ROWS + """
from sklearn.experimental import enable_iterative_imputer
from sklearn.impute import IterativeImputer
from sklearn.ensemble import HistGradientBoostingRegressor
x = x[:1000]
x[:, 4:8][r.random((1000, 4)) < 0.1] = numpy.nan
IterativeImputer(HistGradientBoostingRegressor(max_iter=10, early_stopping=False),
                 max_iter=6, tol=0, random_state=0).fit(x)
"""),
    "sklearn, means shifted": ("sklearn", 20, ROWS + """
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.neighbors import NearestCentroid
for k in range(20):
    c = NearestCentroid().fit(x, r.integers(0, 30, 3000)).centroids_
    pairwise_distances_argmin_min(x, c)
    pairwise_distances_argmin_min(c, x)
"""),
}

TORCHES = {
    "TabNet": ("pytorch_tabnet", printed, COUNTED + ROWS + """
from pytorch_tabnet.tab_model import TabNetClassifier
TabNetClassifier(verbose=0).fit(x[:2048], y[:2048], eval_set=[(x[2048:], y[2048:])],
                                max_epochs=5, batch_size=256, virtual_batch_size=128)
"""),
    "PyKEEN, nations": ("pykeen", printed, COUNTED + """
from pykeen.pipeline import pipeline
pipeline(dataset="nations", model="TransE", random_seed=1, device="cpu",
         training_kwargs=dict(num_epochs=6, use_tqdm=False))
"""),
    "sbi, a posterior": ("sbi", printed, COUNTED + """
from sbi.inference import NPE
from sbi.utils import BoxUniform
p = BoxUniform(-torch.ones(3), torch.ones(3))
t = p.sample((2000,))
NPE(p).append_simulations(t, t + 0.1 * torch.randn(2000, 3)).train(
    training_batch_size=200, max_num_epochs=5)
"""),
    "denoising-diffusion-pytorch": ("denoising_diffusion_pytorch", 30, COUNTED + """
from denoising_diffusion_pytorch import GaussianDiffusion1D, Trainer1D, Unet1D, Dataset1D
d = GaussianDiffusion1D(Unet1D(dim=16, dim_mults=(1, 2), channels=4), seq_length=32,
                        timesteps=10)
Trainer1D(d, dataset=Dataset1D(torch.rand(64, 4, 32)), train_batch_size=8,
          train_lr=8e-5, train_num_steps=30, gradient_accumulate_every=2,
          save_and_sample_every=10 ** 6).train()
"""),
    "stable-baselines3, SAC": ("stable_baselines3", (50, 150), COUNTED + """
from stable_baselines3 import SAC
SAC("MlpPolicy", "Pendulum-v1", learning_starts=100, seed=1, device="cpu").learn(150)
"""),
    "stable-baselines3, A2C": ("stable_baselines3", (60, 300), COUNTED + """
from stable_baselines3 import A2C
A2C("MlpPolicy", "CartPole-v1", n_steps=5, seed=1, device="cpu").learn(300)
"""),
    "fastai, a table": ("fastai", 48, ROWS + """
import pandas
from fastai.tabular.all import TabularDataLoaders, Normalize, tabular_learner
d = pandas.DataFrame(x, columns=[f"c{i}" for i in range(12)])
d["y"] = x[:, 0] * x[:, 1]
t = TabularDataLoaders.from_df(d, cont_names=list(d.columns[:12]), procs=[Normalize],
                               y_names="y", bs=128, valid_idx=list(range(2048, 3000)))
l = tabular_learner(t, layers=[200, 100])
with l.no_bar():
    l.fit_one_cycle(3)
"""),
    "x-transformers, 4 batches added up": ("x_transformers", 30, COUNTED + """
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper
m = AutoregressiveWrapper(TransformerWrapper(num_tokens=256, max_seq_len=64,
                          attn_layers=Decoder(dim=128, depth=2, heads=4)))
o = torch.optim.Adam(m.parameters(), lr=1e-4)
for i in range(30):
    m.train()
    for j in range(4):
        loss = m(torch.randint(0, 256, (4, 65)))
        (loss / 4).backward()
    torch.nn.utils.clip_grad_norm_(m.parameters(), 0.5)
    o.step()
    o.zero_grad()
    if i % 10 == 0:
        m.eval()
        with torch.no_grad():
            m(torch.randint(0, 256, (4, 65)))
"""),
    "PyOD, an autoencoder": ("pyod", printed, COUNTED + ROWS + """
from pyod.models.auto_encoder import AutoEncoder
AutoEncoder(epoch_num=4, batch_size=128, verbose=0, device="cpu").fit(x)
"""),
}

PYTHON = LIBRARIES | TORCHES

DEBIANS = {                     # with Debian's own Python
    "escript, heat": ("esys.escript", 30, """
from esys.escript import *
from esys.escript.linearPDEs import LinearPDE
from esys.finley import Rectangle
d = Rectangle(40, 40, order=1)
p = LinearPDE(d)
p.setSymmetryOn()
t = Scalar(0.0, Solution(d))
x = d.getX()
q = exp(-20 * length(x - [0.5, 0.5]) ** 2)
for k in range(30):
    p.setValue(D=100.0, A=kronecker(d), Y=100.0 * t + q)
    t = p.getSolution()
"""),
    "graph-tool, 30 graphs": ("graph_tool", 30, """
import graph_tool.all as g
g.openmp_set_num_threads(2)
g.seed_rng(1)
for k in range(30):
    a = g.random_graph(2000, lambda: 4 + k % 3, directed=False)
    g.pagerank(a)
    g.betweenness(a, pivots=list(range(20)))
    g.local_clustering(a)
"""),
    "AstroScrappy, 20 images": ("astroscrappy", (20, 80), """
import astroscrappy, numpy
r = numpy.random.default_rng(0)
for k in range(20):
    i = r.normal(300, 10, (200, 200)).astype("float32")
    i[r.integers(0, 200, 60), r.integers(0, 200, 60)] += 4000
    astroscrappy.detect_cosmics(i, niter=4)
"""),
}


def pictures(count, *command, size="400x300", last=()):
    def prepare(folder):
        made = []
        for k in range(count):
            made.append(f"{k:02}.png")
            subprocess.run(["convert", "-seed", str(k), "-size", size, "plasma:",
                            "-depth", "8", made[-1]], cwd=folder, check=True)
        return [*command, *made, *last]
    return prepare


def trees(folder):
    rng = random.Random(0)
    rows = []
    for _ in range(800):
        at = [rng.random() for _ in range(8)]
        rows.append(f"{int(at[0] + at[1] > 1)} "
                    + " ".join(f"{i}:{v:.4f}" for i, v in enumerate(at)))
    write(folder, "rows.txt", "\n".join(rows) + "\n")
    write(folder, "train.conf", "booster = gbtree\nobjective = binary:logistic\neta = 0.3\n"
          "max_depth = 4\nnum_round = 40\nsave_period = 0\ndata = \"rows.txt\"\n"
          "eval[test] = \"rows.txt\"\n")
    return ["xgboost", "train.conf"]


def waters(folder):
    rng = random.Random(3)
    atoms = []
    for k in range(12):
        at = [3.0 * (k % 3), 3.0 * (k // 3 % 2), 3.0 * (k // 6)]
        for name, by in (("O", (0, 0, 0)), ("H", (0.96, 0, 0)), ("H", (-0.24, 0.93, 0))):
            atoms.append(name + "".join(f" {a + b + rng.uniform(-.05, .05):.4f}"
                                        for a, b in zip(at, by)))
    return atoms


def optimised(folder):
    write(folder, "w.mop", "PM7 THREADS=2 CYCLES=30\nwaters\n\n" + "\n".join(waters(folder))
          + "\n")
    return ["sh", "-c", "mopac w.mop; cat w.out"]


SILICON = """&control
 calculation = 'scf', pseudo_dir = '/usr/share/espresso/pseudo', outdir = '.', prefix = 'si'
/
&system
 ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 18.0
/
&electrons
 conv_thr = 1d-10, mixing_beta = 0.2
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS
 Si 0.0 0.0 0.0
 Si 0.25 0.25 0.25
K_POINTS automatic
 4 4 4 0 0 0
"""

CELL = """&GLOBAL
  PROJECT w
  RUN_TYPE GEO_OPT
&END
&MOTION
  &GEO_OPT
    MAX_ITER 14
    OPTIMIZER BFGS
    MAX_DR 1E-9
    MAX_FORCE 1E-9
    RMS_DR 1E-9
    RMS_FORCE 1E-9
  &END
&END
&FORCE_EVAL
  METHOD QS
  &DFT
    &QS
      METHOD XTB
    &END
  &END
  &SUBSYS
    &CELL
      ABC 12 12 12
    &END
    &TOPOLOGY
      COORD_FILE_NAME w.xyz
      COORD_FILE_FORMAT XYZ
    &END
  &END
&END
"""


def moved(folder):
    atoms = waters(folder)[:18]
    write(folder, "w.xyz", f"{len(atoms)}\n\n" + "\n".join(atoms) + "\n")
    write(folder, "w.inp", CELL)
    return ["cp2k.psmp", "-i", "w.inp"]


NICKEL = """tasks
  0

spinpol
  .true.

bfieldc
  0.0 0.0 0.01

maxscl
  18

epspot
  0

epsengy
  0

avec
  3.33 3.33 0.0
  3.33 0.0 3.33
  0.0 3.33 3.33

sppath
  '/usr/share/elk-lapw/species/'

atoms
  1
  'Ni.in'
  1
  0.0 0.0 0.0  0.0 0.0 0.0

ngridk
  2 2 2

"""

TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
"""


def box(settings):
    def prepare(folder):
        write(folder, "topol.top", TOPOLOGY)
        write(folder, "a.mdp", "rcoulomb = 0.9\nrvdw = 0.9\n" + settings)
        for command in (["solvate", "-cs", "spc216", "-box", "2.4", "2.4", "2.4", "-o",
                         "box.gro", "-p", "topol.top"],
                        ["grompp", "-f", "a.mdp", "-c", "box.gro", "-o", "a.tpr",
                         "-maxwarn", "5"]):
            subprocess.run(["gmx", *command], cwd=folder, check=True, capture_output=True)
        return ["gmx", "mdrun", "-s", "a.tpr", "-ntmpi", "1", "-ntomp", "2"]
    return prepare


MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run 250
"""

RING = """ring of inverters
.model n nmos level=54 version=4.5 toxe=2n vth0=0.4
.model p pmos level=54 version=4.5 toxe=2n vth0=-0.4
vdd d 0 1.2
.subckt inv a b d
mn b a 0 0 n w=1u l=0.1u
mp b a d d p w=2u l=0.1u
c b 0 5f
.ends
""" + "".join(f"x{i} {i} {(i + 1) % 31} d inv\n" for i in range(31)) + """.ic v(0)=0
.control
set num_threads=2
tran 5p 2n uic
rusage all
quit
.endc
.end
"""

DROP = ["/usr/bin/python3", "-m", "pysph.examples.elliptical_drop", "--openmp",
        "--max-steps=120", "--no-adaptive-timestep", "--pfreq=1000", "-d", "out"]


def proteins(folder):
    rng = random.Random(0)
    first = [rng.choice("ACDEFGHIKLMNPQRSTVWY") for _ in range(80)]
    write(folder, "in.fa", "".join(
        f">s{i}\n" + "".join(c if rng.random() > 0.2 else rng.choice("ACDEFGHIKL")
                             for c in first) + "\n" for i in range(16)))
    return ["muscle", "-align", "in.fa", "-output", "out.fa", "-threads", "2"]


def toned(folder):
    pictures(8, "true")(folder)
    return ["sh", "-c", "pfsin 0?.png | pfstmo_mantiuk06 | pfsout out%02d.png"]


REGISTRATION = """(FixedInternalImagePixelType "float")
(MovingInternalImagePixelType "float")
(FixedImageDimension 2)
(MovingImageDimension 2)
(Registration "MultiResolutionRegistration")
(Interpolator "BSplineInterpolator")
(ResampleInterpolator "FinalBSplineInterpolator")
(Resampler "DefaultResampler")
(FixedImagePyramid "FixedSmoothingImagePyramid")
(MovingImagePyramid "MovingSmoothingImagePyramid")
(Optimizer "AdaptiveStochasticGradientDescent")
(Transform "BSplineTransform")
(Metric "AdvancedMattesMutualInformation")
(FinalGridSpacingInPhysicalUnits 16)
(NumberOfResolutions 2)
(MaximumNumberOfIterations 60)
(NumberOfSpatialSamples 1000)
(NewSamplesEveryIteration "true")
(ImageSampler "RandomCoordinate")
"""


def registered(folder):
    rng = random.Random(0)
    write(folder, "p.txt", REGISTRATION)
    for name, by in (("a", 0), ("b", 4)):
        data = bytes(min(255, int(128 + 100 * ((x + by) // 12 % 2) * (y // 9 % 2)
                                  - rng.randrange(20))) for y in range(96)
                     for x in range(96))
        with open(os.path.join(folder, name + ".raw"), "wb") as file:
            file.write(data)
        write(folder, name + ".mhd", "ObjectType = Image\nNDims = 2\nDimSize = 96 96\n"
              f"ElementType = MET_UCHAR\nElementDataFile = {name}.raw\n")
    return ["elastix", "-f", "a.mhd", "-m", "b.mhd", "-p", "p.txt", "-out", ".",
            "-threads", "2"]


OCTAVE = """n = 400; a = 2 * eye(n) - diag(ones(n - 1, 1), 1) - diag(ones(n - 1, 1), -1);
u = rand(n, 40); for k = 1:60, v = (eye(n) + 0.1 * a) \\ u; u = v - 0.01 * a * v; end
disp(sum(u(:)))
"""

GRETL = """set verbose off
matrix a = mnormal(300, 300) / 20
matrix v = mnormal(300, 300)
loop k=1..40
    v = a * v
    v = v ./ max(abs(v))
    matrix s = v'v
endloop
"""

OTHERS = {
    "LAMMPS, melt": ("lmp", 250, files(
        ["lmp", "-sf", "omp", "-pk", "omp", "2", "-in", "in.melt"], in_melt=MELT)),
    "LAMMPS, minimised": ("lmp", printed, files(
        ["lmp", "-sf", "omp", "-pk", "omp", "2", "-in", "in.min"], in_min=MELT.replace(
            "fix 1 all nve", "displace_atoms all random 0.1 0.1 0.1 456").replace(
            "thermo 50\nrun 250", "min_style cg\nminimize 0 1e-6 60 1000\n"
            'variable n equal step\nprint "steps ${n}"'))),
    "PySPH, a drop": ("python3-pysph", 120, lambda _: DROP),
    "XGBoost's own command": ("xgboost", 40, trees),
    "MOPAC, waters": ("mopac", said("CYCLE: "), optimised),
    "Quantum Espresso, silicon": ("pw.x", said("iteration #"), files(["pw.x", "-i", "si.in"],
                                                               si_in=SILICON)),
    "CP2K, waters moved": ("cp2k.psmp", said("OPTIMIZATION STEP:"), moved),
    "Elk, nickel": ("elk-lapw", 18, files(["elk-lapw"], elk_in=NICKEL)),
    "GROMACS, Langevin": ("gmx", 151, box(
        "integrator = sd\ndt = 0.001\nnsteps = 150\ncoulombtype = reaction-field\n"
        "tc-grps = System\ntau-t = 1\nref-t = 300\ngen-vel = yes\n")),
    "GROMACS, expanded": ("gmx", 121, box(
        "integrator = md-vv\ndt = 0.001\nnsteps = 120\ncoulombtype = PME\n"
        "nstcalcenergy = 10\nnstenergy = 10\ngen-vel = yes\ngen-temp = 300\n")),
    "gretl, power iterations": ("gretlcli", 40, files(["gretlcli", "-b", "a.inp"],
                                                      a_inp=GRETL)),
    "ngspice, a ring": ("ngspice", printed, files(
        ["sh", "-c", "ngspice -b r.cir > out.txt 2>&1; cat out.txt; sed -n "
         "'s/^Accepted timepoints = /steps /p;s/^Total iterations = /steps /p' out.txt"],
        r_cir=RING)),
    "MUSCLE, refined": ("muscle", 100, proteins),
    "RawTherapee, 12 pictures": ("rawtherapee-cli", 12, pictures(
        12, "rawtherapee-cli", "-o", "out", "-Y", "-a", "-c")),
    "mogrify, 24 pictures": ("mogrify", 24, pictures(
        24, "mogrify", "-resize", "70%", "-unsharp", "0x2")),
    "convert, 20 between two": ("convert", 20, pictures(
        2, "convert", "-morph", "20", last=["out.gif"])),
    "ffmpeg, a shaken film": ("ffmpeg", 60, lambda _: [
        "ffmpeg", "-f", "lavfi", "-i",
        "testsrc=size=640x360:rate=30:duration=2,format=yuv420p", "-vf",
        "vidstabdetect", "-f", "null", "-"]),
    "pfstmo, 8 pictures": ("pfstmo_mantiuk06", 8, toned),
    "enfuse, 10 exposures": ("enfuse", (0, 9, 10), pictures(10, "enfuse", "-o", "out.tif")),
    "R mgcv, 15 samples": ("Rscript", 15, script(
        "library(mgcv); set.seed(1); n <- 4000; for (k in 1:15) {"
        "d <- data.frame(a = runif(n), b = runif(n)); d$y <- sin(6 * d$a) + rnorm(n);"
        "bam(y ~ s(a) + s(b), data = d, discrete = TRUE, nthreads = 2) }")),
    "R glmmTMB": ("Rscript", printed, script(
        "library(glmmTMB); set.seed(1); n <- 2000; d <- data.frame(x = rnorm(n), "
        "g = factor(sample(50, n, TRUE))); d$y <- rpois(n, exp(0.3 * d$x + "
        "rnorm(50)[d$g])); m <- glmmTMB(y ~ x + (1 | g), d, poisson, "
        "control = glmmTMBControl(parallel = 2));"
        "cat('steps', m$fit$iterations, '\\nsteps', m$fit$evaluations[1], '\\nsteps',"
        "m$fit$evaluations[2], '\\n')")),
    "R huge, 20 graphs": ("Rscript", 20, script(
        "library(huge); set.seed(1); for (k in 1:20) {"
        "x <- matrix(rnorm(60 * 30), 60); huge(x, method = 'mb', verbose = FALSE) }")),
    "R parmigene, 15 tables": ("Rscript", 15, script(
        "library(parmigene); set.seed(1); for (k in 1:15) {"
        "m <- knnmi.all(matrix(rnorm(40 * 60), 40)); aracne.a(m, 0.05); clr(m) }")),
    "R gower, 40 tables": ("Rscript", 40, script(
        "library(gower); set.seed(1); for (k in 1:40) {"
        "a <- data.frame(x = rnorm(3000), f = factor(sample(4, 3000, TRUE)));"
        "b <- a[sample(3000), ]; gower_dist(a, b, nthread = 2);"
        "gower_topn(a[1:200, ], b, n = 3, nthread = 2) }")),
    "R AMORE, 60 epochs": ("Rscript", (60, 6), script(
        "library(AMORE); set.seed(1); x <- matrix(rnorm(600), 300); y <- x[, 1] * x[, 2];"
        "n <- newff(c(2, 8, 1), 1e-2, 0.5, 'LMS', NA, 'tansig', 'purelin', 'BATCHgdwm');"
        "train(n, x, y, error.criterium = 'LMS', report = TRUE, show.step = 10, "
        "n.shows = 6, n.threads = 2)")),
    "R genie, 15 clusterings": ("Rscript", 15, script(
        "library(genie); set.seed(1); for (k in 1:15) {"
        "x <- matrix(rnorm(4000), 1000); hclust2(objects = x, thresholdGini = 0.3) }")),
    "Octave, heat": ("octave-cli", 60, files(["octave-cli", "--no-init-file", "h.m"],
                                             h_m=OCTAVE)),
    "elastix, 2 resolutions of 60": ("elastix", (120, 60), registered),
}


def debian_python(text):
    return lambda _: ["env", "PYTHONPATH=/usr/lib/python3-escript",
                      "LD_LIBRARY_PATH=/usr/lib/python3-escript/lib", "/usr/bin/python3",
                      "-c", text]

OTHERS |= {name: ("/usr/bin/python3", steps, debian_python(text))
           for name, (_, steps, text) in DEBIANS.items()}
