"""Programs that are measured, natively and under a recorder, and what a recording of one is.

Used by bench_recording.py and by peers. Nothing here knows who records.
"""

import ctypes.util
import glob
import json
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import time

PYTHON_SCRIPT = """
import json
rows = [{"id": i, "name": f"item {i}", "tags": [str(i % 7), str(i % 11)]} for i in range(N)]
text = json.dumps(rows)
back = json.loads(text)
tree = {}
for row in back:
    tree.setdefault(row["tags"][0], {}).setdefault(row["tags"][1], []).append(row["name"])
print(len(text), sum(len(v) for branch in tree.values() for v in branch.values()))
"""
SQL_SCRIPT = """
create table t(id integer primary key, k integer, name text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < N)
insert into t select i, i * 7919 % 1000, 'name ' || i from n;
create index by_k on t(k);
select count(*), sum(length(a.name)) from t a join t b on a.k = b.k and a.id = b.id + 1000;
select count(distinct json_object('id', id, 'name', name)) from t;
"""
CPP_SOURCE = """
#include <regex>
#include <map>
#include <future>
#include <string>
int main() { std::map<std::string, std::regex> m; m.emplace("a", std::regex("a+(b|c)*"));
             return std::async([] { return 0; }).get() + (int)m.size() - 1; }
"""
PERL_SCRIPT = """
my (%words, @lines);
for my $i (1 .. N) { push @lines, join(" ", "line", $i, $i % 97, "text" x ($i % 5)); }
for my $line (@lines) { for my $word (split / /, $line) { $words{$word}++; } }
my @sorted = sort { $words{$b} <=> $words{$a} || $a cmp $b } keys %words;
print scalar(@sorted), " $sorted[0]\\n";
"""

# struct mt_file_header: 32 bytes of small fields, 5 numbers, three texts, checksum, 3 numbers
STACK_CODE = 26
COUNT_OFFSET = 8 + 8 + 16 + 5 * 8 + 512 + 1024 + 512 + 8 + 3 * 8


def say(name, unit, runs, **more):
    print(json.dumps({"name": name, "unit": unit, "median": statistics.median(runs),
                      "min": min(runs), "runs": runs, **more}), flush=True)


def run(command, environment, stdin=None):
    """(wall seconds, processor seconds of the process tree, output)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with open(stdin or os.devnull, "rb") as source:
        done = subprocess.run(command, env=environment, stdin=source, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used, done.stdout


def trace_facts(folder):
    """(events, bytes) of a finished recording, from the headers of its files."""
    events = size = 0
    for name in os.listdir(folder):
        if name.endswith(".mtt"):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                header = file.read(4096)
            # state, last_ticks, last_monotonic_ns, event_count: after the checksummed part
            events += struct.unpack_from("<Q", header, COUNT_OFFSET)[0]
            size += os.path.getsize(path)
    return events, size


def stack_count(folder):
    """`stack` records in the recording; 0 where the zstd library cannot be had."""
    name = ctypes.util.find_library("zstd")
    if not name:
        return 0
    unpack = ctypes.CDLL(name).ZSTD_decompress
    unpack.restype = ctypes.c_size_t
    count = 0
    for path in glob.glob(os.path.join(glob.escape(folder), "*.mtt")):
        with open(path, "rb") as file:
            data = file.read()
        for payload, raw_bytes in event_chunks(data):
            raw = ctypes.create_string_buffer(raw_bytes)
            if unpack(raw, ctypes.c_size_t(raw_bytes), payload,
                      ctypes.c_size_t(len(payload))) == raw_bytes:
                count += sum(code & 31 == STACK_CODE for code in column_0(raw.raw))
    return count


def event_chunks(data):
    """(packed payload, bytes it unpacks to) of the chunks of a recording's file."""
    at = struct.unpack_from("<H", data, 12)[0]
    while data[at:at + 4] == b"MTCK":
        kind, header_bytes, size, raw_bytes = struct.unpack_from("<HHII", data, at + 4)
        begin = at + header_bytes
        if kind == 1:
            yield data[begin:begin + size], raw_bytes
        at = (begin + size + 7) & ~7


def varint(raw, at):
    value = shift = 0
    while raw[at] & 128:
        value |= (raw[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | raw[at] << shift, at + 1


def column_0(raw):
    """The codes of a chunk's events."""
    columns, at = varint(raw, 0)
    begin = size = 0
    before = 0
    for _ in range(columns):
        number, at = varint(raw, at)
        column_bytes, at = varint(raw, at)
        if number == 0:
            begin, size = before, column_bytes
        before += column_bytes
    return raw[at + begin:at + begin + size]


class Program:
    def __init__(self, name, command, stdin=None, environment=None):
        self.name = name
        self.command = command
        self.stdin = stdin
        self.environment = dict(os.environ, **(environment or {}))

    def run(self, before=(), environment=None):
        """After the words `before`, with more in the environment."""
        return run(list(before) + self.command, dict(self.environment, **(environment or {})),
                   self.stdin)


def real_programs(work, scale):
    """Those that are installed; a larger scale makes them smaller."""
    found = []
    script = os.path.join(work, "script.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PYTHON_SCRIPT.replace("N", str(200_000 // scale)))
    # The interpreter itself: a launcher script in front of it would be recorded too.
    found.append(Program("python3", [os.path.realpath(sys.executable), script],
                         environment={"PYTHONMALLOC": "malloc"}))
    if shutil.which("sqlite3"):
        sql = os.path.join(work, "script.sql")
        with open(sql, "w", encoding="utf-8") as file:
            file.write(SQL_SCRIPT.replace("< N", f"< {400_000 // scale}"))
        found.append(Program("sqlite3", ["sqlite3", ":memory:"], sql))
    if shutil.which("perl"):
        script = os.path.join(work, "script.pl")
        with open(script, "w", encoding="utf-8") as file:
            file.write(PERL_SCRIPT.replace("N)", f"{120_000 // scale})"))
        found.append(Program("perl", [os.path.realpath(shutil.which("perl")), script]))
    if shutil.which("jq"):
        data = os.path.join(work, "data.json")
        with open(data, "w", encoding="utf-8") as file:
            json.dump([{"id": i, "group": i % 97, "name": f"item {i}"}
                       for i in range(120_000 // scale)], file)
        found.append(Program("jq", ["jq", "-c", "group_by(.group) | map({g: .[0].group, "
                                    "n: length, names: (map(select(.id % 2 == 0).name) | length)})",
                                    data]))
    if shutil.which("clang"):
        source = os.path.join(work, "source.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(CPP_SOURCE)
        found.append(Program("clang", [os.path.realpath(shutil.which("clang")), "-x", "c++",
                                       "-O0" if scale > 1 else "-O2", "-c", source,
                                       "-o", os.path.join(work, "source.o")]))
    if shutil.which("git"):
        found += git_log(work)
    return found


def git_log(work):
    """A short process: the log of a hundred commits that is made for it."""
    folder = os.path.join(work, "repository")
    stream = ["reset refs/heads/main"]
    for number in range(100):
        content = "\n".join(f"line {line * (number % 7 + 1)}" for line in range(400))
        text = f"commit {number}"
        stream += ["commit refs/heads/main", f"committer a <a@b> {1700000000 + number} +0000",
                   f"data {len(text)}", text, f"M 644 inline file-{number % 9}",
                   f"data {len(content)}", content]
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "-C", folder, "fast-import", "--quiet"], check=True,
                   input="\n".join(stream).encode() + b"\n")
    return [Program("git", ["git", "-C", folder, "--no-pager", "log", "--stat", "main"])]


