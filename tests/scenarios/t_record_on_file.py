# SPDX-License-Identifier: MIT
"""record --on-file: a command for each trace that is complete."""

import os
import stat

import harness
from harness import COMMAND, command, expect, expect_equal, program


def script(folder, text):
    path = os.path.join(folder, "on-file")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755 | stat.S_IXUSR)
    return path


def record(on_file, target, *arguments):
    return command("record", "--on-file", on_file, "--dir", target, *arguments)


def test_each_file_once_in_order():
    place = harness.folder()
    target = os.path.join(place, "with blank")
    seen = os.path.join(place, "seen")
    on_file = script(place, f'{COMMAND} check "$2" && echo "$1 $2 [$LD_PRELOAD]"'
                            f' >> {seen}\n')
    run = record(on_file + " first", target, "--wait", 3, "--active", 2,
                 "--repeat", 2, "--", program("step_loop"), 20)
    expect_equal(run.status, 0, run.stderr)
    with open(seen, encoding="utf-8") as file:
        lines = sorted(file.read().splitlines())
    expect_equal(lines, [f"first {target}/{name} []"
                         for name in sorted(os.listdir(target))], "command's calls")
    expect_equal(len(lines), 2, "files")


def test_while_the_program_goes_on():
    """It ends when the command has run."""
    place = harness.folder()
    stamp = os.path.join(place, "stamp")
    run = record("touch " + stamp + " #", place + "/out", "--wait", 1, "--active",
                 1, "--repeat", 1, "--", "sh", "-c",
                 f"{program('step_loop')} 8; until test -e {stamp}; do sleep 0.1; done")
    expect_equal((run.status, len(os.listdir(place + "/out"))), (0, 1), run.stderr)


def test_a_file_that_is_still_written_is_not_complete():
    """The program is idle for longer than the looks lie apart."""
    place = harness.folder()
    on_file = script(place, """zcat "$1" | grep -c '"final":true'\n""")
    run = record(on_file, place + "/out", "--", program("step_loop"), 2, 2500)
    expect_equal((run.status, run.stdout.splitlines()[-1]), (0, "1"), run.stderr)


def test_old_files_are_none_of_its_business():
    place = harness.folder()
    target = os.path.join(place, "out")
    os.mkdir(target)
    with open(target + "/old_1.2.pt.trace.json", "w", encoding="utf-8") as file:
        file.write('{"traceprof":{"final":true}}')
    run = record("false", target, "--", program("step_loop"), 3)
    expect_equal(run.status, 0, "status is the program's")
    expect_equal(run.stderr.count("--on-file ended with status 1"), 1, run.stderr)
    expect("old_1" not in run.stderr, run.stderr)


def test_a_killed_programs_file_is_complete_too():
    place = harness.folder()
    run = record("echo got", os.path.join(place, "out"), "--",
                 program("exits"), "kill", 1300)
    expect_equal(run.status, 137, run.stderr)
    expect("got " in run.stdout, "no command", run.stdout, run.stderr)


if __name__ == "__main__":
    harness.main()
