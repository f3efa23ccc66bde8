# SPDX-License-Identifier: MIT
"""What can go wrong between a GPU's records and us, on the simulated one."""

import os

import harness
from harness import command, expect, expect_equal, traced
from t_control import Running
from t_cuda import (FAKE, STEPS, THREADS, WORK, calls, expect_whole, need, on_gpu,
                    train, work)


def notes(trace):
    return "\n".join(trace.meta.get("notes", []))


def test_kernels_that_never_come():
    """Launches, and no record of a kernel: said once, in a line and a note, and
    each trace is at fault."""
    def without(steps):
        need("cuda_train")
        run = traced("cuda_train", str(steps), "2", check=False, env={
            "LD_LIBRARY_PATH": FAKE, "SIMGPU_NO_KERNELS": "1"})
        expect_equal(run.status, 0, run.stderr)
        said = command("check", run.trace.path)
        expect("and no kernel [rule 28]" in said.stdout + said.stderr, said.stdout)
        return run

    run = without(180)
    lines = [line for line in run.own_lines if "no record of the kernels" in line]
    expect_equal(len(lines), 0, "few launches say nothing yet")
    missing = run.trace.meta["gpu"]["missing_kernels"]
    expect(f"kernels of {missing} launches LOST" in run.stderr, run.stderr)
    run = without(600)
    lines = [line for line in run.own_lines if "no record of the kernels" in line]
    expect_equal(len(lines), 1, run.stderr)
    expect("gives no record of one" in notes(run.trace), notes(run.trace))
    run = on_gpu(600, 2)
    expect("no record" not in run.stderr + notes(run.trace), "all is well")


def test_captures_of_thousands_lack_no_kernel():
    """However seldom the writer comes by."""
    run = on_gpu("graph", 300000, program="cuda_each", SIMGPU_KERNEL_NS=1,
                 TRACEPROF_STEP="api", TRACEPROF_BUFFER_MB=512)
    expect_equal(run.status, 0, run.stderr)
    gpu = run.trace.meta["gpu"]
    expect_equal((gpu["launches"], gpu["launched_kernels"], gpu["unknown_captures"]),
                 (300000, 0, 0), gpu)


def test_graphs_of_nothing_lack_no_kernel():
    """No record tells of a launch, and none is waited for."""
    for source in ("api", "auto", "kernel:*", "cuda:cudaGraphLaunch"):
        run = on_gpu("hollow", 50, program="cuda_each", TRACEPROF_STEP=source)
        expect("lack kernels" not in run.stderr, run.stderr)
        gpu = run.trace.meta["gpu"]
        expect_equal((gpu["launched_kernels"], gpu["missing_kernels"]), (0, 0),
                     (source, gpu))
        expect_equal(len(run.trace.slices("cudaGraphLaunch")), 50, source)


def test_graphs_lack_no_kernel_whatever_is_in_them():
    """Without a node, as soon as it is made; with copies, memory and nodes that are off:
    what ran is there, and nothing is missing."""
    for way in ("empty", "captured", "off", "updated"):
        run = on_gpu(way, 20, program="cuda_graphs", SIMGPU_CALL_NS=2000000)
        expect("lack kernels" not in run.stderr, (way, run.stderr))
        words = run.stdout.split()
        for category, count in zip(words[::2], words[1::2]):
            expect_equal(len(run.trace.slices(cat=category)), int(count), (way, category))
        expect_equal(run.trace.meta["gpu"]["missing_kernels"], 0, way)


def test_copies_alone_are_no_trouble():
    run = on_gpu(1200, program="cuda_scopes")
    expect("no record" not in run.stderr + notes(run.trace), run.stderr)


