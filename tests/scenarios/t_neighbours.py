# SPDX-License-Identifier: MIT
"""Other clients of CUPTI in the process: the program's own profiler, tools."""

import collections
import concurrent.futures
import os
import shutil

import harness
from harness import command, expect, expect_equal, plain, same
from t_cuda import FAKE, STEPS, THREADS, expect_whole, killed, need, on_gpu

LAUNCHES, ROUNDS = 20, 200      # of kineto_like
SLICE = "CUPTI is another profiler's"


def profiled(kind, order, sessions=1, **env):
    """A program that profiles itself, which must see what it sees without us."""
    need("kineto_like")
    words = ("kineto_like", kind, order, str(sessions))
    wanted = plain(*words, env={"LD_LIBRARY_PATH": FAKE})
    expect_equal(wanted.stdout, sessions * (
        f"profiled {LAUNCHES} kernels, 0 of another name, 0 of another time, "
        "0 buffers and 0 settings of another\n")
        + "done\n", "without us")
    run = on_gpu(*words[1:], program="kineto_like",
                 **{"SIMGPU_ZERO_TIMES": 0} | env)
    expect_equal((run.status, run.stdout), (0, wanted.stdout), run.stderr)
    return run


def names(trace):
    return collections.Counter(kernel["name"] for kernel in trace.slices(cat="kernel"))


def taken_for(trace, slices):
    """For how many of its sessions CUPTI was another's.  Who is kept from a processor for
    half a second within one is taken for idle, and comes once more: then no kernel of
    the program's own lies between the two."""
    own = [kernel["ts"] for kernel in trace.slices("between", cat="kernel")]
    return bool(slices) + sum(
        any(before["ts"] < ts < after["ts"] for ts in own)
        for before, after in zip(slices, slices[1:]))


def expect_handed_over(run, before, sessions=1):
    trace, lines = run.trace, [line for line in run.own_lines if "CUPTI" in line]
    seen = names(trace)
    expect_equal((seen["before"], seen["profiled"]), (before, 0), "kernels")
    # When we come by to take it up is left open: at once, or after a second.
    expect(0 < seen["after"] <= ROUNDS, f"taken up again: {seen}")
    if sessions > 1:
        expect(0 < seen["between"] <= ROUNDS, f"between: {seen}")
    expect_equal(len(lines), 1, run.stderr)
    expect("another profiler in the program uses CUPTI" in lines[0], lines)
    slices = trace.slices(SLICE, cat="overhead")
    expect_equal(taken_for(trace, slices), sessions, slices)
    expect(all(one["dur"] > 0 for one in slices), slices)
    expect("CUPTI is ours again" in trace.meta["notes"], trace.meta["notes"])
    expect_equal([trace.meta["gpu"][key] for key in ("lost_buffers", "missing_kernels")],
                 [0, 0], trace.meta["gpu"])
    # Its clock is decades away; the double may read two clocks seconds apart.
    expect(trace.meta["gpu"]["moved_most_ns"] < 10**12, "times of another's clock")


def test_a_profiler_that_subscribes():
    run = profiled("old", "after")
    expect_handed_over(run, LAUNCHES)
    expect(any("keeps CUPTI's subscription" in note for note in run.trace.meta["notes"]),
           run.trace.meta["notes"])


def test_calls_without_callbacks_lack_their_stacks():
    """The subscription is the other's for good; that the stacks are missing is counted."""
    trace = profiled("old", "after", TRACEPROF_STACK="cuda").trace
    launches = trace.slices("cuLaunchKernel", cat="cuda_driver")
    bare = [call for call in launches if "stack" not in call["args"]]
    expect(len(launches) - len(bare) >= LAUNCHES and bare, len(bare))
    expect(trace.meta["gpu"]["calls_without_stack"] >= len(bare), trace.meta["gpu"])


def test_a_profiler_that_does_not_ask():
    expect_handed_over(profiled("new", "after", 2), LAUNCHES, 2)


