# SPDX-License-Identifier: MIT
"""Each rule just above its threshold and just below it, in ten made steps of 1 ms.

Just below it is silent; what other rules say there is not looked at.
"""

import json

import harness
from harness import command, expect, expect_equal, traced
from t_verdict import judged, made, rules, slice_, step_

STEP = 1000


def steps(inside=lambda at, number: [], lengths=(STEP,) * 10):
    """Steps one after the other, each with what inside() puts there."""
    events, at = [], 0
    for number, length in enumerate(lengths):
        events += [step_(number, at, length)] + inside(at, number)
        at += length
    return events


def host(name, count=1, cat="cpu_op"):
    """So many slices of a name a step, side by side."""
    return lambda dur: made(steps(lambda at, number: [
        slice_(name, at + 4 * i, dur, cat=cat) for i in range(count)]))


def kernel(name, at, dur, stream=7, cat="kernel", call="cudaLaunchKernel", call_us=0.1,
           **args):
    number = round(at * 1000) + stream
    return [slice_(call, at, call_us, cat="cuda_runtime", correlation=number),
            slice_(name, at, dur, stream, cat, 0, device=0, stream=stream,
                   correlation=number, **args)]


def gpu(name, count=1, **args):
    """A GPU that is never idle, with so many kernels of a name a step."""
    return lambda dur: made(steps(lambda at, number: [
        event for i in range(count) for event in kernel(name, at + dur * i, dur, **args)]
        + kernel("gemm", at + dur * count, STEP - dur * count)))


def copies(dur):
    return made(steps(lambda at, number: kernel(
        "Memcpy HtoD (Pageable -> Device)", at, dur, cat="gpu_memcpy", call="cudaMemcpy",
        call_us=dur, bytes=10**6) + kernel("gemm", at + dur, STEP - dur)))


def small_copies(dur):
    return made(steps(lambda at, number: [
        event for i in range(10) for event in kernel(
            "Memcpy HtoD (Pinned -> Device)", at + 10 * i, 1, 8, "gpu_memcpy",
            "cudaMemcpyAsync", dur, bytes=1000)] + kernel("gemm", at, STEP)))


def syncs(gap):
    return made(steps(lambda at, number: [
        event for half in (at, at + STEP / 2) for event in kernel(
            "gemm", half, STEP / 2 - gap)
        + [slice_("cudaStreamSynchronize", half + 10, STEP / 2 - gap - 9,
                  cat="cuda_runtime")]]))


def kernels(count):
    return made(steps(lambda at, number: [
        event for i in range(count) for event in kernel("gemm", at + 40 * i, 9)],
        (40 * count,) * 10))


def idle(gap, **args):
    """The GPU has nothing to do at the end of the step; of the last one nobody knows
    how long."""
    return made(steps(lambda at, number: kernel("gemm", at, STEP - gap) + (
        [slice_("f [omp parallel #1]", at + STEP - gap, gap, region=number + 1, team=1,
                **args)] if args else [])))


def gpu_start(dur):
    """No steps: a run of 1 ms, whose first call makes the GPU ready."""
    return made([slice_("cudaMalloc", 0, dur, cat="cuda_runtime")]
                + kernel("gemm", dur, STEP - dur))


def compiling(dur):
    """No steps: four parts of it, of two functions, one within another."""
    name = "jax.jit: %s, train.py(3)"
    return made([slice_("main", 0, STEP, cat="user_annotation")] + [
        slice_(name % part, at, took, 10000700, "user_annotation") for part, at, took in (
            ("trace f", 10, 50), ("trace g", 20, 30), ("compile g", 100, 50),
            ("compile f", 200, dur - 100))])


def streams(dur):
    return made(steps(lambda at, number: kernel("gemm", at, STEP - dur)
                      + kernel("gemm", at + STEP - dur, dur, 8)))


def throttled(dur):
    return made(steps(lambda at, number: kernel("gemm", at, STEP) + [
        slice_("throttled: heat", at, dur, 9, "gpu_throttle", 0)]))


def team(at, region, *works, waits="region end wait", dur=None, size=None):
    """One region: what each member works, and then waits."""
    dur = dur or max(works)
    events = [slice_("f [omp parallel #1]", at, dur, omp="parallel", region=region,
                     team=size or len(works))]
    for tid, work in enumerate(works):
        events += [slice_("f [omp parallel #1]", at, work, 700 + tid, omp="task",
                          region=region, team=size or len(works), thread=tid),
                   slice_(waits, at + work, dur - work, 700 + tid, cat="openmp", omp="wait",
                          region=region)]
    return events


