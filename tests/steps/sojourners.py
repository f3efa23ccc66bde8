# SPDX-License-Identifier: MIT
"""JAX programs on a processor, as people and tutorials write them, their steps written
down before their first run.  Of several numbers each is right, and 0 is none: nobody knows
a single answer.  Rules may be set on every second one, those of `OPEN`, alone; the others
are held out.

    python3 tests/steps/sojourners.py [--build DIR] [--python PYTHON] [--schedule] [NAME...]

Python packages: jax 0.10, flax, optax, blackjax, numpyro, diffrax, equinox.
"""

import argparse
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

HEAD = """
import functools
import numpy as np
import jax
import jax.numpy as jnp
key = jax.random.key(0)
rng = np.random.default_rng(0)
"""

MLP = HEAD + """
def init(sizes):
    return [(rng.normal(size=(a, b)).astype(np.float32) * 0.1, np.zeros(b, np.float32))
            for a, b in zip(sizes, sizes[1:])]
def forward(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return x @ w + b
def loss_of(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)
x = rng.normal(size=(4096, 64)).astype(np.float32)
y = np.sin(x[:, :8]).astype(np.float32)
params = init([64, 256, 256, 8])
def batches(size):
    order = rng.permutation(len(x))
    for i in range(0, len(x), size):
        yield x[order[i:i + size]], y[order[i:i + size]]
"""

