# SPDX-License-Identifier: MIT
"""How many instructions a hook adds to the program's own thread.

Counted under callgrind, so no other load on the machine matters, and only in
the function that makes the calls: what start and end cost differs from run to
run.  Each figure comes from two runs that differ only in how many calls they
make.
"""

import glob
import os
import re
import shutil
import subprocess
import tempfile

import harness
from harness import Skip, clean_environment, expect, expect_equal, folder

FEW, MANY = 4096, 20480
# Added per call of malloc or free, averaged; mode: its settings, its limit.
HEAP = {
    "closed": ({"TRACEPROF": "0"}, 5),
    # Not yet recorded: waiting for what may begin it.
    "watched": ({}, 47),
    # Off, while something else is recorded.
    "off": ({"TRACEPROF_MALLOC": "off", "TRACEPROF_WAITS": "1"}, 5),
    "default": ({"TRACEPROF_MALLOC": "large"}, 45),
    "all": ({"TRACEPROF_MALLOC": "all"}, 60),
    # Of a call that isn't sampled: how many are is chance.
    "sampled": ({"TRACEPROF_MALLOC": "sampled", "TRACEPROF_MALLOC_SAMPLE": "100G"}, 41),
    "flight": ({"TRACEPROF_MALLOC": "all", "TRACEPROF_FLIGHT": "10s"}, 60),
}
# Added per call of a lock that is free, of a signal, of a read, of a poll and of a write,
# where waits are recorded: at most.  Where they aren't,
# nothing: the loader doesn't find us.
# 30 of a read's are glibc's own as soon as there is a second thread: it might be
# cancelled.
CALLS = {"lock": 55, "signal": 82, "read": 126, "poll": 126, "write": 126}
# The same while the heap is recorded: there is a second thread then, and glibc itself
# takes more for a lock and a call that might be cancelled.
OTHERS = {"lock": 2, "signal": 0, "read": 45, "poll": 45, "write": 45}
# For each region of one thread.
REGION = 375
# In the hook, for one that is thinned to a sum.
THINNED = 95
# For each explicit task, with its creation and a wait for it, by what recording may
# take: each drawn, or all three added to sums.
TASKS = {"0": 900, "1": 780}
# In our code on the program's thread, for each launch on the simulated GPU that is
# recorded; most of them in names of the heap's, of which that GPU makes use.
LAUNCH = 20
# While a step is searched for: one of the first thousands, of which it is asked from
# where it comes, and one of those after them.
LOOKED_AT = 1750
COUNTED = 450
# In CUPTI's callbacks, for each launch on the simulated GPU, windows closed.
MARKS = {
    "kernel:other*": 130,
    "cuda:other*": 130,
    "kernel:ptx_kernel": 550,
}
# The same for memory in a stream's order.
ORDERED = 330
# In CUPTI's callbacks and libunwind, for each launch that tells who made it: a few
# frames of the program, and those of CUDA below them.
STACK_OF_LAUNCH = 3500
# From the start to the end of a program that does nothing, more than with a library
# that has nothing in it: one of the system's tools, one that may be recorded, a tool
# that allocates.
# One that may be recorded looks up each function behind ours, some 600 for each.
STARTS = {"true": 45000, "watched": 349000, "cat": 175000}
# A sample, below 16 functions of C and so many of Python: instructions of ours and of
# libunwind, and calls that ask the kernel for the interpreter's memory. The clock's
# don't count: valgrind hides the page by which they need no kernel.
SAMPLES = {0: (5700, 0), 17: (9700, 2), 30: (12000, 2)}


_programs = tempfile.TemporaryDirectory(prefix="traceprof-test-")
_without = {}                   # {what was counted without the library: how many}


def build(name, *more, built=None):
    """One of tests/bench, without what could move it from call to call."""
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not on this machine")
    if not built:
        built = os.path.join(folder() if more else _programs.name, name)
        if os.path.exists(built):
            return built
    done = subprocess.run(["gcc", "-O2", "-fno-builtin", "-fopenmp", "-pthread",
                           "-D_GNU_SOURCE", "-o", built,
                           os.path.join(harness.ROOT, "tests", "bench", name + ".c"),
                           *more], capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    return built


def in_all(path):
    with open(path, encoding="utf-8") as file:
        return int(re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M)[1])


