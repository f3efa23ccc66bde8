# SPDX-License-Identifier: MIT
"""What all commands of build/traceprof have in common: colour, help with an
example, completion, and the schemas of what they print for programs."""

import glob
import gzip
import json
import os
import pty
import re
import shutil
import subprocess
import time

import harness
from harness import COMMAND, Skip, clean_environment, command, ends_with_test, expect, \
    expect_equal, folder, program, traced

FIXTURES = sorted(glob.glob(os.path.join(harness.ROOT, "tests", "fixtures", "*.json")))
SCHEMAS = os.path.join(harness.ROOT, "docs", "schema")


def commands():
    return re.findall(r"^  (\w+) ", command("--help").stdout, re.M)


def flags(name):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*",
                          command(name, "--help").stdout.partition("\n\n")[2]
                          .partition("Mandatory")[0])) - {"--usage"}


# --- help and completion -------------------------------------------------------

def test_each_command_s_help_has_an_example():
    for name in commands():
        said = command(name, "--help").stdout
        found = re.search(r"^Example: traceprof (\w+)", said, re.M)
        expect(found and found.group(1) == name, name, said[-300:])


def complete(*words):
    """What bash offers for the last word."""
    script = ('eval "$("$0" completion bash)"; COMP_WORDS=("$@"); '
              'COMP_CWORD=$(($# - 1)); _traceprof; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, COMMAND, *words],
                          capture_output=True, text=True)
    expect_equal((done.returncode, done.stderr), (0, ""), words)
    return set(done.stdout.split())


def test_bash_completes_commands_and_all_options():
    expect_equal(complete("traceprof", ""), {*commands(), "--help", "--version"})
    expect_equal(complete("traceprof", "rec"), {"record", "recover"})
    for name in commands():
        expect_equal(complete("traceprof", name, "--"), flags(name), name)
    expect_equal(complete("traceprof", "report", "--so"), {"--sort"})
    expect_equal(complete("traceprof", "report", "tra"), set(), "files are bash's")


def test_what_is_no_file_is_completed():
    for words, wanted in ((("completion", ""), {"bash", "zsh", "fish"}),
                          (("ctl", "4242", "sta"), {"start", "status"})):
        expect_equal(complete("traceprof", *words), wanted, words)
    for line, wanted in (("traceprof completion ", {"bash", "zsh", "fish"}),
                         ("traceprof report --sort s", {"self", "stddev"}),
                         ("traceprof diff --color=n", {"never"})):
        if not shutil.which("fish"):
            raise Skip("fish is not on this machine")
        done = subprocess.run(
            ["fish", "--no-config", "-c",
             'set -x PATH (dirname $argv[1]) $PATH; $argv[1] completion fish | source; '
             'complete -C $argv[2]', COMMAND, line], capture_output=True, text=True)
        seen = {word.split("\t")[0].rpartition("=")[2] for word in done.stdout.splitlines()}
        expect_equal(seen, wanted, line + done.stderr)


def test_values_that_are_offered_are_taken():
    said = command("completion", "zsh").stdout.partition("report) ")[2].partition(";;")[0]
    for option in ("sort", "by"):
        words = re.search(rf"'--{option}=\[.*:\((.*)\)'", said).group(1).split()
        expect(len(words) > 7, option, words)
        for word in words:
            done = command("report", f"--{option}", word, FIXTURES[1])
            expect_equal(done.status, 0, f"--{option} {word}: {done.stderr}")
        refused = command("report", f"--{option}", "none", FIXTURES[1]).stderr
        expect_equal(re.search("one of (.*)", refused).group(1).split(", "), words, option)


