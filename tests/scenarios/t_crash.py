# SPDX-License-Identifier: MIT
"""kill -9 at any moment: the file opens, and nothing committed is lost."""

import os
import random
import signal
import subprocess
import time

import harness
from harness import clean_environment, command, expect, expect_equal, folder


def start(target, *arguments, **options):
    env = clean_environment() | {
        "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target} | {
        "TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    process = subprocess.Popen([harness.program("endless"), *map(str, arguments)],
                               env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    expect_equal(process.stdout.readline(), "begun\n", "first line")
    return process


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


def run_of(target):
    return harness.Run(["endless"], 0, "", "", target)


def check_snapshot(run):
    """A copy made at once: who reads slowly sees two states of the file."""
    place = os.path.join(folder(), "out")
    os.mkdir(place)
    for tries_left in (2, 1, 0):
        with open(run.files[0], "rb", buffering=0) as file:
            content = file.read()
        copy = os.path.join(place, os.path.basename(run.files[0]))
        with open(copy, "wb") as file:
            file.write(content)
        try:
            harness.check_files(run_of(place))
            return
        except AssertionError:
            if not tries_left:
                raise


def test_file_is_complete_while_the_program_runs():
    target = os.path.join(folder(), "out")
    process = start(target)
    try:
        harness.wait_for_file(target, process)
        for _ in range(5):
            time.sleep(0.3)
            check_snapshot(run_of(target))
    finally:
        kill(process)
        command("recover", target)


def test_first_file_comes_while_the_program_runs():
    target = os.path.join(folder(), "out")
    process = start(target)
    try:
        harness.wait_for_file(target, process)
        expect(process.poll() is None, "no file in a minute")
        expect_equal(len(run_of(target).files), 1, "files")
    finally:
        kill(process)
        command("recover", target)


def test_killed_at_random_moments():
    random.seed(11)
    for _ in range(8):
        target = os.path.join(folder(), "out")
        process = start(target)
        harness.wait_for_file(target, process)
        time.sleep(random.uniform(0, 1.0))
        kill(process)
        run = run_of(target)
        harness.check_files(run)
        before = len(run.trace.regions())
        done = command("recover", target)
        expect_equal(done.status, 0, done.stderr)
        harness.check_files(run)
        expect(len(run.trace.regions()) >= before, "recovery lost regions")
        expect("recover" in str(run.trace.meta).lower(), "the file does not say so",
               run.trace.meta)


def test_killed_before_the_first_checkpoint():
    target = os.path.join(folder(), "out")
    process = start(target)
    kill(process)
    command("recover", target)
    run = run_of(target)
    harness.check_files(run)
    expect(run.trace.regions("endless_region"), "the first region is lost")


def test_next_run_recovers():
    target = os.path.join(folder(), "out")
    process = start(target)
    harness.wait_for_file(target, process)
    kill(process)
    before = len(run_of(target).trace.regions())
    env = {"TRACEPROF_DIR": target}
    harness.traced("endless", 1500, env=env, check=False)
    run = run_of(target)
    harness.check_files(run)
    expect_equal(len(run.files), 2, "files")
    killed = [trace for trace in run.traces if trace.pid == process.pid]
    expect(len(killed[0].regions()) >= before, "lost regions")
    expect("recover" in str(killed[0].meta).lower(), "not recovered", killed[0].meta)
    harness.expect_no_session(run)


def test_a_running_process_is_never_touched():
    target = os.path.join(folder(), "out")
    process = start(target)
    try:
        harness.wait_for_file(target, process)
        command("recover", target)
        expect(process.poll() is None, "the process died")
        time.sleep(1.2)
        # It is still being written: a look may fall between two writes.
        for _ in range(20):
            run = run_of(target)
            try:
                harness.check_files(run)
                break
            except AssertionError:
                time.sleep(0.05)
        else:
            harness.check_files(run)
        expect("recover" not in " ".join(map(str, run.trace.meta.get("notes", []))),
               "recovered while it ran")
    finally:
        kill(process)
        command("recover", target)


if __name__ == "__main__":
    harness.main()
