# SPDX-License-Identifier: MIT
"""The simulated GPU itself: what CUPTI's plainest client sees on it.

Nothing of the profiler runs here.  Each knob of tests/fake_gpu/README.md is
turned once, and without it the thing must not happen.
"""

import collections
import os
import re
import subprocess
import sys
import time

import harness
from gpu_records import (CONCURRENT_KERNEL, CONTEXT, DEVICE, DRIVER, EVENT, GRAPH,
                         KERNEL, MEMCPY, MEMORY, MEMSET, OVERHEAD, RUNTIME, STREAM,
                         SYNC, Dump, environment, real_library, real_walk)
from harness import BUILD, Skip, expect, expect_equal, folder, plain

STEPS, THREADS = 4, 2
LAZY_LOADING = 5 << 16
MAX_LIMIT_REACHED = 12
INVALID_KIND = 21
SIGABRT = -6


def need_double():
    double = os.path.join(BUILD, "fake-gpu", "libcupti.so.13")
    if not os.path.exists(double):
        raise Skip(harness.not_built("the double", "CUDA headers"))
    trainer = os.path.join(BUILD, "tests", "programs", "cuda_train")
    if not os.path.exists(trainer):
        raise Skip(harness.not_built("cuda_train", "nvcc"))


def spied(*command, timeout=harness.HANGS, **env):
    """Runs a program with the spy in it: (run, path of the dump)"""
    need_double()
    output = os.path.join(folder(), "spy")
    # The spy has a clock of its own; SIMGPU_ZERO_TIMES tests what comes of it.
    settings = environment(BUILD, output) | {"SIMGPU_ZERO_TIMES": "0"}
    run = plain(*command, timeout=timeout,
                env=settings | {key: str(value) for key, value in env.items()})
    return run, output


def train(**env):
    return spied("cuda_train", STEPS, THREADS, **env)


def seen(version=130001, **env):
    run, output = train(SIMGPU_VERSION=version, **env)
    expect_equal(run.status, 0, f"status ({run.stderr})")
    return Dump(output, version)


def by_stream(records):
    streams = collections.defaultdict(list)
    for record in records:
        streams[record.stream].append(record)
    for found in streams.values():
        found.sort(key=lambda record: record.start)
    return streams


def overlaps(kernels):
    return sum(one.end > other.start for found in by_stream(kernels).values()
               for one, other in zip(found, found[1:]))


def early(dump):
    """Kernels that begin before the call that launched them."""
    launches = dump.launches
    return [kernel for kernel in dump.kernels
            if kernel.start < launches[kernel.correlation].start]


def test_program_runs_unchanged():
    need_double()
    run = plain("cuda_train", env={
        "LD_LIBRARY_PATH": os.path.join(BUILD, "fake-gpu")})
    expect_equal(run.status, 0, run.stderr)
    expect_equal(run.stdout,
                 "Simulated GPU: 4 steps, 2 threads, 0 faults, loss 0\n")


def test_records_of_a_run():
    dump = seen()
    counts = collections.Counter(record.kind for record in dump.records)
    expect_equal(counts[CONCURRENT_KERNEL], 3 * STEPS * THREADS, "kernels")
    expect_equal(counts[MEMSET], (STEPS + 2) * THREADS, "memsets")
    expect_equal(counts[MEMCPY], (2 * STEPS + 2) * THREADS, "copies")
    expect_equal(counts[DEVICE], 1, "devices")
    expect_equal(counts[CONTEXT], 1, "contexts")
    # One more to capture on.
    expect_equal(counts[STREAM], 2 * THREADS + 1, "streams")
    expect_equal(counts[EVENT], 3 * STEPS * THREADS, "events")
    work = dump.kernels + dump.of(MEMSET) + dump.of(MEMCPY)
    expect_equal({call.correlation for call in dump.of(DRIVER)},
                 {one.correlation for one in work}, "driver calls")
    expect_equal(counts[KERNEL], 0, "serialised kernels")
    loads = [r for r in dump.of(OVERHEAD) if r.overhead == LAZY_LOADING]
    expect_equal(len(loads), 3, "kernels loaded")
    expect_equal({kernel.name for kernel in dump.kernels},
                 {"_Z7forwardPKfS0_Pf", "_Z8backwardPKfS0_Pf", "_Z6updatePfPKff"},
                 "names")
    expect_equal({k.grid for k in dump.kernels}, {(4, 1, 1), (256, 1, 1), (2, 1, 1)},
                 "grids")
    balance = collections.Counter()
    for record in dump.of(MEMORY):
        balance[record.address] += record.bytes * (1 if record.operation == 1 else -1)
    expect(not any(balance.values()), f"memory that stays: {balance}")
    expect_equal(dump.said("end:").split(", ")[3], "0 fatal")


