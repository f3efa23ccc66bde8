# SPDX-License-Identifier: MIT
"""Options are written once: help, man page and parser say the same."""

import glob
import os
import re

import tree
from harness import COMMAND

PAGE = "docs/man/libtraceprof.7"


def listed():
    """NAME of each row of OPTIONS(X)."""
    text = tree.read("collector/control/options.h")
    block = re.search(r"#define OPTIONS\(X\)(.*?)clang-format on", text, re.S)
    return re.findall(r'X\(\w+,\s*\w+,\s*"(\w+)"', block.group(1))


def flag(name):
    return "--" + name.lower().replace("_", "-")


def test_help_names_each_option_and_no_other():
    shown = tree.output(COMMAND, "record", "--help")
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", shown))
    own = {"--help", "--usage", "--version", "--on-file", "--output", "--memory",
           "--color"}
    wanted = {flag(name) for name in listed()}
    tree.no_faults([f"record --help lacks {name}" for name in sorted(wanted - flags)]
                   + [f"record --help has {name}" for name in sorted(flags - wanted - own)])


def test_page_names_each_variable_and_no_other():
    shown = set(re.findall(r"^\.It Ev TRACEPROF_(\w+)", tree.read(PAGE), re.M))
    wanted = set(listed())
    tree.no_faults([f"{PAGE} lacks TRACEPROF_{name}" for name in sorted(wanted - shown)]
                   + [f"{PAGE} has TRACEPROF_{name}" for name in sorted(shown - wanted)])


def test_options_command_lists_each():
    shown = tree.output(COMMAND, "options")
    tree.no_faults([f"traceprof options lacks {name}" for name in listed()
                    if f"TRACEPROF_{name}" not in shown])


def test_documents_name_no_unknown_variable():
    known = set(listed())
    faults = []
    for name in tree.files(".md", ".1", ".3", ".7"):
        for word in set(re.findall(r"\bTRACEPROF_([A-Z][A-Z0-9_]*[A-Z0-9])\b", tree.read(name))):
            if word not in known and word not in ("SCOPE", "FUNCTION"):
                faults.append(f"{name}: TRACEPROF_{word}")
    tree.no_faults(faults)


def test_each_command_has_a_page():
    commands = re.findall(r"^  (\w+) ", tree.output(COMMAND, "--help"), re.M)
    tree.expect(commands, "traceprof --help lists no command")
    pages = {os.path.basename(path) for path in
             glob.glob(os.path.join(tree.ROOT, "docs", "man", "*.1"))}
    tree.no_faults([f"docs/man lacks traceprof-{name}.1" for name in commands
                    if f"traceprof-{name}.1" not in pages])


if __name__ == "__main__":
    tree.main()