def count(command, settings, preload=None, within=None, read=in_all):
    """Instructions of the program's first thread, or of one function there."""
    place = folder()
    env = clean_environment() | settings
    if preload:
        # The writer is slow there, and nothing is to be left after the end.
        env |= {"LD_PRELOAD": preload, "TRACEPROF_DIR": os.path.join(place, "out"),
                "TRACEPROF_EXIT_MS": "100000", "TRACEPROF_ENCODE": "live"}
    # Who gives way to the writer gets there at once, instead of a thousand times.
    done = subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes",
                           "--fair-sched=yes",
                           f"--callgrind-out-file={place}/counts",
                           *([f"--toggle-collect={within}"] if within else []),
                           *map(str, command)],
                          env=env, capture_output=True, text=True, timeout=harness.HANGS)
    expect(done.returncode == 0, done.stderr[-2000:])
    first = glob.glob(os.path.join(place, "counts-01")) \
        or glob.glob(os.path.join(place, "counts"))
    return read(first[0])


def calls_of(function):
    """Reads how often it was called."""
    def read(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        ids = set(re.findall(rf"fn=\((\d+)\) {function}$", text, re.M))
        # Ours and the one that it calls have the same name.
        return max((sum(map(int, re.findall(
            rf"^cfn=\({one}\).*\ncalls=(\d+)", text, re.M))) for one in ids), default=0)
    return read


def each(command, settings=None, preload=None, within=None, read=in_all, times=1):
    """Instructions for one more turn; command's {} is how many turns.  Of several runs
    the least: what is done once in a run, as late as it likes, is in few of them
    (102,000 instructions in one of thirty beside others)."""
    few, many = (min(count([str(part).format(turns) for part in command],
                           settings or {}, preload, within, read) for _ in range(times))
                 for turns in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def each_without(command, within):
    """The same without the library, which is counted once."""
    key = (*command, within)
    if key not in _without:
        _without[key] = each(command, within=within)
    return _without[key]


def added_to_heap_call(mode, program, pattern="pair"):
    """A turn is a pair: two calls."""
    return added([program, pattern, 1, "{}"], HEAP[mode][0], "run", times=2) / 2


def reads_counter():
    """The limits are for the processor's counter, not for a system clock."""
    try:
        with open("/sys/devices/system/clocksource/clocksource0/"
                  "current_clocksource", encoding="utf-8") as file:
            return file.read().strip() == "tsc"
    except OSError:
        return False


def within_limit(mode):
    if mode not in ("closed", "off") and not reads_counter():
        raise Skip("this machine does not keep time by the processor's counter")
    more = added_to_heap_call(mode, build("bench_heap"))
    limit = HEAP[mode][1]
    # Exactly the limit when it is closed, and a lazy symbol here or there.
    expect(limit / 3 < more < limit + 0.05,
           f"{more:.2f} instructions added per call, the limit is {limit}")


def test_closed_gate():
    within_limit("closed")


def test_heap_off_beside_others():
    within_limit("off")


def test_default_mode():
    within_limit("default")


def test_before_anything_is_recorded():
    within_limit("watched")


def test_every_call_recorded():
    within_limit("all")


def test_sampled_calls():
    within_limit("sampled")


def added(command, settings, within, times=1):
    """Instructions that a turn takes more in that function, with the library."""
    return (each(command, settings, harness.LIBRARY, within, times=times)
            - each_without(command, within))


def added_to_call(what, settings):
    return added([build("bench_lock"), what, "{}"], settings, "run")


def test_calls_that_may_wait():
    for what in CALLS:
        for settings in ({"TRACEPROF": "0"}, {}):
            more = added_to_call(what, settings)
            expect_equal(more, 0, f"{what} {settings}: instructions added")


def test_calls_that_may_wait_while_others_are_recorded():
    """With nothing of waits, files, samples or call stacks."""
    for what, limit in OTHERS.items():
        more = added_to_call(what, {"TRACEPROF_MALLOC": "all"})
        expect(more < limit + 0.05,
               f"{what}: {more:.2f} instructions added, the limit is {limit}")


def test_calls_that_may_wait_where_it_is_recorded():
    if not reads_counter():
        raise Skip("this machine does not keep time by the processor's counter")
    for what, most in CALLS.items():
        # None is so long that it is drawn, on a busy machine either.
        more = added_to_call(what, {"TRACEPROF_WAITS": "1", "TRACEPROF_MALLOC": "all",
                                    "TRACEPROF_WAIT_MIN": "1000000"})
        expect(1 < more < most,
               f"{what}: {more:.2f} instructions added, the limit is {most}")


def test_matrices_and_primitives_whose_shapes_nobody_wants():
    """Nothing: the loader doesn't find us.  Where they are wanted it does."""
    place = folder()
    library = os.path.join(place, "libdoesnothing.so")
    build("bench_blas", "-DLIBRARY", "-shared", "-fPIC", built=library)
    program = build("bench_blas", library, f"-Wl,-rpath,{place}")
    for what in ("gemm", "primitive"):
        for settings in ({"TRACEPROF": "0"}, {"TRACEPROF_MALLOC": "all"}):
            expect_equal(added([program, what, "{}"], settings, "run"), 0, f"{what} {settings}")
    expect(added([program, "primitive", "{}"], {"TRACEPROF_SHAPES": "1"}, "run") > 100,
           "none where they are")


def event_with_stack():
    """Instructions of libunwind's walk alone, and of a block's whole event."""
    program = build("bench_stack")
    settings = {"TRACEPROF_MALLOC": "all", "TRACEPROF_STACK": "heap:16"}
    alone = (each([program, "bare", 16, "{}"], within="turn")
             - each([program, "none", 16, "{}"], within="turn"))
    return alone, added([program, "pair", 16, "{}"], settings, "turn")


def test_call_stack_of_an_event():
    if not reads_counter():
        raise Skip("this machine does not keep time by the processor's counter")
    alone, whole = event_with_stack()
    # The aim is 1.30, which it is just below with libunwind 1.6.
    expect(alone < whole < 1.31 * alone,
           f"{whole:.1f} instructions for an event with its stack, {alone:.1f} for "
           f"the walk alone: {whole / alone:.2f}")


def test_a_sample_with_its_stack():
    """The handler, called as the kernel would, once more often each time."""
    program = build(os.path.join("..", "programs", "made_up_python"), "-O1", "-DSIGNALS",
                    "-rdynamic", built=os.path.join(folder(), "sampled"))
    settings = {"TRACEPROF_SAMPLE": "1"}
    for deep, (instructions, calls) in SAMPLES.items():
        few, many = (count([program, turns, deep, 16], settings, harness.LIBRARY, "turn",
                           lambda path: (in_all(path), calls_of("syscall")(path)
                                         - calls_of("__wrap_clock_gettime")(path)))
                     for turns in (FEW, MANY))
        more, asked = ((last - first) / (MANY - FEW) for first, last in zip(few, many))
        expect(instructions / 2 < more < instructions,
               f"{more:.0f} instructions for a sample below {deep} functions of Python, "
               f"the limit is {instructions}")
        # The file of the session grows, too.
        expect(calls - 0.05 < asked < calls + 0.05,
               f"{asked:.2f} questions to the kernel, {calls} are needed")


def added_to_region(settings):
    if not reads_counter():
        raise Skip("this machine does not keep time by the processor's counter")
    # In our own code: by how the heap happens to lie, libgomp's blocks take the C
    # library 17 instructions more or less.
    return each([build("bench_region"), 1, "{}", 0], settings, harness.LIBRARY, "region",
                of_library)


def test_a_region_of_one_thread():
    more = added_to_region({"TRACEPROF_MAX_OVERHEAD": "0"})
    expect(REGION / 3 < more < REGION,
           f"{more:.1f} instructions added per region, the limit is {REGION}")


def test_launch_marks():
    if not reads_counter():
        raise Skip("this machine does not keep time by the processor's counter")
    double = os.path.join(harness.BUILD, "fake-gpu")
    if not os.path.exists(os.path.join(double, "libcupti.so.13")):
        raise Skip(harness.not_built("the double", "CUDA headers"))
    for step, limit in MARKS.items():
        seen = each([harness.program("ptx_launch"), "{}"],
                    {"LD_LIBRARY_PATH": double, "SIMGPU_KERNEL_NS": "1",
                     "TRACEPROF_STEP": step, "TRACEPROF_WAIT": "1000000000",
                     "TRACEPROF_ACTIVE": "1"}, harness.LIBRARY, "cupti_callback")
        expect(limit / 3 < seen < limit,
               f"{step}: {seen:.1f} instructions a launch, the limit is {limit}")


def test_a_launch_with_its_stack():
    if not reads_counter():
        raise Skip("this machine does not keep time by the processor's counter")
    double = os.path.join(harness.BUILD, "fake-gpu")
    if not os.path.exists(os.path.join(double, "libcupti.so.13")):
        raise Skip(harness.not_built("the double", "CUDA headers"))
    seen = each([harness.program("ptx_launch"), "{}"],
                {"LD_LIBRARY_PATH": double, "SIMGPU_KERNEL_NS": "1",
                 "TRACEPROF_STACK": "cuda"}, harness.LIBRARY, "cupti_callback")
    expect(STACK_OF_LAUNCH / 3 < seen < STACK_OF_LAUNCH,
           f"{seen:.1f} instructions a launch, the limit is {STACK_OF_LAUNCH}")


def of_library(path):
    """Instructions in our own code: lines of cost under our object's name, but for
    those that sum up a call, and for the simulated GPU's own locks."""
    names, here, total, is_call = {}, None, 0, False
    functions, is_lock = {}, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            named = re.match(r"(c?ob)=\((\d+)\)(?: (.*))?", line)
            if named:
                names.setdefault(named[2], named[3])
                here = names[named[2]] if named[1] == "ob" else here
            elif (named := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line)):
                functions.setdefault(named[2], named[3])
                if not named[1]:
                    is_lock = functions[named[2]].startswith(("pthread_", "sem_"))
            elif line.startswith("calls="):
                is_call = True
            elif re.match(r"[\d+*-]", line):
                total += 0 if is_call or is_lock or here != harness.LIBRARY else int(line.split()[1])
                is_call = False
    return total


def test_kinds_of_the_gpu():
    """What else CUPTI and NVML record costs the program's thread no instruction, and
    from where it launches is asked of the first ones, and then no more."""
    double = os.path.join(harness.BUILD, "fake-gpu")
    if not os.path.exists(os.path.join(double, "libcupti.so.13")):
        raise Skip(harness.not_built("the double", "CUDA headers"))

    def launch(first, **settings):
        few, many = (count([harness.program("ptx_launch"), launches],
                           {"LD_LIBRARY_PATH": double, "SIMGPU_KERNEL_NS": "1",
                            # A real one has a kernel's name at one place.
                            "SIMGPU_NAME_REUSE": "0",
                            # The simulated one allocates through our hooks.
                            "TRACEPROF_MALLOC": "off"} | settings,
                           harness.LIBRARY, read=of_library)
                     for launches in (first, first + 3000))
        # What is done once, some 5,000, falls into one or the other.
        return (many - few) / 3000

    for first, limit in ((500, LOOKED_AT), (5000, COUNTED)):
        seen = launch(first)
        expect(limit / 3 < seen < limit, f"{seen:.1f} instructions for a launch after "
               f"{first}, the limit is {limit}")
    marked = {"TRACEPROF_STEP": "api"}
    alone = launch(500, **marked, TRACEPROF_NVML="0")
    expect(0 < alone < LAUNCH, f"{alone:.1f} instructions a launch, the limit is {LAUNCH}")
    more = launch(500, **marked, TRACEPROF_GPU_LATENCY="1", TRACEPROF_UNIFIED_MEMORY="1")
    expect(abs(more - alone) < 2, f"{alone:.1f} instructions a launch, with all kinds "
           f"{more:.1f}")


def test_memory_in_a_streams_order():
    """Two callbacks for each cudaMallocAsync() and cudaFreeAsync(), windows closed: it
    may become a node of a graph."""
    double = os.path.join(harness.BUILD, "fake-gpu")
    program = harness.program("cuda_kinds")
    if not os.path.exists(os.path.join(double, "libcupti.so.13")):
        raise Skip(harness.not_built("the double", "CUDA headers"))
    few, many = (count([program, *times * ["pairs"]],
                       {"LD_LIBRARY_PATH": double, "SIMGPU_NAME_REUSE": "0",
                        "TRACEPROF_NVML": "0", "TRACEPROF_STEP": "api",
                        "TRACEPROF_WAIT": "10", "TRACEPROF_ACTIVE": "1"},
                       harness.LIBRARY, read=of_library) for times in (2, 32))
    seen = (many - few) / (30 * 200)
    expect(ORDERED / 3 < seen < ORDERED,
           f"{seen:.1f} instructions a call, the limit is {ORDERED}")


# Of preload/cost.c: how often each of its hooks is run, those before a batch too.
TIMED = 10 * (16 + 48)


def modelled(function):
    """Instructions of one call of a hook that is timed by itself, on any thread."""
    place = folder()
    # No team: valgrind 3.19 ends a thread that waits in a system call by a signal, and
    # now and then goes on waiting for it for ever.
    env = clean_environment() | {"LD_PRELOAD": harness.LIBRARY, "TRACEPROF_MALLOC": "all",
                                 "TRACEPROF_DIR": os.path.join(place, "out"),
                                 "OMP_THREAD_LIMIT": "1"}
    done = subprocess.run(["valgrind", "--tool=callgrind",
                           f"--callgrind-out-file={place}/counts",
                           f"--toggle-collect={function}", harness.program("step_loop"), "3"],
                          env=env, capture_output=True, text=True, timeout=harness.HANGS)
    expect(done.returncode == 0, done.stderr[-2000:])
    return in_all(os.path.join(place, "counts")) / TIMED


def test_what_a_hook_is_said_to_cost():
    """The hooks that are timed to tell the cost do what the real ones do."""
    if not reads_counter():
        raise Skip("this machine does not keep time by the processor's counter")
    program = build("bench_heap")
    passed = modelled("pass_pair")
    for mode, timed in (("default", modelled("count_pair")),
                        ("all", modelled("record_pair"))):
        more = added_to_heap_call(mode, program)
        told = (timed - passed) / 2
        expect(0.8 < told / more < 1.1,
               f"{mode}: timed for {told:.1f} instructions a call, and it adds {more:.1f}")


def test_a_region_that_is_thinned():
    """As it is timed: what a program thins depends on how long it takes."""
    if not reads_counter():
        raise Skip("this machine does not keep time by the processor's counter")
    takes = modelled("record_thinned") - modelled("call_region")
    expect(THINNED / 3 < takes < THINNED,
           f"{takes:.1f} instructions for a region, the limit is {THINNED}")


def test_a_task():
    """Ten times as many where they are added up: from which one on is up to the clock,
    one in two thousand or one in four."""
    program = build("bench_tasks")
    for most, limit in TASKS.items():
        tenfold = "0" if most != "0" else ""
        more = added([program, "{}" + tenfold],
                     {"TRACEPROF_MALLOC": "off", "TRACEPROF_STEP": "api",
                      "TRACEPROF_MAX_OVERHEAD": most}, "turns")
        more /= 10 if tenfold else 1
        expect(more < limit, f"{most} %: {more:.0f} instructions a task, the limit is {limit}")


def test_flight_recorder():
    """Its history is the writer's business: a call costs what it always does."""
    within_limit("flight")



def test_starts():
    """Of what a tool's start takes most would be to bind our calls to the C library:
    that is left until they are made, or something may be recorded."""
    place = folder()
    empty, watched = os.path.join(place, "empty.so"), os.path.join(place, "watched")
    done = subprocess.run(["gcc", "-shared", "-o", empty, "-x", "c", os.devnull],
                          capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not on this machine")
    shutil.copy("/bin/true", watched)
    for name, command in (("true", ["/bin/true"]), ("watched", [watched]),
                          ("cat", ["/bin/cat", os.devnull])):
        added = count(command, {}, harness.LIBRARY) - count(command, {}, empty)
        expect(added <= STARTS[name], f"{name}: {added} instructions more")


if __name__ == "__main__":
    harness.main()