def test_everything_has_its_call():
    dump = seen()
    launches = dump.launches
    for record in dump.kernels + dump.of(MEMCPY, MEMSET, SYNC, MEMORY):
        expect(record.correlation in launches, f"no call of {record}")
        expect(record.start >= launches[record.correlation].start,
               f"before its call: {record}")
    expect_equal(len(launches), len(dump.of(RUNTIME)), "ids used once")
    for record in dump.of(RUNTIME):
        expect(record.start <= record.end and record.result == 0, record)
    waits = [r for r in dump.of(SYNC) if r.type == 3]
    for wait in waits:
        expect(wait.end >= max([k.end for k in dump.kernels
                                if k.stream == wait.stream and k.start < wait.start]),
               f"returned too early: {wait}")
    expect_equal(len(waits), STEPS * THREADS, "stream waits")


def test_cuda_12():
    double = os.path.join(BUILD, "fake-gpu-12")
    run, output = spied("ptx_launch", 5, LD_LIBRARY_PATH=double, SIMGPU_VERSION=28)
    expect_equal(run.status, 0, run.stderr)
    dump = Dump(output, 28)
    expect(dump.said("version").startswith("28,"), dump.lines)
    expect_equal(len(dump.kernels), 5, "kernels")


def test_streams_run_one_thing_at_a_time():
    dump = seen()
    expect_equal(overlaps(dump.kernels + dump.of(MEMCPY, MEMSET)), 0, "overlaps")
    expect_equal(early(dump), [], "before their launch")


def test_default_stream_for_each_thread():
    run, output = spied("cuda_train_per_thread", STEPS, THREADS)
    expect_equal(run.status, 0, run.stderr)
    whole, dump = seen(), Dump(output)
    for kind in (CONCURRENT_KERNEL, MEMCPY, MEMSET, RUNTIME):
        expect_equal(len(dump.of(kind)), len(whole.of(kind)), f"records of {kind}")
    expect_equal(len({r.stream for r in dump.of(MEMCPY)}), 2 * THREADS, "streams")
    # One null stream for all, and a copy stream for each thread.
    expect_equal(len({r.stream for r in whole.of(MEMCPY)}), THREADS + 1, "streams")


def test_driver_alone():
    run, output = spied("ptx_launch", 5)
    expect_equal(run.status, 0, run.stderr)
    expect_equal(run.stdout, "5 launches, copies agree\n")
    dump = Dump(output)
    calls = {record.correlation: record for record in dump.of(DRIVER)}
    expect_equal([k.name for k in dump.kernels], 5 * ["ptx_kernel"], "kernels")
    expect_equal({calls[k.correlation].cbid for k in dump.kernels}, {307}, "launches")
    expect_equal(dump.of(RUNTIME), [], "runtime calls")
    expect_equal(len(dump.of(MEMCPY)), 2, "copies")


def test_graphs():
    dump = seen()
    nodes = [k for k in dump.kernels if k.graph]
    expect_equal(len(nodes), 3 * STEPS, "kernels of graphs")
    expect_equal(len({k.graph_node for k in nodes}), 3, "nodes")
    expect_equal(len({k.correlation for k in nodes}), STEPS, "launches of graphs")
    whole = seen(SPY_KINDS="5,10,51")
    expect_equal(len(whole.of(GRAPH)), STEPS, "records of whole graphs")
    expect_equal(len(whole.kernels), 3 * STEPS, "kernels of the other thread")
    for record in whole.of(GRAPH):
        expect(0 < record.start < record.end, record)