def test_a_profiler_that_looks_in_libcupti_alone():
    """As JAX's does, by dlopen() and dlsym(), when it is asked for: it is seen all the
    same, and CUPTI and its callbacks come back."""
    run = profiled("brief", "after", 2, UNSEEN=1, LATE=1)
    expect_handed_over(run, LAUNCHES, 2)
    expect(not any("keeps CUPTI's subscription" in note
                   for note in run.trace.meta["notes"]), run.trace.meta["notes"])
    for kind, sessions in (("old", 1), ("new", 2)):
        expect_handed_over(profiled(kind, "after", sessions, UNSEEN=1, LATE=1), LAUNCHES,
                           sessions)


def test_settings_are_as_they_were():
    """Buffers for each thread, which CUPTI has by itself from 13.0 on alone."""
    profiled("new", "after", SIMGPU_VERSION=28)


def test_a_profiler_that_takes_its_time():
    """Between any two of its calls it may wait for longer than the half second
    after which we take it for idle."""
    for kind in ("old", "new"):
        run = profiled(kind, "after", STALL_MS=700)
        seen = names(run.trace)
        expect_equal((seen["before"], seen["profiled"]), (LAUNCHES, 0), "kernels")
        expect(seen["after"] > 0, seen)


def test_a_profiler_that_waits_in_vain_for_us():
    """Our kinds take longer to be switched off than the two seconds that it is kept
    waiting, by a call that returns when it has come and gone; or when its own kinds are
    on, from the sixth second, and nothing has run yet, until the eighth."""
    for kind, seconds, settings in (("old", 4.8, {}), ("new", 4.8, {}),
                                    ("new", 7, {"STALL_MS": 2000})):
        run = profiled(kind, "after", SIMGPU_DISABLE_NS=int(seconds * 10**9), **settings)
        expect_equal(names(run.trace)["before"], LAUNCHES)
        expect(any("did not come in time" in note for note in run.trace.meta["notes"]),
               run.trace.meta["notes"])


def test_a_hand_over_that_never_ends():
    """Our kinds are never off: the profiler has what it has without us, and that
    CUPTI doesn't come back is said while the program runs."""
    run = profiled("new", "after", SIMGPU_HANG_DISABLE="first", STALL_MS=3000)
    seen = names(run.trace)
    expect_equal((seen["before"], seen["profiled"], seen["after"]), (LAUNCHES, 0, 0))
    expect(any("CUPTI hangs since" in line for line in run.own_lines), run.stderr)
    expect(any("CUPTI hangs since" in note for note in run.trace.meta["notes"]),
           run.trace.meta["notes"])
    expect(not any("did not hand over" in line for line in run.own_lines), run.stderr)
    expect(run.trace.meta["gpu"]["unsettled_ns"] > 10**9, run.trace.meta["gpu"])


def test_a_profiler_that_is_there_first():
    for kind in ("old", "new"):
        expect_handed_over(profiled(kind, "first"), 0)


def test_a_thread_that_is_cancelled_in_cupti():
    """Its call is over: CUPTI is ours again."""
    run = on_gpu(program="kineto_cancelled", SIMGPU_ZERO_TIMES=0, SIMGPU_CALL_NS=2000000)
    expect_equal((run.status, run.stdout), (0, "cancelled\n"), run.stderr)
    seen = names(run.trace)
    expect_equal(seen["before"], 20)
    expect(seen["after"] > 20, f"taken up again: {seen}")


def test_times_that_its_clock_spoils():
    """CUPTI 13.0 with a clock of a client's gives some times as 0; it keeps one
    once it had one."""
    gpu = profiled("new", "after", SIMGPU_ZERO_TIMES=20).trace.meta["gpu"]
    # Of what was launched just before CUPTI was ours again there is no launch.
    linked = gpu["kernels"] - gpu["unlinked"]
    expect(0 < gpu["missing_kernels"] <= gpu["without_time"], gpu)
    expect_equal(gpu["launched_kernels"], linked + gpu["missing_kernels"], gpu)


