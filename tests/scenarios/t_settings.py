# SPDX-License-Identifier: MIT
"""Variables: what they do, and what a wrong one does."""

import json
import os
import re
import stat

import harness
from harness import expect, expect_equal, folder, same, traced


def run(**options):
    env = {"TRACEPROF_" + key.upper(): str(value) for key, value in options.items()}
    return same("region", "plain_parallel", env=env)


def one_line(said, *words):
    """One line of ours names what was wrong; the trace is there all the same."""
    lines = [line for line in said.own_lines
             if all(word in line for word in words)]
    expect_equal(len(lines), 1, f"lines with {words} in {said.own_lines}")
    expect(said.trace.regions("plain_parallel"), "no trace")


def test_name_of_the_file():
    done = run()
    name = os.path.basename(done.files[0])
    host = os.uname().nodename
    expect(re.fullmatch(re.escape(host) + r"_\d+\.\d{19}\.pt\.trace\.json\.gz", name), name)


def test_rank():
    for variable in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        done = same("region", "plain_parallel", env={variable: "3"})
        expect("_rank3." in os.path.basename(done.files[0]), done.files)
        expect_equal(done.trace.top["distributedInfo"]["rank"], 3, variable)


def test_ranks_above_zero_are_silent():
    expect(not same("region", "plain_parallel", env={"RANK": "3"}).own_lines, "spoke")
    expect(same("region", "plain_parallel", env={"RANK": "0"}).own_lines, "rank 0 silent")


def test_threads_without_room_are_told_of():
    """In the sum, and at the end, in the file and in the report."""
    done = same("threads", 400, 10, env={"TRACEPROF_MALLOC": "all",
                                         "TRACEPROF_BUFFER_MB": "4"})
    events = done.trace.meta["events"]
    calls = events["unrecorded_calls"]
    expect(calls > 100, f"every thread found room: {events}")
    expect_equal(events["seen"],
                 events["written"] + events["cut"] + events["dropped"] + calls,
                 "the sum")
    expect(any(f"({calls} calls)" in line for line in done.own_lines), "the end",
           done.own_lines)
    said = harness.command("report", done.files[0]).stdout
    expect(f"{calls} calls left no event" in said, "the report", said[-1500:])
    said = harness.command("report", "--json", done.files[0]).stdout
    expect_equal(json.loads(said)[0]["account"]["unrecorded_calls"], calls, "--json")


def test_head_of_the_file():
    top = run().trace.top
    for key in ("schemaVersion", "deviceProperties", "displayTimeUnit",
                "baseTimeNanoseconds", "distributedInfo", "traceEvents"):
        expect(key in top, f"no {key}")
    expect_equal(list(top).index("traceEvents") > list(top).index("distributedInfo"),
                 True, "rank before the events")


def test_summary_and_quiet():
    said = run().own_lines
    expect(said and any(".pt.trace.json" in line for line in said), "no path", said)
    expect_equal(run(quiet=1).own_lines, [], "lines when quiet")


def test_plain_json():
    done = run(gzip="off")
    expect(done.files[0].endswith(".pt.trace.json"), done.files)
    with open(done.files[0], encoding="utf-8") as file:
        json.load(file)


def test_gzip_levels():
    for level in (1, 6, 9):
        run(gzip=f"zlib:{level}")


def test_file_is_large_enough_for_every_viewer():
    expect(os.path.getsize(run().files[0]) >= 4096, "below 4096 bytes")


def test_mode_of_the_file():
    mode = stat.S_IMODE(os.stat(run().files[0]).st_mode)
    expect(mode & 0o022 == 0, f"mode {mode:o}")


def test_clock():
    run(clock="monotonic")


def test_options_are_in_the_file():
    options = json.dumps(run(malloc="counters").trace.meta.get("options", {}))
    expect("counters" in options, options)


def test_limit_of_text():
    done = same("endless", 2500, env={"TRACEPROF_MAX_MB": "1",
                                      "TRACEPROF_MAX_PARTS": "1",
                                      "TRACEPROF_MALLOC": "all"})
    expect(done.trace.meta["events"]["cut"] > 0 or
           sum(len(str(event)) for event in done.trace.events) < 4 << 20, "no limit")


