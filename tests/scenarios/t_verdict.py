# SPDX-License-Identifier: MIT
"""The verdict: a bottleneck that was planted is found first, and nothing is said
where there is none.

What a busy machine does to a program may be more than what was planted in it.  So
the rules judge recordings that were made once, on a quiet machine, and lie in
tests/fixtures/verdict.  TEST_LIVE=1 records anew (make test-real), TEST_LIVE=keep
puts the recordings there.

Single slow steps are said beside: what is first is looked for among the causes,
unless the steps themselves are planted.  So is a machine that has other work.
"""

import json
import os
import shutil

import harness
from harness import BUILD, command, expect, expect_equal, traced

FAKE = os.path.join(BUILD, "fake-gpu")
LIVE = os.environ.get("TEST_LIVE")
KEPT = os.path.join(harness.ROOT, "tests", "fixtures", "verdict")
ABOUT_STEPS = ("first-step", "nth-step", "outliers")


def judged(path):
    done = command("report", "--json", path)
    expect_equal(done.status, 0, done.stderr)
    return json.loads(done.stdout)[0]


def rules(path, causes=True):
    return [finding["rule"] for finding in judged(path)["findings"]
            if not causes or finding["rule"] not in ABOUT_STEPS]


def recorded(label, *command_line, env):
    kept = os.path.join(KEPT, label + "_700.1.pt.trace.json.gz")
    if not LIVE:
        return kept
    run = traced(*command_line, env={"TRACEPROF_STEP": "api", "TRACEPROF_GZIP": "zlib:9"}
                 | env)
    expect_equal(run.status, 0, run.stderr)
    if LIVE == "keep":
        os.makedirs(KEPT, exist_ok=True)
        shutil.copy(run.trace.path, kept)
    return run.trace.path


def planted(name, steps=10):
    return recorded(name, "planted", name, str(steps), env={})


def planted_gpu(name, kernel_ns=1000000, steps=10, **settings):
    label = "-".join(["gpu", name, *map(str.lower, settings)])
    return recorded(label, "cuda_planted", name, str(steps),
                    env={"LD_LIBRARY_PATH": FAKE, "SIMGPU_KERNEL_NS": str(kernel_ns)}
                    | settings)


def expect_first(path, rule):
    found = [one for one in rules(path) if not LIVE or one != "no-processor"]
    expect(found and found[0] == rule, f"{rule} is not first: {found}",
           json.dumps(judged(path)["findings"], indent=1))


# --- each bottleneck, and a run without ---------------------------------------

def test_openmp():
    for name in ("imbalance", "barrier", "critical", "oversubscribed", "idle-threads"):
        expect_first(planted(name), name)
    expect_first(planted("short-regions", 4), "short-regions")


def test_heap():
    for name in ("churn", "large-blocks", "growth"):
        expect_first(planted(name, 20), name)


def test_waiting():
    for name in ("data-starved", "exposed-comm"):
        expect_first(planted(name, 20), name)
    expect_first(recorded("off-cpu", "planted", "off-cpu", "20",
                          env={"TRACEPROF_WAITS": "1"}), "off-cpu")


def test_steps():
    for name in ABOUT_STEPS:
        found = [rule for rule in rules(planted(name, 30), causes=False)
                 if rule in ABOUT_STEPS]
        expect_equal(found[:1], [name])


def test_our_own_cost():
    expect_first(planted("own-cost", 2), "own-cost")


def test_gpu():
    for name in ("needless-sync", "idle-host", "idle-openmp", "data-starved"):
        expect_first(planted_gpu(name, 200000), name)
    for name in ("blocking-copies", "exposed-comm", "serial-streams", "layout",
                 "memory-bound", "low-occupancy", "compute-bound"):
        expect_first(planted_gpu(name), name)
    # The largest of the recordings.
    expect_first(planted_gpu("idle-alloc", 200000, 3), "idle-alloc")


def test_gpu_of_small_things():
    expect_first(planted_gpu("results-read", 100000), "needless-sync")
    expect_first(planted_gpu("small-copies", 2000), "small-copies")
    expect_first(planted_gpu("small-kernels", 2000), "small-kernels")


def test_gpu_that_is_throttled():
    found = rules(planted_gpu("none", SIMGPU_NVML_REASONS="0x20"))
    expect("throttled" in found, found)