def test_windows_open_while_cupti_is_anothers():
    """They are finished all the same, without waiting for what can't come."""
    run = profiled("new", "after", TRACEPROF_STEP="kernel:before", TRACEPROF_WAIT=2,
                   TRACEPROF_ACTIVE=3, TRACEPROF_REPEAT=1, SIMGPU_VERSION=130101)
    expect_equal(run.trace.meta["gpu"]["missing_kernels"], 0)


def taken_ms(trace):
    slices = trace.slices(SLICE, cat="overhead")
    taken = sum(one["dur"] for one in slices) / 1000
    expect(abs(taken - trace.meta["gpu"].get("taken_ns", 0) / 10**6) < 0.1,
           (slices, trace.meta["gpu"]))
    return taken


def test_each_window_tells_when_cupti_was_anothers():
    """Windows of 200 ms, 100 ms apart: the other has it for seconds."""
    run = profiled("new", "after", STALL_MS=700, TRACEPROF_STEP="time:50",
                   TRACEPROF_WAIT=2, TRACEPROF_ACTIVE=4, TRACEPROF_REPEAT=16)
    taken = [taken_ms(trace) for trace in run.traces]
    expect(sum(time > 150 for time in taken) >= 3, taken)
    for path, trace, time in zip(run.files, run.traces, taken):
        # It is idle for half a second before we take up.
        expect(not time or not trace.slices("after", cat="kernel") or
               time < 200, (time, names(trace)))
        if time:
            said = " ".join(command("report", path).stdout.split())
            expect("while another profiler in the program had CUPTI" in said, said)


def test_off_leaves_cupti_to_the_program():
    for kind in ("old", "new"):
        run = profiled(kind, "after", TRACEPROF_CUDA="off")
        expect_equal((run.files, run.own_lines), ([], []))


def captured(trace, call):
    """It became a node of a graph, and has no kernel of its own."""
    def of(name):
        return [other["ts"] for other in trace.slices(name)
                if other["tid"] == call["tid"] and other["ts"] < call["ts"]]
    return len(of("cudaStreamBeginCapture")) > len(of("cudaStreamEndCapture"))


def test_one_that_is_not_seen_takes_cupti():
    """It finds CUPTI's functions by itself; what is lost is counted and said."""
    # CUPTI goes by our clock: the times of calls and of buffers can be compared.
    run = on_gpu(200, THREADS, SIMGPU_SECOND_CLIENT="takeover", SIMGPU_SECOND_FROM=200,
                 SIMGPU_SECOND_CALLS=100000, SIMGPU_VERSION=130101)
    expect_equal(run.status, 0, run.stderr)
    lines = [line for line in run.own_lines if "has taken CUPTI" in line]
    expect_equal(len(lines), 1, run.stderr)
    trace = run.trace
    lost = trace.meta["gpu"]["lost_buffers"]
    expect(lost > 0, trace.meta["gpu"])
    expect(f"{lost} buffers of the GPU's records LOST" in run.stderr, run.stderr)
    expect(any("another profiler in the program has taken it" in note
               for note in trace.meta["notes"]), trace.meta["notes"])
    loss, = trace.slices("records of the GPU are missing", cat="overhead")
    taken, = trace.slices(SLICE, cat="overhead")
    expect(abs(loss["ts"] + loss["dur"] - taken["ts"]) < 10000, (loss, taken))
    known = {kernel["args"]["correlation"] for kernel in trace.slices(cat="kernel")}
    lost = [call for call in trace.slices("cudaLaunchKernel")
            if call["args"]["correlation"] not in known and not captured(trace, call)]
    # A buffer is lent within the call that needs it.
    expect_equal([call for call in lost if call["ts"] + call["dur"] < loss["ts"]], [],
                 loss)


def unseen(launches, call, **env):
    """Launches, 20 ms from one to the next; the other takes CUPTI at that call."""
    run = on_gpu(launches, 1, 0, 20000, 0, program="cuda_behind", SIMGPU_VERSION=130101,
                 SIMGPU_SECOND_CLIENT="takeover", SIMGPU_SECOND_FROM=call,
                 SIMGPU_SECOND_CALLS=100000, **env)
    expect_equal(run.status, 0, run.stderr)
    expect("has taken CUPTI" in run.stderr, run.stderr)
    return run.trace


