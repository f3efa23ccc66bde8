# SPDX-License-Identifier: MIT
"""build/traceprof: record, report, check, recover, plan, and bad input."""

import gzip
import json
import os
import re
import shutil
import sys

import harness
from harness import (command, compile_program, expect, expect_equal, folder,
                     program, traced)


def record(*arguments, env=None):
    target = os.path.join(folder(), "out")
    done = command("record", "--dir", target, *arguments, env=env)
    done.folder = target
    return done


def test_record_passes_on_the_status():
    for way, status in (("return", 2), ("exit", 3), ("_exit", 4), ("abort", None)):
        done = record("--", program("exits"), way)
        if status is not None:
            expect_equal(done.status, status, way)
        else:
            expect(done.status in (-6, 128 + 6), f"{way}: {done.status}")
        harness.check_files(done)
        expect(done.trace.regions("last_region"), f"no region: {way}", done.stderr)


def test_record_takes_the_options():
    done = record("--malloc", "all", "--", program("heap_calls"), "malloc", 5, 1234)
    expect(done.trace.memory(), "no heap events")


def test_the_folder_as_other_profilers_call_it():
    for words in (["-o"], ["--output"]):
        target = os.path.join(folder(), f"as {words[0]}")
        done = command("record", *words, target, program("heap_calls"), "malloc", 5,
                       1234, env={"TRACEPROF_MALLOC": "all"})
        expect(os.listdir(target), f"no trace in {target}", done.stderr)


def test_a_number_behind_an_option_is_its_value():
    """Where the value may be left out: nobody's program is called 250."""
    for words in (["--sample", "250"], ["--sample", "250", "--"], ["--sample=250"]):
        done = record(*words, program("phases"), 1, 20)
        expect_equal(done.status, 0, done.stderr)
        expect_equal(done.trace.meta["sampling"]["hz"], 250, words)
    done = record("--waits", "1", program("joins"), 0)
    expect_equal((done.status, len(done.files)), (0, 1), done.stderr)
    done = record("--sample", "250")
    expect_equal(done.status, 2, done.stderr)
    expect("no COMMAND" in done.stderr, done.stderr)
    done = record("--sample", "10001", program("phases"))
    expect_equal(done.status, 2, done.stderr)
    expect("no COMMAND" not in done.stderr, done.stderr)


def test_record_recovers_when_its_child_is_killed():
    done = record("--", program("exits"), "kill", 1300)
    expect(done.status in (-9, 128 + 9), f"status {done.status}")
    harness.check_files(done)
    expect(done.trace.regions("last_region"), "the region is lost")


def test_record_names_the_signal_that_ended_its_child():
    """A shell says it of who runs alone; of us it sees a status."""
    for way, words in (("kill", "signal 9 (Killed)"), ("abort", "signal 6 (Aborted)")):
        done = record("--", program("exits"), way)
        expect(f"record: {program('exits')} was ended by {words}" in done.stderr, done.stderr)
    for name in ("INT", "PIPE"):
        done = record("--", "sh", "-c", f"kill -{name} $$")
        expect("was ended by" not in done.stderr, name, done.stderr)


def test_record_says_why_there_is_no_file():
    done = record("--", "true")
    expect_equal(done.status, 0, done.stderr)
    expect(done.own_lines or "traceprof" in done.stderr, "silent", done.stderr)


def test_record_names_the_traces_of_children():
    """A launcher has no trace of its own; those of what it started count."""
    each = f"TRACEPROF_EXIT_MS=9000 {program('exits')} return"
    done = record("--", "sh", "-c", f"{each}; RANK=1 {each}; exit 7")
    expect_equal((done.status, len(done.files)), (7, 2), done.stderr)
    expect(f"traceprof record: 2 traces of 2 other processes in {done.folder}"
           in done.stderr, done.stderr)
    expect(f"next: traceprof report {done.folder}/" in done.stderr.splitlines()[-1],
           done.stderr)


