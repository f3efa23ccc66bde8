# SPDX-License-Identifier: MIT
"""Each way to end a program whose GPU is seconds behind: a launch has its kernel in
the trace, or is said to lack it."""

import concurrent.futures
import signal

import harness
from harness import command, expect, expect_equal, expect_no_session, plain, traced
from t_cuda import FAKE, calls, need

STEPS, LAUNCHES = 10, 10
# Thirty seconds behind, at the end of a program that takes less than one.
GPU = {"LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": "300000000"}
WINDOWS = {"TRACEPROF_WAIT": "1", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "2"}
SEEN = {"return": 0, "exit": 3, "_exit": 3, "quick_exit": 3, "exec": 0, "thread": 5,
        "pthread_exit": 0, "term": -signal.SIGTERM, "raise": -signal.SIGTERM}
UNSEEN = {"throw": -signal.SIGABRT, "abort": -signal.SIGABRT, "segv": -signal.SIGSEGV,
          "kill": -signal.SIGKILL}


def ended(ways, check=True, **env):
    """Runs of all of them at once: each ends as it does without us."""
    def run(how):
        wanted = plain("cuda_ends", how, STEPS, LAUNCHES, env=GPU)
        done = traced("cuda_ends", how, str(STEPS), str(LAUNCHES), env=GPU | env,
                      check=check)
        expect_equal((done.status, done.stdout), (wanted.status, wanted.stdout),
                     f"{how}: {done.stderr}")
        expect_equal(done.status, ways[how], how)
        return how, done

    # They sleep nearly all of the time.
    need("cuda_ends")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(run, ways))


def expect_counted(how, trace, launches):
    """All launches are there, and each has its kernel or is counted."""
    gpu = trace.meta["gpu"]
    made = {call["args"]["correlation"] for call in calls(trace).values()
            if call["name"] == "cudaLaunchKernel"}
    drawn = [kernel for kernel in trace.slices(cat="kernel")
             if kernel["args"]["correlation"] in made]
    expect_equal((len(made), gpu["launched_kernels"],
                  len(drawn) + gpu["missing_kernels"]), 3 * (launches,),
                 f"{how}: {gpu}")
    return gpu["missing_kernels"]


def test_a_launch_has_its_kernel_or_lacks_it():
    # Which wait for them no longer than that allows.
    for how, run in ended(SEEN, TRACEPROF_EXIT_MS="20000"):
        missing = expect_counted(how, run.trace, STEPS * LAUNCHES)
        expect(missing and f"{missing} launches lack kernels" in run.stderr,
               f"{how}: {missing} {run.stderr}")


def test_windows_are_whole_whatever_the_end():
    """The end waits for the sixty kernels that the two windows need."""
    for how, run in ended(SEEN, TRACEPROF_EXIT_MS="60000", SIMGPU_KERNEL_NS="30000000",
                          **WINDOWS):
        expect_equal(len(run.traces), 2, run.stderr)
        for trace in run.traces:
            expect_equal(expect_counted(how, trace, 2 * LAUNCHES), 0, trace.path)


def test_windows_whose_kernels_the_end_does_not_wait_for():
    """Half a second: nobody waits longer, and all that is missing is said.  On a busy
    machine CUPTI's last flush may not be done by then."""
    for how, run in ended(SEEN, check=False, TRACEPROF_EXIT_MS="1000", **WINDOWS):
        missing, is_cut = 0, "within 500 ms: they are missing" in run.stderr
        for trace in run.traces:
            if is_cut:
                expect(trace.meta["gpu"]["unsettled_ns"] > 0, trace.meta["gpu"])
            else:
                missing += expect_counted(how, trace, 2 * LAUNCHES)
        expect(is_cut or missing and f"{missing} launches lack kernels" in run.stderr,
               f"{how}: {missing} {run.stderr}")


def test_an_end_waits_for_no_launch_that_is_made_while_it_waits():
    """Another thread's, of which some are always under way: the end would be held up
    for minutes.  All that was launched before has its kernel."""
    (how, run), = ended({"beside": 3}, TRACEPROF_EXIT_MS="600000",
                        SIMGPU_KERNEL_NS="5000000")
    gpu = run.trace.meta["gpu"]
    expect(gpu["launched_kernels"] > STEPS * LAUNCHES, gpu)
    expect_equal((gpu["missing_kernels"], len(run.trace.slices(cat="kernel"))),
                 (0, gpu["launched_kernels"]), f"{how}: {gpu}")
    expect("none lost" in run.stderr, run.stderr)


def test_the_first_exit_is_the_programs():
    """Another thread's, whose launch fails since CUDA is gone, comes while we hold up
    the first: without us that would be through in a few microseconds."""
    need("cuda_ends")
    for how in ("failing", "_failing", "quick_failing", "raise_failing", "abort_failing"):
        run = traced("cuda_ends", how, str(STEPS), str(LAUNCHES),
                     env=GPU | {"SIMGPU_KERNEL_NS": "1000000"}, check=False)
        expect_equal(run.status, 3, run.stderr)
        expect_no_session(run)
        expect_equal(len(run.files), 1, run.stderr)


def expect_unsettled(how, trace):
    """Neither launch nor kernel, and everybody says so."""
    gpu = trace.meta["gpu"]
    expect_equal((gpu["launched_kernels"], trace.slices(cat="kernel")), (0, []), how)
    expect(gpu.get("unsettled_ns", 0) > 0, f"{how}: {gpu}")
    expect(any("nor of what came after" in note for note in trace.meta["notes"]),
           f"{how}: {trace.meta['notes']}")
    said = " ".join(command("report", trace.path).stdout.split())
    for words in ("and of what came after, records of the GPU may be missing",
                  "most causes can't be judged"):
        expect(words in said, f"{how}: {said}")


def test_a_last_flush_that_brings_nothing():
    """It hangs, or fails: CUPTI keeps all of it."""
    for env in ({"SIMGPU_HANG_FLUSH": "1"}, {"SIMGPU_FAIL": "cuptiActivityFlushAll:15"}):
        for how, run in ended({"return": 0}, TRACEPROF_EXIT_MS="2000", **env):
            expect_unsettled(how, run.trace)


def test_ends_that_nobody_sees_are_said():
    """What CUPTI held is gone with the process, of most of the time."""
    for how, run in ended(UNSEEN, check=False):
        done = command("recover", run.folder)
        expect_equal(done.status, 0, f"{how}: {done.stderr}")
        expect_no_session(run)
        expect_unsettled(how, run.trace)


if __name__ == "__main__":
    harness.main()
