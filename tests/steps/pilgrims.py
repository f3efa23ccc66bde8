# SPDX-License-Identifier: MIT
"""Public codes and libraries, the seventh set that no rule was set on, their steps read
out of their sources before their first run; for corpus.py.  Of several numbers each is
right, 0 is none: nobody knows a single answer.  Rules may be set on every second one,
those of `OPEN`, alone; the others are held out.

Public codes: a folder each below $TRACEPROF_SOURCES, as cloned from GitHub: LLNL/LULESH,
Mantevo/HPCCG, Mantevo/miniMD, ECP-copa/CoMD, lanl/PENNANT, cjlin1/libsvm, ycjuan/libffm,
UoB-HPC/TeaLeaf, UK-MAC/CloverLeaf_OpenMP, and yuhc/gpu-rodinia as rodinia.  Each is built
once, into `built` there.  Python packages: libpecos, silx, dftd4, casadi, pacmap,
scikit-learn, numba.  Debian packages: libfftw3-dev, libopenblas-openmp-dev,
libblis-openmp-dev, libopenmpi-dev, cmake, gfortran.
"""

import os
import random
import re
import shutil
import subprocess

from prepared import write

SOURCES = os.environ.get("TRACEPROF_SOURCES", "")


def printed(output):
    """Any of the numbers that it prints."""
    return tuple(map(int, re.findall(r"steps +(\d+)", output)))


def cycles(output):
    return int(re.findall(r"^cycle = +(\d+)", output, re.M)[-1])


def code(folder, build, command, **texts):
    """A public code: `build` runs once in its folder, where its program is made."""
    def prepare(here):
        made = os.path.join(SOURCES, "built", folder.replace("/", "-"))
        if not os.path.exists(os.path.join(made, "done")):
            shutil.rmtree(made, ignore_errors=True)
            shutil.copytree(os.path.join(SOURCES, folder), made)
            subprocess.run(["sh", "-ec", build], cwd=made, check=True, capture_output=True)
            write(made, "done", "")
        for name, text in texts.items():
            write(here, name.replace("_", "."), text() if callable(text) else text)
        return ["sh", "-c", command.replace("@", made)]
    return prepare


def grid_of_nodes():
    """Of 60 columns and 40 rows: breadth first from a corner."""
    nodes, edges, lines = 2400, [], []
    for at in range(nodes):
        x, y = at % 60, at // 60
        near = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        near = [b * 60 + a for a, b in near if 0 <= a < 60 and 0 <= b < 40]
        lines.append(f"{len(edges)} {len(near)}")
        edges += near
    return "\n".join([str(nodes), *lines, "", "0", "", str(len(edges)),
                      *(f"{a} 1" for a in edges)]) + "\n"


def elements():
    rng = random.Random(0)
    lines = ["4000"]
    for at in range(4000):
        near = [1 + (at + k) % 4000 for k in (1, 3999, 60, 3940)]
        lines.append(" ".join([f"{rng.uniform(1, 2):.4f}"] + [
            f"{n} " + " ".join(f"{rng.uniform(-1, 1) * 1e-3:.6f}" for _ in range(3))
            for n in near]))
    return "\n".join(lines) + "\n"


def features():
    rng = random.Random(0)
    return "\n".join(f"{rng.randrange(2)} " + " ".join(
        f"{f}:{f * 100 + rng.randrange(100)}:1" for f in range(8)) for _ in range(3000)) + "\n"


def points():
    rng = random.Random(0)
    return "\n".join(f"{k} " + " ".join(f"{rng.gauss(k % 7, 2):.3f}" for _ in range(8))
                     for k in range(4000)) + "\n"


def cells(count):
    rng = random.Random(1)
    return "\n".join(f"{rng.uniform(320, 340):.4f}" for _ in range(count)) + "\n"