def imbalance(less):
    return made(steps(lambda at, number: team(at, number + 1, 900, 900 - less)))


def barrier(wait):
    """Each member is late at one of two barriers."""
    def inside(at, number):
        events = [slice_("f [omp parallel #1]", at, STEP, omp="parallel",
                         region=number + 1, team=2)]
        for tid in (700, 701):
            events += [slice_("f [omp parallel #1]", at, STEP, tid, omp="task",
                              region=number + 1, team=2, thread=tid - 700),
                       slice_("barrier wait", at + (400 if tid == 700 else 900), wait, tid,
                              cat="openmp", omp="wait", region=number + 1)]
        return events
    return made(steps(inside))


def page_faults(count):
    """Of a run of 200 ms."""
    return ours(tasks=[{"tid": 0, "name": "", "ran_us": 200000, "wall_us": 200000,
                        "minor_faults": count}])


def critical(wait, name="critical wait"):
    return made(steps(lambda at, number: team(at, number + 1, STEP, STEP) + [
        slice_(name, at + 100 * tid, wait, 700 + tid, cat="openmp", omp="wait",
               region=number + 1) for tid in range(2)]))


def short_regions(work):
    return made(steps(lambda at, number: [
        event for i in range(10)
        for event in team(at + 50 * i, number * 10 + i + 1, work, work, dur=40)]))


def some_waits(wait):
    """Regions of 100 us: too long to be short, and even, so that no rule names them."""
    return made(steps(lambda at, number: [
        event for i in range(10)
        for event in team(at + 100 * i, number * 10 + i + 1, 100 - wait, 100 - wait, dur=100)]))


def oversubscribed(dur):
    return made(steps(lambda at, number: team(at, number + 1, dur, dur, dur)), {"cpus": 2})


def idle_threads(work):
    return made(steps(lambda at, number: team(at, number + 1, 1000, work)))


def few_threads(work):
    """A team of one; the other processor has nothing to do."""
    scheduled = {"processors_ns": 2 * 10**7, "others_ns": 0, "program_ns": 10**7}
    return made(steps(lambda at, number: team(at, number + 1, work)),
                {"cpus": 2, "scheduled": scheduled})


def ours(**meta):
    return made(steps(lambda at, number: [slice_("work", at, 10)]), meta)


def memory(at, address, size, total):
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 700,
            "tid": 700, "ts": at, "args": {"Total Allocated": total, "Bytes": size,
                                           "Device Id": -1, "Device Type": 0,
                                           "Addr": address}}


def large_blocks(length):
    size = 32 << 20
    return made(steps(lambda at, number: [] if number % 2 else [
        memory(at + 1, 4096, size, size), memory(at + 2, 4096, -size, 0)],
        (length * 1000,) * 10))


def growth(size, **options):
    return made(steps(lambda at, number: [
        memory(at + 1, 4096 + number, size, (1 << 20) + size * (number + 1))]),
        {"options": options})


def lengths(*slow):
    """Steps of which some are longer."""
    return lambda length: made(steps(
        lengths=[length if at in slow else STEP for at in range(12)]))


def dies(length_us, count=10, died_in=10):
    """Steps of 20 ms, and one in which the program died so long after it began."""
    end = 20e3 * count + length_us
    last = step_(count, 20e3 * count, length_us)
    last["args"] = {"finished": "false"}
    events = [step_(at, 20e3 * at, 20e3) for at in range(count)] + [last] + [
        slice_("main", 0, end), slice_("send", 20e3 * count + 10, length_us - 10),
        slice_("over", 20e3 * count + 20, 100), slice_("other", 0, end, tid=701)]
    return made(events, {"recovered": True, "step": {"died_in": died_in}})


