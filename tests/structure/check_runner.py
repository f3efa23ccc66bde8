# SPDX-License-Identifier: MIT
"""What tests/run takes its words for, and what it says of a part of the build
that is not there."""

import ast
import glob
import os
import sys

import tree

sys.path.insert(0, os.path.join(tree.ROOT, "tests", "runner"))

import programs                 # noqa: E402  (needs the path above)

harness = tree.harness

SCENARIOS = {"t_word": "def test_one():\n\ndef test_two():\n",
             "t_word_lines": "def test_three():\n",
             "t_other_word": "def test_one_more():\n"}


def found(*patterns):
    """[(name, tests)] of what tests/run would run of SCENARIOS."""
    root = harness.folder()
    os.makedirs(os.path.join(root, "tests", "scenarios"))
    for name, text in SCENARIOS.items():
        with open(os.path.join(root, "tests", "scenarios", name + ".py"), "w",
                  encoding="utf-8") as file:
            file.write(text)
    return sorted((part.name.rpartition("/")[2], part.tests)
                  for part in programs.find(root, root, patterns))


def test_a_whole_name_means_that_file_alone():
    harness.expect_equal(found("t_word"), [("t_word", [])])
    harness.expect_equal(found("scenarios/t_word:test_two"), [("t_word", ["test_two"])])
    harness.expect_equal(found("t_word", "lines"), [("t_word", []), ("t_word_lines", [])])


def test_a_part_of_a_name_means_all_that_hold_it():
    harness.expect_equal(found("word"), [(name, []) for name in sorted(SCENARIOS)])
    harness.expect_equal(found("word:test_one"), [("t_other_word", ["test_one"]),
                                                  ("t_word", ["test_one"])])
    harness.expect_equal(found("t_word:test_three"), [])


def test_what_is_not_built_is_told_from_what_the_machine_lacks():
    kept, harness.PROGRAMS = harness.PROGRAMS, harness.folder()
    said = {}
    try:
        for name in ("named_ranges", "folded", "no-such-tool"):
            try:
                harness.program(name)
            except harness.Skip as skip:
                said[name] = str(skip)
    finally:
        harness.PROGRAMS = kept
    harness.expect_equal({name: (reason, programs.remedy(reason))
                          for name, reason in said.items()}, {
        "named_ranges": ("named_ranges is not built", "make programs"),
        "folded": ("folded is not built", "make programs"),
        "no-such-tool": ("no-such-tool is not on this machine", "install no-such-tool")})



def behind_main(text):
    """Functions that are made after a program has run its tests."""
    seen, found = False, []
    for node in ast.parse(text).body:
        seen |= isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)
        if seen and isinstance(node, ast.FunctionDef):
            found.append(node.name)
    return found


def test_no_test_lies_behind_what_runs_them():
    main = 'if __name__ == "__main__":\n    main()\n'
    harness.expect_equal(behind_main(f"def test_a(): pass\n{main}def test_b(): pass\n"),
                         ["test_b"])
    for path in glob.glob(os.path.join(tree.ROOT, "tests", "**", "*.py"), recursive=True):
        with open(path, encoding="utf-8") as file:
            harness.expect_equal(behind_main(file.read()), [], path)


if __name__ == "__main__":
    tree.main()