SEDOV = """cstop   90
tstop   1.0
meshtype rect
meshparams 27 27 1.125 1.125
subregion 0.0 0.0416 0.0 0.0416
rinitsub 1.0
einitsub 40.222
bcx     0.0 1.125
bcy     0.0 1.125
ssmin   0.1
q1      0.1
q2      1.0
dtinit  0.0005
writexy 0
chunksize 16
"""

TEA = """*tea
state 1 density=100.0 energy=0.0001
state 2 density=0.1 energy=25.0 geometry=rectangle xmin=0.0 xmax=1.0 ymin=1.0 ymax=2.0
x_cells=64
y_cells=64
xmin=0.0
ymin=0.0
xmax=10.0
ymax=10.0
initial_timestep=0.004
end_step=12
test_problem 5
profiler_on
max_iters=10000
use_cg
eps 1.0e-15
*endtea
"""

CLOVER = """*clover
 state 1 density=0.2 energy=1.0
 state 2 density=1.0 energy=2.5 geometry=rectangle xmin=0.0 xmax=5.0 ymin=0.0 ymax=2.0
 x_cells=60
 y_cells=60
 xmin=0.0
 ymin=0.0
 xmax=10.0
 ymax=10.0
 initial_timestep=0.04
 timestep_rise=1.5
 max_timestep=0.04
 end_step=70
 visit_frequency=0
 summary_frequency=10
*endclover
"""

ATOMS = """Lennard-Jones input file for miniMD

lj             units (lj or metal)
none           data file (none or filename)
lj             force style (lj or eam)
1.0 1.0        LJ parameters (epsilon and sigma; COMD: 0.167 / 2.315)
8 8 8          size of problem
120            timesteps
0.005          timestep size
1.44           initial temperature
0.8442         density
20             reneighboring every this many steps
2.5 0.30       force cutoff and neighbor skin
100            thermo calculation every this many steps (0 = start,end)
"""

RODINIA = "rodinia/openmp/"