def test_of_a_pipeline_one_verdict_is_said():
    """Of the process of most events, in the end; each says how to get its own."""
    little, much = f"{program('mesh')} 2 >/dev/null", f"{program('mesh')} 400 >/dev/null"
    done = record("--verdict=1", "--exit-ms=60000", "--", "sh", "-c",
                  f"{little}; {much}; {little}; true")
    expect_equal((done.status, len(done.files)), (0, 3), done.stderr)
    expect_equal(done.stderr.count("Verdict: "), 1, done.stderr)
    expect("Verdict: 400 steps" in done.stderr, done.stderr)
    largest = re.search(r"record: of 3 traces, the one with most events is (\S+):",
                        done.stderr)
    expect(largest, done.stderr)
    expect_equal(len(harness.Trace(largest.group(1)).steps()), 400)


def test_a_shell_that_waits_is_not_judged():
    """Sampled, it leaves a trace too; the verdict is on what it waited for."""
    done = record("--sample", "--verdict=1", "--exit-ms=60000", "--", "sh", "-c",
                  f"{program('mesh')} 400 >/dev/null; true")
    expect_equal((done.status, len(done.files)), (0, 2), done.stderr)
    expect("Verdict: 400 steps" in done.stderr, done.stderr)


def test_of_ranks_the_first_one_is_judged():
    """Whatever their launcher does beside them, or another rank has more of."""
    launch = ("import os, subprocess, sys, time\n"
              "ranks = [subprocess.Popen(sys.argv[1:2] + [turns], stdout=subprocess.DEVNULL,\n"
              "                          env=os.environ | {'RANK': str(rank)})\n"
              "         for rank, turns in enumerate(('60', '90'))]\n"
              "for _ in range(200): time.sleep(0.001)\n"
              "for one in ranks: one.wait()\n"
              "sum(range(20000000))")
    done = record("--sample=99", "--verdict=1", "--exit-ms=60000", "--", sys.executable,
                  "-S", "-E", "-c", launch, program("mesh"))
    expect_equal((done.status, len(done.files)), (0, 3), done.stderr)
    expect(re.search(r"of the ranks the first one is judged, \S+_rank0\.\S+:", done.stderr)
           and "Verdict: 60 steps" in done.stderr, done.stderr)


def test_a_launcher_that_waits_often_is_not_judged():
    """It has more events than what it began, and works a quarter of it at most."""
    work = "import time\nwhile time.process_time() < 3: pass"
    wait = ("import subprocess, sys, time\n"
            f"child = subprocess.Popen([sys.executable, '-c', {work!r}])\n"
            "for _ in range(1500): time.sleep(0.0001)\n"
            "child.wait()")
    done = record("--sample=99", "--verdict=1", "--exit-ms=60000", "--", sys.executable,
                  "-S", "-E", "-c", wait)
    expect_equal((done.status, len(done.files)), (0, 2), done.stderr)
    expect("of 2 traces, the one whose process worked most is" in done.stderr, done.stderr)


def test_what_a_wrapper_did_before_the_program_leaves_nothing():
    """Each shell is recorded from its start on, waits for nothing, and becomes the next."""
    for what in ("--waits", "--sample=1"):      # that seldom, none is its
        for _ in range(1 if what == "--waits" else 5):
            done = record(what, "--", "/bin/sh", "-c", 'exec sh -c "exec $0 20"',
                          program("waits"))
            expect_equal(done.status, 0, done.stderr)
            expect_equal((len(done.files), done.stderr.count("wrote ")), (1, 1),
                         done.stderr)


def test_record_says_nothing_of_the_program_s_own_trace():
    done = record("--", program("exits"), "return")
    expect("traceprof record" not in done.stderr, done.stderr)


def test_record_refuses_what_cannot_be_preloaded():
    done = record("--", compile_program("namespaces.c", "-static"))
    expect_equal(done.status, 2, done.stderr)
    expect("static" in done.stderr, done.stderr)


def test_record_of_nothing():
    expect_equal(record("--", "/nonexistent/program").status not in (0,), True, "status")
    expect_equal(command("record").status, 2, "usage")
    expect_equal(command("record", "--malloc", "some", "--", "true").status, 2, "value")
    expect_equal(command("record", "--no-such-option", "--", "true").status, 2, "option")


def test_commands():
    expect_equal(command().status, 2, "no command")
    expect_equal(command("nonsense").status, 2, "unknown command")
    expect_equal(command("--help").status, 0, "help")


def sample():
    return traced("region", "all", 2, env={"OMP_CANCELLATION": "true"}).files[0]


def checked(slices, **ours):
    """What check says of a trace made of these slices."""
    path = os.path.join(folder(), "made_700.1.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": slices, "traceprof": ours}, file)
    return command("check", path).stdout