def test_what_the_other_allocates_on_our_thread_counts():
    """CUPTI asks it for buffers on ours too, and it frees them on another."""
    for mode, stack in (("large", "off"), ("all", "heap"), ("sampled", "off"),
                        ("sites", "heap")):
        run = on_gpu(100, 5, 0, 20000, 100, program="cuda_behind", SIMGPU_VERSION=130101,
                     SIMGPU_SECOND_CLIENT="takeover", TRACEPROF_MALLOC=mode,
                     TRACEPROF_STACK=stack, TRACEPROF_EXIT_MS=5000)
        expect("has taken CUPTI" in run.stderr, run.stderr)
        heap = run.trace.meta["heap"]
        # It allocates a MiB each time; two may be with CUPTI still.
        expect(heap["frees"] > 100 and 0 <= heap["live_bytes"] < 3 * 2**20, (mode, heap))
        said = command("check", run.trace.path)
        expect_equal(said.status, 0, said.stdout + said.stderr)


def test_one_that_is_not_seen_is_noticed_while_the_program_runs():
    """CUPTI asks for no buffer any more: that is said of the rest of the run, ten
    seconds."""
    trace = unseen(700, 150)
    taken, = trace.slices(SLICE, cat="overhead")
    last = max(step["ts"] for step in trace.slices("ProfilerStep#*"))
    expect(last - taken["ts"] > 3 * 10**6, (last, taken))


def test_no_window_is_silent_about_an_unseen_taker():
    """Those between the moment that another took it unseen and the moment that it is
    noticed say that they don't know; those after it say who has it."""
    run = on_gpu(400, 5, 0, 20000, 100, program="cuda_behind", SIMGPU_VERSION=130101,
                 SIMGPU_SECOND_CLIENT="takeover", SIMGPU_SECOND_FROM=100,
                 SIMGPU_SECOND_CALLS=100000, TRACEPROF_WAIT=10, TRACEPROF_ACTIVE=5,
                 TRACEPROF_REPEAT=20)
    for path, trace in zip(run.files, run.traces):
        gpu = trace.meta["gpu"]
        said = " ".join(command("report", path).stdout.split())
        expect(gpu["launched_kernels"] or gpu.get("taken_ns") or
               (gpu.get("silent") and "CUPTI gave no sign in this time" in said), gpu, said)
    expect(run.traces[-1].meta["gpu"].get("taken_ns"), run.stderr)


def test_one_that_is_not_seen_gets_on():
    """What it finds in our buffers isn't its own; after that it has all."""
    run = on_gpu("new", "after", 2, program="kineto_like", UNSEEN=1,
                 **{"SIMGPU_ZERO_TIMES": 0})
    expect_equal(run.status, 0, run.stderr)
    lines = run.stdout.splitlines()
    expect(lines[1].startswith(f"profiled {LAUNCHES} kernels, 0 of another name, 0 of "
                               "another time"), run.stdout)


def test_what_one_that_is_not_seen_costs():
    """What came since CUPTI was asked last, a fifth of a second before: ten launches;
    under load that is late."""
    for call in (120, 130, 140):
        trace = unseen(200, call)
        found = len(trace.slices(cat="kernel"))
        expect(call - 3 >= found > call - 3 - 30, f"{found} of {call}")


def test_a_gpu_that_is_long_at_work_is_nobody_elses():
    """One kernel of ten seconds, and a program that only waits: CUPTI asks for no
    buffer by itself, but it does by a call of ours.  Not where all threads share one,
    in 12.6: there nothing is concluded from its silence."""
    def run(version):
        return on_gpu(1, 1, 0, 1000, 12000, program="cuda_behind",
                      SIMGPU_VERSION=version, SIMGPU_KERNEL_NS=10 * 10**9)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(run, (24, 130101)))
    for done in runs:
        gpu = done.trace.meta["gpu"]
        expect_equal((gpu["missing_kernels"], gpu["without_time"], gpu["lost_buffers"]),
                     (0, 0, 0), gpu)
        expect("CUPTI" not in done.stderr, done.stderr)
        expect_equal(done.trace.slices("cuDeviceGetCount"), [], "our own call")


