# SPDX-License-Identifier: MIT
"""The lines at the end: what they say, and where on the screen they begin."""

import fcntl
import os
import pty
import re
import shutil
import stat
import struct
import subprocess
import sys
import termios

import harness
from harness import Skip, expect, expect_equal, folder, program, same, traced

COLUMNS = 60
# Who judges may have to wait for a processor.
VERDICT = {"TRACEPROF_VERDICT": "wait"}
SOON = {"TRACEPROF_VERDICT": "1"}


def traced_env(**settings):
    return (harness.clean_environment()
            | {"LD_PRELOAD": harness.LIBRARY,
               "TRACEPROF_DIR": os.path.join(folder(), "out")}
            | {"TRACEPROF_" + key.upper(): str(value)
               for key, value in settings.items()})


def test_what_took_most_time_is_named_however_long_its_name():
    """One that is cut tells more than the next smaller one in its place."""
    name = "a_function_of_a_library_of_templates_that_is_called_so"
    built = harness.compile_program("short_regions.c", "-fopenmp", f"-Dwork={name}", "-lm")
    run = traced(built, 200, 40, 1, env=VERDICT | {"TRACEPROF_ENCODE": "live"},
                 preload=library_beside(None))
    said = [line for line in run.own_lines if "most time: " in line]
    expect(len(said) == 1 and f" {name[:37]}... " in said[0], run.stderr)


def test_a_name_without_the_begin_of_a_character_ends_nothing():
    """The library and the writer go on with what is no UTF-8."""
    run = traced(program("odd_name"), env=VERDICT, preload=library_beside(None))
    expect_equal(run.status, 0, run.stderr)
    said = [line for line in run.own_lines if "most time: " in line]
    expect(len(said) == 1 and "most time: ... " in said[0], run.stderr)


def test_the_arguments_of_templates_are_folded():
    """As everywhere else; operators aren't brackets."""
    run = traced(program("folded"), 50, env=VERDICT,
                 preload=library_beside(None))
    said = [line for line in run.own_lines if "most time: " in line]
    expect(len(said) == 1 and " of_many<>::operator<< [omp" in said[0], run.stderr)


def test_events_are_counted_alike():
    """As they were recorded; of the entries that they became, the report says so."""
    run = same("mesh", 5)
    recorded, = re.findall(r"\((\d+) recorded events, none lost", run.stderr)
    said = harness.command("report", run.trace.path).stdout
    entries = len(run.trace.events)
    expect(f"\n{recorded} recorded events, {entries} entries in the file, " in said, said)
    expect(f": {entries} entries, good" in harness.command("check", run.trace.path).stdout,
           entries)


def test_samples_are_no_calls():
    """And what would be 0.000 s isn't said."""
    run = traced(sys.executable, "-c", "import time; time.sleep(0.2)\n"
                 "while time.process_time() < 0.4: pass", preload=library_beside(None),
                 env=VERDICT | {"TRACEPROF_SAMPLE": "499"})
    said = [line for line in run.own_lines if "most time: " in line]
    expect(len(said) == 1 and re.search(r"most time: wait: \w+ \d\.\d+ s \(1 call\)", said[0])
           and "samples" not in said[0] and " 0.000 s" not in said[0], run.stderr)


def test_the_next_command_is_the_one_that_answers():
    """Who asks for the stacks of blocks wants to know who holds them."""
    def following(**env):
        run = traced("alloc_sites", "clean", 20, env=VERDICT | env)
        return re.search(r"next: \S+ (\w+) \S+\.gz", run.stderr)[1]

    for mode, command in (("sampled", "memory"), ("sites", "memory"), ("all", "memory"),
                          ("large", "report")):
        expect_equal(following(TRACEPROF_MALLOC=mode, TRACEPROF_STACK="heap"), command, mode)
    expect_equal(following(TRACEPROF_MALLOC="all"), "report", "no stacks")
    expect_equal(following(TRACEPROF_MALLOC="sites"), "memory", "stacks by itself")


def test_memory_is_not_said_to_have_a_verdict():
    """Where the library has no command beside it, the report will tell."""
    for mode, wanted in (("sites", " (report has the verdict)"), ("large", ", for the verdict")):
        run = traced("alloc_sites", "clean", 20, preload=library_beside(None),
                     env=VERDICT | {"TRACEPROF_MALLOC": mode})
        expect(run.own_lines[-1].endswith(f"{run.trace.path}{wanted}"), run.stderr)


