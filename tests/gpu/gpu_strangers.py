# SPDX-License-Identifier: MIT
"""Programs that nobody tuned for: trainings as people write them, with the settings
that nobody changes, and tools beside us.

A program of strangers/ ends with "steps N", and how many a person would count
otherwise ("steps 30 120": an optimizer's and a batch's).  That it is unchanged and
its trace whole is judged; its steps and what is said of it are told.
"""

import concurrent.futures
import glob
import os
import re
import shutil

import gpu_compare
import gpu_machine
import gpu_traces
from gpu_build import with_runtime
from gpu_machine import HERE, Lacking
from gpu_training import need

AT_ONCE = 4
PROGRAMS = ("lora", "resnet_amp", "hf_trainer", "gcn", "generate", "compiled_graphs",
            "vae_lightning", "dqn", "gan", "flax_mlp", "neural_ode", "gaussian",
            "kmeans_cupy", "stencil_numba", "diffusion", "second_order", "scan_jax", "ddp",
            "meta", "posterior", "jax_profiled", "segment", "characters", "ppo_jax",
            "waves_cupy", "serve", "contrast", "vit_ema", "sac", "pinn", "words",
            "replayed", "nerf", "embed", "compiled_step", "optax_gpt", "fluid_jax",
            "als_cupy", "walk_cupy")
IN_C = ("bodies", "cg", "looped", "pipeline", "sorts", "spectral", "team", "lt", "lattice",
        "argon", "ranks", "sweeps", "antenna")
LIBRARIES = {"cg": ["-lcublas"], "spectral": ["-lcufft"], "lt": ["-lcublasLt"],
             "team": ["-Xcompiler", "-fopenmp"]}
SETTINGS = {name: {"TRACEPROF_SHAPES": "1"} for name in ("cg", "lt", "flax_mlp")}
KILLED_STEPS = 300
# Several at once share the GPU's memory.
TOGETHER = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def wanted(names):
    some = os.environ.get("GPU_STRANGERS", "").split()
    return [name for name in names if not some or name in some]


def command_of(m, name):
    if name in IN_C:
        return [os.path.join(m.work, f"{name}.program")]
    return [m.python, os.path.join(HERE, "strangers", f"{name}.py"), m.device]


def compile_one(m, name):
    if not m.nvcc:
        raise Lacking("no nvcc here")
    if m.fake and "-l" in " ".join(LIBRARIES.get(name, [])):
        raise Lacking("NVIDIA's libraries want a real driver")
    made = m.run(f"nvcc-{name}", [
        m.nvcc, "-O1", "-arch=sm_90" if m.fake else "-arch=native", "-cudart", "shared",
        "-o", command_of(m, name)[0], os.path.join(HERE, "strangers", f"{name}.cu"),
        *LIBRARIES.get(name, [])], limit=90)
    if made.status:
        raise Lacking(gpu_machine.last_words(made))


def try_one(m, name):
    """(its run without us, its run with us), or a sentence."""
    env = dict(TOGETHER)
    if name in IN_C:
        try:
            compile_one(m, name)
        except Lacking as lacking:
            return str(lacking)
        env |= with_runtime(m)
    plain = m.run(f"{name}-plain", command_of(m, name), env=env, limit=70)
    if plain.status:
        return gpu_machine.last_words(plain)
    return plain, m.run(name, command_of(m, name), traced=True, limit=70,
                        env=env | {"TRACEPROF_VERDICT": "1"} | SETTINGS.get(name, {}))


def judge(m, report, name, plain, traced):
    report.expect(f"{name}: ends and prints as without us",
                  (traced.status, traced.stdout) == (plain.status, plain.stdout),
                  gpu_machine.last_words(traced) if traced.status else
                  f"{traced.stdout[-100:]!r}, not {plain.stdout[-100:]!r}"
                  if traced.stdout != plain.stdout else
                  f"{plain.seconds:.1f} s, {traced.seconds:.1f} s with us")
    more = set(gpu_machine.foreign_lines(traced)) - set(gpu_machine.foreign_lines(plain))
    if more:
        report.tell(f"{name}: words that it hasn't alone", sorted(more)[:2])
    trace = gpu_traces.load(m, report, name, traced, alone=False)
    if not trace:
        return
    gpu_traces.records(m, report, name, trace)
    truth = re.findall(r"^steps (.*)$", plain.stdout, re.M)[-1:]
    steps = [event for event in trace.slices
             if event["name"].startswith("ProfilerStep#")]
    blas = [event["name"] for event in trace.slices
            if event["name"].startswith("cublas") and "Input Dims" in event["args"]]
    report.tell(f"{name}: steps", f"{len(steps)} of {''.join(truth)}; calls of cuBLAS "
                f"with dimensions: {len(blas)}; notes: {'; '.join(trace.notes)[:200]}")
    tell_words(m, name, plain, traced)


