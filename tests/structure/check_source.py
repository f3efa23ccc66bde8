# SPDX-License-Identifier: MIT
"""What can be said of the sources without building them."""

import os
import re
import shutil
import subprocess

import tree

C_FILES = (".c", ".h", ".cpp")
MOST_LINES = 700
MOST_FUNCTION_LINES = 60
MOST_FILES = 40                 # .c and .h of one folder
COLUMNS = 80

TABLE = "docs/architecture.md"
ROW = re.compile(r"^\| `((?:collector|writer|preload|tools)/[\w/]*)` \| .* \| ([^|]*)\|$", re.M)

# Which libraries only one folder may know.
FOREIGN = {
    r"zlib\.h": ("writer", "tools"),
    r"libiberty/.*|demangle\.h": ("writer",),
    r"cupti.*|cuda.*|nv.*": ("preload",),
    r"libunwind\.h": ("preload",),
    r"elfutils/.*|dwarf.*|libdw.*": ("tools",),
    r"yajl/.*|libsmartcols/.*|argp\.h|sqlite3\.h": ("tools",),
}


def may_include():
    """{folder: folders} as the table has it.  `collector` stands for all of its
    folders, as every name there stands for what lies below it."""
    return {folder.rstrip("/"): re.findall(r"`([\w/.]+?)/?`", allowed)
            for folder, allowed in ROW.findall(tree.read(TABLE))}


def includes(name):
    return re.findall(r'^\s*#\s*include\s+(["<])([^">]+)[">]', tree.read(name), re.M)


def test_includes_point_down():
    """As the table of folders says, and nobody includes what it doesn't name."""
    table = may_include()
    faults = []
    for name in tree.files(".c", ".h"):
        folder = os.path.dirname(name)
        top = name.split("/")[0]
        if top not in tree.PRODUCT or top == "include":
            continue
        if folder not in table:
            faults.append(f"{name}: {TABLE} has no row for {folder}/")
            continue
        for quote, header in includes(name):
            target = os.path.dirname(header)
            if quote == '"' and not target and header != "traceprof.h":
                faults.append(f"{name}: \"{header}\" is not written from the root")
            elif target in ("", "include", folder):
                pass
            elif target.split("/")[0] in tree.PRODUCT:
                if header not in table[folder] and not any(
                        target == allowed or target.startswith(allowed + "/")
                        for allowed in table[folder]):
                    faults.append(f"{name}: {folder}/ may not include {header}")
            for pattern, allowed in FOREIGN.items():
                if (target.split("/")[0] not in tree.PRODUCT and top not in allowed
                        and re.fullmatch(pattern, header)):
                    faults.append(f"{name}: {top}/ may not know {header}")
    tree.no_faults(faults)


