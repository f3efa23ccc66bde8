# SPDX-License-Identifier: MIT
"""Python functions in call stacks, in every CPython of this machine that is
known."""

import glob
import json
import os
import re
import subprocess
import sys

import harness
from harness import Skip, command, compile_program, expect, expect_equal, folder, same, traced

SCRIPT = '''\
import json, threading, traceprof, zlib
kept = []


def keep():
    kept.append(bytearray(1000000))


class Trainer:
    def step(self, number):
        passed = bytearray(200000)
        return [keep() for _ in (1,)]


def recursive(depth):
    return recursive(depth - 1) if depth else bytearray(3000000)


def other():
    block = bytearray(
        5000000)
    return len(block)


def generate():
    yield bytearray(7000000)


def squeeze():
    return zlib.compressobj()


def nested():
    return json.loads("[" * 40 + '"' + "x" * 11000000 + '"' + "]" * 40)


def main():
    kept_text = nested()
    packer = squeeze()
    trainer = Trainer()
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    for number in range(60):
        traceprof.step()
        trainer.step(number)
    recursive(5)
    sum(len(one) for one in generate())
    print("kept", len(kept))


main()
'''
ENV = {"TRACEPROF_STACK": "heap:48", "TRACEPROF_MALLOC": "large",
       "PYTHONPATH": os.path.join(harness.ROOT, "tools", "python")}


def pythons():
    """{version: path} of CPython 3.10 to 3.15."""
    found = {}
    for path in [sys.executable, *sorted(glob.glob(
            os.path.expanduser("~/.pyenv/versions/3.1*/bin/python3")))]:
        done = subprocess.run([path, "-c", "import sys; print('%d.%d' % "
                               "sys.version_info[:2])"], capture_output=True, text=True)
        if done.stdout.strip() in ("3.10", "3.11", "3.12", "3.13", "3.14", "3.15"):
            found.setdefault(done.stdout.strip(), os.path.realpath(path))
    if not found:
        raise Skip("no CPython 3.10 to 3.15 on this machine")
    return found