def test_one_that_is_refused_changes_nothing():
    run = on_gpu(STEPS, THREADS, SIMGPU_SECOND_CLIENT="subscribe",
                 SIMGPU_SECOND_FROM=10, SIMGPU_SECOND_CALLS=1000)
    expect("second client: refused" in run.stderr, run.stderr)
    expect_equal(len(run.trace.slices(cat="kernel")), 3 * STEPS * THREADS, "kernels")


NEWER = {"SIMGPU_VERSION": 130300}


def shared(order, **env):
    """A program whose profiler shares CUPTI, as JAX's does."""
    need("kineto_like")
    wanted = plain("xla_like", order, env={"LD_LIBRARY_PATH": FAKE,
                                           "SIMGPU_VERSION": "130300"})
    expect_equal(wanted.stdout, f"profiled {LAUNCHES} kernels, 0 of another name\n")
    run = on_gpu(order, program="xla_like", **NEWER | env)
    return run, run.stdout == wanted.stdout


def test_several_subscribers_record_at_once():
    for order in ("after", "first"):
        run, is_same = shared(order, TRACEPROF_CUPTI_SHARE="on")
        expect(is_same, f"{order}: {run.stdout}")
        seen = names(run.trace)
        expect_equal((seen["before"], seen["profiled"], seen["after"]),
                     (LAUNCHES * (order == "after"), LAUNCHES, LAUNCHES), order)
        expect("CUPTI is shared with others that ask" in run.trace.meta["notes"],
               run.trace.meta["notes"])
        expect_equal([run.trace.meta["gpu"][key] for key in
                      ("without_time", "lost_buffers", "missing_kernels")], [0, 0, 0])


def test_sharing_is_asked_for_where_it_is_known_to_be_wanted():
    run, is_same = shared("after")
    expect(not is_same and "refused" in run.stdout, run.stdout)
    seen = names(run.trace)
    expect_equal((seen["before"], seen["profiled"], seen["after"]), 3 * (LAUNCHES,))
    preload = harness.LIBRARY
    for name, wanted in (("xla_cuda_plugin.so", True), ("libtorch_cpu.so", False)):
        preload += ":" + harness.compile_program("lib/blocks.c", "-fPIC", "-shared",
                                                 name=name)
        _, is_same = shared("after", LD_PRELOAD=preload, TRACEPROF_TORCH="off")
        expect_equal(is_same, wanted, f"with {name}")


def test_a_driver_that_cannot_share():
    run = on_gpu(STEPS, THREADS, **NEWER, SIMGPU_OLD_DRIVER=1,
                 TRACEPROF_CUPTI_SHARE="on")
    expect_whole(run.trace)


def test_shared_with_nobody_nothing_is_missing():
    for more in ({}, {"SIMGPU_LATENCY_NS": 200000, "TRACEPROF_GPU_LATENCY": 1},
                 {"TRACEPROF_STEP": "cuda:cudaGraphLaunch", "TRACEPROF_STACK": "cuda"}):
        run = on_gpu(STEPS, THREADS, **NEWER, TRACEPROF_CUPTI_SHARE="on", **more)
        if "TRACEPROF_STEP" not in more:
            expect_whole(run.trace)
        expect_equal(run.trace.meta["gpu"]["missing_kernels"], 0)


def test_what_is_shared_is_never_forced():
    """An hour of kernel, whose buffer CUPTI keeps with the calls in it: the window's
    file says of which time records may be missing."""
    trace = killed(lambda text: b'"final":true' in text, "cuda_behind", 3, 2, 0, 1000,
                   20000, SIMGPU_VERSION="130300", SIMGPU_KERNEL_NS=str(3600 * 10**9),
                   TRACEPROF_CUPTI_SHARE="on", TRACEPROF_WAIT="1", TRACEPROF_ACTIVE="1",
                   TRACEPROF_REPEAT="1", TRACEPROF_GPU_WAIT_MS="1000")
    gpu = trace.meta["gpu"]
    expect_equal((gpu["launched_kernels"], trace.slices(cat="kernel")), (0, []), gpu)
    expect(gpu.get("unsettled_ns", 0) > 0, gpu)
    expect(any("records of the GPU may be missing" in note
               for note in trace.meta["notes"]), trace.meta["notes"])