PROGRAMS = {
    # As in JAX's own tutorial: one function in a loop of epochs and batches.
    "update alone, epochs and batches": ("jax", 8 * 16, MLP + """
@jax.jit
def update(params, x, y):
    grads = jax.grad(loss_of)(params, x, y)
    return [(w - 0.01 * dw, b - 0.01 * db) for (w, b), (dw, db) in zip(params, grads)]
for epoch in range(8):
    for a, b in batches(256):
        params = update(params, a, b)
    print(epoch, params[0][0].shape)
"""),
    "train_step, loss printed every 10": ("jax", 120, MLP + """
@jax.jit
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss
n = 0
while n < 120:
    for a, b in batches(256):
        params, loss = train_step(params, a, b)
        if n % 10 == 0:
            print(n, float(loss))
        n += 1
        if n == 120:
            break
"""),
    "gradients and update, two functions": ("jax", 90, MLP + """
grads_of = jax.jit(jax.value_and_grad(loss_of))
@jax.jit
def apply(params, grads):
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
for i in range(90):
    at = rng.integers(0, len(x), 256)
    loss, grads = grads_of(params, x[at], y[at])
    params = apply(params, grads)
print(float(loss))
"""),
    "optax, training and evaluation in turn": ("optax", 10 * 16, MLP + """
import optax
tx = optax.adam(1e-3)
state = tx.init(params)
@jax.jit
def fit_batch(params, state, x, y):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state, loss
@jax.jit
def evaluate(params, x, y):
    return loss_of(params, x, y)
for epoch in range(10):
    for a, b in batches(256):
        params, state, loss = fit_batch(params, state, a, b)
    total = 0.
    for i in range(0, 1024, 256):
        total += float(evaluate(params, x[i:i + 256], y[i:i + 256]))
    print(epoch, total)
"""),
    "scan of an epoch's batches": ("jax", 25, MLP + """
@jax.jit
def epoch(params, xs, ys):
    def body(params, batch):
        grads = jax.grad(loss_of)(params, *batch)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), 0.
    return jax.lax.scan(body, params, (xs, ys))[0]
@jax.jit
def accuracy(params, x, y):
    return loss_of(params, x, y)
for e in range(25):
    order = rng.permutation(len(x))
    xs, ys = x[order].reshape(16, 256, 64), y[order].reshape(16, 256, 8)
    params = epoch(params, xs, ys)
    print(e, float(accuracy(params, x[:512], y[:512])))
"""),
    "four micro-batches added up": ("optax", 40, MLP + """
import optax
tx = optax.sgd(0.05)
state = tx.init(params)
grads_of = jax.jit(jax.grad(loss_of))
@jax.jit
def add(a, b):
    return jax.tree.map(jnp.add, a, b)
@jax.jit
def apply(params, state, grads):
    updates, state = tx.update(jax.tree.map(lambda g: g / 4, grads), state)
    return optax.apply_updates(params, updates), state
for s in range(40):
    total = None
    for k in range(4):
        at = rng.integers(0, len(x), 64)
        grads = grads_of(params, x[at], y[at])
        total = grads if total is None else add(total, grads)
    params, state = apply(params, state, total)
"""),
    "adversaries, a function each": ("optax", 70, HEAD + """
import optax
def net(p, x):
    return jnp.tanh(x @ p[0]) @ p[1]
def make(a, h, b):
    return [rng.normal(size=(a, h)).astype(np.float32) * .1,
            rng.normal(size=(h, b)).astype(np.float32) * .1]
G, D = make(16, 128, 32), make(32, 128, 1)
tx = optax.adam(1e-3)
gs, ds = tx.init(G), tx.init(D)
def bce(logit, label):
    return jnp.mean(optax.sigmoid_binary_cross_entropy(logit, label))
@jax.jit
def update_discriminator(D, ds, G, real, z):
    def f(D):
        return bce(net(D, real), jnp.ones((len(real), 1))) + bce(
            net(D, net(G, z)), jnp.zeros((len(z), 1)))
    l, g = jax.value_and_grad(f)(D)
    u, ds = tx.update(g, ds)
    return optax.apply_updates(D, u), ds, l
@jax.jit
def update_generator(G, gs, D, z):
    def f(G):
        return bce(net(D, net(G, z)), jnp.ones((len(z), 1)))
    l, g = jax.value_and_grad(f)(G)
    u, gs = tx.update(g, gs)
    return optax.apply_updates(G, u), gs, l
for i in range(70):
    real = rng.normal(size=(128, 32)).astype(np.float32)
    z = rng.normal(size=(128, 16)).astype(np.float32)
    D, ds, dl = update_discriminator(D, ds, G, real, z)
    G, gs, gl = update_generator(G, gs, D, z)
    if i % 20 == 0:
        print(i, float(dl), float(gl))
"""),
    "flax, keys split in each step": ("flax", 60, HEAD + """
import optax
from flax import linen as nn
from flax.training import train_state
class Model(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(128)(x))
        x = nn.Dropout(0.1, deterministic=not train)(x)
        return nn.Dense(10)(x)
model = Model()
variables = model.init(key, jnp.ones((1, 64)), False)
state = train_state.TrainState.create(apply_fn=model.apply, params=variables["params"],
                                      tx=optax.adamw(1e-3))
@jax.jit
def learn(state, x, y, k):
    def f(p):
        logits = state.apply_fn({"params": p}, x, True, rngs={"dropout": k})
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
    loss, grads = jax.value_and_grad(f)(state.params)
    return state.apply_gradients(grads=grads), loss
for i in range(60):
    key, k = jax.random.split(key)
    x = rng.normal(size=(128, 64)).astype(np.float32)
    y = rng.integers(0, 10, 128)
    state, loss = learn(state, x, y, k)
print(float(loss))
"""),
    "jit anew in each turn": ("jax", 12, MLP + """
for i in range(12):
    def loss_now(params, x, y):
        return loss_of(params, x, y) * (1 + i)
    g = jax.jit(jax.grad(loss_now))(params, x[:256], y[:256])
    params = jax.tree.map(lambda p, g: p - 0.001 * g, params, g)
print(params[0][0].sum())
"""),
    "no jit: operations one by one": ("jax", 50, MLP + """
params = [(jnp.asarray(w), jnp.asarray(b)) for w, b in params]
for i in range(50):
    at = rng.integers(0, len(x), 128)
    a, b = jnp.asarray(x[at]), jnp.asarray(y[at])
    grads = jax.grad(loss_of)(params, a, b)
    params = [(w - 0.01 * dw, b - 0.01 * db) for (w, b), (dw, db) in zip(params, grads)]
print(float(loss_of(params, x[:100], y[:100])))
"""),
    "StepTraceAnnotation": ("jax", 45, MLP + """
@jax.jit
def f(params, x, y):
    grads = jax.grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
f(params, x[:256], y[:256])
for i in range(45):
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        at = rng.integers(0, len(x), 256)
        params = f(params, x[at], y[at])
        jax.block_until_ready(params)
"""),
    "bodies, 20 moves between two energies": ("jax", 600, HEAD + """
n = 96
pos = jnp.asarray(rng.normal(size=(n, 3)).astype(np.float32))
vel = jnp.zeros((n, 3))
def forces(p):
    d = p[:, None] - p[None]
    r2 = (d ** 2).sum(-1) + 0.1
    return -(d / r2[..., None] ** 1.5).sum(1)
@jax.jit
def leapfrog(p, v):
    v = v + 0.005 * forces(p)
    p = p + 0.01 * v
    return p, v + 0.005 * forces(p)
@jax.jit
def energy(p, v):
    return 0.5 * (v ** 2).sum()
for t in range(600):
    pos, vel = leapfrog(pos, vel)
    if t % 20 == 0:
        print(t, float(energy(pos, vel)))
"""),
    "blackjax, draws in a Python loop": ("blackjax", 150, HEAD + """
import blackjax
def logdensity(p):
    return -0.5 * jnp.sum((p["x"] - 1) ** 2) - jnp.sum(p["x"] ** 4) * .01
nuts = blackjax.nuts(logdensity, 0.2, jnp.ones(16))
state = nuts.init({"x": jnp.zeros(16)})
kernel = jax.jit(nuts.step)
draws = []
for i in range(150):
    key, k = jax.random.split(key)
    state, info = kernel(k, state)
    draws.append(np.asarray(state.position["x"]))
print(np.mean(draws))
"""),
    "numpyro, all in one program": ("numpyro", 0, HEAD + """
import numpyro, numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
def model(y):
    m = numpyro.sample("m", dist.Normal(0, 1))
    s = numpyro.sample("s", dist.HalfNormal(1))
    numpyro.sample("y", dist.Normal(m, s), obs=y)
mcmc = MCMC(NUTS(model), num_warmup=100, num_samples=200, progress_bar=False)
mcmc.run(key, rng.normal(size=100))
print(mcmc.get_samples()["m"].mean())
"""),
    "pendulum by diffrax, fitted": ("diffrax", 30, HEAD + """
import diffrax, equinox as eqx, optax
class Field(eqx.Module):
    mlp: eqx.nn.MLP
    def __call__(self, t, y, args):
        return self.mlp(y)
class Node(eqx.Module):
    field: Field
    def __call__(self, ts, y0):
        return diffrax.diffeqsolve(diffrax.ODETerm(self.field), diffrax.Tsit5(), ts[0], ts[-1],
                                   ts[1] - ts[0], y0, saveat=diffrax.SaveAt(ts=ts)).ys
model = Node(Field(eqx.nn.MLP(2, 2, 32, 2, key=key)))
ts = jnp.linspace(0, 1, 10)
tx = optax.adam(1e-2)
state = tx.init(eqx.filter(model, eqx.is_inexact_array))
@eqx.filter_jit
def make_step(model, state, y0, ys):
    def f(m):
        return jnp.mean((jax.vmap(m, (None, 0))(ts, y0) - ys) ** 2)
    loss, grads = eqx.filter_value_and_grad(f)(model)
    updates, state = tx.update(grads, state)
    return loss, eqx.apply_updates(model, updates), state
y0 = rng.normal(size=(32, 2)).astype(np.float32)
ys = np.stack([y0 * (1 - .1 * k) for k in range(10)], 1)
for i in range(30):
    loss, model, state = make_step(model, state, y0, ys)
print(float(loss))
"""),
    "pmap, one device": ("jax", 50, MLP + """
params = jax.tree.map(lambda p: jnp.stack([p]), params)
@functools.partial(jax.pmap, axis_name="d")
def parallel_update(params, x, y):
    grads = jax.lax.pmean(jax.grad(loss_of)(params, x, y), "d")
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
for i in range(50):
    at = rng.integers(0, len(x), 256)
    params = parallel_update(params, x[at][None], y[at][None])
jax.block_until_ready(params)
"""),
    "vmap of an ensemble, validated at the end": ("jax", 80, MLP + """
many = jax.tree.map(lambda p: np.stack([p + 0.01 * k for k in range(4)]), params)
@jax.jit
def ensemble(params, x, y):
    def one(params):
        grads = jax.grad(loss_of)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
    return jax.vmap(one)(params)
predict = jax.jit(jax.vmap(forward, (0, None)))
for i in range(80):
    at = rng.integers(0, len(x), 128)
    many = ensemble(many, x[at], y[at])
for i in range(16):
    out = predict(many, x[i * 256:(i + 1) * 256])
print(out.mean())
"""),
    "twelve sweeps in each of 25 times": ("jax", (25, 300), HEAD + """
@jax.jit
def relax(u, f):
    return 0.25 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1)
                   + jnp.roll(u, -1, 1) - f)
u, f = jnp.zeros((200, 200)), rng.normal(size=(200, 200)).astype(np.float32)
for t in range(25):
    f = np.roll(f, 1)
    for k in range(12):
        u = relax(u, f)
    u = np.array(u)
"""),
    "actor and critic, episodes of any length": ("optax", 40, HEAD + """
import optax
def policy(p, s):
    return jnp.tanh(s @ p[0]) @ p[1]
p = [rng.normal(size=(8, 64)).astype(np.float32), rng.normal(size=(64, 4)).astype(np.float32)]
tx = optax.adam(1e-3)
st = tx.init(p)
act = jax.jit(lambda p, s, k: jax.random.categorical(k, policy(p, s)))
@jax.jit
def improve(p, st, s, a, r):
    def f(p):
        logp = jax.nn.log_softmax(policy(p, s))
        return -(logp[jnp.arange(64), a] * r).mean()
    g = jax.grad(f)(p)
    u, st = tx.update(g, st)
    return optax.apply_updates(p, u), st
for e in range(40):
    S, A, R = np.zeros((64, 8), np.float32), np.zeros(64, int), np.zeros(64, np.float32)
    s = rng.normal(size=8).astype(np.float32)
    for t in range(20 + (e * 7) % 30):
        key, k = jax.random.split(key)
        a = int(act(p, s, k))
        S[t], A[t], R[t] = s, a, s[a]
        s = rng.normal(size=8).astype(np.float32)
    p, st = improve(p, st, S, A, R)
"""),
    "generates a token at a time": ("jax", 100, HEAD + """
E = jnp.asarray(rng.normal(size=(500, 64)).astype(np.float32))
W = rng.normal(size=(64, 64)).astype(np.float32) * .1
@jax.jit
def next_logits(state, token):
    state = jnp.tanh(state @ W + E[token])
    return state, state @ E.T
state, token, text = jnp.zeros(64), 1, []
for t in range(100):
    state, logits = next_logits(state, token)
    key, k = jax.random.split(key)
    token = int(jax.random.categorical(k, logits))
    text.append(token)
print(text[:5])
"""),
    "expectation and maximisation until it stands": ("jax", 60, HEAD + """
data = np.concatenate([rng.normal(size=(1000, 8)) + 3 * k for k in range(4)]).astype(np.float32)
@jax.jit
def expectation(means):
    d = ((data[:, None] - means[None]) ** 2).sum(-1)
    return jax.nn.softmax(-d, axis=1)
@jax.jit
def maximisation(r):
    return (r.T @ data) / (r.sum(0)[:, None] + 1e-6)
means = data[:4]
old, n = None, 0
while n < 60:
    r = expectation(means)
    means = maximisation(r)
    likelihood = float(r.max())
    n += 1
"""),
    "a step that is warmed up first, then timed": ("jax", (100, 101), MLP + """
import time
@jax.jit
def step(params, x, y):
    grads = jax.grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
jax.block_until_ready(step(params, x[:512], y[:512]))
start = time.perf_counter()
for _ in range(100):
    params = step(params, x[:512], y[:512])
jax.block_until_ready(params)
print("done")
"""),
    "soft target, two networks, every second step": ("optax", 100, HEAD + """
import optax
def q(p, s):
    return jnp.tanh(s @ p[0]) @ p[1]
p = [rng.normal(size=(8, 64)).astype(np.float32), rng.normal(size=(64, 4)).astype(np.float32)]
target = p
tx = optax.adam(1e-3)
st = tx.init(p)
@jax.jit
def learn(p, st, target, s, a, r, s2):
    def f(p):
        return jnp.mean((q(p, s)[jnp.arange(len(a)), a] - r - .9 * q(target, s2).max(1)) ** 2)
    g = jax.grad(f)(p)
    u, st = tx.update(g, st)
    return optax.apply_updates(p, u), st
@jax.jit
def soft(target, p):
    return jax.tree.map(lambda t, p: .99 * t + .01 * p, target, p)
for i in range(100):
    s, s2 = rng.normal(size=(2, 64, 8)).astype(np.float32)
    p, st = learn(p, st, target, s, rng.integers(0, 4, 64), s[:, 0], s2)
    if i % 2:
        target = soft(target, p)
"""),
    "L-BFGS by optax, a line search in each": ("optax", 30, HEAD + """
import optax
A = rng.normal(size=(50, 50)).astype(np.float32)
def fun(w):
    return jnp.sum((A @ w - 1) ** 2) + jnp.sum(w ** 4)
tx = optax.lbfgs()
w = jnp.zeros(50)
st = tx.init(w)
value_and_grad = jax.jit(optax.value_and_grad_from_state(fun))
@jax.jit
def move(w, st, value, grad):
    u, st = tx.update(grad, st, w, value=value, grad=grad, value_fn=fun)
    return optax.apply_updates(w, u), st
for i in range(30):
    value, grad = value_and_grad(w, state=st)
    w, st = move(w, st, value, grad)
print(float(value))
"""),
    "k folds, a fit in each by fori_loop": ("jax", 10, MLP + """
@jax.jit
def fit(params, x, y):
    def body(i, params):
        grads = jax.grad(loss_of)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
    return jax.lax.fori_loop(0, 20, body, params)
score = jax.jit(loss_of)
scores = []
for fold in range(10):
    at = np.arange(len(x)) % 10 == fold
    p = fit(params, x[:3000], y[:3000])
    scores.append(float(score(p, x[3000:3400], y[3000:3400])))
print(np.mean(scores))
"""),
    "images of many sizes, one function each, no step": ("jax", 0, HEAD + """
blur = jax.jit(lambda i: (i + jnp.roll(i, 1, 0) + jnp.roll(i, 1, 1)) / 3)
a = np.asarray(blur(rng.normal(size=(300, 300)).astype(np.float32)))
hist = np.histogram(a, 20)
u, s, v = jnp.linalg.svd(a[:64, :64])
print(s[:3], jnp.fft.fft2(a)[0, 0])
"""),
}

