# SPDX-License-Identifier: MIT
"""Every way to end: what a program had recorded and told of is in the trace.

The long form of the first test is tests/chaos/kill_loop.py; TRACEPROF_KILLS says
how many kills this one makes.
"""

import glob
import os
import shutil
import signal
import stat
import subprocess
import sys
import time

import harness
from harness import Skip, command, expect, expect_equal, folder

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "chaos"))
import kill_loop

ENDLESS = {"TRACEPROF_MALLOC": "all"}


def sessions(target):
    """The session files whose traces go to this folder."""
    found = []
    for name in os.listdir("/dev/shm"):
        path = os.path.join("/dev/shm", name)
        try:
            with open(path, "rb") as file:
                if target.encode() + b"\0" in file.read(1 << 16):
                    found.append(path)
        except OSError:
            pass
    return found


def killed(seconds=1.5, program="endless", is_written=False, **options):
    """(folder, session) of a program that was killed so long after its folder came.

    `is_written`: its file has something by then.
    """
    target = os.path.join(folder(), "out")
    process = subprocess.Popen(
        [harness.program(program)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=harness.clean_environment() | ENDLESS | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target} | options)
    process.stdout.readline()
    while process.poll() is None and not os.path.isdir(target):
        time.sleep(0.01)
    if is_written:
        harness.wait_for_file(target, process)
    time.sleep(seconds)
    process.kill()
    process.wait()
    process.stdout.close()
    found = sessions(target)
    if not found:
        raise Skip("no shared memory that outlives a process")
    expect_equal(len(found), 1, "sessions")
    return target, found[0]


def test_what_a_killed_recovery_left_is_taken_over():
    """Its copy beside the trace, which the next recovery makes anew."""
    target, _ = killed(is_written=True)
    trace, = os.listdir(target)
    left = os.path.join(target, trace + ".tmp")
    with open(left, "wb") as file:
        file.write(b"half a copy")
    expect_equal(command("recover", target).status, 0, "recover")
    expect_equal(os.listdir(target), [trace], "files")
    expect_equal(command("check", os.path.join(target, trace)).status, 0, "check")


def interrupted(*program):
    """(folder, status, stderr) of one that gets Ctrl-C once its file has something.

    A shell lets what it runs in the background ignore that, the tests too.
    """
    target = os.path.join(folder(), "out")
    process = subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env=harness.clean_environment() | ENDLESS | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target})
    process.stdout.readline()
    harness.wait_for_file(target, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    return target, process.returncode, said


def test_ctrl_c_that_ends_the_program():
    """It can't say a word then; the file opens, and names the next command."""
    target, status, said = interrupted(harness.program("endless"))
    expect_equal((status, said), (-signal.SIGINT, ""))
    trace, = glob.glob(os.path.join(target, "*.json*"))
    expect_equal(command("check", trace).status, 0)
    said = command("report", trace).stdout
    expect(f"`traceprof recover {target}` adds what memory holds" in said, said)
    expect_equal(command("recover", target).status, 0)
    said = command("report", trace).stdout
    expect("recovered after the program's death" in said and "not finished" not in said, said)


def test_ctrl_c_that_the_program_handles():
    """Python raises an exception: the end is like any other.  Where the machine is busy
    some is written down after it."""
    code = ("print('begun', flush=True)\n"
            "while True: x = [bytearray(10000) for _ in range(100)]")
    target, status, said = interrupted(sys.executable, "-c", code)
    expect_equal(status, -signal.SIGINT, said)
    expect("KeyboardInterrupt" in said, said)
    expect("traceprof: wrote " in said or "are left to be written to " in said, said)
    for _ in range(600):
        if not sessions(target):
            break
        time.sleep(0.1)
    trace, = glob.glob(os.path.join(target, "*.json*"))
    said = command("report", trace).stdout
    expect("recover" not in said and "not finished" not in said, said)
    expect_equal(sessions(target), [])


def test_killed_at_random_instants():
    kills = int(os.environ.get("TRACEPROF_KILLS", "15"))
    _, told, wrong = kill_loop.kill_many(kills, int(time.time()))
    expect(told > 100, f"only {told} events were told")
    expect_equal(wrong, 0, f"events that are not as they must be, of {told}")


def check_end(how, recording_ends_first=False):
    """The program ends by itself, this way, while its threads record."""
    target = os.path.join(folder(), "out")
    process, reader = kill_loop.start(target, 3, how, 2000)
    try:
        process.wait(timeout=harness.HANGS)
    finally:
        process.kill()
    reader.join()
    process.stdout.close()
    process.stderr.close()
    kill_loop.recover(target)
    told = reader.events()
    expect_equal(len(told), 3, "threads that told")
    if recording_ends_first:
        # Threads go on for the moment that the end of the recording takes.
        found = kill_loop.recorded(target)
        told = {thread: min(count, len(found.get(thread, [])))
                for thread, count in told.items()}
        expect(min(told.values()) >= 2000, told)
    expect_equal(kill_loop.compare(target, told), 0, "wrong events")


def recovered_steps(words, until, **options):
    """The steps of a program that is killed once it has said that."""
    target = os.path.join(folder(), "out")
    process = subprocess.Popen(
        [harness.program(words[0]), *words[1:]], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
        env=harness.clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": target,
            "TRACEPROF_STEP": "api"} | options)
    while until not in process.stdout.readline():
        expect(process.poll() is None, "it ended by itself")
    process.kill()
    process.wait()
    process.stdout.close()
    done = command("recover", target)
    expect_equal(done.status, 0, done.stderr)
    run = harness.Run([], 0, "", "", target)
    harness.check_files(run)
    return run.traces