def test_real_cupti_reads_the_same_bytes():
    library = real_library()
    if not library:
        raise Skip("no real libcupti.so.13 of CUDA 13.0 on this machine")
    kinds = set()
    for env in ({}, {"SPY_KINDS": "3,5,51,37"}, {"SIMGPU_DUP_DRIVER": 1}):
        dump = seen(**env)
        for buffer in dump.buffers:
            walked, end = real_walk(library, buffer.data)
            expect_equal(end, MAX_LIMIT_REACHED, "end of the walk")
            expect_equal(walked, [(r.kind, r.at) for r in dump.walk(buffer)],
                         "records")
            kinds |= {kind for kind, _ in walked}
    expect(kinds >= {KERNEL, CONCURRENT_KERNEL, MEMCPY, MEMSET, RUNTIME, DRIVER,
                     DEVICE, CONTEXT, OVERHEAD, EVENT, STREAM, SYNC, MEMORY, GRAPH},
           f"only {kinds}")
    old = seen(28)
    expect(any(real_walk(library, buffer.data)[0]
               != [(r.kind, r.at) for r in old.walk(buffer)]
               for buffer in old.buffers if buffer.names),
           "the real one cannot tell 12.9 from 13.0")


ANSWERS = """
import ctypes, sys
from ctypes import byref, c_char_p, c_size_t, c_uint32, c_uint64, c_void_p
library = ctypes.CDLL(sys.argv[1])
text, handle, size, number = c_char_p(), c_void_p(), c_size_t(8), c_uint64()
callback = ctypes.CFUNCTYPE(None)(lambda: None)
for domain in (1, 2):
    for cbid in range(1000):
        if library.cuptiGetCallbackName(domain, cbid, byref(text)) == 0:
            print(domain, cbid, text.value.decode())
for result in list(range(47)) + [999]:
    if library.cuptiGetResultString(result, byref(text)) == 0:
        print("result", result, text.value.decode())
print("unknown name", library.cuptiGetCallbackName(2, 1 << 20, byref(text)))
print("buffers", library.cuptiActivityRegisterCallbacks(callback, callback))
print("subscribe", library.cuptiSubscribe(byref(handle), callback, None))
print("enable", library.cuptiActivityEnable(10))
print("thread ids", library.cuptiSetThreadIdType(1))
print("clock", library.cuptiActivityRegisterTimestampCallback(callback))
print("get", library.cuptiActivityGetAttribute(0, byref(size), byref(number)))
print("set", library.cuptiActivitySetAttribute(0, byref(size), byref(number)))
print("push", library.cuptiActivityPushExternalCorrelationId(5, c_uint64(1)))
print("pop", library.cuptiActivityPopExternalCorrelationId(5, byref(number)))
print("flush", library.cuptiActivityFlushAll(0))
print("period", library.cuptiActivityFlushPeriod(100))
print("domains", library.cuptiSupportedDomains(byref(size), byref(handle)))
print("domain of none", library.cuptiEnableDomain(1, None, 2))
print("none unsubscribes", library.cuptiUnsubscribe(None))
print("finalize", library.cuptiFinalize())
"""


def answers(path, **env):
    run = plain(sys.executable, "-c", ANSWERS, path, env=env)
    expect_equal(run.status, 0, run.stderr)
    return run.stdout.splitlines()


def test_real_cupti_gives_the_same_answers():
    """Names of functions and results, and what fails where no driver is."""
    need_double()
    library = real_library()
    if not library:
        raise Skip("no real libcupti.so.13 of CUDA 13.0 on this machine")
    real = answers(library._name)
    if "subscribe 999" not in real:
        raise Skip("this machine has a driver")
    double = os.path.join(BUILD, "fake-gpu")
    ours = answers(os.path.join(double, "libcupti.so.13"),
                   SIMGPU_DRIVER="absent")
    differ = sorted(set(real) ^ set(ours))
    expect(not differ and len(real) > 1000, f"{len(real)} answers:", *differ[:20])


def test_version():
    for version in (24, 28, 130001):
        dump = seen(version)        # walks by that version's lengths
        expect_equal(len(dump.kernels), 3 * STEPS * THREADS, f"in {version}")
        expect(dump.said("version").startswith(f"{version},"), dump.lines)


def threads_of(dump, buffer):
    return {r.thread for r in dump.walk(buffer) if r.kind == RUNTIME}


