# SPDX-License-Identifier: MIT
"""Threads that wait for Python's lock, and who has it."""

import harness
from harness import expect, expect_equal
from t_verdict import SAMPLES, judged, made, rules, slice_, step_, threads_


def python_(tid, start_us, dur_us, name):
    return slice_(name, start_us, dur_us, SAMPLES + tid, "python_function")


def test_who_waits_for_the_gil_learns_who_has_it():
    """At most what a second processor could take over."""
    events = threads_(700, 701)
    for number in range(10):
        at = number * 1000
        events += [step_(number, at, 1000), slice_("wait: GIL", at, 450),
                   python_(701, at, 450, "/home/me/train.py(12): parse"),
                   python_(700, at + 450, 550, "/home/me/train.py(30): step")]
    ours = {"cpus": 4, "options": {"SAMPLE": "499"}}
    finding, = judged(made(events, ours))["findings"]
    expect_equal(finding["rule"], "gil")
    expect_equal(round(finding["share"], 2), 0.45, finding)
    expect("train.py(12): parse" in finding["figure"], finding)
    expect("gil" not in rules(made(events, ours | {"cpus": 1})), "nobody could run beside")


def test_without_steps_threads_that_wait_for_the_gil_stand_for_the_run():
    """The first one only waits for them to end."""
    events = threads_(700, 701, 702, 703, 704) + [slice_("wait: sem_wait", 0, 10000)]
    for turn in range(40):
        tid, at = 701 + turn % 4, turn * 250
        events += [slice_("wait: GIL", at, 250, other) for other in (701, 702, 703, 704)
                   if other != tid]
        events.append(python_(tid, at, 250, "/home/me/words.py(3): tokens"))
    ours = {"cpus": 8, "options": {"SAMPLE": "9999"}}
    finding, = judged(made(events, ours))["findings"]
    expect_equal((finding["rule"], round(finding["share"], 2)), ("gil", 0.75), finding)
    expect("words.py(3): tokens" in finding["figure"], finding)
    finding, = judged(made(events, ours | {"cpus": 2}))["findings"]
    expect_equal(round(finding["share"], 2), 0.5, "two processors")


def worker(waits=(), busy=1000):
    """A loader's worker, whose main thread works in Python; two threads that serve its
    queues wait for the lock, and hold nothing up."""
    events = [{"ph": "M", "name": "thread_name", "pid": 700, "tid": tid,
               "args": {"name": f"thread {tid} (pt_data_worker)"}} for tid in (700, 701, 702)]
    for turn in range(20):
        at = turn * 1000
        events += [python_(700, at, busy, "/home/me/train.py(7): D.__getitem__"),
                   slice_("wait: accept4", at, 700, 701), slice_("wait: GIL", at + 700, 300, 701),
                   slice_("wait: sem_wait", at, 700, 702), slice_("wait: GIL", at + 700, 300, 702)]
        events += [slice_(name, at + start, dur) for name, start, dur in waits]
    return made(events, {"cpus": 4, "options": {"SAMPLE": "9999"}})


def test_threads_that_hold_nothing_up_are_not_said():
    """But where the first one waits meanwhile, or for the lock itself; a worker isn't
    told to become one."""
    expect_equal(rules(worker()), [])
    expect("gil" not in rules(worker([("wait: poll", 0, 700)], 999)), "not while they wait")
    said = {one["rule"]: one for one in judged(worker([("wait: pthread_join", 700, 250)],
                                                      700))["findings"]}
    expect_equal(round(said["gil"]["share"], 2), 0.25, said)
    finding, = judged(worker([("wait: GIL", 700, 200)]))["findings"]
    expect_equal((finding["rule"], round(finding["share"], 2)), ("gil", 0.2), finding)
    expect("another process" not in finding["next"] and "more workers without" in
           finding["next"], finding)


if __name__ == "__main__":
    harness.main()