def test_graphs_of_memsets_alone_are_no_trouble():
    """Nobody launched a kernel; said would it be after two seconds, or at the end."""
    run = on_gpu("fills", 1500, program="cuda_each")
    gpu = run.trace.meta["gpu"]
    # One was captured.
    expect_equal((gpu["launches"], gpu["launched_kernels"], gpu["missing_kernels"]),
                 (1501, 0, 0), gpu)
    expect("no record" not in run.stderr + notes(run.trace), run.stderr)


def refused(function, code, **env):
    run = on_gpu(STEPS, THREADS, SIMGPU_FAIL=f"{function}:{code}", **env)
    expect_equal(run.status, 0, run.stderr)
    trace = run.trace
    expect_equal((trace.meta["gpu"]["source"], work(trace)), ("calls", []))
    expect_equal(len(trace.slices("cudaStreamSynchronize")), STEPS * THREADS)
    return run


def test_refusals():
    """Each by one line that says what to do, and the host side goes on."""
    run = refused("cuptiSubscribe_v2", 35)
    expect("NVreg_RestrictProfilingToAdminUsers" in run.stderr, run.stderr)
    expect("error 35" in notes(run.trace), notes(run.trace))
    run = refused("cuptiSubscribe_v2", 15)
    expect("newer than the GPU's driver" in run.stderr, run.stderr)
    run = refused("cuptiActivityRegisterCallbacks", 8)
    expect("setting up: CUPTI error 8" in notes(run.trace), notes(run.trace))
    run = refused("cuptiActivityRegisterTimestampCallback", 999,
                  SIMGPU_VERSION=130100)
    expect("error 999" in notes(run.trace), notes(run.trace))


def test_why_launches_lack_kernels():
    """Their records came, without times: nobody could have waited longer for them.  Or
    they were not done when the program ended, or no kernel has a record at all."""
    need("cuda_behind")
    reasons = {"CUPTI gave 22 records of the GPU no time": ("SIMGPU_ZERO_TIMES", "9", 0),
               "these were missing when the program ended":
                   ("SIMGPU_FORCED_INCOMPLETE", "1", 1),
               "CUPTI gave no record of any": ("SIMGPU_FAIL", "cuptiActivityEnable:21:4", 0)}
    for reason, (name, value, unfinished) in reasons.items():
        run = traced("cuda_behind", "10", "20", "0", "2000", "500", check=False, env={
            "LD_LIBRARY_PATH": FAKE, "TRACEPROF_EXIT_MS": "8000", name: value})
        said = [line for line in run.stderr.splitlines() if "kernels in the trace" in line]
        expect_equal([[one for one in reasons if one in line] for line in said], [[reason]],
                     run.stderr)
        expect_equal(run.trace.meta["gpu"]["unfinished"], unfinished, run.trace.meta["gpu"])


def test_check_counts_launches_without_kernels():
    """No fault of the file's, but each window says how many it lacks."""
    run = on_gpu(20, 20, 0, 20000, 500, program="cuda_behind", SIMGPU_DROP=7,
                 TRACEPROF_WAIT=5, TRACEPROF_ACTIVE=3, TRACEPROF_REPEAT=2,
                 TRACEPROF_GPU_WAIT_MS=2000)
    expect_equal(len(run.traces), 2, run.stderr)
    for trace in run.traces:
        missing = 60 - len(trace.slices(cat="kernel"))
        said = command("check", trace.path)
        expect_equal((said.status, missing > 0), (0, True), said.stdout)
        expect(f"warning: of 60 launches of kernels {missing} lack kernels [rule 30]"
               in said.stdout and "good, 1 warning" in said.stdout, said.stdout)


def refusal_lines(run):
    return [line for line in run.own_lines if "CUPTI refuses" in line]


def test_all_kinds_that_are_refused():
    """One line that says what is wrong and what to do, and the calls themselves."""
    for code, remedy in ((35, True), (40, True), (13, False)):
        run = refused("cuptiActivityEnable", code)
        line, = refusal_lines(run)
        expect(f"records of the GPU (error {code}, CUPTI_ERROR_" in line
               and "only the calls to it are recorded" in line, line)
        expect_equal("NVreg_RestrictProfilingToAdminUsers" in line, remedy, line)
        expect(line.removeprefix("traceprof: ") in notes(run.trace), notes(run.trace))