def test_per_thread():
    several = seen(SIMGPU_PER_THREAD=1)
    expect(all(len(threads_of(several, buffer)) <= 1 for buffer in several.buffers),
           "threads share a buffer")
    common = seen(SIMGPU_PER_THREAD=0, SPY_SET="9=1")
    expect(any(len(threads_of(common, buffer)) > 1 for buffer in common.buffers),
           "no buffer is shared")
    expect_equal(common.said("attribute 9:"), "27", "asked for its own")
    # On its own: as the version has it, until the client says otherwise.
    expect(all(len(threads_of(d, buffer)) <= 1 for d in [seen(SPY_SET="9=1", version=28)]
               for buffer in d.buffers), "not as the client wanted")
    old = seen(28)
    expect(any(len(threads_of(old, buffer)) > 1 for buffer in old.buffers),
           "12.9 has one buffer for all")


def test_out_of_order():
    def disorder(**env):
        """The share of pairs of calls that come in the wrong order."""
        dump = seen(SIMGPU_PER_THREAD=0, SPY_BUFFER=1024, SIMGPU_WITHHOLD=0,
                    SIMGPU_COMPLETE_ON="flusher", **env)
        ends = [record.end for record in dump.of(RUNTIME)]
        pairs = [(one, other) for place, one in enumerate(ends)
                 for other in ends[place + 1:]]
        return sum(other < one for one, other in pairs) / len(pairs)

    tidy, untidy = disorder(), disorder(SIMGPU_OOO=1)
    expect(tidy < 0.1 and untidy > 0.5, f"{tidy} without, {untidy} with it")


def test_name_reuse():
    late = {"SPY_NAMES": "late"}
    for version, env, is_lost in ((130001, {}, True), (130401, {}, False),
                                  (130001, {"SIMGPU_NAME_REUSE": 0}, False),
                                  (130401, {"SIMGPU_NAME_REUSE": 1}, True)):
        _, output = train(SIMGPU_VERSION=version, **late | env)
        names = {k.name for k in Dump(output, 130001).kernels}
        expect_equal(all(set(name) == {"?"} for name in names), is_lost, (env, names))
        expect_equal("_Z6updatePfPKff" in names, not is_lost, (env, names))
    expect("_Z6updatePfPKff" in {k.name for k in seen().kernels}, "read in time")


def test_subscriber_taken():
    run, output = train(SIMGPU_SUBSCRIBER_TAKEN=1)
    expect_equal(run.status, 0, run.stderr)
    dump = Dump(output)
    expect(dump.said("version").endswith("subscribe 39"), dump.lines)
    expect_equal(dump.buffers, [], "buffers")
    run, _ = train(SIMGPU_SUBSCRIBER_TAKEN=1, SPY_STUBBORN=1)
    expect_equal(run.status, SIGABRT, run.stderr)
    expect("after a refused subscription" in run.stderr, run.stderr)


def test_second_client():
    """Refused where it asks; else it takes the buffers, the clock and the kinds."""
    # However the threads take turns: each has launches among any sixty of its calls.
    turn = {"SIMGPU_SECOND_FROM": 60, "SIMGPU_SECOND_CALLS": 60}
    run, output = train(SIMGPU_SECOND_CLIENT="subscribe", **turn)
    expect("simgpu: second client: refused" in run.stderr, run.stderr)
    expect_equal(len(Dump(output).kernels), 3 * STEPS * THREADS, "kernels")
    run, output = train(SIMGPU_SECOND_CLIENT="takeover", **turn)
    expect_equal(run.status, 0, run.stderr)
    got = re.search(r"second client: (\d+) kernels, (\d+) buffers", run.stderr)
    expect(got and int(got[1]) and int(got[2]), run.stderr)
    expect(len(Dump(output).kernels) + int(got[1]) < 3 * STEPS * THREADS,
           run.stderr)


def without_times(dump):
    return [k for k in dump.kernels + dump.of(MEMCPY, MEMSET)
            if not k.start and not k.end]


def test_zero_times():
    """By version, where the client has a clock of its own: at a rate."""
    for version, any_zero in ((130001, True), (130100, False), (25, True),
                              (130101, False)):
        dump = seen(version, SIMGPU_ZERO_TIMES=-1)
        expect_equal(bool(without_times(dump)), any_zero, f"zeros in {version}")
    dump = seen(SIMGPU_ZERO_TIMES=1)
    expect_equal(len(without_times(dump)),
                 len(dump.kernels + dump.of(MEMCPY, MEMSET)), "all of them")


def lengths(dump):
    return [k.end - k.start for k in dump.kernels]