# Rule: what makes a run, just below the threshold, just above it.
LIMITS = {
    "losses": (lambda lost: ours(events={"seen": 10000, "dropped": lost}), 9, 11),
    "died-in-step": (dies, 199e3, 201e3),
    "data-starved": (host("DataLoader next"), 49, 51),
    "blocking-copies": (copies, 49, 51),
    "needless-sync": (syncs, 26, 27),
    "copied-layout": (host("aten::contiguous"), 99, 101),
    "short-operators": (host("aten::add", 100), 0.99, 1.01),
    "python": (host("train.py(3): f", cat="python_function"), 199, 201),
    "compiled-again": (host("jax.jit: compile f, train.py(3)", cat="user_annotation"), 55, 56),
    "compiling": (compiling, 199, 201),
    "small-copies": (small_copies, 5.5, 5.6),
    "small-kernels": (kernels, 19, 20),
    "idle-alloc": (host("cudaMalloc", cat="cuda_runtime"), 49, 51),
    "gpu-start": (gpu_start, 99, 101),
    "idle-openmp": (lambda gap: idle(gap, omp="parallel"), 111, 112),
    "idle-host": (idle, 111, 112),
    "exposed-comm": (host("MPI_Allreduce"), 49, 51),
    "serial-streams": (streams, 99, 101),
    "layout": (gpu("nchwToNhwc"), 49, 51),
    "memory-bound": (gpu("elementwise", 2), 99, 101),
    "low-occupancy": (gpu("few_blocks", **{"blocks per SM": 0.5}), 198, 202),
    "compute-bound": (gpu("sgemm"), 199, 201),
    "throttled": (throttled, 49, 51),
    "oversubscribed": (oversubscribed, 148, 152),
    "idle-threads": (idle_threads, 21, 19),
    "few-threads": (few_threads, 198, 202),
    "imbalance": (imbalance, 178, 182),
    "critical": (critical, 49, 51),
    "barrier": (barrier, 99, 101),
    "short-regions": (short_regions, 28.5, 27.5),
    "gil": (host("wait: GIL"), 99, 101),
    "off-cpu": (host("wait: pthread_cond_wait"), 99, 101),
    "churn": (lambda calls: ours(heap={"calls": calls, "bytes": 99}), 19800, 20200),
    "large-blocks": (large_blocks, 85, 82),
    "page-faults": (page_faults, 19400, 19700),
    "growth": (growth, 100000, 110000),
    "first-step": (lengths(0), 1990, 2010),
    "nth-step": (lengths(2, 5, 8, 11), 1290, 1310),
    "outliers": (lengths(5), 1990, 2010),
    "no-processor": (lambda waited: ours(scheduled={
        "ran_ns": (1000 - waited) * 10**9, "waited_ns": waited * 10**9}), 49, 51),
    "crowded": (lambda waited: ours(cpus=2, scheduled={
        "ran_ns": (1000 - waited) * 10**6, "waited_ns": waited * 10**6,
        "lived_ns": 10**9, "processors_ns": 2 * 10**9, "others_ns": 0,
        "program_ns": 19 * 10**8}), 99, 101),
    "own-cost": (lambda spent: ours(cost={"hooks_ns": spent}), 99000, 101000),
    "waits": (some_waits, 9.8, 10.2),
}


def test_each_rule_has_its_limit():
    with open(f"{harness.ROOT}/tools/verdict/verdict.c", encoding="utf-8") as file:
        table = [line.split('"')[1] for line in file if line.startswith('\t{"')]
    expect(table == list(LIMITS), table)


def test_the_advice_is_for_what_is_waited_for():
    for name, advice in (("critical wait", "use reduction or atomic"),
                         ("atomic wait", "use reduction, or collect"),
                         ("ordered wait", "in order short"), ("lock wait", "hold the lock")):
        found = judged(critical(100, name))["findings"][0]
        expect(found["rule"] == "critical" and advice in found["next"], name, str(found))


def test_the_main_thread_is_known_without_its_label():
    """A large file's last part has none."""
    for tid, words in ((700, ", main thread 700"), (701, ", thread 701")):
        events = [event | {"tid": tid}
                  for event in steps(lengths=(1000,) * 5 + (9000,) + (1000,) * 14)]
        said = command("report", "--verdict", made(events)).stdout
        expect(words in " ".join(said.split()), said)


def test_a_bound_that_is_set_is_no_advice():
    for bound, is_advised in ((5, True), (0, True), (1, False)):
        found = judged(ours(cost={"hooks_ns": 101000},
                            options={"MAX_OVERHEAD": str(bound)}))["findings"][0]
        expect((found["rule"], "MAX_OVERHEAD=1" in found["next"])
               == ("own-cost", is_advised), bound, str(found))