def record(path, **settings):
    script = os.path.join(folder(), "train.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    run = traced(path, script, env=ENV | settings)
    expect_equal((run.status, run.stdout), (0, "kept 60\n"), run.stderr)
    return run


def functions(stack):
    """Python's part of a stack as text: [(file, line, function)]."""
    return [(os.path.basename(file), int(line), name) for file, line, name in
            re.findall(r"([^;]*?\.py)\((\d+)\): ([^;]*)", stack)]


def by_size(trace):
    known = {one["args"]["stack"]: one["args"]["Call stack"]
             for one in trace.memory() if "Call stack" in one["args"]}
    return [(one["args"]["Bytes"], known[one["args"]["stack"]])
            for one in trace.memory() if "stack" in one["args"]]


def check(version, path):
    run = record(path)
    trace = run.trace
    said = f"CPython {version}"
    notes = " ".join(trace.meta["notes"])
    expect("Python" not in notes, said, notes)
    seen = {}
    for size, stack in by_size(trace):
        seen.setdefault(size // 100000, []).append(functions(stack))
    # A comprehension has a frame of its own before 3.12.
    kept = [one for one in seen[10] if one and one[0][2] == "keep"]
    expect_equal(len(kept), 60, said)
    names = [name.split(".<locals>.")[-1].split(".")[-1] for _, _, name in kept[-1]]
    expect_equal([name for name in names if name != "<listcomp>"],
                 ["keep", "step", "main", "<module>"], said)
    expect_equal([line for _, line, name in kept[-1] if name != "<listcomp>"
                  and not name.endswith("<listcomp>")], [6, 12, 46, 52], said)
    deep = next(one for one in seen[30] if one)
    expect_equal([name for _, _, name in deep],
                 ["recursive"] * 6 + ["main", "<module>"], said)
    expect_equal({line for _, line, name in deep if name == "recursive"}, {16}, said)
    thread = next(one for one in seen[50] if one)
    expect_equal((thread[0][1:], thread[1][2].split(".")[-1]), ((20, "other"), "run"),
                 said)
    made = next(one for one in seen[70] if one)
    expect_equal((made[0][2], made[0][1]), ("generate", 26), said)
    loops = sum("_PyEval_EvalFrameDefault" in stack for _, stack in by_size(trace))
    expect(loops <= len(by_size(trace)) // 20, f"{said}: {loops} loops are left")
    return run


def test_functions_files_and_lines():
    for version, path in pythons().items():
        check(version, path)


def test_leak_of_a_list_is_named():
    for version, path in pythons().items():
        run = record(path)
        done = command("memory", "--json", run.trace.path)
        places = json.loads(done.stdout)[0]["memories"][0]["places"]
        largest = max(places, key=lambda place: place["peak"])
        lines = [(frame["function"], frame.get("line")) for frame in largest["stack"]]
        expect(("keep", 6) in lines, version, lines)
        text = command("memory", run.trace.path).stdout
        # What zlib allocates is its caller's.
        expect(re.search(r"\n *2\d\d\.\d KiB +[\d.]+ % +\d squeeze train.py:30", text),
               version, text)
        growth = text.split("growth:", 1)[1].splitlines()
        expect(re.match(r" \+97\d\.\d KiB a step, 1 place explains", growth[0]),
               version, growth[:4])
        expect("keep train.py:6 < " in growth[2], version, growth[:4])


GROWS = '''\
import os, traceprof
kept = []


def keep(number):
    kept.extend([bytes(400 + number % 2) for i in range(2300)])


def main():
    for number in range(60):
        traceprof.step()
        keep(number)
    print(len(kept), os.environ.get("PYTHONMALLOC"))


main()
'''


def record_for_memory(path, *options, **settings):
    script = os.path.join(folder(), "grows.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(GROWS)
    place = os.path.join(folder(), "out")
    run = command("record", *options, "--dir", place, "--", path, script,
                  env={"PYTHONPATH": ENV["PYTHONPATH"]} | settings)
    expect_equal(run.status, 0, run.stderr)
    run.folder = place
    return run


def test_small_objects_of_a_list_are_named():
    """One command records it, one names the line: 1 MB of floats a step."""
    found = pythons()
    for version, path in found.items():
        for mode in ("sampled", "sites")[:2 if version == max(found) else 1]:
            run = record_for_memory(path, "--memory", "--malloc", mode)
            expect_equal(run.stdout, "138000 malloc\n", f"{version} {run.stderr}")
            memory, = json.loads(command("memory", "--json", *run.files).stdout)[0]["memories"]
            grows = [place for place in memory["places"] if place.get("growth")]
            said = version, mode, memory["growth"], [place["growth"] for place in grows]
            expect(grows and memory["growth"]["for_each"] == "step", *said)
            expect(700000 <= sum(place["growth"] for place in grows) <= 1300000, *said)
            for place in grows:
                lines = [frame["line"] for frame in place["stack"]
                         if frame.get("file", "").endswith("grows.py")]
                expect_equal(lines[:1], [6], str(said))


def test_memory_is_recorded_as_the_user_wants():
    path = list(pythons().values())[-1]
    run = record_for_memory(path, "--memory", PYTHONMALLOC="debug",
                            TRACEPROF_MALLOC_SAMPLE="4M")
    expect_equal(run.stdout, "138000 debug\n", run.stderr)
    expect_equal(run.trace.meta["heap"]["sample_bytes"], 4 << 20, run.trace.meta)
    run = record_for_memory(path)
    expect_equal(run.stdout, "138000 None\n", run.stderr)


def made_up(*flags):
    """An interpreter that says where its objects have what, as 3.14 does."""
    program = compile_program("made_up_python.c", "-O1", "-rdynamic", *flags, name="made_up")
    run = same(program, env={"TRACEPROF_MALLOC": "all", "TRACEPROF_STACK": "heap"})
    block, = [event for event in run.trace.memory()
              if 5000 <= event["args"]["Bytes"] < 5100]
    return block["args"]["Call stack"], str(run.trace.meta["notes"])


def test_an_interpreter_is_read_by_its_own_word():
    for minor in (14, 15):
        stack, notes = made_up(f"-DMINOR={minor}")
        expect("/made/up.py(15): inner;/made/up.py(23): outer;" in stack, minor, stack)
        expect("CPython" not in notes, notes)


def test_parts_of_the_loop_that_lie_elsewhere_are_known():
    """As in Debian's 3.14, where a profile took most of it for rare."""
    stack, notes = made_up("-DSPLIT", "-O2")
    expect("/made/up.py(15): inner;/made/up.py(23): outer;" in stack, stack)
    expect("EvalFrame" not in stack, stack)
    expect("CPython" not in notes, notes)


def test_a_loop_of_functions_that_jump_to_each_other_is_said():
    """Those are no parts of it; as in interpreters that clang makes of 3.14."""
    stack, notes = made_up("-DAPART", "-O2")
    expect("an_operation" in stack and "up.py" not in stack, stack)
    expect("the loop of CPython 3.14.0 isn't in them" in notes, notes)


def test_a_frame_that_is_nowhere_ends_the_stack():
    for place in (8, 4096, 1 << 46, 0x7fffffffeff8, 1 << 60, (1 << 64) - 112, (1 << 64) - 8):
        stack, _ = made_up(f"-DWILD={place}u")
        expect("/made/up.py(15): inner;/made/up.py(23): outer;" in stack, place, stack)


def test_an_interpreter_without_a_gil_is_left_alone():
    stack, notes = made_up("-DFREE_THREADED")
    expect("up.py" not in stack and "_PyEval_EvalFrameDefault" in stack, stack)
    expect("functions in stacks, data loading and compilations are left out: it runs "
           "without the GIL" in notes, notes)


def test_python_has_room_in_a_deep_stack():
    """Forty levels of the JSON scanner lie on top of it."""
    for version, path in pythons().items():
        for depth in (16, 6):
            run = record(path, TRACEPROF_STACK=f"heap:{depth}")
            known = {one["args"]["stack"]: one["args"]["Call stack"]
                     for one in run.trace.memory() if "Call stack" in one["args"]}
            made = [known[one["args"]["stack"]] for one in run.trace.memory()
                    if one["args"]["Bytes"] // 1000000 == 11 and "stack" in one["args"]]
            deep = [stack for stack in made if "raw_decode" in stack]
            expect(deep, version, made)
            for stack in deep:
                expect_equal(len(stack.split(";")), depth, stack)
                names = [name.split(".")[-1] for _, _, name in functions(stack)]
                expect_equal(names[:3], ["raw_decode", "decode", "loads"], stack)
                expect(depth == 6 or "nested" in names, version, stack)


if __name__ == "__main__":
    harness.main()