def test_other_shells_are_told_the_same():
    for shell, pattern in (("zsh", r"^\t(\w+)\) _arguments((?:.|\n)*?);;"),
                           ("fish", None)):
        said = command("completion", shell)
        expect_equal(said.status, 0, said.stderr)
        for name in commands():
            if shell == "fish":
                seen = {"--" + word for word in re.findall(
                    rf"__fish_seen_subcommand_from {name}' -l ([\w-]+)", said.stdout)}
            else:
                (body,) = [body for word, body in re.findall(pattern, said.stdout, re.M)
                           if word == name]
                seen = set(re.findall(r"'(--[\w-]+)", body))
            expect_equal(seen | {"--help"}, flags(name), f"{shell}: {name}")
        if shutil.which(shell):
            done = subprocess.run([shell, "-n"], input=said.stdout, text=True,
                                  capture_output=True)
            expect_equal((done.returncode, done.stderr), (0, ""), shell)
    expect_equal(command("completion", "tcsh").status, 2)


# --- colour --------------------------------------------------------------------

def on_a_terminal(*arguments, **env):
    """What it writes there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([COMMAND, *arguments], stdout=theirs, stderr=theirs,
                               env=clean_environment() | {"TERM": "xterm"} | env)
    os.close(theirs)
    said = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:
            break
        if not block:
            break
        said += block
    process.wait()
    os.close(ours)
    return said


def test_colour():
    for arguments in (("report", FIXTURES[1]), ("doctor",), ("options",),
                      ("diff", FIXTURES[1], FIXTURES[1])):
        expect("\x1b" not in command(*arguments).stdout, "colour in a pipe")
        painted = command(*arguments, "--color=always").stdout
        if arguments[0] != "diff":
            expect("\x1b[" in painted, arguments)
        # What is free on the disk changes meanwhile.
        expect_equal(re.sub(r"\x1b\[[\d;]*m|\d+\.\d+ GiB", "", painted),
                     re.sub(r"\d+\.\d+ GiB", "", command(*arguments).stdout),
                     "another text")
    expect(b"\x1b[" in on_a_terminal("doctor"), "no colour on a terminal")
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        expect(b"\x1b[" not in on_a_terminal("doctor", **env), env)
    expect(b"\x1b[" in on_a_terminal("doctor", NO_COLOR=""), "an empty NO_COLOR")
    expect(b"\x1b[" not in on_a_terminal("doctor", "--color=never"), "never")
    expect_equal(command("report", "--color=perhaps", FIXTURES[0]).status, 2)


# --- what is no trace ------------------------------------------------------------

def test_bad_input_is_one_clear_line():
    """And nothing is left that looks like a result."""
    with open(FIXTURES[1], "rb") as file:
        whole = file.read()
    where = folder()
    for name, content, word in (
            ("empty.json", b"", "empty"), ("none.json", None, "No such file"),
            ("text.gz", b"hello", "not JSON"), ("noise", bytes(range(256)), "not JSON"),
            ("cut.gz", gzip.compress(whole)[:500], "cut short"),
            ("cut.json", whole[:900], "ends early"),
            ("object.json", b"{}", "not a trace"), ("list.json", b"[]", "bare array"),
            ("folder", "", "r")):       # a folder, or one without traces
        path = os.path.join(where, name)
        if content == "":
            os.mkdir(path)
        elif content is not None:
            with open(path, "wb") as file:
                file.write(content)
        page = os.path.join(where, "page.html")
        for words in (("report",), ("report", "--json"), ("html", "-o", page),
                      ("check",), ("steps",), ("memory",), ("symbolize",),
                      ("export", "--csv"), ("export", "--folded"),
                      ("export", "--perfetto"), ("export", "--sqlite")):
            done = command(*words, path)
            said = done.stderr + (done.stdout if words[0] == "check" else "")
            if "libsqlite3-dev" in said:
                continue
            expect_equal((done.status, said.count("\n")), (3, 1), f"{words}: {said}")
            expect(word in said and path in said, f"{words}: {said}")
            if words != ("report", "--json"):
                expect(words[0] == "check" or not done.stdout, done.stdout)
        left = set(os.listdir(where)) - {name}
        expect(not left, f"{name}: left {left}")
        if content is not None:
            os.rmdir(path) if content == "" else os.unlink(path)


# --- JSON ------------------------------------------------------------------------

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool,
         "number": (int, float), "integer": int, "null": type(None)}


def faults(value, schema, place="$"):
    """The part of JSON Schema that docs/schema uses."""
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        right = any(isinstance(value, TYPES[kind]) and (
            kind == "boolean" or not isinstance(value, bool)) for kind in kinds)
        if not right:
            yield f"{place}: {value!r} is no {kinds}"
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for key in schema.get("required", []):
            if key not in value:
                yield f"{place}: lacks {key}"
        for key, part in value.items():
            if key in known:
                yield from faults(part, known[key], f"{place}.{key}")
            elif schema.get("additionalProperties") is False:
                yield f"{place}: {key} is not described"
    if isinstance(value, list):
        for at, part in enumerate(value):
            yield from faults(part, schema.get("items", {}), f"{place}[{at}]")


def conforms(name, text):
    with open(os.path.join(SCHEMAS, name + ".json"), encoding="utf-8") as file:
        schema = json.load(file)
    expect_equal(schema["title"], f"traceprof {name} --json")
    found = list(faults(json.loads(text), schema))
    expect(not found, name, *found[:10])


def test_the_validator_finds_faults():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}},
              "required": ["a"], "additionalProperties": False}
    for value, number in (({"a": 1}, 0), ({"a": True}, 1), ({"a": "1"}, 1), ({}, 1),
                          ({"a": 1, "b": 2}, 1), ([], 1)):
        expect_equal(len(list(faults(value, schema))), number, value)


def test_json_is_as_its_schema_says():
    run = traced("train", "-e", "1", env={"OMP_NUM_THREADS": "2", "TRACEPROF_STACK":
                                          "heap", "TRACEPROF_MALLOC": "all"})
    files = [run.trace.path, *FIXTURES]
    conforms("report", command("report", "--json", *files).stdout)
    conforms("report", command("report", "--json", "--tree", *files).stdout)
    for a in files:
        for b in files:
            conforms("diff", command("diff", "--json", a, b).stdout)
        conforms("memory", command("memory", "--json", a).stdout)
    conforms("doctor", command("doctor", "--json").stdout)
    conforms("doctor", command("doctor", "--json", "--", "/bin/ls").stdout)


def test_json_of_a_running_program():
    out = folder()
    process = ends_with_test(subprocess.Popen(
        [program("train"), "-e", "100000"], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=clean_environment() | {
            "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": out}))
    while process.poll() is None:
        done = command("top", "--once", "--json", "-i", "0.1", process.pid)
        if done.status == 0:
            break
        time.sleep(0.1)
    conforms("top", done.stdout)
    process.kill()
    process.wait()
    expect_equal(command("recover", out).status, 0)


def test_each_command_with_json_has_a_schema():
    with_json = {name for name in commands() if "--json" in flags(name)}
    expect(with_json, "none found")
    expect_equal({os.path.splitext(name)[0] for name in os.listdir(SCHEMAS)}, with_json)


def ends_into(out, *arguments):
    """Its status and what it complains of.  Who ignores SIGPIPE hears of a closed pipe."""
    done = subprocess.run([COMMAND, *arguments], stdout=out, stderr=subprocess.PIPE, text=True,
                          env=clean_environment(), restore_signals=False)
    return done.returncode, done.stderr


def test_what_finds_no_room_is_no_success():
    """A report for a program, cut short on a full disk, would be taken for one."""
    trace = FIXTURES[0]
    for arguments in (["report", trace], ["report", "--json", trace], ["memory", trace],
                      ["diff", trace, trace], ["plan"], ["options"], ["--help"], ["--version"],
                      ["report", "--help"], ["record", "--usage"], ["plan", "-?"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            status, said = ends_into(full, *arguments)
        expect_equal((status, "standard output: No space left on device" in said),
                     (3, True), f"{arguments}: {said}")
        reader, writer = os.pipe()
        os.close(reader)
        status, said = ends_into(writer, *arguments)
        os.close(writer)
        expect_equal((status, said), (0, ""), arguments)


if __name__ == "__main__":
    harness.main()