def test_nothing_is_said_of_nothing():
    expect_equal(rules(planted_gpu("none", 5000000)), [])
    expect_equal(rules(planted("none", 80)), [])


def test_a_run_goes_on_after_its_last_slice():
    """Its region is a fifth of it: the rest is the host's, and no region's."""
    region = slice_("work [omp parallel #1]", 1000, 200000, cat="cpu_op", omp="parallel",
                    region=1, team=1, thread=0)
    span = slice_("PyTorch Profiler (0)", 1000, 1000000, tid="PyTorch Profiler",
                  pid="Spans", cat="Trace")
    step = judged(made([region, span]))["step"]
    expect_equal(step["total_ns"], 1000000000, step)


def test_nothing_is_said_of_a_program_that_does_next_to_nothing():
    built = harness.compile_program("ends_badly.c")
    run = traced(built, "closed")
    expect_equal(rules(run.trace.path, causes=False), [])


# --- traces that aren't whole: no false verdict --------------------------------

def made(events, ours=None):
    path = os.path.join(harness.folder(), "made_700.1.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events, "traceprof": ours or {}},
                  file)
    return path


def slice_(name, start_us, dur_us, tid=700, cat="cpu_op", pid=700, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
            "ts": start_us, "dur": dur_us, "args": args}


def step_(number, start_us, dur_us):
    return slice_(f"ProfilerStep#{number}", start_us, dur_us, cat="user_annotation")


def idle_gpu():
    """Ten steps; the GPU has work in half of each, the host launches it late."""
    events = []
    for number in range(10):
        at = number * 1000
        events += [step_(number, at, 1000),
                   slice_("cudaLaunchKernel", at + 500, 5, cat="cuda_runtime",
                          correlation=number),
                   slice_("gemm", at + 510, 400, 7, "kernel", 0, device=0, stream=7,
                          correlation=number)]
    return events


def test_an_idle_gpu_is_seen():
    expect_equal(rules(made(idle_gpu())), ["idle-host"])