PUBLIC = {
    "LULESH, 60 cycles": ("LULESH", 60, code(
        "LULESH", "make CXX='g++ -DUSE_MPI=0'", "exec @/lulesh2.0 -s 12 -i 60")),
    "HPCCG, a system": ("HPCCG", 149, code(
        "HPCCG", "make CXX=g++ LINKER=g++ CPP_OPT_FLAGS=-O3 OMP_FLAGS=-fopenmp "
        "USE_OMP=-DUSING_OMP", "exec @/test_HPCCG 24 24 24")),
    "miniMD, atoms": ("miniMD", 120, code(
        "miniMD/ref", "make openmpi AVX=no", "exec @/miniMD_openmpi -t 2 -i in",
        **{"in": ATOMS})),
    "CoMD, a report each 10": ("CoMD", 80, code(
        "CoMD/src-openmp", "cp Makefile.vanilla Makefile; make CC=gcc DO_MPI=OFF; "
        "find .. -name 'CoMD-openmp*' -path '*bin*' -exec cp {} comd ';'",
        "exec @/comd -x 8 -y 8 -z 8 -N 80 -n 10")),
    "PENNANT, Sedov": ("PENNANT", cycles, code(
        "PENNANT", "sed -i 's/^CXX := .*//;s/-DUSE_MPI//' Makefile; "
        "make CXX=g++ LD=g++ CXXFLAGS_OPT=-O3 CXXFLAGS_OPENMP=-fopenmp",
        "exec @/build/pennant s.pnt", s_pnt=SEDOV)),
    "libsvm, 270 predicted": ("libsvm", 270, code(
        "libsvm", "make CFLAGS='-O3 -fPIC -fopenmp'; g++ -O3 -fopenmp svm-predict.c svm.o "
        "-o svm-predict; g++ -O3 -fopenmp svm-train.c svm.o -o svm-train; "
        "OMP_NUM_THREADS=2 ./svm-train -q heart_scale model",
        "exec @/svm-predict @/heart_scale @/model out")),
    "libffm, 20 rounds, tested": ("libffm", 20, code(
        "libffm", "sed -i '/USESSE/d;s/-march=native//' Makefile; make", "exec @/ffm-train -s 2 -t 20 -p t.txt t.txt m", t_txt=features)),
    "TeaLeaf, 12 steps": ("TeaLeaf", 12, code(
        "TeaLeaf", "cmake -B b -DMODEL=omp -DENABLE_MPI=OFF -DCMAKE_BUILD_TYPE=Release; "
        "make -C b", "@/b/omp-tealeaf --file tea.in --problems @/tea.problems || true",
        tea_in=TEA)),
    "CloverLeaf, a summary each 10": ("CloverLeaf_OpenMP", 70, code(
        "CloverLeaf_OpenMP", "make COMPILER=GNU MPI_COMPILER=mpif90 C_MPI_COMPILER=mpicc "
        "OPTIONS=-fallow-argument-mismatch", "exec @/clover_leaf", clover_in=CLOVER)),
    "Rodinia, hotspot": ("rodinia", 45, code(
        RODINIA + "hotspot", "g++ -O3 -fopenmp hotspot_openmp.cpp -o run.x",
        "exec @/run.x 128 128 45 2 t.txt p.txt out",
        t_txt=lambda: cells(128 * 128), p_txt=lambda: cells(128 * 128))),
    "Rodinia, k-means": ("rodinia", printed, code(
        RODINIA + "kmeans/kmeans_openmp",
        r"sed -i 's/\(} while (delta > threshold .*;\)/\1 printf(\"\\nsteps %d\\n\", "
        r"loop + 1);/' kmeans_clustering.c; gcc -O2 -w -fopenmp -fcommon *.c -o run.x -lm",
        "exec @/run.x -i in.txt -n 2 -t 0", in_txt=points)),
    "Rodinia, LU by blocks": ("rodinia", 31, code(
        RODINIA + "lud", "gcc -O3 -fopenmp -Icommon omp/lud.c omp/lud_omp.c common/common.c "
        "-o run.x -lm", "exec @/run.x -n 2 -s 512")),
    "Rodinia, Needleman-Wunsch": ("rodinia", (0, 63), code(
        RODINIA + "nw", "g++ -O3 -fopenmp needle.cpp -o run.x", "exec @/run.x 512 10 2")),
    "Rodinia, particle filter": ("rodinia", 29, code(
        RODINIA + "particlefilter", "gcc -O3 -fopenmp ex_particle_OPENMP_seq.c -o run.x -lm",
        "exec @/run.x -x 64 -y 64 -z 30 -np 2000")),
    "Rodinia, path finder": ("rodinia", 79, code(
        RODINIA + "pathfinder", "g++ -O3 -fopenmp pathfinder.cpp -o run.x",
        "exec @/run.x 3000 80")),
    "Rodinia, speckles": ("rodinia", 50, code(
        RODINIA + "srad/srad_v2", "g++ -O3 -fopenmp srad.cpp -o run.x -lm",
        "exec @/run.x 128 128 0 31 0 31 2 0.5 50")),
    "Rodinia, Euler": ("rodinia", 40, code(
        RODINIA + "cfd", "sed -i 's/#define iterations .*/#define iterations 40/' "
        "euler3d_cpu.cpp; g++ -O2 -fopenmp -Dblock_length=16 euler3d_cpu.cpp -o run.x",
        "exec @/run.x m.txt", m_txt=elements)),
    "Rodinia, breadth first": ("rodinia", 99, code(
        RODINIA + "bfs", "g++ -O3 -fopenmp bfs.cpp -o run.x", "exec @/run.x 2 g.txt",
        g_txt=grid_of_nodes)),
}