def test_who_recorded_blocks_is_not_sent_to_record_them():
    for options, wanted in (({}, "of a run with TRACEPROF_MALLOC=sites."),
                            ({"MALLOC": "all", "STACK": "omp"},
                             "of a run with TRACEPROF_MALLOC=sites."),
                            ({"MALLOC": "large", "STACK": "heap"},
                             "of a run with TRACEPROF_MALLOC=sites."),
                            ({"MALLOC": "all", "STACK": "cuda,heap:8"}, "of this file."),
                            ({"MALLOC": "sites", "STACK": "off"}, "of this file."),
                            ({"MALLOC": "sampled", "STACK": "off"}, "of this file.")):
        found, = judged(growth(1 << 20, **options))["findings"]
        expect_equal(found["next"], "find who keeps it: traceprof memory, " + wanted)


def test_silent_below_and_first_above():
    wrong = []
    for rule, (make, below, above) in LIMITS.items():
        silent, found = (rules(make(value), causes=False) for value in (below, above))
        if rule in silent or found[:1] != [rule]:
            wrong.append((rule, silent, found))
    expect(not wrong, *map(str, wrong))


def test_calls_of_seconds_count_as_that_long():
    """32 bits of nanoseconds end at 4.29 s."""
    long = 6e6
    found, = [finding for finding in judged(made(steps(lambda at, number: kernel(
        "Memcpy HtoD (Pageable -> Device)", at, long, cat="gpu_memcpy", call="cudaMemcpy",
        call_us=long, bytes=10**6) + kernel("gemm", at + long, long), (2 * long,) * 10)))
        ["findings"] if finding["rule"] == "blocking-copies"]
    expect("6.000 s each" in found["figure"], found)
    expect(found["saved_ns"] == 6 * 10**10, found)


def test_a_call_that_copies_is_no_idle_time_too():
    """The GPU copies in a fourth of the call, and has nothing to do for 0.1 ms after
    it: no more than these two can be saved, since the kernels take the rest."""
    found, = [finding for finding in judged(made(steps(lambda at, number: [
        slice_("cudaMemcpy", at, 400, cat="cuda_runtime", correlation=number + 1),
        slice_("Memcpy HtoD (Pageable -> Device)", at + 100, 100, 7, "gpu_memcpy", 0,
               device=0, stream=7, correlation=number + 1, bytes=10**6)]
        + kernel("gemm", at + 500, 500))))["findings"]
        if finding["rule"] == "blocking-copies"]
    expect(found["saved_ns"] == 5 * 10**6, found)
    expect(found["figure"].startswith("the host waits in 1.0 copies a step"), found)


def test_copies_of_a_run_without_steps_are_whole_ones():
    found, = [finding for finding in judged(made(
        [slice_("main", 0, 2000, cat="user_annotation")] + [
            event for at in (10, 500) for event in kernel(
                "Memcpy HtoD (Pageable -> Device)", at, 400, cat="gpu_memcpy",
                call="cudaMemcpy", call_us=400, bytes=10**6)] + kernel("gemm", 1000, 900)))
        ["findings"] if finding["rule"] == "blocking-copies"]
    expect(found["figure"].startswith("the host waits in 2 copies in all"), found)


def test_what_is_got_before_the_first_kernel_is_got_once():
    """The start of CUDA and a program's buffers are no allocation that it could keep."""
    found = rules(gpu_start(500))
    expect("idle-alloc" not in found, found)
    late = made([slice_("cudaMalloc", 0, 10, cat="cuda_runtime")] + kernel("gemm", 10, 10)
                + [slice_("cudaMalloc", 50, 500, cat="cuda_runtime")] + kernel("gemm", 600, 400))
    expect("idle-alloc" in rules(late), rules(late))


def test_what_a_short_run_compiles_is_said_by_what_takes_most():
    found = judged(compiling(500))["findings"][0]
    expect_equal(found["figure"], "500.0 us are spent compiling 2 functions, most of "
                 "all f, train.py(3): 450.0 us", found)
    expect("traceprof_step()" in found["next"] and "JAX_COMPILATION" in found["next"], found)
    found = judged(made([slice_("main", 0, STEP), slice_(
        "torch.compile: train.py(6): f [0/0]", 10, 500, cat="user_annotation")]))
    expect_equal(found["findings"][0]["figure"], "500.0 us are spent compiling "
                 "train.py(6): f", str(found["findings"]))
    whole = steps(lambda at, number: [slice_("torch.compile: train.py(6): f [0/0]", at, 500,
                                             cat="user_annotation")] if not number else [])
    expect("compiling" not in rules(made(whole)), "its steps tell")


