# SPDX-License-Identifier: MIT
"""The demo: a training run, unchanged by being recorded."""

import re

import harness
from harness import command, expect, expect_equal, same

REGIONS = ("embed", "forward_hidden", "forward_output", "softmax_loss",
           "backward_output", "backward_hidden", "backward_embedding",
           "adam_update")


def train(*arguments, **more):
    return same("train", *arguments, **more)


def test_losses_are_the_same_and_fall():
    run = train("-e", 3, "-s", 60)
    losses = [float(loss) for loss in re.findall(r"mean loss ([\d.]+)", run.stdout)]
    expect_equal(len(losses), 3, run.stdout)
    expect(losses == sorted(losses, reverse=True), "the loss does not fall", losses)


def test_every_region_on_every_thread():
    run = train("-e", 1, "-s", 20, env={"OMP_NUM_THREADS": "3"})
    trace = run.trace
    for function in REGIONS:
        found = trace.regions(function)
        expect_equal(len(found), 20, f"regions of {function}")
        team = {event["tid"] for one in found for event in trace.team(one)}
        expect_equal(len(team), 3, f"threads of {function}")


def test_heap_of_the_steps():
    run = train("-e", 1, "-s", 20)
    born = [event for event in run.trace.memory() if event["args"]["Bytes"] > 0]
    # Input, hidden and their gradients of each batch; the first batch is made
    # before the first region, when nothing was recorded yet.
    expect_equal(len(born), 19 * 4, "large blocks")
    expect(run.trace.counters(), "no counter of the heap")


def test_a_step_without_changing_the_program():
    run = train("-e", 1, "-s", 20,
                env={"TRACEPROF_STEP": "omp:embed", "TRACEPROF_WAIT": "5",
                     "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1"})
    expect_equal(run.trace.steps(), [5, 6], "steps")
    expect_equal(len(run.trace.regions("adam_update")), 2, "updates")


def test_report_names_the_regions():
    run = train("-e", 1, "-s", 20)
    done = command("report", run.files[0])
    expect_equal(done.status, 0, done.stderr)
    for function in REGIONS:
        expect(f"{function} [omp parallel" in done.stdout, f"no {function}", done.stdout)


if __name__ == "__main__":
    harness.main()
