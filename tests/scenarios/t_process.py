# SPDX-License-Identifier: MIT
"""Forks, execs and ends: the program's behaviour and its traces, whole."""

import os
import signal
import subprocess

import harness
from harness import Skip, command, expect, expect_equal, same, traced


def check_parent(way, count=1, files=1, env=None):
    """The parent's two regions are there, and nobody else's file is."""
    run = same("forks", way, count, env=env)
    expect_equal(len(run.files), files, f"files of {way}: {run.files}")
    parents = [trace for trace in run.traces
               if len(trace.regions("parent_work")) == 2]
    expect_equal(len(parents), 1, "traces with both of the parent's regions")
    expect(not parents[0].regions("child_work"), "a child's region in it")
    return run


def test_the_first_process_of_a_container_outlives_its_signal():
    """The kernel keeps a signal's default action from process 1 of a namespace."""
    if subprocess.run(["unshare", "--pid", "--fork", "true"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        raise Skip("no namespace of processes may be made")
    source = os.path.join(harness.folder(), "first.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("""#include <signal.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(1)
		__asm__ volatile("");
		if (i == 9)
			kill(getpid(), SIGTERM);
	}
	return 3;
}
""")
    program = source[:-2]
    subprocess.run(["gcc", "-fopenmp", source, "-o", program], check=True)
    run = traced("unshare", "--pid", "--fork", program)
    expect_equal(run.status, 3, run.stderr)
    expect_equal(len(run.trace.regions("main")), 20, "regions")


def test_fork():
    check_parent("fork")


def test_fork_that_ends_by__exit():
    check_parent("fork_exit_now")


def test_fork_that_ends_in_a_sandbox():
    """Where each further system call is fatal, we make none."""
    for way, status in (("fork_sandbox", 0x1300), ("fork_sandbox_exit_now", 0x1400)):
        run = check_parent(way)
        expect(f"child ended with {status:#x}" in run.stdout, "how it ended",
               run.stdout)


def test_fork_with_a_region_has_a_trace_of_its_own():
    run = check_parent("fork_region", 1, files=2)
    child = [trace for trace in run.traces if trace.regions("child_work")]
    expect_equal(len(child), 1, "traces of the child")
    expect(not child[0].regions("parent_work"), "the parent's events twice")


def test_fork_of_a_fork():
    run = check_parent("fork_twice", 1, files=2)
    expect(any(trace.regions("child_work") for trace in run.traces), "grandchild")


def test_children_none():
    check_parent("fork_region", 1, files=1, env={"TRACEPROF_CHILDREN": "none"})


def test_many_forks():
    check_parent("fork", 500)


def test_vfork():
    check_parent("vfork", 50)


def test_vfork_and_exec():
    check_parent("vfork_exec", 20)


def test_posix_spawn():
    check_parent("spawn", 20)


def test__Fork():
    check_parent("_Fork", 50)


def test_clone():
    check_parent("clone", 50)


def test_no_child_is_born_while_we_are_inside_the_loader():
    slow = harness.program("lib/libslow_loader.so")
    for way in ("_Fork_met", "clone_met"):
        run = traced("forks", way, 5, preload=f"{harness.LIBRARY}:{slow}")
        expect_equal(run.stdout.count("child ended with 0x1800\n"), 5, run.stdout)


def test_clone_without_the_handlers():
    check_parent("raw_clone", 20)


def test_clone_that_shares_memory():
    check_parent("clone_vm", 20)


def test_system():
    check_parent("system", 5)


def test_children_where_memory_is_not_wiped():
    """madvise(MADV_WIPEONFORK) refused, as some sandboxes do."""
    for way, files in (("fork", 1), ("fork_region", 2), ("fork_twice", 2),
                       ("vfork", 1), ("spawn", 1), ("raw_clone", 1), ("clone_vm", 1)):
        run = same("no_wipe", harness.program("forks"), way)
        expect_equal(len(run.files), files, f"files of {way}: {run.files}")


def check_exec(form):
    """Both images have a trace: the process id is the same, the file not."""
    run = same("execs", form)
    expect_equal(len(run.files), 2, f"files of {form}: {run.files}")
    first, last = run.traces
    expect(first.regions("before_exec") and not first.regions("after_exec"), form)
    expect(last.regions("after_exec") and not last.regions("before_exec"), form)
    expect_equal(first.pid, last.pid, "process id")


def test_execl():
    check_exec("execl")


def test_execle():
    check_exec("execle")


def test_execlp():
    check_exec("execlp")


def test_execv():
    check_exec("execv")


def test_execve():
    check_exec("execve")


def test_execvp():
    check_exec("execvp")


def test_execvpe():
    check_exec("execvpe")


def test_fexecve():
    check_exec("fexecve")


def test_execveat():
    check_exec("execveat")


def test_a_chain_of_execs():
    """A shell, an interpreter, a program that becomes itself: two traces."""
    script = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
    run = same("sh", "-c", 'exec env "$@"', "sh", "python3", "-c", script,
               harness.program("execs"), "execv")
    expect_equal(len(run.files), 2, f"files: {run.files}")
    expect_equal(len({trace.pid for trace in run.traces}), 1, "processes")


def test_exec_that_fails():
    run = same("execs", "fails")
    names = [event["name"] for trace in run.traces
             for event in trace.slices(omp="parallel")]
    expect(any("before_exec" in name for name in names), "first region", names)
    expect(any("after_exec" in name for name in names), "second region", names)


def check_exit(way):
    run = same("exits", way)
    expect(run.trace.regions("last_region"), "the region is lost")
    return run


def test_return():
    check_exit("return")


def test_exit():
    check_exit("exit")


def test__exit():
    check_exit("_exit")


def test__Exit():
    check_exit("_Exit")


def test_quick_exit():
    check_exit("quick_exit")


def test__exit_in_a_handler():
    check_exit("handler")


def test_exit_of_another_thread():
    check_exit("thread")


def test_two_threads_that_exit_at_once():
    """The second waits for what the first one writes."""
    for _ in range(5):
        check_exit("together")


def test_who_ends_while_the_trace_is_written_waits_for_it():
    """Also if it had begun to end before the other one did, or becomes a program."""
    for how in ("exit", "begun", "exec"):
        run = traced("leaves", how)
        expect(run.status in (0, 10), run.status, run.stderr)
        expect(run.trace.regions("last_region"), how, run.stderr)


def test_exit_in_a_task():
    """Its thread's wait ends where the task begins, not at a call in it."""
    trace = same("exits", "task", env={"TRACEPROF_WAITS": "1"}).trace
    ran, = trace.explicit_tasks()
    slept, = trace.slices("wait: usleep")
    wait, = [one for one in trace.waits("region end") if one["tid"] == ran["tid"]
             and one["args"]["region"] == ran["args"]["region"]]
    expect(wait["dur"] < ran["ts"] - wait["ts"] + 0.01 and ran["ts"] < slept["ts"],
           wait, ran, slept)
    expect_equal(ran["args"].get("finished"), "false", "the task's end")


def test_pthread_exit_of_main():
    check_exit("pthread_exit")


def test_a_signal_of_an_exit_handler_behind_the_last_thread():
    """The thread that calls the handlers then is ours."""
    run = same("exits", "late_signal", check=False)
    expect_equal(run.status, -signal.SIGUSR1, run.stderr)
    expect(not command("recover", run.folder).status, "recovery")


def test_closed_descriptors():
    check_exit("closed")


def test_stderr_is_closed_at_exit():
    """As the GNU tools do, by atexit(): where the trace is, is said all the same."""
    run = check_exit("close_stderr")
    expect(any(line.startswith("traceprof: wrote ") for line in run.own_lines), run.stderr)


FORKS = """
import ctypes, os, resource
ctypes.CDLL(None).traceprof_step_() if "LD_PRELOAD" in os.environ else None
for _ in range(20):
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt // 20)
"""


def test_a_forked_child_clears_no_tables_that_nothing_filled():
    """A page fault for each page of them: a millisecond for each fork."""
    without = int(harness.plain("python3", "-c", FORKS).stdout)
    within = int(traced("python3", "-c", FORKS,
                        env={"TRACEPROF_STEP": "api"}).stdout)
    expect(within - without < 300, f"{within} page faults, without us {without}")


def test_a_recording_that_begins_inside_atexit():
    """We register a handler, too: not with the lock held that this takes."""
    run = same("many_handlers", env={"TRACEPROF_MALLOC": "all"})
    expect(run.trace.memory(), "nothing began")


def check_confined(way, regions):
    """A program that forbids itself system calls ends as without us."""
    run = same("exits", way, 0, 1)
    expect_equal(len(run.trace.regions("last_region")), regions, f"regions of {way}")
    return run


def test_strict_seccomp():
    check_confined("strict", 1)
    check_confined("strict_killed", 1)


def test_a_seccomp_filter_of_few_calls():
    """The recording ends before it is in force; the file says so, and a closing line."""
    run = check_confined("filter", 1)
    expect("traceprof: seccomp ended the recording: " in run.stderr, run.stderr)
    expect("seccomp" in str(run.trace.meta.get("notes")), run.trace.meta)
    check_confined("filter_killed", 1)


def test_a_fork_that_a_filter_looks_at():
    """What it forbids is not called by us to see what clone3() is asked for."""
    check_confined("filter_fork", 1)


def test_a_question_about_seccomp():
    """No filter comes in force, and the recording goes on."""
    check_confined("question", 2)


def test_the_first_thread_ends_alone():
    """By a bare system call, or killed by a filter: the program's end, if it
    has no other thread, whatever threads we have."""
    check_confined("alone", 1)
    check_confined("unseen_killed", 1)


def test_seccomp_before_anything_was_recorded():
    """Then nothing is, and nothing of ours is called."""
    run = check_parent("fork_sandbox_heap")
    expect("child ended with 0x1500" in run.stdout, run.stdout)


def check_death(way):
    """No hook sees this end: the next command finds what memory still holds."""
    run = traced("exits", way, 1500, check=False)
    plain = harness.plain("exits", way)
    expect_equal((run.status, run.stdout), (plain.status, plain.stdout), way)
    harness.check_files(run)
    expect(run.files, "no file although a checkpoint had passed")
    done = command("recover", run.folder)
    expect_equal(done.status, 0, done.stderr)
    harness.check_files(run)
    expect(run.trace.regions("last_region"), "the region is lost")
    harness.expect_no_session(run)


def test_abort():
    check_death("abort")


def test_segmentation_fault():
    check_death("segv")


def test_kill():
    check_death("kill")


def test_a_signal_that_the_program_raises():
    """As a handler does that has cleaned up: the default action is its end."""
    run = check_exit("terminate")
    expect(any("wrote" in line for line in run.own_lines), run.stderr)


def test_exit_group_by_hand():
    check_death("by_hand")


def test_exit_group_by_syscall():
    """libc's syscall() is ours to see: the file is whole at the end."""
    run = traced("exits", "exit_group")
    expect_equal(run.status, 8, run.stderr)
    expect(run.trace.regions("last_region"), "the region is lost")
    expect(run.trace.meta["final"] and not run.trace.meta["recovered"], "final")


def test_a_program_that_pins_itself():
    """It stays where it put itself, and our threads are where it began."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one processor alone is allowed")
    fake = os.path.join(harness.BUILD, "fake-gpu")
    cuda = os.path.exists(os.path.join(fake, "libcuda.so.1"))
    wanted = ["traceprof"]
    if cuda:
        wanted += ["traceprof-gpu", "traceprof-nvml"]
    source = """
import ctypes, os, sys, time
def ours():
    seen = {}
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/comm") as file:
            name = file.read().strip()
        if name.startswith("traceprof"):
            seen[name] = sorted(os.sched_getaffinity(int(task)))
    return seen
allowed = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, allowed[:1])
step = ctypes.CDLL(None).traceprof_step_
step()
if len(sys.argv) > 2:
    ctypes.CDLL("libcuda.so.1").cuInit(0)
wanted = {name: allowed for name in sys.argv[1:]}
for _ in range(200):
    if ours() == wanted:
        break
    time.sleep(0.05)
print("began", ours() == wanted or ours(), os.sched_getaffinity(0) == {allowed[0]})
os.sched_setaffinity(0, allowed[-1:])
step()
print("later", ours() == wanted or ours(), os.sched_getaffinity(0) == {allowed[-1]})
"""
    run = traced("python3", "-c", source, *wanted, env={"LD_LIBRARY_PATH": fake})
    expect_equal((run.status, run.stdout),
                 (0, "began True True\nlater True True\n"), run.stderr)


def test_the_end_waits_no_longer_than_allowed():
    """What is not in the file yet is then left to recovery."""
    run = traced("exits", "exit", env={"TRACEPROF_EXIT_MS": "0"}, check=False)
    expect_equal((run.status, run.stdout), (3, "region 2\nat exit\n"), "the program")
    command("recover", run.folder)
    harness.check_files(run)
    expect(run.trace.regions("last_region"), "the region is lost")
    harness.expect_no_session(run)


if __name__ == "__main__":
    harness.main()