def test_check_of_what_is_read_while_it_grows():
    """What is written between the last two reads is no fault of the file."""
    for is_final in (True, False):
        path = os.path.join(folder(), "made_700.1.pt.trace.json.gz")
        with gzip.open(path, "wt", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": [],
                       "traceprof": {"final": is_final, "waiting": 3}}, file)
        with open(path, "ab") as file:
            file.write(bytes(1000))
        said = command("check", path).stdout
        expect_equal("1000 bytes after the end of the gzip member [rule 1]" in said,
                     is_final, said)


def test_check_of_a_member_that_hides_what_is_written():
    """A kill in the middle of a write leaves it behind: it has no text, so that who reads
    the first one alone lacks nothing."""
    whole = json.dumps({"schemaVersion": 1, "traceEvents": [],
                        "traceprof": {"final": False, "waiting": 3}})
    for texts, is_fault in ((whole, ""), False), ((whole, "\n"), True), (("", whole), True):
        path = os.path.join(folder(), "made_700.1.pt.trace.json.gz")
        with open(path, "wb") as file:
            file.write(b"".join(gzip.compress(text.encode()) for text in texts))
        said = command("check", path).stdout
        expect_equal("2 gzip members; some viewers read the first alone [rule 1]" in said,
                     is_fault, said)


def test_check_keeps_the_books_by_kind():
    books = {"seen": 12, "written": 10, "cut": 1, "dropped": 1}
    right = checked([], events=books, written_by_kind={"alloc": 4, "free": 6})
    expect("[rule 20]" not in right, right)
    wrong = checked([], events=books, written_by_kind={"alloc": 4, "free": 5})
    expect("10 events written, but 9 by kind [rule 20]" in wrong, wrong)
    aged = checked([], events=books | {"in_file": 11})
    expect("11 events in this file, but 10 written in all [rule 20]" in aged, aged)


def test_check_keeps_the_books_by_reason():
    """What is missing has a reason, and each reason is in the sum."""
    books = {"seen": 27, "written": 10, "cut": 6, "outside": 3, "past_max": 2,
             "unwritable": 1, "dropped": 1, "unrecorded_calls": 8,
             "unfollowed_calls": 3, "held_up_calls": 4, "missed_calls": 2}
    waits = {"begun": 6, "drawn": 3, "outside": 2, "lost": 1}
    right = checked([], events=books, waits=waits)
    expect("[rule 20]" not in right, right)
    for key in books:
        if key not in ("unfollowed_calls", "held_up_calls"):
            wrong = checked([], events=books | {key: books[key] + 1})
            expect("[rule 20]" in wrong, key, wrong)
    wrong = checked([], events=books | {"held_up_calls": 6})
    expect("8 calls without an event" in wrong, wrong)
    for key in waits:
        wrong = checked([], waits=waits | {key: 9})
        expect("waits at regions' ends" in wrong, key, wrong)
    wrong = checked([], events=books | {"unnamed": 1})
    expect("no name was refused" in wrong, wrong)
    right = checked([], events=books | {"unnamed": 1, "names_refused": 3})
    expect("[rule 20]" not in right, right)


def test_check_misses_the_kernels_of_launches():
    def call(name, correlation, **args):
        return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 700, "tid": 700,
                "ts": correlation, "dur": 0.5, "args": {"correlation": correlation} | args}

    launches = [call("cudaLaunchKernel_v7000", 1), call("cudaLaunchKernel_v7000", 2)]
    kernel = call("gemm", 1) | {"cat": "kernel", "pid": 0, "tid": 7}
    cupti = {"final": True, "recovered": False, "gpu": {"source": "cupti"}}
    wrong = checked(launches, **cupti)
    expect("2 kernel launches, but no kernel [rule 28]" in wrong, wrong)
    for right in (checked(launches + [kernel], **cupti),
                  checked(launches, **cupti | {"gpu": {"source": "calls"}}),
                  checked(launches, **cupti | {"gpu": {"source": "cupti", "without_time": 2}}),
                  checked(launches, **cupti | {"recovered": True}),
                  checked(launches, **cupti | {"final": False}),
                  checked(launches, **cupti | {"detail_ended": 1.5}),
                  checked([call("cudaLaunchKernel", 1, result=700)], **cupti),
                  checked(launches + [call("cudaStreamBeginCapture", 3)], **cupti),
                  checked([call("cudaMemcpy", 1)], **cupti)):
        expect("[rule 28]" not in right, right)