def test_one_step_alone_comes_at_no_period():
    """The compiling of a first evaluation, in a step whose others of some period happen
    to be a little slow; where the evaluation is slow each time, that is said."""
    lengths = [STEP] * 120
    lengths[9], lengths[49], lengths[89] = 900 * STEP, 1.4 * STEP, 1.4 * STEP
    found = rules(made(steps(lengths=lengths)), causes=False)
    expect("nth-step" not in found and "outliers" in found, found)
    for number in range(9, 120, 10):
        lengths[number] = (900 if number == 9 else 20) * STEP
    found = {one["rule"]: one for one in judged(made(steps(lengths=lengths)))["findings"]}
    expect("every 10th step" in found["nth-step"]["figure"], str(found))


def test_what_a_slow_step_has_and_the_others_have_not_is_named():
    def inside(at, number):
        own = [slice_("forward", at, 400, cat="user_annotation")]
        return own + ([slice_("save()", at + 500, 8000, cat="user_annotation")]
                      if number == 13 else [])
    lengths = [STEP] * 30
    lengths[13] = 10 * STEP
    found = {one["rule"]: one for one in judged(made(steps(inside, lengths)))["findings"]}
    expect("most of it in save()" in found["outliers"]["figure"], str(found))
    found = {one["rule"]: one for one in judged(made(steps(
        lambda at, number: [slice_("forward", at, lengths[number] - 100,
                                   cat="user_annotation")], lengths)))["findings"]}
    expect("most of it" not in found["outliers"]["figure"], str(found))


def test_many_short_gaps_are_slow_launches():
    """Of twenty gaps a step of 75 us each, no piece of work is to blame; of one as long as
    all of them it is."""
    def found(inside):
        return {one["rule"]: one for one in judged(made(steps(
            inside, (2000,) * 10)))["findings"]}["idle-host"]
    short = found(lambda at, number: [event for i in range(20) for event in kernel(
        "gemm", at + 100 * i, 25)])
    expect("from one kernel to the next" in short["figure"], str(short))
    expect("larger batch" in short["next"], str(short))
    long = found(lambda at, number: [event for i in range(20) for event in kernel(
        "gemm", at + 25 * i, 25)])
    expect("other code" in long["figure"], str(long))


def test_what_follows_the_loop_is_no_slow_step():
    """It lies in the last step where nothing marks the end: one that is cut tells
    nothing of the others.  And the lane is the program's, though nothing else is on
    it."""
    run = traced("python3", "-c", "import ctypes, time; own = ctypes.CDLL(None)\n"
                 "for i in range(60): own.traceprof_step_(); time.sleep(0.002)\n"
                 "time.sleep(0.5)", env={"TRACEPROF_MALLOC": "off"})
    steps_ = run.trace.slices("ProfilerStep#*")
    last, = run.trace.slices("ProfilerStep#59")
    expect(len(steps_) == 60 and last["dur"] > 490e3, len(steps_), last)
    said = command("report", run.trace.path).stdout
    expect("Verdict: 59 steps" in said and "Steps: 60 (1 cut by the end)" in said, said)
    expect("step 59" not in said and "traceprof writer" not in said, said)
    counted = json.loads(command("report", "--json", run.trace.path).stdout)[0]["steps"]
    expect_equal((counted["count"], counted["cut"]), (60, 1), counted)
    others_us = sum(one["dur"] for one in steps_) - last["dur"]
    expect(abs(counted["total_ns"] / 1000 - others_us) < 1, counted, others_us)
    lone = verdict_of_one_step()
    expect("Verdict: 1 step" in lone and "Steps: 1, mean" in lone, lone)


def verdict_of_one_step():
    run = traced("python3", "-c", "import ctypes, time; own = ctypes.CDLL(None)\n"
                 "own.traceprof_step_(); time.sleep(0.05)", env={"TRACEPROF_MALLOC": "off"})
    return command("report", run.trace.path).stdout


def test_the_step_in_which_a_program_died_is_named():
    found = judged(dies(300e3))["findings"][0]
    expect_equal(found["rule"], "died-in-step")
    expect("died in step 10, 300.0 ms after that began (15 medians), in send" in found["figure"],
           found)
    for other in (dies(300e3, died_in=-1), dies(300e3, died_in=9), dies(300e3, 4, 4)):
        expect("died-in-step" not in rules(other), other)


if __name__ == "__main__":
    harness.main()