FFTW = """#include <fftw3.h>
#include <stdlib.h>
enum { N = 256 };
int main(void)
{
	fftw_complex *a = fftw_alloc_complex(N * N);
	fftw_plan to, back;
	fftw_init_threads();
	fftw_plan_with_nthreads(2);
	to = fftw_plan_dft_2d(N, N, a, a, FFTW_FORWARD, FFTW_ESTIMATE);
	back = fftw_plan_dft_2d(N, N, a, a, FFTW_BACKWARD, FFTW_ESTIMATE);
	for (int i = 0; i < N * N; i++)
		a[i][0] = rand() % 100, a[i][1] = 0;
	for (int step = 0; step < 45; step++) {
		for (int i = 0; i < N * N; i++)
			a[i][0] *= a[i][0] > 50 ? 1 : .9;
		fftw_execute(to);
		for (int i = 0; i < N * N; i++)
			a[i][0] /= N * N + i % N, a[i][1] /= N * N + i % N;
		fftw_execute(back);
	}
	return a[0][0] > 1e30;
}
"""

PRODUCTS = """#include <cblas.h>
#include <stdlib.h>
enum { N = 256, K = 64 };
static double a[N * N], b[N * K], c[N * K], d[K * K];
static void layer(const double *from, double *to)
{
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, K, N, 1. / N, a, N, from, K, 0,
		    to, K);
}
int main(void)
{
	for (int i = 0; i < N * N; i++)
		a[i] = rand() % 100 / 100.;
	for (int i = 0; i < N * K; i++)
		b[i] = rand() % 100 / 100.;
	for (int step = 0; step < 30; step++) {
		for (int i = 0; i < 4; i++) {
			layer(b, c);
			layer(c, b);
		}
		cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, K, K, N, 1, b, K, b, K, 0, d, K);
		for (int i = 0; i < N * K; i++)
			b[i] /= 1 + d[0];
	}
	return d[0] > 1e300;
}
"""

FACTORS = """#include <stdlib.h>
enum { N = 400 };
void dposv_(const char *, const int *, const int *, double *, const int *, double *, const int *,
	    int *, size_t);
static double a[N * N], b[N * N], x[N];
int main(void)
{
	const int n = N, one = 1;
	int info;
	for (int i = 0; i < N * N; i++)
		a[i] = rand() % 100 / 100. + (i % (N + 1) ? 0 : N);
	for (int step = 0; step < 25; step++) {
		for (int i = 0; i < N * N; i++)
			b[i] = a[i] + (i % (N + 1) ? 0 : .1 * x[i / N]);
		for (int i = 0; i < N; i++)
			x[i] = 1 + .5 * x[i];
		dposv_("L", &n, &one, b, &n, x, &n, &info, 1);
	}
	return x[0] > 1e300;
}
"""


def compiled(text, *libraries):
    def prepare(folder):
        write(folder, "p.c", text)
        subprocess.run(["gcc", "-O2", "p.c", "-o", "p", *libraries, "-lm"], cwd=folder,
                       check=True)
        return ["./p"]
    return prepare


BLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp"
DRIVERS = {
    "FFTW, split steps": ("gcc", 45, compiled(FFTW, "-lfftw3_omp", "-lfftw3", "-fopenmp")),
    "OpenBLAS, 9 products in each of 30": ("gcc", 30, compiled(
        PRODUCTS, "-I/usr/include/x86_64-linux-gnu/openblas-openmp", f"-L{BLAS}",
        f"-Wl,-rpath,{BLAS}", "-lopenblas")),
    "BLIS, 9 products in each of 30": ("gcc", 30, compiled(
        PRODUCTS, "-I/usr/include/x86_64-linux-gnu/blis-openmp",
        "-L/usr/lib/x86_64-linux-gnu/blis-openmp",
        "-Wl,-rpath,/usr/lib/x86_64-linux-gnu/blis-openmp", "-lblis")),
    "OpenBLAS, 25 systems": ("gcc", 25, compiled(
        FACTORS, "-I/usr/include/x86_64-linux-gnu/openblas-openmp", f"-L{BLAS}",
        f"-Wl,-rpath,{BLAS}", "-lopenblas")),
}

OTHERS = PUBLIC | DRIVERS