def test_check_counts_the_launches_that_have_a_kernel():
    """As many as the writer says, which are those that it doesn't call missing."""
    def call(correlation, name="cudaLaunchKernel"):
        return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 700, "tid": 700,
                "ts": correlation, "dur": 0.5, "args": {"correlation": correlation}}

    def told(launched, missing, partial, **more):
        return checked(events, final=True, recovered=False, gpu={
            "source": "cupti", "launched_kernels": launched, "missing_kernels": missing,
            "partial_graphs": partial} | more)

    kernel = call(1, "gemm") | {"cat": "kernel", "pid": 0, "tid": 7}
    events = [call(1), call(2), call(3, "cudaGraphLaunch"), kernel]
    for right in ((3, 2, 0), (3, 3, 1)):
        expect("[rule 20]" not in told(*right), right)
    for counts, number in (((3, 1, 0), 2), ((3, 3, 0), 0), ((3, 2, 1), 2)):
        expect(f"{number} launches with a kernel counted, but 1 are in the file [rule 20]"
               in told(*counts), counts, told(*counts))
    said = told(3, 2, 0, unknown_captures=5, unpaired_calls=6)
    for what in ("5 launches may have gone into a graph", "6 calls of CUDA's driver"):
        expect(what in said, what, said)
    expect("2 warnings" in said or "warning" in said, said)


def test_check_says_that_launches_lack_kernels():
    """A warning; a fault where none has any, and nothing while they may come."""
    def said(launched, missing, partial=0, final=True):
        return checked([], final=final, recovered=False, gpu={
            "source": "cupti", "launched_kernels": launched, "missing_kernels": missing,
            "partial_graphs": partial})

    for launched, missing, partial, words in (
            (60, 8, 0, "of 60 launches of kernels 8 lack kernels [rule 30]"),
            (60, 59, 0, "of 60 launches of kernels 59 lack kernels [rule 30]"),
            (2, 2, 2, "of 2 launches of kernels 2 lack kernels, graphs a part of theirs "
                      "[rule 30]")):
        text = said(launched, missing, partial)
        expect("warning: " + words in text, text)
        expect("[rule 28]" not in text, text)
    for counts in ((60, 0), (60, 60), (0, 0), (60, 8, 0, False)):
        expect("[rule 30]" not in said(*counts), counts, said(*counts))


def test_report():
    done = command("report", "--top", "100", sample())
    expect_equal(done.status, 0, done.stderr)
    expect("loop_dynamic [omp parallel #1]" in done.stdout, done.stdout)


def test_report_as_json():
    done = command("report", "--json", sample())
    expect_equal(done.status, 0, done.stderr)
    expect("loop_dynamic [omp parallel #1]" in json.dumps(json.loads(done.stdout)),
           done.stdout[:2000])


def test_report_top():
    path = sample()
    short, long = command("report", "--top", 2, path), command("report", path)
    expect_equal((short.status, long.status), (0, 0), short.stderr)
    expect(len(short.stdout) < len(long.stdout), "as long as without --top")