def test_drift_and_jitter():
    """The GPU's counter has a rate of its own, and nobody looks at it exactly:
    the times that come of it are off by less than that."""
    for knobs in ({"SIMGPU_DRIFT_PPM": 20000}, {"SIMGPU_JITTER_NS": 20000}):
        dump = seen(**knobs)
        early_ns = max((dump.launches[k.correlation].start - k.start
                        for k in early(dump)), default=0)
        expect(early_ns < 40000, f"{knobs}: {early_ns} ns early")
        expect(min(lengths(dump)) > 0, knobs)


def hangs(**env):
    try:
        train(timeout=3, **env)
    except AssertionError as error:
        expect("hung" in str(error), error)
        return True
    return False


def test_hanging_flush():
    expect(hangs(SIMGPU_HANG_FLUSH=1), "did not hang")
    expect(hangs(SIMGPU_HANG_FLUSH="forced"), "did not hang when forced")


def test_forced_incomplete():
    untimed = [k for k in seen().kernels if not k.start and not k.end]
    expect_equal(untimed, [], "without times")
    dump = seen(SIMGPU_FORCED_INCOMPLETE=1)
    untimed = [k for k in dump.kernels if not k.start and not k.end]
    expect_equal(len(untimed), THREADS, "without times")
    expect_equal(len({k.stream for k in untimed}), THREADS, "streams of those")
    expect_equal(len(dump.kernels), 3 * STEPS * THREADS, "kernels in all")


def test_dup_driver():
    expect_equal(seen(SIMGPU_DUP_DRIVER=0).of(DRIVER), [], "without them")
    dump = seen()
    launches = dump.launches
    expect(len(dump.of(DRIVER)) > 3 * STEPS, "no driver calls")
    for inner in dump.of(DRIVER):
        outer = launches[inner.correlation]
        expect(outer.start <= inner.start <= inner.end <= outer.end
               and inner.thread == outer.thread, f"{inner} in {outer}")


def test_correlation_wrap():
    ids = [record.correlation for record in seen(SIMGPU_WRAP_CORR=1).of(RUNTIME)]
    expect(max(ids) == 0xffffffff and min(ids) == 1 and len(ids) == len(set(ids)),
           f"{min(ids)} to {max(ids)}")
    expect(max(r.correlation for r in seen().of(RUNTIME)) < 10000, "wraps without")


def test_skew():
    expect(early(seen(SIMGPU_SKEW_NS=-50000)), "none is early")
    ahead = seen(SIMGPU_SKEW_NS=50000)
    expect_equal(early(ahead), [], "early")
    launches = ahead.launches
    expect(all(k.start - launches[k.correlation].start > 50000 for k in ahead.kernels),
           "not late")


def test_times():
    dump = seen(SIMGPU_KERNEL_NS=300000, SIMGPU_LATENCY_NS=200000)
    launches = dump.launches
    expect(all(k.end - k.start >= 299000 for k in dump.kernels), "too short")
    expect(all(k.start - launches[k.correlation].start >= 190000
               for k in dump.kernels), "too soon")
    dump = seen()
    expect(all(5000 <= k.end - k.start < 10000 for k in dump.kernels), "too long")
    # The same where the client has no clock of its own: CLOCK_REALTIME.
    dump = seen(SPY_CLOCK="own")
    expect(all(abs(r.start / 1e9 - time.time()) < 100 for r in dump.of(RUNTIME)
               + dump.kernels), "not the system's time")
    expect_equal(early(dump), [], "early")


def test_complete_on():
    small = {"SPY_BUFFER": 1024}
    givers = {}
    for place in ("worker", "flusher", "app"):
        dump = seen(SIMGPU_COMPLETE_ON=place, **small)
        givers[place] = ({buffer.thread for buffer in dump.buffers},
                         {r.thread for r in dump.of(RUNTIME)},
                         {r.pid for r in dump.of(RUNTIME)})
    given, callers, _ = givers["worker"]
    expect(len(given) == 1 and not given & callers, f"worker: {given}, {callers}")
    given, _, pid = givers["flusher"]
    expect_equal(given, pid, "the flusher is the main thread")
    given, callers, pid = givers["app"]
    expect(given & (callers - pid), f"app: {given}, {callers}")