PYTHON = {
    "silx, 40 images": ("silx", 40, """
import numpy
from silx.math.medianfilter import medfilt2d
from silx.image.bilinear import BilinearImage
r = numpy.random.default_rng(0)
at = r.uniform(0, 190, (2, 200, 200))
for k in range(40):
    i = medfilt2d(r.poisson(50, (200, 200)).astype("float32"), (3, 3))
    BilinearImage(i).map_coordinates(at)
"""),
    "PECOS, 40 requests": ("pecos", 40, """
import numpy
from pecos.ann.hnsw import HNSW
x = numpy.random.default_rng(0).normal(size=(3000, 16)).astype("float32")
m = HNSW.train(x, HNSW.TrainParams(M=8, efC=40, metric_type="l2", threads=1),
               HNSW.PredParams(efS=40, topk=5, threads=2))
for k in range(40):
    m.predict(x[k * 50:k * 50 + 200])
"""),
    "dftd4, 30 shapes": ("dftd4", 30, """
import numpy
from dftd4.interface import DampingParam, DispersionModel
r = numpy.random.default_rng(0)
p = r.uniform(-12, 12, (40, 3))
n = numpy.array([6, 1, 8, 7] * 10)
d = DampingParam(method="pbe")
for k in range(30):
    DispersionModel(n, p * (1 + 0.01 * k)).get_dispersion(d, grad=True)
"""),
    "CasADi, 40 maps": ("casadi", 40, """
import casadi, numpy
x = casadi.MX.sym("x", 20)
f = casadi.Function("f", [x], [casadi.sin(x) * casadi.norm_2(x)]).map(64, "openmp")
v = numpy.ones((20, 64))
for k in range(40):
    v = v + 0.01 * f(v).full()
"""),
    "PaCMAP, 60 rounds": ("pacmap", 60, """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numpy, pacmap
x = numpy.random.default_rng(0).normal(size=(800, 10)).astype("float32")
pacmap.PaCMAP(n_components=2, n_neighbors=10, num_iters=(20, 20, 20),
              random_state=1).fit_transform(x)
"""),
    "sklearn, k-means for 15 numbers": ("sklearn", printed, """
import numpy
from sklearn.cluster import KMeans
x = numpy.random.default_rng(0).normal(size=(4000, 6))
n = [KMeans(k, n_init=1, tol=0, max_iter=30, random_state=0).fit(x).n_iter_
     for k in range(2, 17)]
print("steps", 15, "steps", sum(n))
"""),
    "sklearn, nearest of 60": ("sklearn", 60, """
import numpy
from sklearn.metrics import pairwise_distances_argmin
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 8))
c = x[:50]
for k in range(60):
    n = pairwise_distances_argmin(x, c)
    c = numpy.stack([x[n == i].mean(0) if (n == i).any() else c[i] for i in range(50)])
"""),
    "sklearn, boosting in 6 folds": ("sklearn", (120, 6), """
import numpy
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_score
r = numpy.random.default_rng(0)
x = r.normal(size=(3000, 8))
cross_val_score(HistGradientBoostingRegressor(max_iter=20, early_stopping=False), x,
                x[:, 0] * x[:, 1], cv=6)
"""),
    "numba, 12 sweeps in each of 25": ("numba", 25, """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numba, numpy
@numba.njit(parallel=True)
def sweep(u, f, v):
    for i in numba.prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j]) / 4
u, v = numpy.zeros((200, 200)), numpy.zeros((200, 200))
f = numpy.ones((200, 200))
for step in range(25):
    for k in range(12):
        sweep(u, f, v)
        u, v = v, u
    f = 0.9 * f + 0.1 * u
"""),
    "numba, 90 time steps": ("numba", 90, """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numba, numpy
@numba.njit(parallel=True)
def step(u, v):
    for i in numba.prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = u[i, j] + .1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                                      - 4 * u[i, j])
u = numpy.random.default_rng(0).random((200, 200))
v = u.copy()
for k in range(90):
    step(u, v)
    u, v = v, u
    if k % 30 == 0:
        print(u.sum())
"""),
}

OPEN = [*OTHERS, *PYTHON][::2]