def circles(arrows):
    """The strongly connected parts of {node: nodes} that have more than one
    node, each sorted."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for target in arrows.get(node, ()):
            if target not in order:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], order[target])
        if low[node] == order[node]:
            part = [stack.pop()]
            while part[-1] != node:
                part.append(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(arrows):
        if node not in order:
            visit(node)
    return found


def test_table_has_no_circle():
    """Over all parts, as the table allows and not only as files do today."""
    table = may_include()
    arrows = {folder: {other for other in table for name in allowed
                       if other != folder and
                       (other == name or other.startswith(name + "/") or
                        os.path.dirname(name) == other and name.endswith(".h"))}
              for folder, allowed in table.items()}
    tree.no_faults([" <-> ".join(part) for part in circles(arrows)])


def test_no_circle_of_files():
    """In a folder a file (x.c and x.h are one) may include another that
    includes it, but no three go round."""
    arrows = {}
    for name in tree.files(".c", ".h"):
        folder = os.path.dirname(name)
        if name.split("/")[0] not in tree.PRODUCT:
            continue
        stem = os.path.splitext(name)[0]
        arrows.setdefault(stem, set()).update(
            os.path.splitext(header)[0] for _, header in includes(name)
            if os.path.dirname(header) == folder)
    tree.no_faults([", ".join(part) for part in circles(arrows)
                    if len(part) > 2])


def test_no_crowded_folders():
    """Of those in the table, and each of these exists."""
    count = dict.fromkeys(may_include(), 0)
    for name in tree.files(".c", ".h"):
        if os.path.dirname(name) in count:
            count[os.path.dirname(name)] += 1
    tree.no_faults(
        [f"{folder}/: {number} files" for folder, number in count.items()
         if number > MOST_FILES]
        + [f"{TABLE} has a row for {folder}/, which holds nothing"
           for folder, number in count.items() if not number])


def test_no_long_files():
    tree.no_faults([
        f"{name}: {count} lines"
        for name in tree.files(".c", ".h", ".cpp", ".py", ".sh")
        for count in [tree.read(name).count("\n")] if count > MOST_LINES])


def test_no_long_functions():
    faults = []
    for name in tree.files(*C_FILES):
        start = None
        for number, line in enumerate(tree.read(name).splitlines(), 1):
            if line == "{":
                start = number
            elif line.startswith("}") and start:
                if number - start - 1 > MOST_FUNCTION_LINES:
                    faults.append(f"{name}:{start}: {number - start - 1} lines")
                start = None
    tree.no_faults(faults)


def test_no_wide_lines():
    """Strings, pragmas and hand-aligned lists may be wider."""
    faults = []
    for name in tree.files(*C_FILES):
        formatted = True
        for number, line in enumerate(tree.read(name).splitlines(), 1):
            if "clang-format o" in line:
                formatted = "clang-format on" in line
            if (formatted and len(line.expandtabs(8)) > COLUMNS
                    and '"' not in line and "#pragma" not in line
                    and "://" not in line):
                faults.append(f"{name}:{number}: {len(line.expandtabs(8))} columns")
    tree.no_faults(faults)


def test_each_file_says_what_it_is():
    faults = []
    for name in tree.files(*C_FILES):
        text = tree.read(name)
        if not text.startswith("/* SPDX-License-Identifier: MIT */\n/*"):
            faults.append(f"{name}: no licence line with a comment behind it")
        elif f"* {os.path.basename(name)} - " not in text[:400]:
            faults.append(f"{name}: the comment does not begin with name and purpose")
    for name in tree.files(".py", ".sh"):
        if "SPDX-License-Identifier: MIT" not in tree.read(name)[:200]:
            faults.append(f"{name}: no licence line")
    tree.no_faults(faults)


def test_file_names_are_unique():
    seen = {}
    for name in tree.files(*C_FILES, ".py"):
        seen.setdefault(os.path.basename(name), []).append(name)
    seen.pop("__init__.py", None)
    tree.no_faults([" and ".join(names) for names in seen.values()
                    if len(names) > 1])


def test_nothing_unfinished():
    # Spelt in pieces, so that the list does not find itself.
    words = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK",
             "not imple" + "mented", "for n" + "ow", "place" + "holder",
             "st" + "ub", "/wo" + "rk/", "/fa" + "rm/"]
    pattern = re.compile("|".join(rf"(?<![A-Za-z]){word}" + ("" if word[0] == "/" else r"\b")
                                  for word in words))
    tree.no_faults([
        f"{name}:{number}: {match.group(0)}"
        for name in tree.files(*C_FILES, ".py", ".sh", "Makefile", ".md", "run", "setup")
        for number, line in enumerate(tree.read(name).splitlines(), 1)
        for match in [pattern.search(line)] if match])


def test_memory_order_partners_exist():
    """"pairs with ACQUIRE in f()" names a function that is there."""
    names = tree.files(".c", ".h")
    product = [name for name in names if name.split("/")[0] in tree.PRODUCT]
    everything = "\n".join(tree.read(name) for name in product)
    faults = []
    for name in product:
        text = re.sub(r"\n\s*\*\s*", " ", tree.read(name))
        for partner in re.findall(r"pairs\s+with\s+(?:the\s+)?[\w/-]+\s+(?:in|of)\s+(\w+)\(\)", text):
            if not re.search(rf"^[\w \t*]*\b{partner}\([^;]*$", everything, re.M):
                faults.append(f"{name}: no function {partner}()")
    tree.no_faults(faults)


def test_clang_format():
    if not shutil.which("clang-format"):
        raise tree.Skip("clang-format is not on this machine")
    version = re.search(r"version (\d+)", tree.output("clang-format", "--version"))
    if version.group(1) != "14":
        raise tree.Skip(f"clang-format {version.group(1)}, the style is 14's")
    done = subprocess.run(["clang-format", "--dry-run", "-Werror",
                           *tree.files(*C_FILES)],
                          cwd=tree.ROOT, capture_output=True, text=True)
    places = [line.split(":")[0] for line in done.stderr.splitlines()
              if ": error:" in line]
    tree.no_faults([f"{name}: {places.count(name)} places; make format mends them"
                    for name in sorted(set(places))]
                   or done.stderr.splitlines()[:5] * (done.returncode != 0))


if __name__ == "__main__":
    tree.main()