WORKS = "import time\nwhile time.process_time() < 1.2: pass"


def test_who_waits_for_a_trace_hears_that_there_is_none():
    """The program that the library was put before, if it has worked for a second;
    neither its children nor a shell's commands, and of many ranks the first."""
    def said(*arguments, **environment):
        run = traced(*arguments, env=environment)
        expect_equal((run.status, run.files), (0, []), run.stderr)
        return [line for line in run.own_lines if "no trace: " in line]

    lines = said(sys.executable, "-c", WORKS)
    expect(len(lines) == 1 and re.search(
        r"no trace: in \d+\.\d s of processor time no .* was seen; TRACEPROF_SAMPLE=499 "
        r"shows where the time went", lines[0]) and "too few" not in lines[0], lines)
    hides = "import os\nos.unsetenv('LD_PRELOAD')\n" + WORKS
    expect_equal(len(said(sys.executable, "-c", hides)), 1, "one that hides it")
    expect_equal(said(shutil.which("sh"), "-c", f"'{sys.executable}' -c \"{hides}\"; true"),
                 [], "a command of a shell that hides it")
    expect_equal(said(sys.executable, "-c", "pass"), [], "a short one")
    expect_equal(said(shutil.which("sh"), "-c", f"'{sys.executable}' -c '{WORKS}'; true"),
                 [], "a command of a shell")
    expect_equal(len(said(shutil.which("timeout"), "60", sys.executable, "-c", WORKS)), 1,
                 "what timeout waits for")
    expect_equal(said(shutil.which("sh"), "-c",
                      f"timeout 60 '{sys.executable}' -c '{WORKS}'; true"),
                 [], "the same of a shell's")
    expect_equal(said(sys.executable, "-c", WORKS, RANK="1"), [], "another rank")
    expect_equal(len(said(sys.executable, "-c", WORKS, RANK="0")), 1, "the first rank")
    expect_equal(said(sys.executable, "-c", WORKS, TRACEPROF_QUIET="1"), [], "quiet")


# --- the verdict --------------------------------------------------------------

def library_beside(command, place="lib"):
    """A copy of the library, beside a `traceprof` that is this script."""
    root = folder()
    os.mkdir(os.path.join(root, "lib"))
    os.mkdir(os.path.join(root, "bin"))
    if command:
        path = os.path.join(root, place, "traceprof")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + command)
        os.chmod(path, stat.S_IRWXU)
    return shutil.copy(harness.LIBRARY, os.path.join(root, "lib"))


def verdict_of(run):
    """The lines between the file's and the next command."""
    lines = run.own_lines
    first = next(at for at, line in enumerate(lines) if "traceprof: wrote" in line)
    return lines[first + 1:-1]


def test_a_program_ends_with_its_verdict():
    run = traced("planted", "imbalance", env=VERDICT | {"TRACEPROF_STEP": "api"})
    said = verdict_of(run)
    expect(said[0].startswith("traceprof: Verdict: 20 steps"), run.stderr)
    expect(2 < len(said) <= 15 and all(len(line) <= 80 for line in said), run.stderr)
    expect("most time" not in run.stderr, run.stderr)
    expect_equal(run.foreign_stderr, "")
    quiet = traced("planted", "imbalance", env=VERDICT | {"TRACEPROF_QUIET": "1"})
    expect_equal(quiet.stderr, "")
    none = traced("planted", "imbalance")
    expect_equal(verdict_of(none), [])


