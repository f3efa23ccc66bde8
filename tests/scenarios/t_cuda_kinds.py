# SPDX-License-Identifier: MIT
"""What a GPU does beside plain kernels and copies, on the simulated one."""

import collections
import json
import os
import tempfile

import harness
from harness import command, expect, expect_equal
from t_cuda import FAKE, on_gpu

MIB = 1 << 20


def kinds(*words, **env):
    run = on_gpu(*words, program="cuda_kinds", **env)
    expect_equal(run.status, 0, run.stderr)
    expect_equal(run.trace.meta["gpu"]["unknown_records"], 0)
    return run.trace


def instants(trace, category):
    return [event for event in trace.events
            if event["ph"] == "i" and event.get("cat") == category]


def counters(trace, name):
    found = [event for event in trace.events
             if event["ph"] == "C" and event["name"].startswith(name)]
    return sorted(found, key=lambda event: event["ts"])


def test_memory_pools():
    for version in (24, 130001):
        trace = kinds("pools", SIMGPU_VERSION=version)
        done = instants(trace, "memory_pool")
        expect_equal([event["name"] for event in done],
                     ["memory pool " + word
                      for word in ("created", "trimmed", "destroyed")])
        expect_equal([event["args"]["release threshold"] for event in done],
                     [0, 3 * MIB, 3 * MIB])
        pool = done[0]["args"]["pool"]
        track = counters(trace, f"memory pool {pool:#x}")
        expect_equal([event["args"]["used"] // MIB for event in track],
                     [0, 1, 2, 1, 0, 0, 0], "used")
        expect_equal([event["args"]["size"] // MIB for event in track],
                     [0, 1, 2, 2, 2, 0, 0], "size")
        expect_equal({event["pid"] for event in track}, {0})
        blocks = [event["args"] for event in trace.memory() if "pool" in event["args"]]
        expect_equal(collections.Counter(block["pool"] == pool for block in blocks),
                     {True: 4, False: 2}, "blocks of pools")
        expect_equal([(block["pool size"] // MIB, block["pool used"] // MIB,
                       block["release threshold"] // MIB)
                      for block in blocks if block["pool"] == pool],
                     [(1, 1, 3), (2, 2, 3), (2, 1, 3), (2, 0, 3)], "the pool then")


def graph_blocks(**env):
    """[(MiB, during a kernel)] of what graphs allocate and free."""
    trace = kinds("graphs", **env)
    blocks = [event for event in sorted(trace.memory(), key=lambda one: one["ts"])
              if event["args"]["Device Type"] == 1]
    total = 0
    for event in blocks:
        total += event["args"]["Bytes"]
        expect_equal(event["args"]["Total Allocated"], total, "running total")
    expect_equal([note for note in trace.meta["notes"] if "graphs" in note], [])
    return trace, blocks


def test_memory_of_graphs():
    """By nodes and launched twice; captured; captured and freed outside; then
    none of a graph's."""
    for version in (24, 130001):
        trace, blocks = graph_blocks(SIMGPU_VERSION=version)
        expect_equal([event["args"]["Bytes"] // MIB for event in blocks],
                     [1, -1, 1, -1, 2, -2, 3, -3, 4, -4])
        kernels = sorted(trace.slices(cat="kernel"), key=lambda one: one["ts"])
        for kernel, begin, end in zip(kernels, blocks[:6:2], blocks[1:6:2]):
            expect(begin["ts"] <= kernel["ts"] + 0.01, (begin, kernel))
            expect(end["ts"] >= kernel["ts"] + kernel["dur"] - 0.01, (end, kernel))
    for env in {"TRACEPROF_GRAPHS": "graph"}, {"SIMGPU_CAPTURED_MEMORY": 1}:
        _, blocks = graph_blocks(**env)
        expect_equal([event["args"]["Bytes"] // MIB for event in blocks],
                     [1, -1, 1, -1, 2, -2, 3, -3, 4, -4], env)


def test_too_much_memory_of_graphs_is_said():
    notes = kinds("blocks").meta["notes"]
    expect(any("memory of CUDA graphs is not complete" in note for note in notes),
           notes)


def test_building_a_graph_launches_nothing():
    trace = kinds("built")
    gpu = trace.meta["gpu"]
    expect_equal((len(trace.slices(cat="kernel")), gpu["launched_kernels"],
                  gpu["missing_kernels"]), (1, 1, 0))
    expect_equal(len(trace.slices("cudaGraphAddKernelNode")), 100)
    expect_equal([event for event in trace.memory()
                  if event["args"]["Device Type"] == 1], [], "never launched")


def test_managed_memory_where_asked_for():
    trace = kinds("managed", TRACEPROF_UNIFIED_MEMORY=1)
    moves = trace.slices(cat="unified_memory")
    expect_equal(sorted((event["name"], event["args"]["why"]) for event in moves),
                 [("Unified Memory CPU page fault", "read"),
                  ("Unified Memory GPU page faults", "write"),
                  ("Unified Memory Memcpy DtoH", "coherence"),
                  ("Unified Memory Memcpy HtoD", "coherence")])
    _, faults, down, up = [event["args"] for event
                           in sorted(moves, key=lambda event: event["name"])]
    expect_equal((faults["page faults"], faults["by"]), (256, 0))
    expect_equal((up["bytes"], up["from"], up["to"]), (MIB, -1, 0))
    expect_equal((down["bytes"], down["from"], down["to"]), (MIB, 0, -1))
    expect(all("stream" not in event["args"] for event in moves), moves)
    report = command("report", trace.path).stdout
    expect("Managed memory: 256 page faults of GPUs, 1 of the host; 1.000 MiB "
           "went to GPUs and 1.000 MiB came back." in report, report)
    expect(not kinds("managed").slices(cat="unified_memory"), "not asked for")


def test_shapes_of_kernels():
    kernels = kinds("shapes").slices(cat="kernel")
    expect_equal([event["args"].get("cluster") for event in kernels],
                 [[2, 1, 1], None, None])
    expect_equal([event["args"].get("cooperative") for event in kernels],
                 [None, True, None])
    expect_equal([event["args"].get("priority") for event in kernels], [0, 0, -5])


def test_queues_where_asked_for():
    trace = kinds("shapes", TRACEPROF_GPU_LATENCY=1)
    base = trace.top["baseTimeNanoseconds"]
    calls = {event["args"]["correlation"]: event
             for event in trace.slices(cat="cuda_runtime")}
    for kernel in trace.slices(cat="kernel"):
        args, launch = kernel["args"], calls[kernel["args"]["correlation"]]
        queued = (args["queued"] - base) / 1000
        expect(launch["ts"] <= queued <= launch["ts"] + launch["dur"], kernel)
        expect(args["queued"] <= args["submitted"], kernel)
        expect(abs(kernel["ts"] - queued - args["queue latency ns"] / 1000) < 0.01,
               kernel)
    expect_equal({event["args"]["queued"] for event
                  in kinds("shapes").slices(cat="kernel")}, {0})


def test_failed_calls_have_their_errors_name():
    trace = kinds("failures")
    failed = [(event["name"], event["args"]["result"], event["args"]["error"])
              for event in trace.slices(cat="cuda_runtime")
              if "error" in event["args"]]
    launch = "cudaLaunchKernel", 9, "cudaErrorInvalidConfiguration"
    expect_equal(failed, [("cudaMalloc", 2, "cudaErrorMemoryAllocation"),
                          launch, launch])
    report = command("report", trace.path).stdout
    expect("cudaLaunchKernel: cudaErrorInvalidConfiguration" in report, report)


def test_peer_copies_have_both_ends():
    trace = kinds("peer")
    copies = [event["args"] for event in trace.slices(cat="gpu_memcpy")]
    expect_equal([(copy["fromDevice"], copy["toDevice"], copy["inDevice"],
                   copy["fromContext"], copy["toContext"]) for copy in copies],
                 3 * [(0, 1, 0, 1, 2)])
    report = command("report", trace.path).stdout
    expect("GPU 0 to GPU 1" in report, report)


def test_names_of_streams():
    rows = {event["args"]["name"] for event in kinds("names").events
            if event["name"] == "thread_name" and event["pid"] == 0}
    expect_equal({row for row in rows if "coder" in row and "(events)" not in row},
                 {"stream 13 decoder ", "stream 14 encoder "})


def test_names_of_events():
    """As long as they live: another one gets the handle of one that is gone."""
    trace = kinds("names")
    marks = sorted(trace.slices(cat="cuda_event"), key=lambda mark: mark["args"]["correlation"])
    expect_equal([mark["args"].get("event_name") for mark in marks],
                 ["loaded", "read"] + 21 * [None])


def test_host_functions():
    trace = kinds("host", SIMGPU_VERSION=130100)
    found = {event["name"]: event for event in trace.slices(cat="cpu_op")}
    expect_equal(sorted(found), ["graph host node", "host function"])
    calls = {event["args"]["correlation"]: event["name"]
             for event in trace.slices(cat="cuda_runtime")}
    expect_equal([calls[found[name]["args"]["launched by"]]
                  for name in sorted(found)],
                 ["cudaGraphLaunch", "cudaLaunchHostFunc"])
    node = found["graph host node"]["args"]
    expect(node["graph id"] and node["graph node id"], node)
    expect(not kinds("host").slices(cat="cpu_op"), "not before 13.1")


def test_compilation():
    run = on_gpu("steps=3", program="cuda_loop")
    expect_equal(run.status, 0, run.stderr)
    jit = run.trace.slices("JIT*", cat="overhead")
    expect_equal([event["name"] for event in jit],
                 ["JIT compile PTX to CUBIN", "JIT cache store PTX to CUBIN"])
    expect_equal((jit[1]["args"]["cache bytes"], jit[1]["args"]["cache path"]),
                 (4711, "/home/user/.nv/ComputeCache/0/a/simulated"))


def test_devices_have_an_identity():
    uuid = "GPU-" + "simulated-gpu-0\0".encode().hex()
    device = kinds("names").top["deviceProperties"][0]
    expect_equal(device["uuid"].replace("-", ""), uuid.replace("-", ""))
    expect("migUuid" not in device, device)
    part = kinds("names", SIMGPU_MIG=1).top["deviceProperties"][0]
    expect(part["migUuid"].startswith("MIG-73696d75-"), part)
    expect_equal((part["gpuInstanceId"], part["computeInstanceId"]), (3, 1))


def test_kernels_of_triton_by_name():
    """torch.compile puts the operators that a kernel was made of into its name."""
    name = "triton_poi_fused_add_relu_0"
    run = on_gpu(5, name, program="ptx_launch", LD_LIBRARY_PATH=FAKE + "-12",
                 SIMGPU_VERSION=28, TRACEPROF_STEP=f"kernel:{name}")
    kernels = run.trace.slices(name, cat="kernel")
    calls = run.trace.slices("cuLaunchKernelEx", cat="cuda_driver")
    expect_equal(len(kernels), 5, "kernels")
    expect_equal([one["args"]["correlation"] for one in kernels],
                 [one["args"]["correlation"] for one in calls], "calls")
    rows = {row["name"]: row["calls"]
            for category in json.loads(command("report", "--json",
                                               run.trace.path).stdout)[0]["categories"]
            if category["category"] == "kernel" for row in category["names"]}
    expect_equal(rows, {name: 5}, "report")
    expect_equal(len(run.trace.slices("ProfilerStep#*")), 5, "steps")


def compiled(kernel, operators):
    """What torch.compile 2.15 leaves of a kernel."""
    return ("# AOT ID: ['0_inference']\nimport torch\n\n\n"
            "# kernel path: /tmp/torchinductor_user/ab/cab.py\n"
            "# Topologically Sorted Source Nodes: [y, z], "
            f"Original ATen: [{', '.join(operators)}]\n"
            "# Source node to ATen node mapping:\n#   z => relu\n"
            f"{kernel} = async_compile.triton('{kernel}', '''\nimport triton\n"
            f"@triton.jit\ndef {kernel}(in_ptr0):\n    pass\n"
            "''', device_str='cuda')\n\nasync_compile.wait(globals())\n")


def operators_told(kernel, files, owner=None, **env):
    """What slices of this kernel say of operators, with such files in
    torch.compile's cache; the trace."""
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "torchinductor_someone")
        for name, text in files.items():
            path = os.path.join(cache, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        if owner is not None:
            os.chown(cache, owner, owner)
        settings = {"TORCHINDUCTOR_CACHE_DIR": cache, **env}
        if settings["TORCHINDUCTOR_CACHE_DIR"] is None:
            del settings["TORCHINDUCTOR_CACHE_DIR"]
            settings.update(TMPDIR=folder, LOGNAME="someone")
        run = on_gpu(3, kernel, program="ptx_launch", LD_LIBRARY_PATH=FAKE + "-12",
                     SIMGPU_VERSION=28, **settings)
        expect_equal(run.status, 0, run.stderr)
        told = [one["args"].get("Original ATen")
                for one in run.trace.slices(kernel, cat="kernel")]
        expect_equal(len(told), 3, "kernels")
        expect_equal(len(set(told)), 1, told)
        return told[0], run.trace


def test_operators_of_tritons_kernels():
    """As in the comment in the file, by the program's cache; in --long."""
    name = "triton_poi_fused_add_relu_0"
    files = {"ab/cab.py": compiled(name, ["aten.relu", "aten.add"]),
             "ac/cac.py": compiled("triton_red_fused_sum_1", ["aten.sum"])}
    for env in {}, {"TORCHINDUCTOR_CACHE_DIR": None}:
        told, trace = operators_told(name, files, **env)
        expect_equal(told, "aten.relu, aten.add", env)
    expect_equal(operators_told(name + "_0d1d2de", files)[0], told, "Triton 2")
    report = command("report", "--long", trace.path).stdout
    expect(f"{name} [aten.relu, aten.add]" in report, report)
    expect("aten." not in command("report", trace.path).stdout, "shorter")
    expect_equal(operators_told("saxpy", files)[0], None, "not torch.compile's")


def test_operators_that_are_not_certain_are_not_told():
    name = "triton_poi_fused_add_relu_0"
    good = compiled(name, ["aten.relu", "aten.add"])
    for other in (compiled(name, ["aten.relu", "prims.add"]), good[good.index(name):],
                  compiled(name, ["aten.add"])):
        told, _ = operators_told(name, {"ab/cab.py": good, "ac/cac.py": other})
        expect_equal(told, None, other)
    told, _ = operators_told(name, {"ab/cab.py": good[:good.index(" = async")]})
    expect_equal(told, None, "cut off")
    told, trace = operators_told(name, {"ab/cab.py": good + " " * (4 << 20)})
    expect_equal(told, None, "huge")
    expect(any("may lack their operators" in note for note in trace.meta["notes"]),
           trace.meta["notes"])


def test_operators_of_another_users_cache_are_not_told():
    if os.geteuid():
        raise harness.Skip("only root can give a folder away")
    name = "triton_poi_fused_add_relu_0"
    files = {"ab/cab.py": compiled(name, ["aten.relu", "aten.add"])}
    for env in {}, {"TORCHINDUCTOR_CACHE_DIR": None}:
        expect_equal(operators_told(name, files, owner=12345, **env)[0], None, env)


if __name__ == "__main__":
    harness.main()