def tell_words(m, name, plain, traced):
    words = ""
    if m.command and traced.traces:
        path = max(traced.traces, key=os.path.getsize)
        words = m.run(f"report-{name}", [m.command, "report", path], limit=60).stdout
    with open(os.path.join(m.out, "strangers.txt"), "a", encoding="utf-8") as file:
        file.write(f"=== {name}: {plain.stdout.strip()[-200:]}\n{traced.stderr[-3000:]}\n"
                   f"--- report\n{words[:6000]}\n")


def strangers(m, report):
    names = wanted(IN_C + PROGRAMS)
    with concurrent.futures.ThreadPoolExecutor(1 if m.fake else AT_ONCE) as pool:
        runs = [pool.submit(try_one, m, name) for name in names]
        for name, run in zip(names, runs):
            done = run.result()
            if isinstance(done, str):
                report.add(name, "skip", done)
            else:
                judge(m, report, name, *done)


# --- beside tools ----------------------------------------------------------------

def tool(m, name):
    places = [shutil.which(name), os.path.join(m.cuda or "", "bin", name),
              *glob.glob(f"/opt/nvidia/nsight-compute/*/{name}"),
              *glob.glob(f"/opt/nvidia/nsight-compute/*/host/*/{name}"),
              *glob.glob(f"{m.cuda}/nsight-compute*/{name}")]
    found = [place for place in places if place and os.path.exists(place)]
    if not found:
        raise Lacking(f"no {name} here")
    return found[0]


TOOLS = (("ncu", ("--target-processes", "all", "--launch-count", "2")),
         ("compute-sanitizer", ()), ("nsys", ("profile", "-o", "seen")))


def neighbours(m, report):
    """Other tools that record or check: the program under them is as without us."""
    if "cg" not in wanted(IN_C):
        raise Lacking("not wanted")
    compile_one(m, "cg")
    program = command_of(m, "cg")
    for name, arguments in TOOLS:
        try:
            command = [tool(m, name), *arguments, *program]
        except Lacking as lacking:
            report.add(name, "skip", lacking)
            continue
        plain = m.run(f"{name}-plain", command, env=with_runtime(m), limit=60)
        traced = m.run(name, command, traced=True, env=with_runtime(m), limit=60)
        own = [[line for line in run.stdout.splitlines() if re.match("solve|steps", line)]
               for run in (plain, traced)]
        report.expect(f"{name}: the program prints and ends as without us",
                      own[0] == own[1] and plain.status == traced.status and own[0],
                      f"{len(own[0])} and {len(own[1])} lines, {plain.status} and "
                      f"{traced.status}, {plain.seconds:.1f} and {traced.seconds:.1f} s")
        report.tell(f"{name}: said", gpu_machine.own_lines(traced)[:3])
        report.tell(f"{name}: its last line", f"{plain.stdout.splitlines()[-1:]} and "
                    f"{traced.stdout.splitlines()[-1:]}")
        for path in traced.traces[-1:]:
            trace = gpu_compare.Trace(path)
            report.tell(f"{name}: our trace", f"{trace.gpu.get('source')}, "
                        f"{len(trace.kernels)} kernels, {len(trace.calls)} calls; "
                        f"{'; '.join(trace.notes)[:200]}")


def killed(m, report):
    """kill -9 in a training: what had ended by then is in the trace that's left."""
    need(m, "torch")
    command = [m.python, os.path.join(HERE, "gpu_ends.py"), "killed", m.device,
               str(KILLED_STEPS)]
    for title, env in (("as it is", {}), ("windows", {
            "TRACEPROF_WAIT": "5", "TRACEPROF_ACTIVE": "20", "TRACEPROF_REPEAT": "0",
            "TRACEPROF_STEP": "range:step"})):
        name = "killed-" + title.replace(" ", "-")
        ran = m.run(name, command, traced=True, env=env, limit=60)
        told = [int(number) for number in re.findall(r"^step (\d+)$", ran.stdout, re.M)]
        if not report.expect(f"{title}: is killed after its steps",
                             ran.status == -9 and told, gpu_machine.last_words(ran)):
            continue
        kernels = 0
        for path in ran.traces:
            gpu_traces.check(m, report, title, path)
            m.keep(path)
            trace = gpu_compare.Trace(path)
            kernels += len([event for event in trace.kernels if "cosh" in event["name"]])
        report.tell(f"{title}: steps and their kernels", f"{len(told)} told, {kernels} "
                    f"kernels in {len(ran.traces)} traces")
        if title == "as it is" and not m.fake:
            report.expect(f"{title}: most of them", kernels >= len(told) - 64, kernels)