def test_the_fullest_window_of_found_steps_is_judged():
    """The last one, of 40 steps, of which 3 of 6 are recorded, has one."""
    run = traced("nested_loop", "epochs=1", "steps=40", "layers=2", env=VERDICT | {
        "TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "3"})
    said = verdict_of(run)
    expect_equal([len(trace.steps()) for trace in run.traces], [3] * 6 + [1])
    expect(said[0].startswith("traceprof: the newest with the most steps is "), run.stderr)
    expect(said[0].endswith(os.path.basename(run.traces[-2].path) + ":"), run.stderr)
    expect(said[1].startswith("traceprof: Verdict: 3 steps, "), run.stderr)


def test_a_window_by_hand_is_judged():
    """And not what came behind it, in which nothing is."""
    run = traced("manual", env=VERDICT)
    second, = [trace.path for trace in run.traces if trace.meta["step"].get("name") == "second"]
    said = verdict_of(run)
    expect_equal(said[0], f"traceprof: the fullest that was begun by hand is {second}:")
    done = harness.command("record", f"--dir={folder()}/out", "--", program("manual"),
                           env=VERDICT)
    expect(re.search(r"the fullest that was begun by hand is \S+:\nVerdict: ", done.stderr),
           done.stderr)


def test_however_much_is_said_before_the_end_has_its_lines():
    """Where the trace is, and what to type next."""
    wrong = {f"TRACEPROF_{name}": "wrong" for name in (
        "MAX_MB", "MALLOC", "WAIT_MIN", "ENCODE", "CLOCK", "TORCH", "CHILDREN")}
    run = traced("nested_loop", "epochs=1", "steps=40", "layers=2", env=wrong)
    said = run.own_lines
    expect(len(said) == 5 and "is not valid" in said[2], run.stderr)
    expect(re.match(r"traceprof: wrote \S+\.json\.gz \(", said[3])
           and said[4].startswith("traceprof: next: "), run.stderr)


def test_a_scripts_short_commands_say_where_their_traces_are():
    """And no more; one that takes a second is judged."""
    env = VERDICT | {"TRACEPROF_STEP": "api"}
    run = traced("sh", "-c", '"$0" 5; "$0" 5; true', program("step_loop"), env=env)
    expect_equal(len(run.traces), 2)
    for trace in run.traces:
        span, = trace.slices("PyTorch Profiler*")
        said = [line for line in run.own_lines if trace.path in line]
        if span["dur"] < 0.5e6:     # else the machine was busy
            expect_equal(len(said), 1, run.stderr)
    long = traced("sh", "-c", '"$@"; true', "sh", program("short_regions"),
                  10, 1, 2, "spin", env=env)
    expect("traceprof: Verdict: " in long.stderr, long.stderr)
    alone = traced("sh", "-c", 'exec "$0" 5', program("step_loop"), env=env)
    expect("traceprof: Verdict: " in alone.stderr, alone.stderr)


def test_what_a_wrapper_did_before_it_became_the_program():
    """As pyenv's do: shells that run commands and read what these say."""
    place = folder()
    second = os.path.join(place, "second")
    for path, text in ((os.path.join(place, "first"), f'exec {second} "$@"'),
                       (second, 'exec "$@"')):
        with open(path, "w", encoding="utf-8") as file:
            file.write('#!/bin/bash\nset -e\nfor at in 1 2 3; do\n  : "$(ls / | wc)"\n'
                       f"done\n{text}\n")
        os.chmod(path, 0o755)
    if not os.path.exists("/bin/bash"):
        raise Skip("no bash here")
    done = harness.command("record", "--sample", f"--dir={place}/out",
                           os.path.join(place, "first"), program("step_loop"), 5)
    expect_equal(done.status, 0, done.stderr)
    files = os.listdir(place + "/out")
    expect_equal(len(files), 1, f"traces: {done.stderr}")
    expect("forked" not in done.stderr, done.stderr)
    # A script that works has a trace.
    with open(second, "w", encoding="utf-8") as file:
        file.write('#!/bin/bash\nwhile read -ra all </proc/$$/stat'
                   ' && ((all[13] + all[14] < 150)); do\n'
                   '  for ((at = 0; at < 10000; at++)); do :; done\ndone\nexec "$@"\n')
    done = harness.command("record", "--sample", f"--dir={place}/out2", second,
                           program("step_loop"), 5)
    expect_equal(len(os.listdir(place + "/out2")), 2, f"traces: {done.stderr}")


def test_a_programs_workers_say_where_their_traces_are():
    """As multiprocessing starts them; but one of those that trains is judged."""
    module = os.path.join(harness.ROOT, "tools", "python")
    work = f"import sys; sys.path.append({module!r}); import traceprof\n" + WORKS
    steps = work + "\nfor at in range(20): traceprof.step(); sum(range(10000))"
    env = VERDICT | {"TRACEPROF_MALLOC": "all"}
    for script, words, wanted in ((work, ["--multiprocessing-fork"], False), (work, [], True),
                                  (work, ["from multiprocessing.resource_tracker"], False),
                                  (steps, ["--multiprocessing-fork"], True)):
        run = traced(sys.executable, "-c", script, *words, env=env,
                     preload=library_beside("echo Verdict: none"))
        expect_equal((run.status, len(run.files)), (0, 1), run.stderr)
        said = [line for line in run.own_lines if "step = " not in line]
        expect_equal(len(said) > 1, wanted, run.stderr)
        expect("traceprof: wrote " in said[0], run.stderr)
    rank = traced(sys.executable, "-c", work, "--multiprocessing-fork", env=env |
                  {"RANK": "0", "WORLD_SIZE": "2"}, preload=library_beside("echo Verdict"))
    expect_equal(len(rank.own_lines), 1, "a worker of a rank: " + rank.stderr)


def test_samples_are_advised_once():
    """By the verdict; with none, by the processor's time."""
    for env in (VERDICT, {}):
        run = traced("short_regions", 10, 1, 2, "spin", env=env)
        expect_equal(run.stderr.count("--sample ("), 1, run.stderr)
        expect_equal("traceprof: Verdict: " in run.stderr, env == VERDICT, run.stderr)


def test_regions_are_known_without_a_verdict():
    """More than a second of work, nearly all of it in regions: no samples are needed."""
    run = traced("spins", 2, 20000, 100, env={"TRACEPROF_VERDICT": "0"})
    expect("lie outside" not in run.stderr, run.stderr)
    expect("most time" not in run.stderr, run.stderr)


def test_the_program_hears_nothing_of_who_judges():
    run = traced("hears_children", env=VERDICT)
    expect_equal(sorted(run.stdout.splitlines()), ["a child ended", "a child is gone"])
    expect("traceprof: Verdict: " in run.stderr, run.stderr)


def test_the_first_process_of_a_container_hears_nothing_either():
    """It takes in all orphans, and would get a signal for them."""
    inside = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode:
        raise Skip("no unshare --pid here")
    done = subprocess.run([*inside, "env", "LD_PRELOAD=" + harness.LIBRARY,
                           program("hears_children")],
                          env=traced_env(verdict="wait", quiet=0), capture_output=True,
                          text=True)
    expect_equal(sorted(done.stdout.splitlines()), ["a child ended", "a child is gone"])
    expect("traceprof: wrote" in done.stderr, done.stderr)


def test_the_command_is_in_bin_where_the_library_is_in_lib():
    run = traced("planted", "imbalance", env=VERDICT,
                 preload=library_beside("echo judged: $1 $2 $TRACEPROF", "bin"))
    expect_equal(verdict_of(run), ["traceprof: judged: report --verdict 0"])


def test_the_command_is_named_as_a_shell_finds_it():
    """From a build folder it isn't in PATH."""
    def named(place, path):
        run = traced("step_loop", 5, 1, cwd=place, env={
            "PATH": os.environ["PATH"] + path, "TRACEPROF_VERDICT": "0"})
        return re.search(r"next: (\S+) report ", run.stderr)[1]

    build = os.path.dirname(harness.COMMAND)
    expect_equal(named("/", ""), os.path.join(build, "traceprof"))
    expect_equal(named(os.path.dirname(build), ""),
                 os.path.join(os.path.basename(build), "traceprof"))
    expect_equal(named(build, ""), os.path.join(build, "traceprof"))
    expect_equal(named("/", ":/nowhere:" + build), "traceprof")


def test_the_verdict_comes_whatever_the_end_is_like():
    built = harness.compile_program("ends_badly.c")
    for way in ("timer", "closed"):
        run = traced(built, way, env=VERDICT,
                     preload=library_beside("sleep 0.03; echo judged"))
        expect_equal(verdict_of(run), ["traceprof: judged"], way)


def test_a_judge_that_fails_costs_its_words_alone():
    for script in ("exit 1", "kill -9 $$", "sleep 100 & echo half; exec sleep 100",
                   "yes | head -c 100000", "echo none >&2"):
        run = traced("planted", "imbalance", env=SOON,
                     preload=library_beside(script))
        said = verdict_of(run)
        expect(len(said) == 1 and said[0].startswith("traceprof: most time: "),
               script, run.stderr)


def test_a_judge_that_is_slow_is_waited_for_on_request():
    run = traced("planted", "imbalance", env=VERDICT,
                 preload=library_beside("sleep 3; echo judged"))
    expect_equal(verdict_of(run), ["traceprof: judged"])


def test_nobody_waits_for_the_verdict_of_a_large_file():
    """It is told how to have it."""
    run = traced("short_regions", 30000, 0, 2, env=VERDICT | {"TRACEPROF_STEP": "api",
                                                             "TRACEPROF_ENCODE": "live"},
                 preload=library_beside("echo asked"))
    said = verdict_of(run)
    expect(len(said) == 1 and said[0].startswith("traceprof: most time: "), run.stderr)
    expect(run.own_lines[-1].endswith(f"{run.trace.path}, for the verdict"), run.stderr)


def test_a_large_file_is_judged_by_its_last_part():
    """As much of it as is read in the time that there is, if it has steps."""
    asked = os.path.join(folder(), "asked")
    run = traced("step_loop", 20000, env=VERDICT | {"TRACEPROF_ENCODE": "live"},
                 preload=library_beside(f'echo "$@" >{asked}; echo judged'))
    expect_equal(verdict_of(run)[-1], "traceprof: judged", run.stderr)
    with open(asked, encoding="utf-8") as file:
        words = file.read().split()
    expect_equal(words[:3], ["report", "--verdict", run.trace.path])
    share = float(words[3].removeprefix("--last="))
    expect(0 < share < 100, words)


def test_some_steps_are_judged_where_they_are_long():
    """Of steps of thousands of events as many as tell enough."""
    asked = os.path.join(folder(), "asked")
    run = traced("short_regions", 21000, 0, 2, env=VERDICT | {
        "TRACEPROF_STEP": "omp:*/1500", "TRACEPROF_ENCODE": "live", "TRACEPROF_MAX_OVERHEAD": "0"},
        preload=library_beside(f'echo "$@" >{asked}; echo judged'))
    expect_equal(verdict_of(run)[-1], "traceprof: judged", run.stderr)
    with open(asked, encoding="utf-8") as file:
        words = file.read().split()
    if len(words) > 3:          # else it ran for so long that all of it is read
        share = float(words[3].removeprefix("--last="))
        expect(60 < share < 100, words)      # 36 is what is read in the time


def test_a_short_run_waits_less_for_its_verdict():
    """Of as many events the one that ran on for 1.2 s is judged, the short one not."""
    env = VERDICT | {"TRACEPROF_STEP": "api", "TRACEPROF_ENCODE": "live",
                     "TRACEPROF_MAX_OVERHEAD": "0"}
    preload = library_beside("echo asked")
    for more in (["spin"], []):
        run = traced("short_regions", 10000, 0, 2, *more, env=env, preload=preload)
        expect(15000 < run.trace.meta["events"]["written"] < 50000, run.stderr)
        span, = run.trace.slices("PyTorch Profiler*")
        read_us = 2 * run.trace.meta["events"]["written"]
        if more or span["dur"] / 10 < 0.8 * read_us:    # else the machine was busy
            expect_equal("asked" in run.stderr, bool(more), run.stderr)


def test_of_several_files_the_fullest_is_judged():
    """The last one may hold the beginning of a window alone, and is no example."""
    schedule = {"TRACEPROF_STEP": "api", "TRACEPROF_WAIT": "1", "TRACEPROF_ACTIVE": "4",
                "TRACEPROF_REPEAT": "0"}
    for steps, judged in ((11, 1), (12, 1), (15, 2)):
        run = traced("planted", "imbalance", steps, env=VERDICT | schedule)
        shown = [trace.path for trace in run.traces]
        said = verdict_of(run)
        is_last = judged == len(shown) - 1
        expect_equal(said[0].startswith("traceprof: the newest with the most steps is "),
                     not is_last, run.stderr)
        expect(is_last or shown[judged] in said[0], run.stderr)
        expect("traceprof: Verdict: 4 steps" in run.stderr, run.stderr)
        expect(run.own_lines[-1].endswith("traceprof report " + shown[judged]), run.stderr)
    run = harness.command("record", "--step=api", "--wait=1", "--active=4", "--repeat=0",
                          "--dir", os.path.join(folder(), "recorded"), "--",
                          program("planted"), "imbalance", "12",
                          env={"TRACEPROF_VERDICT": "1"})
    expect("the newest with the most steps is " in run.stderr, run.stderr)
    expect("\nVerdict: 4 steps" in run.stderr, run.stderr)


def check_own_lines(shown):
    """Whatever the program left on the line, ours begin at its start."""
    for line in shown.split("\n"):
        expect("traceprof:" not in line or line.startswith("traceprof:"), shown)
    expect("traceprof: wrote" in shown, shown)


BAR = ["-c", "printf ' 50%%|#####     |' >&2; exec \"$0\" 3 >/dev/null"]


def screen(output):
    """What a terminal of COLUMNS shows."""
    lines, row, column = [""], 0, 0
    for letter in output:
        if letter == "\r":
            column = 0
        elif letter == "\n":
            row += 1
        else:
            if column == COLUMNS:
                row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
            line = lines[row].ljust(column)
            lines[row] = line[:column] + letter + line[column + 1:]
            column += 1
        lines += [""] * (row + 1 - len(lines))
    return "\n".join(line.rstrip() for line in lines)


def on_terminal(env, *command):
    try:
        pid, terminal = pty.fork()
    except OSError as error:
        raise Skip(f"no pseudo-terminal: {error}")
    if not pid:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        os.execve(command[0], command, env)
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:
        pass
    os.waitpid(pid, 0)
    return screen(shown.decode())


def test_after_a_progress_bar_on_a_terminal():
    shown = on_terminal(traced_env(), "/bin/sh", *BAR, program("step_loop"))
    lines = shown.split("\n")
    at = next(i for i, line in enumerate(lines) if "traceprof: wrote" in line)
    expect(lines[at].startswith("traceprof: wrote"), shown)
    expect(" 50%|#####" in lines[at - 1], "the bar is gone", shown)


def test_no_empty_line_on_a_terminal():
    shown = on_terminal(traced_env(), program("step_loop"), "3")
    lines = shown.split("\n")
    at = next(i for i, line in enumerate(lines) if "traceprof: wrote" in line)
    expect(lines[at].startswith("traceprof: wrote"), shown)
    expect(lines[at - 1].startswith("3 steps"), shown)


def test_after_a_progress_bar_in_a_file():
    for redirect in (">", ">>"):
        path = os.path.join(folder(), "log")
        harness.execute(["/bin/sh", "-c", f'exec "$0" "$@" 2{redirect}{path}',
                         "/bin/sh", *BAR, program("step_loop")], traced_env(), 60)
        with open(path, encoding="utf-8") as file:
            shown = file.read()
        check_own_lines(shown)
        expect_equal(shown.count("\n\n"), 0, "empty lines")


def test_control_characters_of_a_setting():
    run = traced("step_loop", 3, env={"TRACEPROF_MALLOC": "\x1b[31m\x9bred"})
    expect("TRACEPROF_MALLOC=?[31m" in run.stderr, run.stderr)
    expect("\x1b" not in run.stderr and "\x9b" not in run.stderr, run.stderr)


def test_events_outside_the_windows_are_as_asked():
    """While the step is searched for, events are seen that are in no window."""
    run = traced("step_loop", 400, 5, "unmarked", env={
        "TRACEPROF_WAIT": "100", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1"})
    events = run.trace.meta["events"]
    expect(events["cut"] > events["written"] / 100, events)
    expect_equal((events["outside"], events["past_max"]), (events["cut"], 0), "why")
    said = harness.command("report", run.files[0]).stdout
    expect(f"{events['cut']} events lay outside the windows" in said, said)
    expect("MAX_MB" not in said, said)
    expect("MAX_MB" not in run.stderr and "outside" not in run.stderr, run.stderr)


def test_events_past_the_limit_of_text():
    run = traced("starts", "scopes", 2, 20000, env={
        "TRACEPROF_MAX_MB": "1", "TRACEPROF_MAX_PARTS": "1",
        "TRACEPROF_ENCODE": "live"})
    events = run.trace.meta["events"]
    cut = events["past_max"]
    expect(cut > 1000, events)
    expect_equal((events["outside"], events["cut"]), (0, cut), "why")
    said = harness.command("report", run.files[0]).stdout
    expect(f" and {cut} came past TRACEPROF_MAX_MB" in said, said)
    expect(f"{cut} events came past TRACEPROF_MAX_MB=1" in run.stderr, run.stderr)


def test_a_schedule_without_a_step():
    run = traced("starts", "regions", 1, 1,
                 env={"TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "2"})
    ours = run.own_lines
    expect("no step found" in ours[0], run.stderr)
    expect("no step" not in "".join(ours[1:]), run.stderr)
    expect("TRACEPROF_STEP" in ours[0], run.stderr)


def test_one_rank_speaks_for_all():
    run = traced("step_loop", 3, env={"RANK": "0", "WORLD_SIZE": "4"})
    expect("4 ranks write one each" in run.stderr, run.stderr)
    expect(os.path.basename(run.folder) in run.own_lines[-1], run.stderr)
    quiet = traced("step_loop", 3, env={"RANK": "1", "WORLD_SIZE": "4"})
    expect_equal(quiet.own_lines, [], "what another rank says")


if __name__ == "__main__":
    harness.main()
