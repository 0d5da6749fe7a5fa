"""Stacks of real programs, held against libunwind, or against the compiler's own unwinder.

    agreement_test.py COMPARED-STACKS.so

Each program runs with the debug mode on (every stack is walked twice) and with stacks walked whole.
At least 99.9 % of the compared stacks must be the same frame by frame; all others must say that
they are incomplete. No stack may be named by the id of another.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

PYTHON = """
import json, re
rows = [{"a": i, "b": [i] * 5, "c": str(i)} for i in range(6000)]
assert json.loads(json.dumps(rows)) == rows
rows.sort(key=lambda row: row["c"])
def nest(n): return [n] if n == 0 else nest(n - 1) + [n]
for _ in range(20): nest(100)
re.sub("a+", lambda m: m.group() * 2, "baab" * 1000)
"""
SQL = """
create table t(a integer, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into t select i, 'text' || i, i * 1.5 from n;
create index tb on t(b);
select count(*), sum(length(b)) from t join (select a x from t where a % 3 == 0) on x = a;
select length(json_group_array(b)) from (select b from t limit 1000);
"""
CXX = """
#include <map>
#include <regex>
#include <string>
int main() { std::map<std::string, int> m; std::regex r("a+b"); return std::regex_match("ab", r) + m.size(); }
"""
PERL = 'my %h; for (1..20000) { $h{"k$_"} = [split /,/, "a,b,c,$_"]; } print scalar(keys %h), "\\n";'
THROW = """
#include <stdexcept>
#include <string>
#include <vector>
static int thrower(int depth, const std::string &text)
{
    std::vector<std::string> kept(3, text + std::to_string(depth));
    if (depth == 0)
        throw std::runtime_error(kept[0]);
    try {
        return thrower(depth - 1, kept[1]) + (int)kept.size();
    } catch (const std::logic_error &) {
        return 1;
    }
}
int main()
{
    int caught = 0;
    for (int i = 0; i < 2000; i++)
        try {
            thrower(i % 30, "a text that is too long to be kept in place");
        } catch (const std::exception &error) {
            std::string copy = error.what();
            caught += copy.size() > 0;
        }
    return caught == 2000 ? 0 : 1;
}
"""


def programs(folder):
    """Name, command and, of captures, each how manieth is compared."""
    sources = {"program.cc": CXX, "throw.cc": THROW, "script.sql": SQL, "script.py": PYTHON}
    for name, text in sources.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    yield "python3", [sys.executable, "-S", os.path.join(folder, "script.py")], 4
    if shutil.which("sqlite3"):
        yield "sqlite3", ["sqlite3", ":memory:", f".read {folder}/script.sql"], 1
    if shutil.which("perl"):
        yield "perl", ["perl", "-e", PERL], 4
    if shutil.which("clang++"):
        yield "clang++", ["clang++", "-fsyntax-only", "-std=c++17", f"{folder}/program.cc"], 16
    for name, compiler in compilers():
        for kind in ("-fomit-frame-pointer", "-fno-omit-frame-pointer"):
            program = os.path.join(folder, "throw" + kind)
            subprocess.run([*compiler, "-O2", kind, "-o", program, f"{folder}/throw.cc"], check=True)
            yield f"exceptions, {name} {kind}", [program], 1


def compilers():
    """Name and command of each that is at hand."""
    for name in ("g++", "clang++"):
        if shutil.which(name):
            yield name, [name]
    zig = shutil.which("zig") or shutil.which("python-zig")
    if zig:
        yield "zig", [zig, "c++"]


def run(library, folder, command, every, mode):
    """The counts of one run."""
    result = os.path.join(folder, "result.json")
    if os.path.exists(result):
        os.remove(result)
    environment = dict(os.environ, LD_PRELOAD=library, PYTHONMALLOC="malloc",
                       COMPARED_STACKS_RESULT=result, COMPARED_STACKS_MODE=mode,
                       COMPARED_STACKS_EVERY=str(every))
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   check=True, timeout=200)
    total = {}
    with open(result, encoding="utf-8") as file:
        for line in file:
            for key, value in json.loads(line).items():
                total[key] = total.get(key, type(value)()) + value if key != "peer" else value
    return total


def complaints(counts):
    """What is wrong with a run."""
    bad = [f"{counts[key]} {key}" for key in ("wrong", "wrong_ids", "mismatches") if counts[key]]
    if counts["equal"] < 0.999 * counts["compared"] or counts["compared"] < 100:
        bad.append(f"only {counts['equal']} of {counts['compared']} are the same")
    if counts["complete"] < 0.999 * counts["captured"]:
        bad.append(f"only {counts['complete']} of {counts['captured']} are complete")
    return bad


def main():
    library = sys.argv[1]
    failures = 0
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, command, every in programs(folder):
            for mode in ("check", "plain"):
                counts = run(library, folder, command, every, mode)
                bad = complaints(counts)
                compared += counts["compared"]
                failures += bool(bad)
                print(f"{name}, {mode}: {counts}" + "".join(f"\n  {text}" for text in bad))
    print(f"{compared} stacks compared")
    if compared < 100000:
        print("fewer than 100000")
        failures += 1
    return 1 if failures else 0


sys.exit(main())