def test_all_kinds_that_are_refused_when_a_window_opens():
    """Then CUPTI is asked for the first time: no call of that window is missing."""
    for step in ("api", "auto"):
        run = on_gpu(12, 3, program="cuda_contexts", TRACEPROF_STEP=step,
                     SIMGPU_FAIL="cuptiActivityEnable:40", TRACEPROF_WAIT=3,
                     TRACEPROF_ACTIVE=2, TRACEPROF_REPEAT=2)
        expect_equal((run.status, len(refusal_lines(run))), (0, 1), run.stderr)
        expect_equal([(trace.meta["gpu"]["source"], len(trace.slices("cudaLaunchKernel")),
                       len(trace.slices("cudaDeviceSynchronize")))
                      for trace in run.traces], [("calls", 20, 4)] * 2, run.stderr)


def test_kernels_alone_that_are_refused():
    """The fourth that is asked for; what is known of them else goes on."""
    need("cuda_train")
    run = traced("cuda_train", "600", "2", check=False, env={
        "LD_LIBRARY_PATH": FAKE, "SIMGPU_FAIL": "cuptiActivityEnable:35:4"})
    line, = refusal_lines(run)
    expect("records of kernels (error 35, " in line
           and "they are not recorded; the administrator may" in line, line)
    # Nor is another version of CUPTI asked for.
    expect("no record of the kernels" not in run.stderr, run.stderr)
    trace = run.trace
    expect_equal((trace.meta["gpu"]["source"], trace.slices(cat="kernel")), ("cupti", []))
    expect(trace.meta["gpu"]["missing_kernels"], trace.meta["gpu"])
    expect(len(trace.slices(cat="gpu_memcpy")) > 1200, "copies")


def test_a_kind_that_is_refused():
    """The fifth enabled: copies; all else goes on."""
    run = on_gpu(STEPS, THREADS, SIMGPU_FAIL="cuptiActivityEnable:21:5")
    expect("refuses records of kind 1: error 21" in notes(run.trace),
           notes(run.trace))
    trace = run.trace
    expect_equal(trace.slices(cat="gpu_memcpy"), [])
    expect_equal(len(trace.slices(cat="kernel")), 3 * STEPS * THREADS)


def test_flush_that_hangs_at_the_end():
    run = on_gpu(STEPS, THREADS, SIMGPU_HANG_FLUSH="forced",
                 TRACEPROF_EXIT_MS=10000)
    expect_equal(run.status, 0, run.stderr)
    # What was complete had been handed over before.
    expect_whole(run.trace)
    expect("CUPTI did not hand over" in run.stderr, run.stderr)