def bad_files():
    place = folder()
    whole = sample()
    with open(whole, "rb") as file:
        data = file.read()
    with gzip.open(whole) as file:
        text = file.read()
    files = {
        "truncated.pt.trace.json.gz": data[:len(data) // 2],
        "tiny.pt.trace.json.gz": data[:5],
        "empty.pt.trace.json.gz": b"",
        "empty.pt.trace.json": b"",
        "foreign.png": b"\x89PNG\r\n\x1a\n" + bytes(500),
        "words.pt.trace.json": b"these are words\n",
        "cut.pt.trace.json": text[:len(text) // 2],
        "array.pt.trace.json": b"[1, 2, 3]",
        "number.pt.trace.json": b"12",
        "deep.pt.trace.json": b"[" * 100000,
        "null.pt.trace.json": b'{"traceEvents": null}',
        "odd.pt.trace.json": b'{"traceEvents": [3, null, "x", {}, {"ph": 5}]}',
    }
    for name, content in files.items():
        path = os.path.join(place, name)
        with open(path, "wb") as file:
            file.write(content)
        yield path
    yield os.path.join(place, "not-there.json")
    yield place


def test_bad_files_are_refused_in_one_line():
    for path in bad_files():
        for name in ("report", "check"):
            done = command(name, path)
            allowed = (0, 1, 3) if "odd" in path and name == "report" else (1, 3)
            expect(done.status in allowed, f"{name} {path}: status {done.status}",
                   done.stdout[-500:], done.stderr[-500:])
            # The traces of a folder have a line each.
            if done.status == 3 and not os.path.isdir(path):
                said = (done.stdout + done.stderr).splitlines()
                expect(len(said) == 1 or name == "check" and len(said) == 2,
                       f"{name} {path}: {said}")


def test_check_takes_a_folder_as_report_does():
    place = folder()
    expect_equal(command("check", place).status, 3, "no trace in it")
    shutil.copy(sample(), os.path.join(place, "b_1.12.pt.trace.json.gz"))
    shutil.copy(sample(), os.path.join(place, "a_1.34.pt.trace.json.gz"))
    done = command("check", place)
    expect_equal(done.status, 0, done.stdout)
    expect_equal([os.path.basename(line.partition(": ")[0])
                  for line in done.stdout.splitlines()],
                 ["a_1.34.pt.trace.json.gz", "b_1.12.pt.trace.json.gz"], done.stdout)
    with open(os.path.join(place, "c_1.56.pt.trace.json"), "w", encoding="utf-8") as file:
        file.write('{"traceEvents": []}')
    expect_equal(command("check", place).status, 1, "one is bad")


def test_check_takes_what_torch_profiler_writes():
    """It has no rank, and slices that cross."""
    def slice_(ts, dur):
        return {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 700,
                "tid": 700, "ts": ts, "dur": dur, "args": {}}

    head = {"schemaVersion": 1, "deviceProperties": [], "record_shapes": 1,
            "traceEvents": [slice_(10, 5), slice_(12, 9)], "traceName": "torch.json"}
    path = os.path.join(harness.folder(), "torch.json")
    for more, status in (({}, 0), ({"traceprof": {}}, 1)):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(head | more, file)
        run = command("check", path)
        expect_equal(run.status, status, run.stdout)
        expect_equal("entries, good" in run.stdout, not status, run.stdout)


def test_check_finds_each_fault():
    with gzip.open(sample()) as file:
        top = json.load(file)

    def broken(change):
        copy = json.loads(json.dumps(top))
        change(copy)
        path = os.path.join(folder(), "a_1.1234.pt.trace.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(copy, file)
        return command("check", path).status

    slices = [number for number, event in enumerate(top["traceEvents"])
              if event["ph"] == "X"]
    first = slices[0]
    # Two slices of one thread, one after the other.
    before, after = next(
        (a, b) for a in slices for b in slices
        if top["traceEvents"][a]["tid"] == top["traceEvents"][b]["tid"]
        and top["traceEvents"][b]["dur"] > 1
        and top["traceEvents"][a]["ts"] + top["traceEvents"][a]["dur"]
        < top["traceEvents"][b]["ts"])

    def cross(copy):
        one, other = copy["traceEvents"][before], copy["traceEvents"][after]
        one["dur"] = other["ts"] + other["dur"] / 2 - one["ts"]

    def event(copy):
        return copy["traceEvents"][first]

    expect_equal(broken(lambda copy: event(copy).pop("cat")), 1, "X without cat")
    expect_equal(broken(lambda copy: event(copy).pop("dur")), 1, "X without dur")
    expect_equal(broken(lambda copy: event(copy).update(args=None)), 1, "args null")
    expect_equal(broken(lambda copy: event(copy).update(ts="5")), 1, "text for ts")
    expect_equal(broken(lambda copy: event(copy).update(ts=-5)), 1, "negative ts")
    expect_equal(broken(lambda copy: event(copy).update(name="ProfilerStepX")), 1,
                 "name of a step")
    expect_equal(broken(lambda copy: copy.pop("schemaVersion")), 1, "schemaVersion")
    expect_equal(broken(lambda copy: copy.update(traceEvents=[])), 1, "no events")
    expect_equal(broken(cross), 1, "crossing")


def test_recover_of_nothing():
    done = command("recover", folder())
    expect(done.status in (0, 1), done.stderr)
    expect_equal(command("recover", "/nonexistent").status, 3, "status")


if __name__ == "__main__":
    harness.main()