def syncs(where, stack=None):
    """Ten steps of three kernels, the host waiting after each and idling then."""
    events = []
    for number in range(30):
        at = number * 400
        if number % 3 == 0:
            events.append(step_(number // 3, at, 1200))
        events += [slice_("cudaLaunchKernel", at, 5, cat="cuda_runtime",
                          correlation=number),
                   slice_("gemm", at + 10, 100, 7, "kernel", 0, device=0, stream=7,
                          correlation=number),
                   slice_(where[number % len(where)], at + 20, 110),
                   slice_("cudaStreamSynchronize", at + 21, 100, cat="cuda_runtime",
                          **({"Call stack": stack[number % 3]} if stack else {}))]
    return events


def test_the_call_site_that_waits():
    """By the operator around it, by the line of Python around that, and by the stack."""
    found = judged(made(syncs(("aten::item", "aten::item", "aten::nonzero"))))["findings"]
    expect_equal(found[0]["rule"], "needless-sync", found)
    expect("; 20 of 30 in cudaStreamSynchronize, in aten::item" in found[0]["figure"], found)
    lines = [slice_("train.py(31): step", at * 1200, 1190, cat="python_function")
             for at in range(10)]
    found = judged(made(lines + syncs(("aten::item",))))["findings"]
    expect("30 of 30 in cudaStreamSynchronize, in aten::item, in train.py(31): step"
           in found[0]["figure"], found)
    stacks = ("a.c(3): f;b.c(9): main", "a.c(7): g;b.c(9): main", "a.c(7): g")
    found = judged(made(syncs(("work",), stack=stacks)))["findings"]
    expect("20 of 30 in cudaStreamSynchronize at a.c(7): g, in work" in found[0]["figure"],
           found)


def test_lost_events_make_no_finding():
    """Kernels that are missing look like a GPU that has nothing to do."""
    kernels = "kernels are missing: what is said of the GPU is too little"
    for ours, words in (
            ({"events": {"seen": 1000, "dropped": 400}}, "400 events are missing"),
            ({"events": {"seen": 1000, "unrecorded_calls": 30}}, "30 events are missing"),
            ({"gpu": {"launched_kernels": 20, "missing_kernels": 10}}, kernels),
            # Graphs of which one kernel has come, and thousands have not.
            ({"gpu": {"launched_kernels": 20, "missing_kernels": 10,
                      "partial_graphs": 10}}, kernels),
            ({"gpu": {"dropped_records": 3}}, kernels),
            ({"gpu": {"lost_buffers": 3}}, kernels),
            ({"gpu": {"without_time": 3}}, kernels)):
        path = made(idle_gpu(), ours)
        expect_equal(rules(path), ["losses"], ours)
        figure = judged(path)["findings"][0]["figure"]
        expect(words in figure, f"{ours}: {figure}")


def test_waits_that_were_lost_are_counted():
    for lost, found in ((5, []), (20, ["losses"])):
        path = made([step_(0, 0, 1000)], {"waits": {"begun": 1000, "lost": lost}})
        expect_equal(rules(path), found, lost)
    expect("20 events are missing" in judged(path)["findings"][0]["figure"],
           judged(path)["findings"])


def test_one_uneven_call_is_no_imbalance():
    """Of forty calls one has a member that is late: somebody else's doing."""
    events = [step_(0, 0, 41000)]
    for number in range(40):
        at, late = number * 1000, 10000 if number == 39 else 0
        for tid, took in ((700, 900 + late), (701, 900)):
            events.append(slice_("f [omp parallel #1]", at, took, tid, omp="task",
                                 region=number + 1, team=2))
            events.append(slice_("region end wait", at + took, 910 + late - took, tid,
                                 omp="wait", region=number + 1))
        events.append(slice_("f [omp parallel #1]", at, 910 + late, omp="parallel",
                             region=number + 1, team=2))
    expect_equal(rules(made(events)), [])


def test_what_sets_a_run_up_is_no_imbalance_of_its_steps():
    """Forty uneven regions before the first of ten steps, in each of which one that is
    even; the same unevenness within the steps is said."""
    for inside, found in ((False, []), (True, ["imbalance"])):
        events = []
        for number in range(50):
            at, is_step = number * 1000, number >= 40
            name = "f [omp parallel #2]" if is_step else "f [omp parallel #1]"
            works = (900, 400) if is_step == inside else (900, 900)
            if is_step:
                events.append(step_(number, at, 1000))
            for tid, took in zip((700, 701), works):
                events += [slice_(name, at, took, tid, omp="task", region=number + 1,
                                  team=2),
                           slice_("region end wait", at + took, 910 - took, tid,
                                  omp="wait", region=number + 1)]
            events.append(slice_(name, at, 910, omp="parallel", region=number + 1, team=2))
        expect_equal(rules(made(events)), found)


def test_a_wait_for_a_thread_is_no_read():
    """"pthread" has a "read" in it."""
    for name, found in (("pthread_cond_wait", "off-cpu"), ("read", "data-starved")):
        path = made([step_(0, 0, 1000), slice_("wait: " + name, 0, 500)])
        expect_equal(rules(path), [found], name)


SAMPLES = 190000000     # the lane of a thread's samples


def sampled(tid, start_us, dur_us, name="busy"):
    return slice_(name, start_us, dur_us, SAMPLES + tid, "cpu_sample")


def threads_(*tids):
    return [{"ph": "M", "name": "thread_name", "pid": 700, "tid": tid,
             "args": {"name": f"thread {tid}"}} for tid in tids]


def test_who_waits_for_threads_that_work_is_no_bottleneck():
    """Without steps the thread that works most is judged; but for locks, that it waits
    for again and again, a thread may just have nothing to do."""
    ours = {"cpus": 4, "options": {"SAMPLE": "9999"}}
    joins = threads_(700, 701) + [slice_("wait: pthread_join", 0, 10000),
                                  sampled(700, 10000, 100), sampled(701, 0, 9900)]
    found = judged(made(joins, ours))
    expect_equal([finding["rule"] for finding in found["findings"]], [], found)
    expect(found["step"]["split_ns"]["native"] > 9 * 10**6, found["step"])
    text = command("report", made(joins, ours)).stdout
    expect("thread 701 (works most):" in " ".join(text.split()), text)
    # The same where all are alike, and one at a time works.
    turns = threads_(700, 701)
    for at in range(0, 10000, 500):
        turns += [slice_("wait: pthread_mutex_lock", at, 250), sampled(701, at, 250),
                  slice_("wait: pthread_mutex_lock", at + 250, 250, 701),
                  sampled(700, at + 250, 250)]
    expect_equal(rules(made(turns, ours)), ["off-cpu"])
    few = {"cpus": 4, "options": {"SAMPLE": "999"}}
    expect_equal(rules(made(turns, few)), [], "too few samples")
    queue = [event | {"name": event["name"].replace("mutex_lock", "cond_wait")}
             for event in turns]
    expect_equal(rules(made(queue, ours)), [])
    # Processes that it started work, or none of its threads found a processor, or
    # other programs have most of all, and none is free.
    busy = {"processors_ns": 4 * 10**10, "others_ns": 39 * 10**9, "program_ns": 10**7}
    for scheduled in ({"processors_ns": 40 * 10**6, "others_ns": 0, "program_ns": 2 * 10**7},
                      {"ran_ns": 10**7, "waited_ns": 10**7}, busy):
        found = rules(made(turns, ours | {"scheduled": scheduled}))
        expect("off-cpu" not in found, found)
    one_free = {**busy, "others_ns": 25 * 10**9}
    expect_equal(rules(made(turns, ours | {"scheduled": one_free})), ["off-cpu"])
    # One that begins late, and ends early.
    late = threads_(700, 701) + [slice_("wait: sem_wait", 0, 5000, 701),
                                 sampled(701, 5000, 2000)]
    expect_equal(rules(made(late + [sampled(700, 9000, 100)], ours)), [])


def test_what_helps_is_said_of_what_is_waited_for():
    for name, help_, other in (
            ("pthread_join", "what the threads that it waits for do", "pthread_mutex_lock"),
            ("clock_nanosleep", "has to sleep so long", "pthread_cond_wait"),
            ("poll", "who is to send", "sem_wait"),
            ("pthread_mutex_lock", "who holds", "epoll_wait"),
            ("pthread_rwlock_rdlock", "who holds", "nanosleep")):
        path = made([step_(0, 0, 1000), slice_("wait: " + name, 0, 500),
                     slice_("wait: " + other, 500, 300)])
        finding, = judged(path)["findings"]
        expect_equal(finding["rule"], "off-cpu", name)
        expect(help_ in finding["next"], name, finding)


def test_the_worst_wait_is_none_for_a_process():
    """That one isn't counted, so it is no example of what is."""
    path = made([step_(0, 0, 1000), slice_("wait: waitpid", 0, 450),
                 slice_("wait: sem_wait", 450, 400)])
    finding, = judged(path)["findings"]
    expect_equal(finding["rule"], "off-cpu")
    expect("sem_wait" in finding["place"], finding)


def test_a_step_waits_for_threads_unless_all_processors_work():
    steps = [step_(number, number * 1000, 1000) for number in range(10)]
    waits = [slice_("wait: pthread_cond_wait", at, 900) for at in range(0, 10000, 1000)]
    for cpus, found in ((2, []), (4, ["off-cpu"])):
        work = [sampled(tid, 0, 10000) for tid in (701, 702)]
        work += [sampled(700, at + 900, 100) for at in range(0, 10000, 1000)]
        path = made(threads_(700, 701, 702) + steps + waits + work,
                    {"cpus": cpus, "options": {"SAMPLE": "99"}})
        expect_equal(rules(path), found, cpus)
        # What the idle processors could have done.
        if found:
            saved = judged(path)["findings"][0]["saved_ns"]
            expect_equal(round(saved / 1e6, 2), round(9 * (1 - 2 / cpus), 2))


def test_a_shell_waits_for_its_children():
    ours = {"options": {"SAMPLE": "9999"}}
    unknown = threads_(700) + [sampled(700, 0, 100), slice_("wait: poll", 200, 500),
                               slice_("work", 9900, 100), sampled(700, 9900, 100)]
    expect_equal(rules(made(unknown, ours)), [], "9 ms off the processor, 0.5 known")
    reads = slice_("wait: read (pipe or socket)", 8000, 1500)
    for wait in ("waitpid", "system"):
        path = made([slice_(f"wait: {wait}", 0, 8000), reads, slice_("work", 9500, 500)])
        expect_equal(rules(path), [], wait)
    expect_equal(rules(made([reads, slice_("work", 9500, 500)])), [])


def test_samples_tell_what_allocations_take():
    """Also in functions of the C library that have no names."""
    work = [sampled(700, 0, 10000, "work")] + [
        sampled(700, 1000, 600, "malloc"), sampled(700, 1100, 400, "libc.so.6+0x96566")]
    ours = {"heap": {"calls": 100000, "bytes": 9900}, "options": {"SAMPLE": "99"}}
    found = judged(made(threads_(700) + work, ours))
    expect_equal([(finding["rule"], finding["saved_ns"]) for finding in found["findings"]],
                 [("churn", 600000)])
    expect_equal(found["step"]["split_ns"]["alloc"], 600000)


def test_a_team_allocates_at_once():
    team = [slice_("f", 0, 10000, omp="parallel", region=1, team=2)] + [
        slice_("f", 0, 10000, tid, omp="task", region=1, team=2) for tid in (700, 701)]
    ours = {"heap": {"calls": 200000, "bytes": 9900}, "cpus": 2}
    found = [one for one in judged(made(team, ours))["findings"] if one["rule"] == "churn"]
    expect_equal([one["saved_ns"] for one in found], [2500000], found)


def test_a_file_in_which_nothing_is_drawn_is_judged_too():
    span = slice_("PyTorch Profiler (0)", 0, 10000, tid="PyTorch Profiler", pid="Spans",
                  cat="Trace")
    ours = {"heap": {"calls": 100000, "bytes": 9900}}
    expect_equal(rules(made(threads_(700) + [span], ours)), ["churn"])


def test_who_waits_for_a_disk_to_write_is_not_told_to_load_ahead():
    for name, advice in (("fsync", "sync once for many records"), ("read", "read larger pieces"),
                         ("pwrite", "sync once for many records")):
        path = made([step_(0, 0, 1000), slice_("wait: " + name, 0, 500)])
        found = judged(path)["findings"]
        expect_equal([finding["rule"] for finding in found], ["data-starved"])
        expect(advice in found[0]["next"], name, found)


def test_who_records_little_of_the_time_is_told_of_samples():
    """More than half of a second and more, in a file of ours without samples."""
    ours = {"options": {"SAMPLE": "0"}}
    for share, length, meta, found in ((40, 10, ours, True), (60, 10, ours, False),
                                       (40, 9, ours, False), (40, 10, {}, False),
                                       (40, 10, {"options": {"SAMPLE": "99"}}, False)):
        events = [event for at in range(10) for event in (
            step_(at, at * 1e4 * length, 1e4 * length),
            slice_("work", at * 1e4 * length, 100 * share * length))]
        said = " ".join(command("report", made(events, meta)).stdout.split())
        expect_equal("Nothing stands out in what is recorded. In 60 % of the time nothing "
                     "happens that is recorded: --sample (" in said, found, said)


def test_the_names_that_took_most():
    """By what they did themselves; on a GPU that is busy its kernels."""
    text = command("report", made([step_(0, 0, 1000), slice_("outer", 0, 900),
                                   slice_("inner", 100, 600), slice_("little", 800, 10)])
                   ).stdout
    expect("\nmost work in all: inner 600.0 us, outer 290.0 us\n" in text, text)
    kernels = [slice_("gemm", 0, 700, 7, "kernel", 0, device=0, stream=7)]
    text = command("report", made([step_(0, 0, 1000), slice_("outer", 0, 900)] + kernels)
                   ).stdout
    expect("\nmost work in all: gemm 700.0 us\n" in text, text)


def test_a_team_of_one_waits_for_nobody():
    """Though others of the run have shares of their own."""
    events = [slice_("alone", 0, 5000, omp="parallel", region=1, team=1, thread=0),
              slice_("team", 5000, 5000, omp="parallel", region=2, team=2)] + [
        slice_("team", 5000, 5000, tid, omp="task", region=2, team=2) for tid in (700, 701)]
    split = judged(made(events))["step"]["split_ns"]
    expect_equal((split["omp_work"], split.get("omp_wait", 0)), (10000000, 0), split)


def test_a_team_that_comes_together_late():
    """Until the master's share begins it waits; work is even, and no cause is seen."""
    events = [step_(0, 0, 40000)]
    for number in range(40):
        at = number * 1000
        events.append(slice_("f [omp parallel #1]", at, 1000, omp="parallel",
                             region=number + 1, team=2))
        for tid, starts in ((700, 850), (701, 400)):
            events.append(slice_("f [omp parallel #1]", at + starts, 100, tid, omp="task",
                                 region=number + 1, team=2))
            events.append(slice_("region end wait", at + starts + 100, 900 - starts, tid,
                                 omp="wait", region=number + 1))
    path = made(events)
    split = judged(path)["step"]["split_ns"]
    expect_equal((split["omp_work"], split["omp_wait"]), (4000000, 36000000), split)
    found = judged(path)["findings"]
    expect_equal([finding["rule"] for finding in found], ["waits"])
    expect("threads of teams wait for 90 % of the step" in found[0]["figure"], found)
    scheduled = {"ran_ns": 2 * 10**7, "waited_ns": 2 * 10**7}
    expect_equal(rules(made(events, {"scheduled": scheduled})), ["no-processor"],
                 "one that names them")


def test_a_machine_that_is_busy_is_said():
    steps = [step_(number, number * 1000, 1000) for number in range(10)]
    for waited, found, ns in ((4, [], 10**5), (6, ["no-processor"], 10**5),
                              (20, [], 10**4)):  # of the tenth in which it didn't sleep
        ours = {"scheduled": {"ran_ns": (100 - waited) * ns, "waited_ns": waited * ns}}
        expect_equal(rules(made(steps, ours)), found, waited)
    steps[0] = step_(0, -9000, 10000)           # takes more than half of the time
    for waited, first in ((4, "first-step"), (6, "no-processor"), (30, "no-processor")):
        ours = {"scheduled": {"ran_ns": (100 - waited) * 19 * 10**4,
                              "waited_ns": waited * 19 * 10**4}}
        path = made(steps, ours)
        expect_equal(rules(path, causes=False)[0], first, waited)
        # What can be changed has the first number.
        said = " ".join(command("report", path).stdout.split())
        expect_equal((f"Busy machine: for {waited} % of the time" in said,
                      "1. up to 47.4 %: step 0" in said), (waited > 4, True), said)


def few_threads(team, cpus=16, others=0, used=1, **more):
    """40 regions of 1 ms, on a machine of 16 processors."""
    events = []
    for number in range(40):
        at = number * 1000
        events.append(slice_("f [omp parallel #1]", at, 990, omp="parallel",
                             region=number + 1, team=team))
        for member in range(team):
            events.append(slice_("f [omp parallel #1]", at, 990, 700 + member, omp="task",
                                 region=number + 1, team=team))
    ns = 40 * 10**6
    return rules(made(events, {"cpus": cpus, **more, "scheduled": {
        "ran_ns": ns, "waited_ns": 0, "processors_ns": 16 * ns,
        "others_ns": int(others * ns), "program_ns": int(used * ns)}}))


def test_long_names_are_folded():
    """As in the tables: what stays is the class and the function."""
    name = ("Tree::likelihood<std::vector<double, std::allocator<double>>, 4, true, false>")
    text = command("report", made([step_(0, 0, 1000), slice_(name, 0, 900)])).stdout
    expect("\nmost work in all: Tree::likelihood<> 900.0 us\n" in text, text)


def test_few_threads():
    """Where processors have nothing to do that the program may use."""
    expect_equal(few_threads(1), ["few-threads"])
    expect_equal(few_threads(4, used=4), ["few-threads"])
    expect_equal(few_threads(8, used=8), [], "two threads of each core")
    expect_equal(few_threads(1, others=15), [], "others use them")
    expect_equal(few_threads(1, used=8), [], "the program has more threads")
    expect_equal(few_threads(1, cpus=1), [], "it may use one")
    expect_equal(few_threads(1, cpu_limit_percent=100), [], "its cgroup lets it have one")
    expect_equal(few_threads(4, used=2, cpu_limit_percent=200), ["oversubscribed"])


def test_few_threads_in_a_window():
    """What its file counts itself; the recording's sums are of other steps, too."""
    window = {"heap_calls": 0, "heap_bytes": 0, "hooks_ns": 0}
    some = {"options": {"ACTIVE": "3"}}
    ns = 40 * 10**6
    expect_equal(few_threads(1, **some), [], "nobody knows of the window")
    expect_equal(few_threads(1, **some, window=window), [], "nobody looked in time")
    for others, found in ((0, ["few-threads"]), (15, [])):
        own = window | {"processors_ns": 16 * ns, "others_ns": others * ns, "program_ns": ns}
        expect_equal(few_threads(1, others=15 - others, **some, window=own), found, others)


def test_what_comes_after_the_detail_is_not_judged():
    """Behind TRACEPROF_MAX_MB there are steps, but nothing in them."""
    events = idle_gpu() + [step_(number, number * 1000, 1000) for number in range(10, 100)]
    for event in events:                        # the GPU is busy while it is seen
        if event["cat"] == "kernel":
            event.update(ts=event["ts"] - 490, dur=980)
        elif event["cat"] == "cuda_runtime":
            event["ts"] -= 495
    whole, cut = (judged(made(events, ours))["step"]
                  for ours in ({}, {"detail_ended": 10000}))
    expect_equal((whole["count"], cut["count"]), (100, 10))
    expect(cut["split_ns"]["gpu"] >= 0.97 * cut["total_ns"], cut)


def test_thinned_regions_are_no_host_code():
    """One region of a hundred is drawn: the split says what the others took."""
    events = [step_(0, 0, 10000),
              slice_("f [omp parallel #1]", 100, 50, omp="parallel", region=1, team=1)]
    ours = {"sampled": [{"name": "f [omp parallel #1]", "omp": "parallel",
                         "sampled": "1/128", "seen": 100, "drawn": 1, "thinned": 99,
                         "total_us": 5000, "min_us": 50, "max_us": 50}]}
    step = judged(made(events, ours))["step"]
    expect(step["estimated"], step)
    expect(abs(step["split_ns"]["omp_work"] - 5000000) < 60000, step)
    expect_equal(sum(step["split_ns"].values()), step["total_ns"])


def test_a_region_without_all_its_members_is_not_judged():
    events = [step_(0, 0, 10000)]
    for region in range(1, 40):
        at = region * 200
        events += [slice_("f [omp parallel #1]", at, 10, 701, omp="task", region=region,
                          team=2),
                   slice_("f [omp parallel #1]", at, 190, omp="parallel", region=region,
                          team=2)]
    expect_equal(rules(made(events)), [])


# --- the step -----------------------------------------------------------------

def test_the_split_sums_to_the_step():
    step = judged(planted_gpu("idle-openmp"))["step"]
    expect_equal(sum(step["split_ns"].values()), step["total_ns"])
    expect(step["split_ns"]["gpu"] > 0 and step["split_ns"]["omp_work"] > 0, step)


def test_fifteen_lines_at_the_end():
    kept = harness.folder()
    done = command("record", "--dir", kept, "--step", "api",
                   harness.program("planted"), "imbalance",
                   env={"TRACEPROF_VERDICT": "1"})
    lines = done.stderr.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("Verdict: "))
    expect(2 < len(lines) - first <= 15, done.stderr)
    # What a machine with other work does may take its lines, and its figures.
    told = command("report", kept).stdout.replace("\n", " ")
    expect("[imbalance;" in told or "[no-processor" in told, done.stderr)
    expect(all(len(line) <= 80 for line in lines[first:]), done.stderr)


# --- report's choices ---------------------------------------------------------

def names_of(events, *options):
    done = command("report", "--json", *options, made(events))
    expect_equal(done.status, 0, done.stderr)
    return {row["name"]: row for category in json.loads(done.stdout)[0]["categories"]
            for row in category["names"]}


def test_self_and_gpu_times():
    rows = names_of([slice_("outer", 0, 100), slice_("inner", 10, 30),
                     slice_("cudaLaunchKernel", 15, 5, cat="cuda_runtime", correlation=1),
                     slice_("gemm", 50, 70, 7, "kernel", 0, device=0, stream=7,
                            correlation=1)])
    expect_equal([(rows[name]["self_ns"], rows[name].get("gpu_ns")) for name in
                  ("outer", "inner")], [(70000, 70000), (25000, 70000)])


def test_percentiles():
    row = names_of([slice_("f", at * 1000, at + 1) for at in range(100)])["f"]
    for key, value in (("median_ns", 50000), ("p95_ns", 95000), ("p99_ns", 99000)):
        expect(abs(row[key] - value) <= 0.008 * value, key, row)
    expect(abs(row["stddev_ns"] - 28866) < 10, row)


def test_parts_of_a_run():
    events = idle_gpu()
    expect_equal(names_of(events, "--step", "2:4")["gemm"]["calls"], 3)
    expect_equal(names_of(events, "--from", "4ms", "--to", "0.006")["gemm"]["calls"], 2)
    expect_equal(sorted(names_of(events, "--filter", "ge*")), ["gemm"])
    expect_equal(sorted(names_of(events, "--cat", "cuda_*")), ["cudaLaunchKernel"])
    expect_equal(names_of(events, "--by", "step")["step      3"]["calls"], 2)
    expect_equal(sorted(names_of(events, "--by", "stream")), ["GPU 0 stream 7"])
    expect_equal(names_of(events, "--by", "category")["kernel"]["calls"], 10)
    shapes = [slice_("mm", at * 10, 5, **{"Input Dims": [[2, at % 2], []]})
              for at in range(5)]
    expect_equal({name: row["calls"] for name, row in names_of(shapes, "--by", "shape")
                  .items()}, {"mm [[2,0],[]]": 3, "mm [[2,1],[]]": 2})
    sites = [slice_("copy", 0, 5, **{"Call stack": "a.c(3): f;b.c(9): main"})]
    expect_equal(sorted(names_of(sites, "--by", "site")), ["copy at a.c(3): f"])


def test_tables_for_spreadsheets():
    done = command("report", "--csv", made(idle_gpu()))
    rows = [line.split(",") for line in done.stdout.splitlines()]
    expect_equal(len({len(row) for row in rows}), 1, done.stdout)
    gemm = next(row for row in rows if row[2] == '"gemm"')
    expect_equal(gemm[3:5], ["10", "4000000"])


def test_eighty_columns():
    os.environ["COLUMNS"] = "80"
    try:
        name = "aten::" + "a_very_long_name_" * 10 + "end"
        text = command("report", made([slice_(name, 0, 100)])).stdout
    finally:
        del os.environ["COLUMNS"]
    row = next(line for line in text.splitlines() if "aten::" in line and "100.0 %" in line)
    expect(len(row) <= 80 and "..." in row and row.endswith("end"), row)
    os.environ["COLUMNS"] = "80"
    try:
        region = slice_("at::" + "invoke_" * 6 + "for_each [omp parallel #1]", 0, 100,
                        omp="parallel", region=1, team=1)
        text = command("report", made([region])).stdout
        whole = command("report", "--long", made([region])).stdout
    finally:
        del os.environ["COLUMNS"]
    rows = [line for line in text.splitlines() if "at::" in line and " 1 " in line]
    expect(rows and all(len(row) <= 80 and row.endswith("each [#1]") for row in rows),
           text)
    expect(region["name"] in whole, whole)


def test_folders_side_by_side():
    folder = harness.folder()
    for rank in range(2):
        path = made(idle_gpu())
        os.rename(path, os.path.join(folder, f"host_1_rank{rank}.1.pt.trace.json"))
    text = command("report", folder).stdout
    head = next(line for line in text.splitlines() if line.endswith("side by side"))
    expect_equal(head.split()[:2], ["rank0", "rank1"])
    expect("10.00 ms" not in text.split("side by side")[1].splitlines()[1], text)


def test_what_is_counted_of_the_whole_recording_is_not_scaled_up():
    """Slices that lie in little of it: 40 ms of allocations are not 50 times that."""
    events = [slice_("work", 0, 20000), slice_("Profiler (0)", 0, 10**6, cat="Trace")]
    for calls, found, more in ((10**6, [], {}), (2 * 10**6, ["churn"], {}),
                               (2 * 10**6, [], {"options": {"ACTIVE": "3"}})):
        path = made(events, {"heap": {"calls": calls, "bytes": 10**8}} | more)
        expect_equal(rules(path), found, calls)
        if more:  # what its window had itself
            window = {"heap_calls": calls, "heap_bytes": 10**8, "hooks_ns": 0}
            expect_equal(rules(made(events, {"window": window} | more)), ["churn"])
            window = {"heap_calls": 9, "heap_bytes": 99, "hooks_ns": 2 * 10**7}
            expect_equal(rules(made(events, {"window": window} | more)), ["own-cost"])
        if found:
            said = " ".join(command("report", path).stdout.split())
            expect(" 2000000 allocations in all of 50 B on average" in said, said)


if __name__ == "__main__":
    harness.main()