def test_the_step_in_which_it_was_killed():
    """It hung, and that is what one wants to see."""
    words = ("uneven", "100", "5", "-1", "0", "50")
    for options, first in (({}, 0), ({"TRACEPROF_WAIT": "20", "TRACEPROF_ACTIVE": "100"}, 20)):
        trace, = recovered_steps(words, "waits", **options)
        expect_equal(trace.steps(), list(range(first, 51)))
        expect_equal([trace.meta["step"][key] for key in ("seen", "drawn", "died_in")],
                     [51, 51 - first, 50])
        *_, last = sorted(trace.slices("ProfilerStep#*"), key=lambda step: step["ts"])
        hung, = trace.slices("never ends")
        expect_equal((last["name"], last["args"].get("finished")), ("ProfilerStep#50", "false"))
        expect(last["ts"] <= hung["ts"] and abs(last["ts"] + last["dur"] - hung["ts"]
                                                - hung["dur"]) < 0.01, last, hung)


def test_a_step_that_no_window_has_is_not_drawn():
    """It was killed behind the last window."""
    trace, = recovered_steps(("uneven", "100", "5", "-1", "0", "50"), "waits",
                             TRACEPROF_WAIT="20", TRACEPROF_ACTIVE="10", TRACEPROF_REPEAT="1")
    expect_equal(trace.steps(), list(range(20, 30)))


def test_the_last_step_is_drawn_once_by_whoever_finishes():
    """The program had recorded its end."""
    run = harness.traced("step_loop", 20, check=False, env={
        "TRACEPROF_STEP": "api", "TRACEPROF_EXIT_MS": "0", "TRACEPROF_ENCODE": "late"})
    # It died in none, however long the last one goes on.
    done = command("recover", run.folder)
    expect_equal(done.status, 0, done.stderr)
    harness.check_files(run)
    expect_equal(run.trace.steps(), list(range(20)), run.stderr)
    expect("died_in" not in run.trace.meta["step"], run.trace.meta["step"])


def test_no_step_is_drawn_twice_where_one_begins():
    """Steps of no length: a kill comes within traceprof_step() as a rule."""
    for _ in range(10):
        trace, = recovered_steps(("steps_only",), "20000", TRACEPROF_MAX_MB="0")
        steps = trace.steps()
        expect_equal(steps, list(range(len(steps))))


def test_segmentation_fault():
    check_end("segv")


def test_abort():
    check_end("abort")


def test_exit_group_by_hand():
    check_end("exit_group")


def test_record_after_an_end_by_hand():
    """No hook sees it, and it isn't a kill: `record` looks all the same."""
    target = os.path.join(folder(), "out")
    done = command("record", "--", harness.program("exits"), "by_hand", 1200,
                   env={"TRACEPROF_DIR": target})
    expect_equal(done.status, 8, done.stderr)
    expect("recovered" in done.stderr, done.stderr)
    run = harness.Run([], 0, "", done.stderr, target)
    harness.check_files(run)
    harness.expect_no_session(run)
    expect(run.trace.regions("last_region"), "the region is lost")


def test_execve_by_hand():
    check_end("raw_exec")