OPEN = list(PROGRAMS)[::2]


def steps_of(path):
    with (gzip.open if path.endswith("gz") else open)(path, "rt") as file:
        trace = json.load(file)
    return (sum(event.get("ph") == "X" and event["name"].startswith("ProfilerStep#")
                for event in trace["traceEvents"]), trace["traceprof"]["notes"])


def look_at(name, args, folder):
    code = PROGRAMS[name][2]
    script = os.path.join(folder, re.sub(r"\W+", "-", name) + ".py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(code)
    for old in glob.glob(os.path.join(folder, "*.gz")):
        os.remove(old)
    env = dict(os.environ, LD_PRELOAD=os.path.join(args.build, "libtraceprof.so"),
               TRACEPROF_DIR=folder, JAX_PLATFORMS="cpu")
    if args.schedule:
        env |= {"TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "4"}
    done = subprocess.run([args.python, script], env=env, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return None, done.stderr.splitlines()[-3:], []
    traces = sorted(glob.glob(os.path.join(folder, "*.gz")))
    said = [line for line in done.stderr.splitlines() if "step" in line]
    return [steps_of(path)[0] for path in traces], said, traces


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--schedule", action="store_true")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--held", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    for name, (_, true, _) in PROGRAMS.items():
        if (args.names and name not in args.names) or (args.open and name not in OPEN) or \
                (args.held and name in OPEN):
            continue
        with tempfile.TemporaryDirectory() as folder:
            steps, said, traces = look_at(name, args, folder)
            bad = [path for path in traces if subprocess.run(
                [os.path.join(args.build, "traceprof"), "check", path],
                capture_output=True, check=False).returncode]
        print(f"{'open' if name in OPEN else 'held'} | {name} | {true} | {steps} | "
              f"{'BAD ' if bad else ''}{said}", flush=True)


if __name__ == "__main__":
    main()
