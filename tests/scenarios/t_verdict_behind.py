# SPDX-License-Identifier: MIT
"""A window of a program that never waits: what it launches runs long after.  Of what the
GPU does meanwhile the file has what was launched between windows, without its calls, and
nothing of what belongs to an earlier window."""

import harness
from harness import command, expect, expect_equal
from t_verdict import judged, made, slice_, step_

LATE_US = 2_000_000


def window(late_us=LATE_US, call_us=5):
    """Two steps of 1 ms, the work of which begins so long after its call."""
    events = [slice_("aten::mm", 0, 1990), step_(0, 0, 1000), step_(1, 1000, 1000)]
    for number in range(2):
        at = number * 1000 + 500
        events += [slice_("cudaLaunchKernel", at, call_us, cat="cuda_runtime",
                          correlation=number),
                   slice_("gemm", at + call_us + late_us, 900, 7, "kernel", 0, device=0,
                          stream=7, correlation=number)]
    return events


def told(events, outside=100):
    path = made(events, {"events": {"seen": 200, "outside": outside, "cut": outside}})
    step = judged(path)["step"]
    return (step["split_ns"]["gpu"] / step["total_ns"],
            " ".join(command("report", path).stdout.split()))


def test_a_gpu_that_is_behind_is_busy():
    busy, text = told(window())
    expect_equal(round(busy, 2), 1.0)
    expect("for 100 % of these steps the GPU was busy with what was launched before this "
           "file begins" in text, text)


def test_a_call_that_waits_for_room_is_no_code_of_the_hosts():
    """Its end is late, too; the queue is full all the time."""
    expect_equal(round(told(window(call_us=490))[0], 2), 1.0)


def test_a_gpu_that_begins_at_once_is_not_behind():
    """However long the first call loads its kernel's code."""
    for late, call in ((8, 5), (8, 400)):
        busy, text = told(window(late, call))
        expect(busy < 0.95, (late, call, busy))
        expect("launched before this file" not in text, text)


def test_a_whole_run_has_all_of_its_work():
    """What waits there waits for something else: an event, a function of the host's."""
    busy, text = told(window(), outside=0)
    expect_equal(busy, 0)
    expect("launched before this file" not in text, text)


def work_of_before(*starts_us, dur_us, name="fill"):
    """Kernels whose calls lie before the file begins."""
    return [slice_(name, start, dur_us, 7, "kernel", 0, device=0, stream=7,
                   correlation=1 + at) for at, start in enumerate(starts_us)]


def window_behind(before):
    """Two steps of 1 ms, whose calls are 1000 and 1001."""
    events = window()
    for event in events:
        if "correlation" in event["args"]:
            event["args"]["correlation"] += 1000
    return events + before


def test_what_was_launched_before_the_window_and_runs_in_it():
    """Its stream needs nothing of the host till all of it is done, and what the window
    launched begins: whether it is one kernel, or all, or some with others between."""
    for before in (work_of_before(1, dur_us=300), work_of_before(600, dur_us=900),
                   work_of_before(*range(3, 1990, 5), dur_us=4),
                   work_of_before(200, 1700, dur_us=100)):
        path = made(window_behind(before),
                    {"events": {"seen": 200, "outside": 100, "cut": 100}})
        step = judged(path)["step"]
        expect_equal((step["split_ns"]["gpu"], step["behind_ns"],
                      step["earlier_kernels"]), (2_000_000, 2_000_000, len(before)), step)
        text = " ".join(command("report", path).stdout.split())
        expect("for 100 % of these steps the GPU was busy with what was launched before "
               "this file begins" in text, text)
        expect(f"Launched before this file begins: {len(before)} of {len(before) + 2} "
               "kernels" in text, text)


def test_a_gpu_that_has_done_what_was_launched_before():
    """What it lacks then the host owes it."""
    events = window_behind(work_of_before(100, dur_us=200))
    for event in events:
        event["ts"] -= LATE_US if event["name"] == "gemm" else 0
    path = made(events, {"events": {"seen": 200, "outside": 100, "cut": 100}})
    step = judged(path)["step"]
    # Till 300 us, from 505 to 1405 and from 1505 on.
    expect_equal((step["split_ns"]["gpu"], step["behind_ns"]), (1_695_000, 300_000), step)


def test_kernels_of_other_steps_are_none_of_these():
    """Kernels a step: 30 that these launched, not the 60 that others had.  In a whole
    run without its calls they are those of its steps."""
    events = [step_(number, number * 1000, 1000) for number in range(4)]
    events += work_of_before(*range(0, 240, 4), dur_us=2)
    for key in range(120):
        at = 400 + key // 30 * 900 + key % 30 * 20
        events += [slice_("cudaLaunchKernel", at, 2, cat="cuda_runtime",
                          correlation=key + 200),
                   slice_("add", at + 4, 3, 7, "kernel", 0, device=0, stream=7,
                          correlation=key + 200)]
    path = made(events, {"events": {"seen": 200, "outside": 100, "cut": 100}})
    said = " ".join(command("report", path).stdout.split())
    expect("30 kernels a step of" in said, said)
    path = made([event for event in events if event["cat"] != "cuda_runtime"])
    said = " ".join(command("report", path).stdout.split())
    expect("Launched before" not in said and "behind the host" not in said, said)


def test_a_gpu_that_works_longer_than_the_window():
    """Is no hundredfold of its time."""
    events = window()
    for event in events:
        event["dur"] *= 50 if event["name"] == "gemm" else 1
    events[-1]["ts"] += 60_000
    events.append(slice_("PyTorch Profiler (0)", 0, 2000, cat="Trace", pid="Spans"))
    text = told(events)[1]
    expect("GPU 0: busy 90.00 ms with what was launched in 2.000 ms" in text, text)


def test_the_phases_of_a_gpus_work():
    """By where it is launched, whenever it runs, and whichever thread launches it."""
    events = []
    for number in range(10):
        at = number * 1000
        events.append(step_(number, at, 1000))
        for tid, phase, start, kernel_us in ((700, "forward", 0, 200),
                                             (701, "backward", 400, 600)):
            key = 2 * number + (tid == 701)
            events += [
                slice_(f"phase: {phase}", at + start, 300, 700, "user_annotation"),
                slice_("cudaLaunchKernel", at + start + 10, 5, tid, "cuda_runtime",
                       correlation=key),
                slice_("gemm", at + 150 + start, kernel_us, 7, "kernel", 0, device=0,
                       stream=7, correlation=key)]
    path = made(events)
    expect_equal(judged(path)["step"]["gpu_phases_ns"],
                 {"data": 0, "forward": 2_000_000, "backward": 6_000_000, "optimizer": 0,
                  "other": 0})
    text = " ".join(command("report", path).stdout.split())
    expect("phases of the GPU's work: 75.0 % backward, 25.0 % forward" in text, text)


if __name__ == "__main__":
    harness.main()