def test_exec():
    check_end("exec", recording_ends_first=True)


def test_exit_under_running_threads():
    check_end("exit", recording_ends_first=True)


def test_memory_runs_out():
    check_end("memory")


def check_cut(form):
    target, session = killed(1.5, TRACEPROF_GZIP=form, TRACEPROF_BUFFER_MB="8",
                             TRACEPROF_ENCODE="live")
    path = harness.Run([], 0, "", "", target).files[0]
    with open(path, "rb") as file:
        whole = file.read()
    copy = os.path.join(folder(), "traceprof-0-1-0.session")
    shutil.copyfile(session, copy)
    step = max(len(whole) // 10, 1)
    cuts = [0, 1, 9, 10, 11, 100, *range(step, len(whole), step),
            len(whole) - 9, len(whole) - 8, len(whole) - 1]
    kept = []
    for cut in cuts:
        shutil.copyfile(copy, session)
        with open(path, "wb") as file:
            file.write(whole[:cut])
        done = command("recover", session)
        expect_equal(done.status, 0, f"cut at {cut}: {done.stderr}")
        made = harness.Run([], 0, "", "", target).files[-1]
        done = command("check", made)
        expect_equal(done.status, 0, f"cut at {cut}: {done.stdout}")
        trace = harness.Trace(made)
        expect(trace.meta.get("recovered"), f"cut at {cut}")
        kept.append(len(trace.regions()))
        os.remove(made)
    return kept


def test_a_trace_cut_at_any_byte():
    """Recovery makes a whole trace of what is left of file and memory."""
    for form in ("zlib:1", "off"):
        kept = check_cut(form)
        expect(kept[0] < kept[-4] <= kept[-1], f"{form}: what was kept: {kept}")


def test_a_program_that_was_built_again():
    """Its new functions' names are not given to the old one's calls."""
    program = harness.compile_program("endless.c", "-fopenmp")
    target, _ = killed(0.3, program)
    # Never written over: that is refused while another still runs it.
    os.rename(harness.compile_program("tasks.c", "-fopenmp"), program)
    expect_equal(command("recover", target).status, 0, "recover")
    names = {one["name"] for one in
             harness.Run([], 0, "", "", target).trace.slices(omp="parallel")}
    wrong = [name for name in names
             if not name.startswith(("endless_region", "endless+0x"))]
    expect(names and not wrong, f"names of regions: {names}")
    expect(any(name.startswith("endless+0x") for name in names),
           f"none came from memory: {names}")


def test_a_folder_by_another_name():
    target, _ = killed(0.3)
    link = os.path.join(folder(), "link")
    os.symlink(os.path.dirname(target), link)
    done = command("recover", os.path.join(link, "out"))
    expect("events" in done.stdout, done.stdout + done.stderr)
    expect_equal(sessions(target), [], "sessions left")


def test_how_long_it_had_no_processor_outlives_it():
    """The next process can't ask the kernel any more."""
    target, _ = killed(1.5)
    trace, = glob.glob(os.path.join(target, "*.gz"))
    os.unlink(trace)
    command("recover", target)
    run = harness.Run([], 0, "", "", target)
    harness.check_files(run)
    if os.path.exists("/proc/self/schedstat"):
        expect(run.trace.meta.get("scheduled", {}).get("ran_ns"), run.trace.meta)


def test_a_folder_that_is_gone():
    target, _ = killed(1.5)
    shutil.rmtree(target)
    expect("nothing" not in command("recover", target).stdout, "not found")
    run = harness.Run([], 0, "", "", target)
    harness.check_files(run)
    expect("deleted" in str(run.trace.meta.get("notes")), run.trace.meta)


def test_modes():
    """Nobody else may read what a program did."""
    before = os.umask(0)
    try:
        target, session = killed()
    finally:
        os.umask(before)
    path = harness.Run([], 0, "", "", target).files[0]
    for place, mode in ((target, 0o700), (path, 0o600), (session, 0o600)):
        expect_equal(stat.S_IMODE(os.stat(place).st_mode), mode, place)
    command("recover", target)
    path = harness.Run([], 0, "", "", target).files[0]
    expect_equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "recovered")


