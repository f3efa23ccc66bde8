# SPDX-License-Identifier: MIT
"""What commands print, on terminals of 80 and 200 columns and in a pipe: no line is
wider than the terminal where it could be broken, and nothing is lost by it."""

import re

import t_report
import t_sums
from harness import command, expect, main, program
from t_sums import kept

COMMANDS = (("report",), ("report", "--tree"), ("report", "--by", "thread"),
            ("report", "--by", "stream"), ("report", "--by", "site"), ("memory",),
            ("steps",))
UNIT = r"(ns|us|ms|s|%|B|[KMGT]iB|[KMG]B/s)"


def traces():
    return [kept(make) for make in (t_sums.openmp_with_stacks, t_sums.torch, t_sums.gpu)]


def shown(columns, *options):
    """What a terminal of so many columns gets; 0: a pipe."""
    done = command(*options, env={"COLUMNS": str(columns)} if columns else {})
    return done.stdout


def each():
    for path in traces():
        for options in COMMANDS:
            yield (*options, path)
        yield "diff", path, path
    yield ("doctor",)
    yield "doctor", "--", program("mesh")


def could_be_broken(line, columns):
    """One word, mostly a path, may be wider; what is after a line's head."""
    text = line.strip()
    return len(line) > columns and " " in text and any(
        len(word) + 2 <= columns and line.find(word) + len(word) > columns
        for word in text.split())


def test_no_line_is_wider_than_the_terminal():
    for options in each():
        for columns in (80, 200):
            wide = [line for line in shown(columns, *options).splitlines()
                    if could_be_broken(line, columns)]
            expect(not wide, f"{columns} columns: {options}", *wide)


def test_a_pipe_has_each_sentence_in_one_line():
    """And a terminal has the same words."""
    for options in each():
        if options[0] == "steps":       # all of it is indented
            continue
        words = " ".join(shown(80, *options).split())
        for line in shown(0, *options).splitlines():
            if re.match(r"note: |GPU \d|Recording|Losses|Not |host memory|in all|[AB]  |The step",
                        line):
                expect(" ".join(line.split()) in words, options, line, words)


def test_a_number_stays_beside_its_unit():
    for options in each():
        for columns in (40, 60, 80):
            lines = shown(columns, *options).splitlines()
            for line, after in zip(lines, lines[1:]):
                expect(not (re.search(r"[\d.]$", line)
                            and re.match(rf" *{UNIT}([.,;:) ]|$)", after)),
                       f"{columns} columns: {options}", line, after)


def test_a_copy_says_where_it_goes():
    """On 80 columns, whatever else has no room."""
    text = shown(80, "report", kept(t_sums.gpu))
    for name in ("Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)"):
        whole = shown(200, "report", kept(t_sums.gpu))
        expect(name not in whole or name in text, name, text)
    expect("Memcpy" in text, text)


def test_rates_are_plain_numbers():
    text = shown(0, "memory", kept(t_sums.openmp_with_stacks))
    found = re.search(r"allocations? of [\d.]+ \w+ \(([\d.]+) a second\)", text)
    expect(found and float(found.group(1)) > 0, "no rate", text)


def test_a_loop_has_a_short_name():
    """What a template makes of a region's name fills a screen."""
    name = "run<" + "long::names<int>, " * 20 + "int>(int)"
    path = t_report.made([
        t_report.slice_(one, 1000 * at + after, 400, cat="user_annotation")
        for at in range(40) for one, after in ((name, 0), ("b" + name, 500))])
    text = shown(0, "steps", path)
    expect(re.search("40 x b?run<", text) and all(len(line) < 300 for line in text.splitlines()),
           text)


if __name__ == "__main__":
    main()
