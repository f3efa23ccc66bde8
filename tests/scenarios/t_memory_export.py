# SPDX-License-Identifier: MIT
"""What traceprof memory writes for other tools, read by them or by their rules."""

import json
import os
import re
import shutil
import subprocess

import harness
from harness import command, expect, expect_equal, traced

HEAP = {"TRACEPROF_STACK": "heap", "TRACEPROF_MALLOC": "all"}
FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"

# As speedscope's src/lib/file-format-spec.ts says.
UNITS = ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")

SOURCE = """\
#include <stdlib.h>
#line 1 "/odd; \\"name\\\\.c"
void *kept[8];
int main(void)
{
	for (int i = 0; i < 8; i++)
		kept[i] = malloc(1000);
	return 0;
}
"""


def odd_program():
    """Where the source's name has what parts frames, and what ends strings."""
    source = os.path.join(harness.folder(), "source.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(SOURCE)
    program = os.path.join(harness.folder(), "odd")
    subprocess.run(["gcc", "-g", "-O1", "-o", program, source], check=True)
    return traced(program, env=HEAP).files[0]


def text(path, *options):
    done = command("memory", *options, path)
    expect_equal((done.status, done.stderr), (0, ""))
    return done.stdout


def test_a_frame_of_folded_stacks_is_one_frame():
    for options, place in ((("--flame",), -1), (("--flame", "--inverted"), 1)):
        lines = text(odd_program(), *options).splitlines()
        odd = [line for line in lines if "odd" in line and "name" in line]
        expect(odd, lines)
        for line in odd:
            frames = line.rsplit(" ", 1)[0].split(";")
            expect(any(frame == 'main (/odd, "name\\.c:5)' for frame in frames), frames)


def check_speedscope(file):
    expect_equal(file["$schema"], "https://www.speedscope.app/file-format-schema.json")
    frames = file["shared"]["frames"]
    for frame in frames:
        expect(isinstance(frame["name"], str) and
               not frame.keys() - {"name", "file", "line", "col"}, frame)
    for profile in file["profiles"]:
        expect_equal(set(profile), {"type", "name", "unit", "startValue", "endValue",
                                    "samples", "weights"}, "keys")
        expect(profile["type"] == "sampled" and profile["unit"] in UNITS and
               isinstance(profile["name"], str), profile["type"])
        expect_equal(len(profile["samples"]), len(profile["weights"]), "weights")
        expect(all(weight > 0 for weight in profile["weights"]), "weight")
        expect(all(type(frame) is int and 0 <= frame < len(frames)
                   for stack in profile["samples"] for frame in stack), "frames")
        expect(profile["endValue"] >= profile["startValue"] + sum(profile["weights"]),
               "end")


def test_speedscope_file_is_as_its_format_says():
    path = odd_program()
    for options in ((), ("--asked",), ("--cost", "live"), ("--cost", "calls"),
                    ("--cost", "foreign")):
        file = json.loads(text(path, "--speedscope", *options))
        check_speedscope(file)
        names = [frame["name"] for frame in file["shared"]["frames"]]
        expect(options[-1:] == ("foreign",) or 'main (/odd; "name\\.c:5)' in names, names)


def test_flamegraph_draws_folded_stacks():
    if not os.path.exists(FLAMEGRAPH) or not shutil.which("perl"):
        raise harness.Skip("flamegraph.pl of NYTProf is not on this machine")
    folded = text(odd_program(), "--flame")
    done = subprocess.run(["perl", FLAMEGRAPH, "--countname", "bytes"], input=folded,
                          capture_output=True, text=True)
    expect_equal((done.returncode, done.stderr), (0, ""))
    whole = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
    drawn = re.search(r"<title>all \(([\d,]+) bytes", done.stdout)
    expect_equal(int(drawn.group(1).replace(",", "")), whole, "all of it")
    expect("main (/odd, " in done.stdout, "the program's line")


if __name__ == "__main__":
    harness.main()