def test_a_link_in_the_traces_place():
    """Recovery follows no link to a file that is not its own."""
    target, _ = killed()
    path = harness.Run([], 0, "", "", target).files[0]
    victim = os.path.join(folder(), "victim")
    with open(victim, "w", encoding="utf-8") as file:
        file.write("precious\n")
    os.remove(path)
    os.symlink(victim, path)
    command("recover", target)
    with open(victim, encoding="utf-8") as file:
        expect_equal(file.read(), "precious\n", "the file behind the link")
    os.remove(path)         # the session was kept for when the way is free
    expect_equal(command("recover", target).status, 0, "without the link")


def test_all_asks_first():
    """--all reaches into folders that nobody has named, so it tells and waits
    for --yes.  In a /dev/shm of its own: other runs' sessions are theirs."""
    target = os.path.join(folder(), "out")
    script = """mount -t tmpfs none /dev/shm || exit 77
        LD_PRELOAD=$1 TRACEPROF_DIR=$2 TRACEPROF_MALLOC=all $3 >$2.said & pid=$!
        until [ -s $2.said ]; do sleep 0.05; done; sleep 0.3; kill -9 $pid; wait $pid
        $4 recover --all; ls /dev/shm; $4 recover --all --yes; ls /dev/shm | wc -l"""
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", harness.LIBRARY, target,
         harness.program("endless"), harness.COMMAND], capture_output=True, text=True,
        timeout=harness.HANGS, env=harness.clean_environment() | {"XDG_RUNTIME_DIR": ""})
    if done.returncode in (1, 77):
        raise Skip("no right to mount")
    named, question, session, finished, left = done.stdout.splitlines()
    expect("endless, pid" in named and "would be finished" in named, named)
    expect("nothing was done" in question and "--yes" in question, question)
    expect(session in named, "taken without --yes", done.stdout)
    expect(" events, " in finished and finished.startswith(target), finished)
    expect_equal(left.strip(), "0", "sessions")
    expect_equal(command("recover", "--yes").status, 2, "--yes alone")


def test_links_to_sessions_are_not_followed():
    target, session = killed(0.3)
    for link, make in (("symbolic", os.symlink), ("hard", os.link)):
        path = f"/dev/shm/traceprof-{os.geteuid()}-1-{link}.session"
        make(session, path)
        try:
            done = command("recover", path)
            expect_equal(done.status, 3, f"{link} link: {done.stdout}")
        finally:
            os.remove(path)
    command("recover", target)


def test_someone_elses_session():
    """Neither found nor opened: who made it could name any file of ours."""
    if os.geteuid() != 0:
        raise Skip("needs two users")
    target, session = killed(0.3)
    os.chown(session, 65534, 65534)
    try:
        done = command("recover", target)
        expect("events" not in done.stdout, done.stdout)
        expect_equal(command("recover", session).status, 3, "by its name")
        expect(os.path.exists(session), "it was removed")
    finally:
        os.remove(session)


def test_settings_are_ignored_across_privileges():
    """AT_SECURE: who calls must not choose where a privileged program writes.

    The loader takes no path from LD_PRELOAD then, so the program is linked with
    the library: it is there, and does nothing."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("needs another user's rights")
    place = folder()
    os.chmod(place, 0o755)
    library = os.path.join(place, "libtraceprof.so")
    shutil.copy(harness.LIBRARY, library)
    program = harness.compile_program(
        "hostile.c", "-Wl,--no-as-needed", library, f"-Wl,-rpath,{place}",
        "-fopenmp")
    os.chmod(os.path.dirname(program), 0o755)
    out = folder()
    os.chmod(out, 0o777)
    files = []
    for mode in (0o755, 0o4755):
        os.chmod(program, mode)
        target = os.path.join(out, str(mode))
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", program, "calm",
             "300"], capture_output=True, text=True, timeout=harness.HANGS,
            env=harness.clean_environment() | {"TRACEPROF_DIR": target})
        expect_equal((done.returncode, done.stdout),
                     (7, "0 regions went wrong\n"), done.stderr)
        files.append(os.path.exists(target))
    expect(files[0], "no trace where it is allowed: the test tests nothing")
    expect(not files[1], "a trace was written with another's rights")


def test_no_values_of_the_environment():
    secret = "hunter2-do-not-tell"
    run = harness.traced("hostile", "calm", 300, env={
        "PASSWORD": secret, "TRACEPROF_MALLOC": "all", "AWS_SECRET": secret},
        check=False)
    expect(secret not in str(run.trace.top), "the trace tells")


if __name__ == "__main__":
    harness.main()