def test_where_libcupti_is():
    """By TRACEPROF_CUPTI; in CUDA_HOME or CUDA_PATH, where the loader has none of
    that version, which here is 12."""
    need("ptx_launch")
    double = FAKE + "-12"
    home, bare = harness.folder(), harness.folder()
    inside = os.path.join(home, "extras", "CUPTI", "lib64")
    os.makedirs(inside)
    there, other = os.path.join(inside, "libcupti.so.12"), os.path.join(home, "another.so")
    for name in ("libsimgpu.so", "libcuda.so.1"):
        os.symlink(os.path.join(double, name), os.path.join(bare, name))
    for place in (there, other):
        os.symlink(os.path.join(double, "libcupti.so.12"), place)

    def launched(**env):
        return on_gpu(3, program="ptx_launch", LD_LIBRARY_PATH=bare,
                      SIMGPU_VERSION=28,
                      **{"CUDA_HOME": "", "CUDA_PATH": ""} | env)

    for variable, value, wanted in (("TRACEPROF_CUPTI", other, other),
                                    ("CUDA_HOME", home, there),
                                    ("CUDA_PATH", home, there)):
        run = launched(**{variable: value})
        expect(f"CUPTI: {wanted}" in notes(run.trace), notes(run.trace))
        expect_equal(len(run.trace.slices(cat="kernel")), 3, "kernels")
    # A pipe would never be opened.
    pipe, text = os.path.join(home, "pipe"), os.path.join(home, "text")
    os.mkfifo(pipe)
    with open(text, "w", encoding="ascii") as file:
        file.write("no library")
    for wrong in ("/nowhere/libcupti.so", home, pipe, text, "/dev/zero", "nonsense", "/"):
        run = launched(TRACEPROF_CUPTI=wrong)
        expect(f"TRACEPROF_CUPTI={wrong}: " in run.stderr, run.stderr)
        expect("(null)" not in run.stderr, run.stderr)
        expect_equal(work(run.trace), [])
    # One that lacks CUPTI's functions.
    run = launched(TRACEPROF_CUPTI=os.path.join(double, "libcuda.so.1"))
    expect("libcupti lacks " in run.stderr, run.stderr)
    expect_equal(work(run.trace), [])


def test_a_driver_that_tears_itself_down_with_the_first_context():
    """Handlers that are older than its own come too late, and nobody has asked
    for the records before."""
    run = on_gpu(program="pinned", SIMGPU_INIT_SILENT=1)
    expect_equal(len([event for event in run.trace.memory()
                      if event["args"]["Device Type"] == 1]), 2, "records")


def test_a_last_flush_that_fails_is_said():
    run = on_gpu(1, 1, SIMGPU_FAIL="cuptiActivityFlushAll:15")
    expect("did not hand over its last records (error 15): they are missing"
           in run.stderr, run.stderr)
    expect(any("flush failed with error 15" in note
               for note in run.trace.meta["notes"]), run.trace.meta["notes"])


def test_the_note_has_the_path_of_what_the_loader_found():
    found = [note for note in train().meta["notes"] if note.startswith("CUPTI: ")]
    expect_equal(found, [f"CUPTI: {FAKE}/libcupti.so.13"], "which")


def test_children():
    for way in ("exit", "_exit", "exec"):
        run = on_gpu(way, program="cuda_forks")
        expect_equal((run.status, run.stdout), (0, "7\n"), f"{way} {run.stderr}")
        trace = run.trace
        expect_equal(len(trace.slices(cat="gpu_memcpy")), 2, way)
        expect_equal({call["tid"] for call in calls(trace).values()}, {trace.pid})


def test_streams_have_names():
    trace = train()
    names = {event["tid"]: event["args"]["name"] for event in trace.events
             if event["name"] == "thread_name" and event["pid"] == 0}
    for event in work(trace):
        expect_equal(names[event["tid"]], f"stream {event['args']['stream']} ")
    expect({event["cat"] for event in work(trace)} == set(WORK), "all kinds")


def launches_so_far(version):
    """In the file of each of two windows."""
    need("cuda_scopes")
    program = Running(60, "22,44", program="cuda_scopes", step="api", wait=20,
                      active=2, repeat=2,
                      env={"LD_LIBRARY_PATH": FAKE, "SIMGPU_VERSION": str(version)})
    for step in (22, 44):
        program.held(step)
        program.until_written()
        program.go_on()
    run = program.leave()
    expect_equal([len(trace.slices(cat="gpu_memcpy")) for trace in run.traces],
                 [4, 4], run.stderr)
    return [trace.meta["gpu"]["launches"] for trace in run.traces]


def test_what_lies_between_windows_is_in_no_file():
    """Kinds stay on there with each version, since it does harm to switch them off."""
    for version in (28, 130000, 130001, 130101, 130500):
        expect_equal(launches_so_far(version), [4, 48], version)


if __name__ == "__main__":
    harness.main()
