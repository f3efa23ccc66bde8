# SPDX-License-Identifier: MIT
"""docs/concurrency.md names each function that acquires or releases."""

import os
import re

import tree

ORDER = re.compile(r"\b(?:load_acquire|store_release|add_release|"
                   r"memory_order_(?:acquire|release|acq_rel)|"
                   r"__ATOMIC_(?:ACQUIRE|RELEASE|ACQ_REL))\b")
HEAD = re.compile(r"^(?:[\w*]+[ *]+)+?(\w+)\([^;{}]*\)\n\{", re.M)
FENCE = "atomic_thread_fence"


def in_sources():
    """{"file: function()"} of each order that is not relaxed."""
    found = set()
    for name in tree.files(".c", ".h"):
        if name.split("/")[0] not in ("preload", "collector", "writer"):
            continue
        text = re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match.group()),
                      tree.read(name), flags=re.S)
        for match in ORDER.finditer(text):
            line = text[:match.start()].rsplit("\n", 1)[-1]
            if line.startswith("#define") or FENCE in line:
                continue
            heads = HEAD.findall(text[:match.start()])
            function = heads[-1] if heads else "?"
            found.add(f"{os.path.basename(name)}: {function}()")
    return found


def in_tables():
    rows = [line for line in tree.read("docs/concurrency.md").splitlines()
            if line.startswith("|")]
    return set(re.findall(r"`(\w+\.[ch]: \w+\(\))`", "\n".join(rows)))


def test_the_tables_name_each_acquire_and_release():
    sources, tables = in_sources(), in_tables()
    tree.expect(len(sources) > 20, "too few found: the search is broken")
    tree.no_faults([f"not in docs/concurrency.md: {name}"
                    for name in sorted(sources - tables)]
                   + [f"in docs/concurrency.md, not in the sources: {name}"
                      for name in sorted(tables - sources)])


def test_each_acquire_and_release_of_collector_names_its_partner():
    """A comment within the lines before it says ACQUIRE or RELEASE."""
    faults = []
    for name in tree.files(".c", ".h"):
        if not name.startswith("collector/"):
            continue
        lines = tree.read(name).splitlines()
        for number, line in enumerate(lines):
            before = "\n".join(lines[max(0, number - 12):number + 1])
            if (ORDER.search(line) and not line.startswith("#define")
                    and not line.lstrip().startswith(("*", "/*"))
                    and not re.search(r"/\*[^/]*(ACQUIRE|RELEASE)", before)):
                faults.append(f"{name}:{number + 1}: no partner is named")
    tree.no_faults(faults)


if __name__ == "__main__":
    tree.main()
