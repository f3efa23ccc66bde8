# SPDX-License-Identifier: MIT
"""What machine this is, the library, and the programs in CUDA's C."""

import collections
import glob
import importlib.metadata
import os
import platform
import re
import shutil
import site
import sys

import gpu_machine
import gpu_traces
from gpu_machine import HERE, ROOT, Lacking

STEPS, THREADS = 50, 2
# The parts that want each program.
USERS = {
    "shared": {"trainer", "capture", "versions"},
    "static": {"trainer", "capture"},
    "launches": {"launches", "long", "cost", "ends_c", "late_clock", "devices"},
    "probe": {"withheld", "zeros", "devices", "events", "switching", "versions"},
    "kinds": {"kinds"}, "graphs": {"kinds", "versions"}, "contexts": {"kinds"},
}


def machine(m, report):
    kernel = platform.release()
    report.tell("kernel", f"{kernel} {platform.version()}"
                + (" (gVisor)" if kernel.startswith("4.4.0") else ""))
    query = shutil.which("nvidia-smi") or "/usr/local/nvidia/bin/nvidia-smi"
    if os.path.exists(query) and not m.fake:
        asked = m.run("smi", [query, "--query-gpu=name,driver_version,memory.total",
                              "--format=csv,noheader"], limit=20)
        report.tell("GPU and driver", asked.stdout.strip())
        report.detail("gpu", asked.stdout.strip())
    else:
        report.tell("GPU and driver", "simulated" if m.fake else "no nvidia-smi")
    found = {"python": platform.python_version()}
    for name in ("torch", "jax", "triton"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    report.detail("python", found | {"path": m.python})
    report.tell("versions", ", ".join(f"{name} {text}" for name, text in found.items()))
    report.tell("processors", os.cpu_count())


# --- the library ------------------------------------------------------------

def cuda_with_headers(m):
    """Where cupti.h is: the toolkit's folder, or a wheel's."""
    found = [m.cuda] if m.cuda else []
    for folder in [*site.getsitepackages(), *sys.path]:
        found += sorted(glob.glob(os.path.join(folder, "nvidia", "cu1[23]")), reverse=True)
    for folder in found:
        for place in ("include", "extras/CUPTI/include"):
            if os.path.exists(os.path.join(folder, place, "cupti.h")):
                return folder
    return m.cuda or "/usr/local/cuda"


def works(m, folder, report):
    """Is there a library in this build folder that this machine can load, and
    that knows CUPTI?"""
    library = os.path.join(folder, "libtraceprof.so")
    if not os.path.exists(library):
        return False
    m.library = library
    tried = m.run("try", ["true"], traced=True, limit=10)
    with open(library, "rb") as file:
        knows = b"cuptiActivityRegisterCallbacks" in file.read()
    if tried.status == 0 and not tried.stderr and knows:
        return True
    report.tell(f"not {os.path.relpath(library, ROOT)}",
                "built without cupti.h" if not knows else gpu_machine.last_words(tried))
    return False


def build(m, report):
    carried = m.carried
    own = os.path.join(ROOT, "build", "gpu-run", "build")
    places = [os.path.abspath(carried)] if carried else [own, os.path.join(ROOT, "build")]
    if not carried and m.fake and os.path.exists(os.path.join(places[1],
                                                              "libtraceprof.so")):
        places.reverse()        # as `make fake-gpu` left it
    elif not carried:
        made = m.run("make", ["make", "-C", ROOT, f"-j{os.cpu_count() or 1}", "lib",
                              f"O={os.path.relpath(own, ROOT)}",
                              f"CUDA={cuda_with_headers(m)}"], limit=150)
        report.tell("make lib", f"status {made.status}, {made.seconds:.0f} s"
                    + (f", {gpu_machine.last_words(made)}" if made.status else ""))
    for folder in places:
        if works(m, folder, report):
            break
    else:
        m.library = None
        report.expect("a library", False, "none that this machine can load")
        return
    report.expect("a library", True, os.path.relpath(m.library, ROOT))
    command = os.path.join(os.path.dirname(m.library), "traceprof")
    if not os.path.exists(command):
        command = os.path.join(ROOT, "build", "traceprof")
    if os.path.exists(command) and m.run("try-command", [command, "--help"],
                                         limit=10).status == 0:
        m.command = command
    report.tell("checks by", "traceprof check" if m.command
                else "tests/real/perfetto_rules.py")
    compile_programs(m, report)


def compile_programs(m, report):
    """With nvcc; on the simulated GPU the static runtime does not run."""
    sources = os.path.join(ROOT, "tests", "programs")
    wanted = [("shared", os.path.join(sources, "cuda_train.cu"), ["-cudart", "shared"]),
              ("launches", os.path.join(HERE, "gpu_launches.cu"), ["-cudart", "shared"])]
    wanted += [(name, os.path.join(sources, f"cuda_{name}.cu"), ["-cudart", "shared"])
               for name in ("kinds", "graphs", "contexts")]
    headers = cuda_with_headers(m)
    includes = [word for place in ("include", "extras/CUPTI/include")
                for word in ("-I", os.path.join(headers, place))]
    wanted.append(("probe", os.path.join(HERE, "gpu_probe.cu"),
                   ["-cudart", "shared", *includes]))
    if not m.fake:
        wanted.append(("static", wanted[0][1], ["-cudart", "static"]))
    for name, source, flags in wanted:
        if not m.wanted & USERS[name]:
            continue
        output = os.path.join(m.work, f"{name}.program")
        ready = os.path.join(os.path.dirname(m.library), "gpu-programs", name)
        if os.path.exists(ready) and not m.fake:    # brought along
            m.programs[name] = ready
            report.tell(f"nvcc, {name}", "built elsewhere")
            continue
        if not m.nvcc:
            report.add(f"nvcc, {name}", "skip", "no nvcc here")
            continue
        for architecture in (["-arch=native"], ["-arch=sm_90"], []):
            if m.fake and architecture == ["-arch=native"]:
                continue
            made = m.run(f"nvcc-{name}", [m.nvcc, "-O1", *architecture, *flags,
                                          "-I", os.path.join(ROOT, "include"),
                                          "-o", output, source, "-ldl"], limit=60)
            if made.status == 0:
                m.programs[name] = output
                break
        report.expect(f"nvcc, {name}", name in m.programs,
                      gpu_machine.last_words(made) if made.status else "")
    runtime = glob.glob(os.path.join(m.cuda, "lib64")) + \
        glob.glob(os.path.join(m.cuda, "targets", "*", "lib")) if m.cuda else []
    m.runtime_path = ":".join(runtime)


def with_runtime(m):
    """The shared CUDA runtime, where the loader doesn't know it."""
    known = m.environment().get("LD_LIBRARY_PATH", "")
    if m.fake:
        return {}
    return {"LD_LIBRARY_PATH": ":".join(filter(None, [known, m.runtime_path]))}


def cublas(m):
    places = glob.glob(os.path.join(m.cuda or "", "lib64", "libcublas.so.1[23]"))
    for folder in [*site.getsitepackages(), *sys.path]:
        places += glob.glob(os.path.join(folder, "nvidia", "cu13", "lib",
                                         "libcublas.so.13"))
        places += glob.glob(os.path.join(folder, "nvidia", "cublas", "lib",
                                         "libcublas.so.1[23]"))
    return [] if m.fake or not places else [places[0]]


# --- the trainer ------------------------------------------------------------

def trainer(m, report):
    blas = cublas(m)
    report.tell("cuBLAS", blas[0] if blas else "none")
    for kind in ("shared", "static"):
        if kind not in m.programs:
            report.add(f"{kind} runtime", "skip", "not built")
            continue
        command = [m.programs[kind], STEPS, THREADS, *blas]
        plain = m.run(f"trainer-{kind}-plain", command, env=with_runtime(m))
        traced = m.run(f"trainer-{kind}", command, traced=True, env=with_runtime(m))
        if not report.expect(f"{kind}: runs without us", plain.status == 0,
                             gpu_machine.last_words(plain)):
            continue
        trace = gpu_traces.look(m, report, kind, plain, traced)
        if trace:
            trainer_work(report, kind, trace, bool(blas))


def trainer_work(report, kind, trace, blas):
    """Its own kernels, each as often as it launched them."""
    names = gpu_traces.gpu_compare.demangle({event["name"] for event in trace.kernels})
    counts = collections.Counter(re.sub(r"\(.*", "", names[event["name"]])
                                 for event in trace.kernels)
    wanted = {name: STEPS * THREADS for name in ("forward", "backward", "update")}
    seen = {name: counts[name] for name in wanted}
    report.expect(f"{kind}: its kernels", seen == wanted, seen)
    if blas:
        others = sum(counts.values()) - sum(seen.values())
        report.expect(f"{kind}: cuBLAS' kernels", others >= (STEPS + 1) * THREADS, others)
    copies = collections.Counter(event["name"] for event in trace.of("gpu_memcpy"))
    report.expect(f"{kind}: pinned and pageable copies",
                  copies["Memcpy HtoD (Pinned -> Device)"] == STEPS * THREADS
                  and copies["Memcpy DtoH (Device -> Pageable)"] >= STEPS * THREADS,
                  dict(copies))
    graphs = [event for event in trace.kernels if event["args"].get("graph id")]
    report.expect(f"{kind}: kernels of the graph",
                  len(graphs) >= 3 * STEPS, len(graphs))
    threads = {event["tid"] for event in trace.of("cuda_runtime")
               if "Launch" in event["name"]}
    report.expect(f"{kind}: both host threads launch", len(threads) == THREADS, threads)


# --- what a launch costs ----------------------------------------------------

WAYS = (
    ("without us", False, {}),
    ("window closed", True, {"TRACEPROF_WAIT": "1000000", "TRACEPROF_ACTIVE": "1",
                             "TRACEPROF_STEP": "api"}),
    ("window open", True, {}),
    ("closed, steps by kernel", True,
     {"TRACEPROF_WAIT": "1000000", "TRACEPROF_ACTIVE": "1",
      "TRACEPROF_STEP": "kernel:no_such_kernel"}),
)


def launches(m, report):
    if "launches" not in m.programs:
        raise Lacking("not built")
    for way, traced, env in WAYS:
        ran = m.run("launches-" + way.replace(" ", "-").replace(",", ""),
                    [m.programs["launches"], "launch", 20000 if m.fake else 200000],
                    traced=traced, env=with_runtime(m) | env)
        found = re.search(r"launch_ns ([0-9.]+)", ran.stdout)
        if report.expect(way, found and ran.status == 0, f"{found.group(1)} ns a launch"
                         if found else gpu_machine.last_words(ran)):
            report.detail(way, float(found.group(1)))