def test_who_does_not_share_is_told_so():
    run = on_gpu("new", "after", 1, program="kineto_like", **NEWER,
                 TRACEPROF_CUPTI_SHARE="on")
    expect("doesn't share CUPTI and is refused: TRACEPROF_CUPTI_SHARE=off" in run.stderr,
           run.stderr)
    expect_equal(names(run.trace)["before"], LAUNCHES)


def test_nsights_command_finds_nobodys_variable():
    """`ncu` refuses to start where CUDA's variable is anybody's: what it inherited from
    a shell, say; nor under it, where it has set its own.  Another tool's stays."""
    plain, name = harness.program("variables"), "CUDA_INJECTION64_PATH"
    ncu, helper = (os.path.join(harness.folder(), command)
                   for command in ("ncu", "TreeLauncherSubreaper"))
    for command in (ncu, helper):
        shutil.copy(plain, command)

    def inside(*command, **env):
        run = harness.traced(*command, env=env)
        return [line for line in run.stdout.splitlines() if line.startswith(name)]

    ours = [f"{name}={harness.LIBRARY}"]
    expect_equal(inside(plain), ours)
    expect_equal(inside(plain, ncu), [])
    expect_equal(inside(plain, helper), [])
    expect_equal(inside(ncu, plain), ours)
    expect_equal(inside(plain, plain, NV_COMPUTE_PROFILER_PERFWORKS_DIR="/nsight"), [])
    expect_equal(inside(ncu, **{name: "/tool.so"}), [f"{name}=/tool.so"])


def loaded(name):
    """A library of that name is in the process."""
    return {"LD_PRELOAD": harness.LIBRARY + ":" + harness.compile_program(
        "lib/blocks.c", "-fPIC", "-shared", name=name)}


def test_tools_of_nvidias():
    """Known by their variables, or by their files in the process."""
    injected = os.path.join(harness.folder(), "libToolsInjection64.so")
    os.symlink(os.path.join(FAKE, "libspy.so"), injected)
    for env, tool in (({"NSYS_PROFILING_SESSION_ID": "1"}, "Nsight Systems"),
                      ({"QUADD_INJECTION_PROXY": "x"}, "Nsight Systems"),
                      ({"NV_COMPUTE_PROFILER_PERFWORKS_DIR": "/x"}, "Nsight Compute"),
                      (loaded("libcuda-injection.so"), "Nsight Compute"),
                      ({"NV_NSIGHT_INJECTION_TRANSPORT_TYPE": "1"},
                       "Nsight or compute-sanitizer"),
                      (loaded("libsanitizer-public.so"), "compute-sanitizer"),
                      (loaded("libdcgmmoduleprofiling.so.4"), "DCGM"),
                      ({"CUDA_INJECTION64_PATH": injected,
                        "SPY_OUT": injected + ".out"}, "Nsight Systems")):
        run = on_gpu(STEPS, THREADS, **env)
        expect_equal(run.status, 0, run.stderr)
        expect_equal([line for line in run.own_lines if "GPU" in line],
                     [f"traceprof: {tool} is in the process: of the GPU only the "
                      "calls to it are recorded"], run.stderr)
        trace = run.trace
        expect_equal((trace.meta["gpu"]["source"], trace.slices(cat="kernel")),
                     ("calls", []))
        expect(trace.slices("cudaLaunchKernel", cat="cuda_runtime"), "no calls")
    same("cuda_train", str(STEPS), str(THREADS),
         env={"LD_LIBRARY_PATH": FAKE, "NSYS_PROFILING_SESSION_ID": "1"})


if __name__ == "__main__":
    harness.main()
