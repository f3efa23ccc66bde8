# SPDX-License-Identifier: MIT
"""What docs/ points at exists: tests, files, functions."""

import os
import re

import tree


def documents():
    return [name for name in tree.files(".md") if name.startswith("docs/")]


def test_tests_that_are_named_exist():
    places = {os.path.basename(name): name for name in tree.files(".c", ".py")
              if name.startswith("tests/")}
    faults = []
    count = 0
    for document in documents():
        for file, test in re.findall(r"`(\w+\.(?:py|c)): (\w+)`",
                                     tree.read(document)):
            count += 1
            if file not in places:
                faults.append(f"{document}: there is no {file}")
            elif not re.search(rf"\b{test}\(", tree.read(places[file])):
                faults.append(f"{document}: {file} has no {test}")
    tree.expect(count > 30, "too few found: the search is broken")
    tree.no_faults(faults)


def test_tests_named_without_their_file_exist():
    """In a table whose head has the file, say."""
    files = [name for name in tree.files(".c", ".py") if name.startswith("tests/")]
    there = {os.path.basename(name).split(".")[0] for name in files}
    for name in files:
        there |= set(re.findall(r"^(?:def |static void )(test_\w+)\(",
                                tree.read(name), re.M))
    named = {(document, test) for document in documents()
             for test in re.findall(r"`(test_\w+)`", tree.read(document))}
    tree.expect(len(named) > 30, "too few found: the search is broken")
    tree.no_faults([f"{document}: there is no {test}"
                    for document, test in sorted(named) if test not in there])


def test_files_that_are_named_exist():
    """Not those of a recipe, in docs/adding-a-hook.md."""
    recipe = {"preload/file_hooks.c", "tests/programs/syncs.c",
              "tests/scenarios/t_files.py"}
    faults = []
    for document in documents():
        text = tree.read(document)
        named = re.findall(r"`((?:preload|collector|writer|tools|tests|include|docs)"
                           r"/[\w/.-]*\w)`", text)
        named += [os.path.join("docs", link)
                  for link in re.findall(r"\]\((\w[\w-]*\.md)\)", text)]
        faults += [f"{document}: there is no {name}"
                   for name in sorted(set(named) - recipe)
                   if not os.path.exists(os.path.join(tree.ROOT, name))]
    tree.no_faults(faults)


if __name__ == "__main__":
    tree.main()
