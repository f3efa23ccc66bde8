# SPDX-License-Identifier: MIT
"""Whom our own calls reach: whom the loader would have bound them to."""

import os
import re
import subprocess

import harness
from harness import compile_program, expect, expect_equal, folder

WITH_VERSIONS = """
int setsid(void) { return -1; }
int getppid(void) { return 77; }
int sched_yield(void) { return 0; }
"""


def slots():
    """{where: name} of the words that the loader fills in for our calls."""
    done = subprocess.run(["readelf", "-rW", harness.LIBRARY], capture_output=True,
                          text=True, check=True)
    return {int(at, 16): name for at, name in re.findall(
        r"^([0-9a-f]+) .*_JUMP_SLOT? +\w+ ([\w.]+)", done.stdout, re.M)}


def reached(program, before="", **settings):
    """{name: file+offset}, as that program sees it."""
    words = slots()
    expect(len(words) > 100, f"only {len(words)} calls")
    offsets = os.path.join(folder(), "offsets")
    with open(offsets, "w", encoding="ascii") as file:
        file.writelines(f"{at:x}\n" for at in words)
    env = harness.clean_environment() | settings | {
        "LD_PRELOAD": f"{before}{harness.LIBRARY}",
        "TRACEPROF_DIR": os.path.join(folder(), "out")}
    done = subprocess.run([program, offsets], env=env, capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr[-2000:])
    lines = (line.split() for line in done.stdout.splitlines())
    return {words[int(at, 16)]: where for at, where in lines}


def compare(program, before="", own=()):
    """As with LD_BIND_NOW, where the loader does it; recorded, and left alone."""
    for settings in {"TRACEPROF_MALLOC": "all"}, {"TRACEPROF": "0"}:
        wanted = reached(program, before, LD_BIND_NOW="1", **settings)
        found = reached(program, before, **settings)
        others = {name: (where, wanted[name]) for name, where in found.items()
                  if where != wanted[name]}
        expect(not others, f"(bound, by the loader) under {settings}: {others}")
        for name, file in own:
            expect(os.path.basename(file) in found[name], name, found[name])


def test_a_program_without_functions_of_its_own():
    program = compile_program("slots.c", "-ldl")
    compare(program, own=[("malloc", "libtraceprof.so"), ("realpath", "libc.so.6")])


def test_a_function_of_the_programs_own_has_no_version():
    """dlvsym() passes over it: our sched_yield() would be libc's, and our malloc() not ours."""
    program = compile_program("slots.c", "-DOWN", "-fno-builtin", "-ldl", name="owns")
    compare(program, own=[("sched_yield", program), ("strlen", program),
                          ("malloc", "libtraceprof.so")])


def test_entries_of_an_executable_at_a_fixed_address():
    """dlsym() finds them: it would be bound a second time, at its first call."""
    program = compile_program("slots.c", "-DTAKEN", "-no-pie", "-fno-pie", "-ldl",
                              name="fixed")
    compare(program, own=[("malloc", "libtraceprof.so"), ("setsid", "libc.so.6")])


def library_with_versions(*flags):
    place = folder()
    source, script, built = (os.path.join(place, f"versions{end}")
                             for end in (".c", ".map", ".so"))
    with open(source, "w", encoding="ascii") as file:
        file.write(WITH_VERSIONS)
    with open(script, "w", encoding="ascii") as file:
        file.write("OTHER_1 { global: setsid; };\n"
                   "GLIBC_2.2.5 { global: sched_yield; };\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-fno-builtin", source, "-o", built,
                    f"-Wl,--version-script={script}", *flags], check=True)
    return built


def test_a_library_before_ours_with_versions_and_without():
    """The loader passes over another version, and takes the right one, or none."""
    program = compile_program("slots.c", "-ldl")
    for flags in (), ("-Wl,--hash-style=sysv",):
        before = library_with_versions(*flags)
        compare(program, before + ":", own=[("setsid", "libc.so.6"), ("getppid", before),
                                            ("sched_yield", before)])


def test_a_tools_calls_are_bound_as_they_are_made():
    env = harness.clean_environment() | {"LD_PRELOAD": harness.LIBRARY,
                                         "LD_DEBUG": "bindings"}
    done = subprocess.run(["/bin/true"], env=env, capture_output=True, text=True)
    bound = re.findall(r"binding file \S*libtraceprof\.so \[0\] to", done.stderr)
    expect_equal(done.returncode, 0)
    expect(len(bound) < 40, f"{len(bound)} were bound")


if __name__ == "__main__":
    harness.main()
