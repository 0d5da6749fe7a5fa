#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds tracer/ and analyzer/ to the plan of docs/architecture.md.

    house.py SOURCE-FOLDER      reports every fault; the exit status is 1 if there is any
    house.py --self-test        makes a small tree with each fault, and looks whether it is reported

Refused: an include path with ".."; an include of a header that no linked target shows; folders that
need each other; more than 40 .c files in a folder; a line of a CMakeLists.txt over 100 columns;
target_sources; a struct, union or enum of the analyzer that two headers define; realloc() in the
analyzer, but for GROWN; a label of __asm__ that C sees and that is not .globl (on aarch64 gas makes the section of
it, and C reads the address of something else); in the tracer, what takes the lock of the locales, which the program may
hold around a hook.

And the page is compared with the targets. Its drawing has each folder once, and each folder uses only those
on lower lines. Its table has each folder once; what a row names is used, and what else is used, those use too.

What targets link is read from the CMakeLists.txt themselves: both sides of a condition count.
"""
import pathlib
import re
import sys
import tempfile

TOPS = ("tracer", "analyzer")
FILES_MOST = 40
COLUMNS_MOST = 100
SCOPES = {"PUBLIC", "PRIVATE", "INTERFACE"}
MAKERS = {"add_library", "add_executable", "mt_add_library"}


class Target:
    def __init__(self, folder):
        self.folder = folder
        self.shown = set()  # folders that who links it sees
        self.own = set()  # folders that its sources see
        self.passed_on = set()  # targets linked for others
        self.linked = set()


def commands(text):
    text = re.sub(r"#[^\n]*", "", text)
    for match in re.finditer(r"(\w+)\s*\(((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*)\)", text):
        yield match[1].lower(), re.findall(r'"[^"]*"|[^\s"]+', match[2])


def scoped(words):
    scope = "PUBLIC"
    for word in words:
        if word in SCOPES:
            scope = word
        else:
            yield scope, word


def folders_of(root, folder, word):
    word = word.replace("${CMAKE_CURRENT_SOURCE_DIR}", str(folder)).replace("${PROJECT_SOURCE_DIR}", str(root))
    path = folder / word
    if "${" in word:  # chosen by processor
        return {p for p in folder.glob(re.sub(r"\$\{\w+\}", "*", word)) if p.is_dir()}
    return {path.resolve()} if path.is_dir() else set()


def read_targets(root, faults):
    targets = {}
    lists = [p for top in TOPS for p in sorted((root / top).rglob("*")) if p.name == "CMakeLists.txt" or p.suffix == ".cmake"]
    parsed = [(p, list(commands(p.read_text()))) for p in lists]
    for path, calls in parsed:
        for name, words in calls:
            if name in MAKERS and words:
                target = targets[words[0]] = Target(path.parent)
                target.own.add(path.parent)
                if name == "mt_add_library":
                    target.shown.add(path.parent)
    for path, calls in parsed:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if len(line) > COLUMNS_MOST and path.name == "CMakeLists.txt":
                faults.append(f"{path.relative_to(root)}:{number}: {len(line)} columns")
        for name, words in calls:
            if name == "target_sources":
                faults.append(f"{path.relative_to(root)}: target_sources: name sources where the target is made")
            if any(re.match(r"\.\.(/|$)", w) or "/../" in w for w in words):
                faults.append(f"{path.relative_to(root)}: {name}({words[0]} ...): a path with ..")
            if not words or words[0] not in targets:
                continue
            target = targets[words[0]]
            for scope, word in scoped(words[1:]):
                if name == "target_include_directories":
                    found = folders_of(root, path.parent, word)
                    target.own |= found if scope != "INTERFACE" else set()
                    target.shown |= found if scope != "PRIVATE" else set()
                elif name == "target_link_libraries":
                    if scope != "INTERFACE":
                        target.linked.add(word)
                    if scope != "PRIVATE":
                        target.passed_on.add(word)
    return targets


def shown_by(targets, name, seen):
    """Folders that a linked target shows, its own and those it passes on."""
    if name not in targets or name in seen:
        return set()
    seen.add(name)
    folders = set(targets[name].shown)
    for other in targets[name].passed_on:
        folders |= shown_by(targets, other, seen)
    return folders


def seen_from(targets, folder):
    """What the files of a folder may include: what any of its targets sees."""
    folders = {folder}
    seen = set()
    for target in targets.values():
        if target.folder != folder and folder not in target.own:
            continue
        folders |= target.own | target.shown
        for other in target.linked | target.passed_on:
            folders |= shown_by(targets, other, seen)
    return folders


def check_includes(root, targets, faults):
    files = [p for top in TOPS for p in sorted((root / top).rglob("*")) if p.suffix in (".c", ".h", ".def")]
    headers = {}
    for path in files:
        headers.setdefault(path.name, []).append(path)
    edges = {}
    allowed = {}
    for path in files:
        folder = path.parent
        allowed.setdefault(folder, seen_from(targets, folder))
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.M):
            if ".." in name:
                faults.append(f"{path.relative_to(root)}: includes {name}: a path with ..")
            places = [p.parent for p in headers.get(pathlib.PurePath(name).name, [])]
            if not places or folder in places:
                continue
            shown = [p for p in places if p in allowed[folder]]
            if not shown:
                faults.append(f"{path.relative_to(root)}: includes {name}, which no linked target shows")
            for place in shown or places:
                edges.setdefault(folder, {})[place] = path.name
    return edges


def add_links(targets, edges):
    for name, target in targets.items():
        for other in target.linked | target.passed_on:
            if other in targets and targets[other].folder != target.folder:
                edges.setdefault(target.folder, {}).setdefault(targets[other].folder, name)


def find_cycle(edges):
    state, way = {}, []

    def visit(folder):
        state[folder] = "open"
        way.append(folder)
        for place in sorted(edges.get(folder, {})):
            if state.get(place) == "open":
                return way[way.index(place):] + [place]
            if place not in state:
                cycle = visit(place)
                if cycle:
                    return cycle
        way.pop()
        state[folder] = "done"
        return None

    for folder in sorted(edges):
        if folder not in state:
            cycle = visit(folder)
            if cycle:
                return cycle
    return None


def check_folders(root, faults):
    for top in TOPS:
        for folder in [root / top, *sorted(p for p in (root / top).rglob("*") if p.is_dir())]:
            count = len(list(folder.glob("*.c")))
            if count > FILES_MOST:
                faults.append(f"{folder.relative_to(root)}: {count} .c files; more than {FILES_MOST} want floors")


def check_tags(root, faults):
    places = {}
    for path in sorted((root / "analyzer").rglob("*.h")):
        for kind, tag in re.findall(r"^(struct|union|enum) (\w+) \{", path.read_text(), re.M):
            places.setdefault(tag, []).append(str(path.relative_to(root)))
    for tag, paths in places.items():
        if len(paths) > 1:
            faults.append(f"{tag} is defined twice: {', '.join(paths)}")


PAGE = "docs/architecture.md"
PUBLIC = "include/leaktide"


def braces(name):
    """a/{b,c} as a/b and a/c."""
    found = re.match(r"(.*)\{([^}]*)\}(.*)", name)
    return [found[1] + part.strip() + found[3] for part in found[2].split(",")] if found else [name]


def drawn_floors(page):
    """The line of each folder in the drawing: its two columns are the folders of TOPS."""
    floors = {}
    drawing = re.search(r"^## Folders\n.*?```\n[^\n]*\n[─┼]+\n(.*?)```", page, re.S | re.M)
    for number, line in enumerate(drawing[1].splitlines() if drawing else []):
        for top, names in zip(TOPS, line.split("│")):
            for name in re.findall(r"[\w/]+", names):
                floors.setdefault(name if name == top else f"{top}/{name}", []).append(number)
    return floors


def table_rows(page):
    """What the table says that each folder uses."""
    for folders, uses in re.findall(r"^\| (`(?:tracer|analyzer)/[^|]*) \|[^|]*\|([^|]*)\|$", page, re.M):
        for folder in braces(folders.strip("`").rstrip("/")):
            top = folder.split("/")[0]
            names = [part for name in re.findall(r"`([^`]+)`", uses) for part in braces(name)]
            yield folder, {name if name.split("/")[0] in TOPS else f"{top}/{name}" for name in names}


def reached(start, uses):
    seen, left = set(), [start]
    while left:
        new = uses.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return seen


def check_drawing(page, edges, faults):
    floors = drawn_floors(page)
    for folder in sorted(edges):
        if len(floors.get(folder, [])) != 1:
            faults.append(f"{PAGE}: the drawing has {folder} {len(floors.get(folder, []))} times")
    for folder in sorted(set(floors) - set(edges)):
        faults.append(f"{PAGE}: the drawing has {folder}, which has no target")
    for folder, used in sorted(edges.items()):
        for other in sorted(used):
            if folder in floors and other in floors and floors[folder][0] >= floors[other][0]:
                faults.append(f"{PAGE}: {folder} uses {other}, which is drawn no lower")


def check_table(page, edges, faults):
    rows = list(table_rows(page))
    uses = dict(rows)
    for folder in sorted(edges):
        count = sum(name == folder for name, _ in rows)
        if count != 1:
            faults.append(f"{PAGE}: the table has {folder} {count} times")
    for folder, names in rows:
        real = edges.get(folder, set())
        faults += [f"{PAGE}: {folder} does not use {name}" for name in sorted(names - real)]
        faults += [f"{PAGE}: {folder} uses {name}" for name in sorted(real - reached(folder, uses))]


def check_page(root, targets, edges, faults):
    page = (root / PAGE).read_text()
    used = {target.folder: set() for target in targets.values()}
    for folder, others in edges.items():
        for other in others:
            used.setdefault(folder, set()).add(other)
            used.setdefault(other, set())
    named = {str(folder.relative_to(root)): {str(other.relative_to(root)) for other in others}
             for folder, others in used.items()}
    check_drawing(page, named, faults)
    check_table(page, named, faults)
    for path in sorted((root / PUBLIC).glob("*")):
        if f"`{path.name}`" not in page:
            faults.append(f"{PAGE}: no word about {PUBLIC}/{path.name}")


# Who grows memory itself, and why; lists of rows are base/list.h.
GROWN = {
    "analyzer/base/list.c": "it is the list",
    "analyzer/base/text_builder.c": "bytes",
    "analyzer/gate/policy.c": "bytes of a file",
    "analyzer/input/csv/csv_reader.c": "bytes of a file",
    "analyzer/input/memscope/memscope_runs.c": "bytes, packed",
    "analyzer/analyses/evidence/overdue.c": "millions of small lists: from 2 rows on",
    "analyzer/analyses/sites/sheet.c": "columns of one length",
    "analyzer/msmemscope/dump/dump_blocks.c": "columns of one length",
    "analyzer/model/late_loop.c": "a ring: a power of two",
    "analyzer/model/step_series.c": "at the most so many, then it is thinned",
}


def check_growth(root, faults):
    growing = {str(path.relative_to(root)) for path in (root / "analyzer").rglob("*.[ch]")
               if re.search(r"\brealloc(?:array)?\(", path.read_text())}
    faults += [f"{name}: rows that grow are a list: base/list.h" for name in sorted(growing - set(GROWN))]
    faults += [f"{name}: grows nothing: take it off the list GROWN" for name in sorted(set(GROWN) - growing)
               if (root / name).exists()]


def check_labels(root, faults):
    for path in sorted(root.glob("*/**/*.[ch]")):
        text = path.read_text() if path.relative_to(root).parts[0] in TOPS else ""
        for name in re.findall(r'"([A-Za-z_]\w*):\\n"', text) if "__asm__(" in text else ():
            if not re.search(r'"\s*\.globl [^"]*\b' + name + r'\b', text):
                faults.append(f"{path.relative_to(root)}: {name} is not .globl")


def check_locales(root, faults):
    for path in sorted((root / "tracer").rglob("*.[ch]")):
        for name in re.findall(r"\b(dlerror|d?c?n?gettext|(?:set|new|use)locale|strerror\w*)\(", path.read_text()):
            faults.append(f"{path.relative_to(root)}: {name} takes the lock of the locales")


def check(root):
    faults = []
    root = pathlib.Path(root).resolve()
    targets = read_targets(root, faults)
    edges = check_includes(root, targets, faults)
    add_links(targets, edges)
    cycle = find_cycle(edges)
    if cycle:
        faults.append("folders need each other: " + " -> ".join(str(p.relative_to(root)) for p in cycle))
    check_folders(root, faults)
    check_tags(root, faults)
    check_growth(root, faults)
    check_labels(root, faults)
    check_locales(root, faults)
    check_page(root, targets, edges, faults)
    return faults


# Each: what is changed in a tree without faults, and words of the report.
PAGE_SOUND = """
## Folders
```
 the one │ the other
─────────┼──────────
 record  │  gate
         │  model
         │  base
```
| `tracer/record/` | rings | nothing |
| `analyzer/{gate}/` | limits | `model` |
| `analyzer/model/` | rows | `base` |
| `analyzer/base/` | memory | nothing |
"""
SOUND = {
    PAGE: PAGE_SOUND,
    "tracer/CMakeLists.txt": "add_subdirectory(record)\n",
    "tracer/record/CMakeLists.txt": "mt_add_library(mt_record ring.c)\n",
    "tracer/record/ring.c": '#include "ring.h"\n',
    "tracer/record/ring.h": "struct ring {\n};\n",
    "analyzer/base/CMakeLists.txt": "mt_add_library(mt_base arena.c)\n",
    "analyzer/base/arena.c": '#include "arena.h"\n',
    "analyzer/base/arena.h": "struct arena {\n};\n",
    "analyzer/model/CMakeLists.txt": "mt_add_library(mt_model model.c)\ntarget_link_libraries(mt_model PUBLIC mt_base)\n",
    "analyzer/model/model.c": '#include "model.h"\n',
    "analyzer/model/model.h": '#include "arena.h"\nstruct model {\n};\n',
    "analyzer/gate/CMakeLists.txt": "mt_add_library(mt_gate gate.c)\ntarget_link_libraries(mt_gate PRIVATE mt_model)\n",
    "analyzer/gate/gate.c": '#include "model.h"\n#include "arena.h"\n',
}
FAULTS = [
    ({"analyzer/gate/CMakeLists.txt": "mt_add_library(mt_gate gate.c)\ntarget_include_directories(mt_gate PRIVATE ../model ../base)\n"}, "a path with .."),
    ({"analyzer/gate/gate.c": '#include "../model/model.h"\n'}, "includes ../model/model.h: a path with .."),
    ({"analyzer/gate/CMakeLists.txt": "mt_add_library(mt_gate gate.c)\n"}, "gate.c: includes model.h, which no linked target shows"),
    ({"analyzer/model/CMakeLists.txt": "mt_add_library(mt_model model.c)\ntarget_link_libraries(mt_model PRIVATE mt_base)\n"}, "gate.c: includes arena.h, which no linked target shows"),
    ({"analyzer/base/CMakeLists.txt": "mt_add_library(mt_base arena.c)\ntarget_link_libraries(mt_base PRIVATE mt_model)\n", "analyzer/base/arena.c": '#include "model.h"\n'}, "folders need each other: analyzer/base -> analyzer/model -> analyzer/base"),
    ({f"tracer/record/part_{i}.c": "" for i in range(FILES_MOST)}, "tracer/record: 41 .c files"),
    ({"analyzer/gate/gate.h": "struct model {\n};\n"}, "model is defined twice: analyzer/gate/gate.h, analyzer/model/model.h"),
    ({"analyzer/gate/gate.c": "rows = realloc(rows, more);\n"}, "gate.c: rows that grow are a list"),
    ({"analyzer/base/list.c": ""}, "list.c: grows nothing"),
    ({"tracer/record/entry.c": '__asm__(".text\\n"\n"enter:\\n"\n"ret\\n");\n'}, "entry.c: enter is not .globl"),
    ({"tracer/record/entry.c": "say(dlerror());\n"}, "entry.c: dlerror takes the lock of the locales"),
    ({"analyzer/gate/rule.h": "enum arena {\n};\n"}, "arena is defined twice"),
    ({"analyzer/gate/more.c": "", "tracer/CMakeLists.txt": "target_sources(mt_record PRIVATE ring.c)\n"}, "target_sources"),
    ({"tracer/CMakeLists.txt": "#" * (COLUMNS_MOST + 1) + "\n"}, "101 columns"),
    ({PAGE: PAGE_SOUND.replace("model\n         │  base", "base\n         │  model")}, "model uses analyzer/base, which is drawn no lower"),
    ({PAGE: PAGE_SOUND.replace("│  base", "│")}, "the drawing has analyzer/base 0 times"),
    ({PAGE: PAGE_SOUND.replace("│  base", "│  base  cellar")}, "the drawing has analyzer/cellar, which has no target"),
    ({PAGE: PAGE_SOUND.replace("| `model` |", "| `base` |")}, "analyzer/gate uses analyzer/model"),
    ({PAGE: PAGE_SOUND.replace("| rows | `base` |", "| rows | `base`, `gate` |")}, "analyzer/model does not use analyzer/gate"),
    ({PAGE: PAGE_SOUND.replace("| `tracer/record/` |", "| record |")}, "the table has tracer/record 0 times"),
    ({"include/leaktide/marks.h": ""}, "no word about include/leaktide/marks.h"),
]


def self_test():
    failed = 0
    for change, words in [({}, None), *FAULTS]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**SOUND, **change}.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            faults = check(folder)
        if (words is None and faults) or (words and not any(words in fault for fault in faults)):
            print(f"wanted {words!r}, got {faults}")
            failed += 1
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    faults = check(sys.argv[1])
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