def test_failures():
    run, _ = train(SIMGPU_FAIL="cudaMalloc:2:3")
    expect_equal(run.status, 1)
    expect("cudaMalloc: out of memory" in run.stderr, run.stderr)
    dump = seen(SIMGPU_FAIL="cuptiActivityEnable:35:2,cuptiActivityFlushAll:999")
    expect_equal(dump.said("enable 2:"), "35")
    expect_equal(dump.said("flush"), "999")
    run, _ = train(SIMGPU_NONSENSE=1)
    expect("SIMGPU_NONSENSE is no knob" in run.stderr, run.stderr)


def test_drop():
    dump = seen(SIMGPU_DROP=5)
    lost = int(dump.said("end:").split()[-2])
    whole = seen()
    kinds = (CONCURRENT_KERNEL, MEMCPY, MEMSET, EVENT)
    expect(lost > 5, f"{lost} lost")
    expect_equal(len(dump.of(*kinds)) + lost, len(whole.of(*kinds)), "with the lost")


def test_no_kernels():
    dump = seen(SIMGPU_NO_KERNELS=1)
    expect_equal(dump.kernels, [], "kernels")
    expect(dump.said("end:").endswith(" 0 dropped"), dump.lines)
    expect(len(dump.of(MEMCPY)) > STEPS, "copies are there")


def test_overlap():
    expect(overlaps(seen(SIMGPU_OVERLAP=1).kernels) >= STEPS, "no overlap")


def test_refused_buffers():
    refuse = {"SPY_BUFFER": 0}
    dump = seen(**refuse)
    expect(int(dump.said("end:").split()[-2]) > 50, dump.lines)
    run, _ = train(SIMGPU_VERSION=24, **refuse)
    expect_equal(run.status, SIGABRT, run.stderr)
    run, _ = train(SIMGPU_VERSION=24, SIMGPU_NULL_OK=1, **refuse)
    expect_equal(run.status, 0, run.stderr)


def test_end_of_the_driver():
    dump = seen()
    expect_equal([line for line in dump.lines if line.startswith("flush")],
                 ["flush 0", "flush forced 0"])
    dump = seen(SPY_EXIT="early")       # registered before the driver's own
    expect_equal([line for line in dump.lines if line.startswith("flush")],
                 ["flush 15", "flush forced 15"])


def test_init_silent():
    """The driver registers its teardown with the first context."""
    dump = seen(SIMGPU_INIT_SILENT=1)
    expect_equal([line for line in dump.lines if line.startswith("flush")],
                 ["flush 0", "flush forced 0"])
    expect("end:" in dump.lines[-1] and len(dump.of(EVENT)) > 0, dump.lines)
    # Neither the end of cuInit() nor a context is called back for.
    output = os.path.join(folder(), "spy")
    plain(sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)",
          env=environment(BUILD, output) | {"SIMGPU_INIT_SILENT": "1"})
    lines = Dump(output, 130001).lines
    expect(lines[-1].startswith("end: ") and " 0 resources" in lines[-1], lines)


def test_fatal_state():
    dump = seen(SIMGPU_FATAL_STATE_AFTER=20)
    expect("1 fatal" in dump.said("end:"), dump.lines)
    some, all_of_them = len(dump.of(RUNTIME)), len(seen().of(RUNTIME))
    expect(some < all_of_them / 2, f"{some} of {all_of_them} calls")


def test_no_driver():
    run, output = train(SIMGPU_DRIVER="absent")
    expect_equal(run.status, 1)
    expect("insufficient" in run.stderr, run.stderr)
    expect(not os.path.exists(output), "something was injected")


def test_kernels_one_after_another():
    """Kind KERNEL is the one that serialises; nobody should enable it."""
    kernels = sorted(seen(SPY_KINDS="3,5").kernels, key=lambda k: k.start)
    expect_equal({k.kind for k in kernels}, {KERNEL}, "kinds")
    expect(all(a.end <= b.start for a, b in zip(kernels, kernels[1:])), "concurrent")


def test_nothing_of_it_is_in_the_product():
    library = os.path.join(BUILD, "libtraceprof.so")
    if not os.path.exists(library):
        raise Skip("the library is not built")
    done = subprocess.run(["nm", "-a", library], capture_output=True, text=True)
    expect("simgpu" not in done.stdout and "sim_knobs" not in done.stdout)


if __name__ == "__main__":
    harness.main()