def test_unknown_variable():
    one_line(run(malock="all"), "TRACEPROF_MALOCK", "TRACEPROF_MALLOC")


def test_a_trigger_without_a_flight_recorder():
    """Nothing would ever be written for it, and the whole run is recorded."""
    line = "TRACEPROF_TRIGGER does nothing without TRACEPROF_FLIGHT"
    for settings, is_said in (({"TRIGGER": "slow:1.5"}, True), ({"TRIGGER": "none"}, False),
                              ({"TRIGGER": "signal", "FLIGHT": "off"}, True),
                              ({"TRIGGER": "slow:1.5", "FLIGHT": "10s"}, False)):
        done = traced("step_loop", 3, env={"TRACEPROF_" + key: value
                                             for key, value in settings.items()},
                      check=False)
        expect_equal(line in done.stderr, is_said, f"{settings}: {done.stderr}")


def test_bad_values():
    one_line(run(malloc="some"), "TRACEPROF_MALLOC", "some")
    one_line(run(buffer_mb="many"), "TRACEPROF_BUFFER_MB", "many")
    one_line(run(exit_ms="-5"), "TRACEPROF_EXIT_MS", "-5")
    one_line(run(max_mb="12x"), "TRACEPROF_MAX_MB", "12x")
    one_line(run(quiet="perhaps"), "TRACEPROF_QUIET", "perhaps")
    one_line(run(gzip="6"), "TRACEPROF_GZIP", "zlib:9")


def test_active_of_zero():
    done = same("step_loop", 3, env={"TRACEPROF_ACTIVE": "0"})
    expect_equal(len([line for line in done.own_lines
                      if "TRACEPROF_ACTIVE" in line]), 1, f"{done.own_lines}")


def test_negative_schedule():
    done = same("step_loop", 3, env={"TRACEPROF_WAIT": "-1"})
    expect_equal(len([line for line in done.own_lines
                      if "TRACEPROF_WAIT" in line]), 1, f"{done.own_lines}")


def test_bad_step_marker():
    one_line(run(step="omq:f"), "TRACEPROF_STEP")


def test_a_step_file_that_never_ends():
    pipe = os.path.join(folder(), "pipe")
    os.mkfifo(pipe)
    for bad in ("/dev/zero", pipe):
        # A long path is cut in the midst.
        one_line(run(step=f"@{bad}"), f"TRACEPROF_STEP=@{bad[:9]}", "can't be read")


def test_a_word_that_is_neither_on_nor_off():
    one_line(traced("region", "plain_parallel", env={"TRACEPROF": "no"}), "TRACEPROF=no")
    for word in ("1", "on", ""):
        done = traced("region", "plain_parallel", env={"TRACEPROF": word})
        expect("not valid" not in done.stderr, done.stderr)


def test_folder_that_cannot_be_made():
    place = os.path.join(folder(), "file")
    open(place, "w", encoding="utf-8").close()
    for bad in (os.path.join(place, "below"), "/proc/nowhere", place):
        done = traced("region", "plain_parallel", env={"TRACEPROF_DIR": bad})
        expect_equal((done.status, done.stdout), (0, "plain_parallel 3\n"), bad)
        expect_equal(len(done.own_lines), 1, f"lines: {done.own_lines}")
        expect(bad in done.own_lines[0], done.own_lines)


def test_folder_that_cannot_be_made_for_the_last_step():
    """Often only the last pass has something to write.  What there is no file
    for leaves no session either."""
    for _ in range(8):
        traced("step_loop", 20, 1, env={
            "TRACEPROF_DIR": "/proc/nowhere", "TRACEPROF_WAIT": "19",
            "TRACEPROF_ACTIVE": "1"})


def test_folder_is_made():
    place = os.path.join(folder(), "a", "b", "c")
    done = traced("region", "plain_parallel", env={"TRACEPROF_DIR": place})
    expect_equal(done.status, 0, done.stderr)
    expect_equal(len(os.listdir(place)), 1, "files")


def test_full_disk():
    """A folder of one page: the program goes on, and one line says why."""
    done = traced("endless", 1500, env={"TRACEPROF_DIR": "/dev/full"})
    expect_equal(done.status, 0, done.stderr)
    expect(1 <= len(done.own_lines) <= 5, done.own_lines)


if __name__ == "__main__":
    harness.main()
