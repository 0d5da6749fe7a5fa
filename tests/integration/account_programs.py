# SPDX-License-Identifier: Apache-2.0
"""Accounts of real programs beside what the kernel says, added up by this script alone.

    account_programs.py LEAKTIDE [--recorded] [NAME ...]

Starts each program that is installed, lets it work, and compares its account with /proc/PID/status
and smaps before and after. Fails where more than 5 % of what is resident is unexplained, or a sum is more than
3 % of it outside of what these say. Prints a table.

--recorded: the programs run under the recorder, are asked for a snapshot, and are ended. Of the
accounts in the recording, the highest, the newest and that of the exit are looked at, and the
newest is compared with what /proc said before and after it was asked for: of a program that grows, it
is between.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LEAKTIDE = os.path.abspath(sys.argv[1])
UNTIL_EOF = "import sys\nsys.stdin.read()\n"
PYTHON = sys.executable

PROGRAMS = {
    "python": [PYTHON, "-c", "import json, asyncio, email, http.server\nx=[str(i) for i in range(300000)]\n" + UNTIL_EOF],
    "python threads": [PYTHON, "-c", "import threading, time\n[threading.Thread(target=lambda: (bytearray(1<<20), time.sleep(99))).start() for _ in range(40)]\n"],
    "numpy": [PYTHON, "-c", "import numpy\nx=[numpy.ones((1000,1000)) for _ in range(20)]\n" + UNTIL_EOF],
    "torch workers": [PYTHON, "-c", "import torch\nfrom torch.utils.data import DataLoader\nd=DataLoader(torch.randn(20000,512), batch_size=64, num_workers=2, prefetch_factor=8)\nk=[b for b in d]\n" + UNTIL_EOF],
    "node": ["node", "-e", "let a=[];for(let i=0;i<2e6;i++)a.push({i});process.stdin.resume()"],
    "java": None,
    "postgres": None,
    "redis": ["redis-server", "--port", "0", "--save", "", "--unixsocket", "redis.sock"],
    "git": ["git", "-C", "@repository", "cat-file", "--batch"],
    "clang": ["clang", "-O2", "-c", "-o", "/dev/null", "@large.c"],
    "gcc": None,
    "sqlite3": ["sqlite3", "data.db"],
    "nginx": None,
    "chromium": ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "about:blank"],
    "ruby": ["ruby", "-e", "x=(0..500000).map{|i| i.to_s}; STDIN.read"],
    "php": ["php", "-r", "for($i=0;$i<500000;$i++)$x[]=\"a$i\"; fgets(STDIN);"],
    "perl": ["perl", "-e", "push @x, \"a$_\" for 1..500000; <STDIN>"],
    "bash": ["bash", "-c", "x=$(seq 200000); read"],
    "gdb": ["gdb", "-q", "@self"],
    "vim": ["vim", "-es", "@large.c"],
    "openssl": ["openssl", "speed", "-seconds", "20", "rsa4096"],
    "zstd": ["sh", "-c", "exec zstd -19 -T2 -q -c < /dev/zero > /dev/null"],
    "xz": ["xz", "-9", "-k", "-c", "/dev/zero"],
    "sort": ["sh", "-c", "seq 3000000 | sort -R --parallel=2 -S 200M | sleep 99"],
}

# On their standard inputs.
TOLD = {
    "sqlite3": b"create table t(a); with recursive c(x) as (select 1 union all select x+1 from c "
               b"where x<300000) insert into t select x from c; select count(*) from t;\n",
    "git": b"".join(b"HEAD~%d\nHEAD~%d^{tree}\n" % (i, i) for i in range(200)),
}


def large_c(path):
    with open(path, "w", encoding="ascii") as file:
        for i in range(20000):
            file.write("int f%d(int x) { for (int i = 0; i < x; i++) x += i * %d; return x; }\n" % (i, i))


def words_of(name, folder):
    if name == "postgres":
        initdb = shutil.which("initdb")
        return None if not initdb else ["@postgres"]
    if name == "nginx":
        with open(os.path.join(folder, "nginx.conf"), "w", encoding="ascii") as file:
            file.write("daemon off; pid nginx.pid; error_log stderr; events {}\n"
                       "http { access_log off; server { listen unix:nginx.sock; } }\n")
        return ["nginx", "-p", folder, "-c", "nginx.conf"]
    if name == "gcc":
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], stdout=subprocess.PIPE, text=True,
                             check=False).stdout.strip()
        return [cc1, "-O2", "-quiet", "-o", "/dev/null", os.path.join(folder, "large.c")]
    if name == "java":
        with open(os.path.join(folder, "A.java"), "w", encoding="ascii") as file:
            file.write("class A { public static void main(String[] a) throws Exception { var x = new "
                       "java.util.ArrayList<int[]>(); for (int i = 0; i < 50; i++) x.add(new int[250000]);"
                       " System.in.read(); } }")
        return ["java", "-Xmx256m", os.path.join(folder, "A.java")]
    words = [word.replace("@large.c", os.path.join(folder, "large.c")) for word in PROGRAMS[name]]
    words = [word.replace("@self", LEAKTIDE).replace("@repository", os.path.dirname(os.path.abspath(__file__)))
             for word in words]
    return words


def kernel_says(process):
    """Sums of smaps by class, and status, in bytes."""
    sums = {"all": 0, "heap": 0, "stack": 0, "shared": 0}
    with open("/proc/%d/smaps" % process, encoding="utf-8", errors="replace") as file:
        for line in file:
            head = re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)", line)
            if head:
                name = head[1]
                kind = ("heap" if name == "[heap]" else "stack" if name.startswith("[stack") else
                        "shared" if name.startswith(("/dev/shm/", "/memfd:", "/SYSV", "/dev/zero")) else None)
            elif line.startswith("Rss:"):
                size = int(line.split()[1]) * 1024
                sums["all"] += size
                if kind:
                    sums[kind] += size
    with open("/proc/%d/status" % process, encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("Rss"):
                sums[line.split(":")[0]] = int(line.split()[1]) * 1024
    return sums


def account_of(process):
    done = subprocess.run([LEAKTIDE, "account", "--format=json", str(process)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    if done.returncode:
        return None, done.stderr.strip()
    answer = json.loads(done.stdout)
    tables = {table["name"]: table["rows"] for table in answer["tables"]}
    parts = {row["part"]: row["resident_bytes"] for row in tables["resident"]}
    return parts, dict(tables["resident_figures"][0], notes=[note["sentence"] for note in answer["notes"]])


def outside(size, before, after):
    """How far from the nearer of the two, of which one may be the larger."""
    return max(min(before, after) - size, size - max(before, after), 0)


def compare(name, process):
    before = kernel_says(process)
    parts, figures = account_of(process)
    after = kernel_says(process)
    if parts is None or not after["all"]:
        return "%-15s could not be read: %s" % (name, figures), False
    resident = parts["resident"]
    others = sum(size for part, size in parts.items() if part != "resident")
    differences = {
        "sum": abs(others - resident),
        "all": outside(resident - parts.get("unexplained", 0), before["all"], after["all"]),
        "shared": outside(parts.get("shared_memory", 0), before["shared"], after["shared"]),
        "RssShmem": max(0, min(said["shared"] - said["RssShmem"] for said in (before, after))),
        "file": max(0, parts.get("mapped_files", 0) - max(said["RssFile"] + said["RssShmem"]
                                                          for said in (before, after))),
    }
    worst = max(differences, key=differences.get)
    unexplained = parts.get("unexplained", 0)
    heap = parts.get("heap_not_split", 0)
    is_fine = unexplained <= resident / 20 and all(size <= resident * 0.03 for size in differences.values())
    return ("%-15s %8.1f MiB  blocks %5.1f  kept %5.1f  python %5.1f  anonymous %5.1f  shared %5.1f  files+code %5.1f  "
            "stacks %4.1f  unsplit %5.1f  unexplained %4.2f %%  largest difference %4.2f %% (%s)  %6.1f ms%s" % (
                name, resident / 2**20, *(100 * sum(parts.get(part, 0) for part in names) / resident for names in (
                    ["blocks_of_malloc", "own_of_malloc"], ["kept_free_by_malloc"],
                    ["small_python_objects", "kept_free_by_python"], ["mapped_without_a_file"],
                    ["shared_memory"], ["mapped_files", "code_and_its_data"], ["stacks_of_threads"])),
                100 * heap / resident, 100 * unexplained / resident, 100 * differences[worst] / resident, worst,
                figures["cost_ns"] / 1e6, "" if is_fine else "  WRONG")), is_fine


def newest_and_highest(recording):
    """Of the process that has most: (resident, unexplained) of the highest, the newest, and at its exit (None: it was
    killed), and how many accounts there are. None: there is none."""
    done = subprocess.run([LEAKTIDE, "account", "--format=json", recording], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=300, check=False)
    tables = {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
    if not tables["resident"]:
        return None
    process = max((row for row in tables["resident"] if row["part"] == "resident"),
                  key=lambda row: row["highest_bytes"])["process"]
    rows = {row["part"]: row for row in tables["resident"] if row["process"] == process}
    count = [row["account_count"] for row in tables["resident_figures"] if row["process"] == process][0]
    none = dict.fromkeys(("highest_bytes", "resident_bytes", "exit_bytes"), 0)
    highest, newest, at_exit = [(rows["resident"][key], rows.get("unexplained", none)[key])
                                for key in ("highest_bytes", "resident_bytes", "exit_bytes")]
    return highest, newest, at_exit if at_exit[0] else None, count


def compare_recorded(name, program, recording):
    """Ends the program, whose recorder then closes the recording."""
    process = largest_descendant(program.pid)
    said = kernel_says(process)
    subprocess.run([LEAKTIDE, "ctl", str(process), "snapshot"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=False)
    time.sleep(2)
    after = kernel_says(process)["all"] if os.path.exists("/proc/%d/smaps" % process) else 0
    program.stdin.close()
    for how, seconds in ((0, 3), (signal.SIGINT, 10), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.kill(process, how)
            program.wait(timeout=seconds)
            break
    else:
        os.killpg(program.pid, signal.SIGTERM)
        program.wait(timeout=60)
    found = newest_and_highest(recording)
    if not found:
        return "%-15s has no account" % name, False
    highest, newest, at_exit, count = found
    parts = [100 * row[1] / row[0] for row in (highest, newest, at_exit) if row]
    difference = 100 * outside(newest[0] - newest[1], said["all"], after or said["all"]) / said["all"]
    is_fine = max(parts) <= 5 and difference <= 3
    return ("%-15s %3d accounts  highest %8.1f MiB, unexplained %4.2f %%  newest %8.1f MiB, unexplained %4.2f %%, "
            "from smaps %4.2f %%  %s%s" % (
                name, count, highest[0] / 2**20, parts[0], newest[0] / 2**20, parts[1], difference,
                "at exit %8.1f MiB, unexplained %4.2f %%" % (at_exit[0] / 2**20, parts[2]) if at_exit else "by a signal",
                "" if is_fine else "  WRONG")), is_fine


def postgres_start(folder):
    data = os.path.join(folder, "data")
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    os.chmod(folder, 0o777)
    done = subprocess.run(user + ["initdb", "-D", data], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode:
        return None
    return subprocess.Popen(user + ["postgres", "-D", data, "-k", folder, "-c", "listen_addresses="],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def largest_descendant(process):
    """The process itself, or the one below it that has most resident."""
    children = {}
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % each, encoding="ascii", errors="replace") as file:
                children.setdefault(int(file.read().rsplit(")", 1)[1].split()[1]), []).append(int(each))
        except OSError:
            pass
    found, todo = [], [process]
    while todo:
        found.append(todo.pop())
        todo += children.get(found[-1], [])

    def size(each):
        try:
            with open("/proc/%d/statm" % each, encoding="ascii") as file:
                return int(file.read().split()[1])
        except OSError:
            return 0
    return max(found, key=size)


def end(program):
    """As its user would: postgres removes its shared memory then, and nobody else's."""
    if program.poll() is None:
        os.kill(program.pid, signal.SIGINT)
        try:
            program.wait(timeout=10)
        except subprocess.TimeoutExpired:
            pass
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


def run(name, folder, is_recorded):
    recording = os.path.join(folder, "recording")
    words = words_of(name, folder)
    if not words or (words[0] != "@postgres" and not shutil.which(words[0])):
        return "%-15s is not here" % name, None
    if is_recorded:
        words = [LEAKTIDE, "run", "--device=cpu", "--call-stack=none", "--no-report", "-o", recording, "--"] + words
    if words[0] == "@postgres":
        program = postgres_start(folder)
    elif "@postgres" in words:
        return "%-15s is not recorded here" % name, None
    else:
        program = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
    if not program:
        return "%-15s does not start" % name, None
    if name in TOLD:
        program.stdin.write(TOLD[name])
        program.stdin.flush()
    try:
        time.sleep((8 if name in ("chromium", "torch workers", "java") else 4) * (2 if is_recorded else 1))
        if program.poll() is not None:
            return "%-15s has ended with %d" % (name, program.returncode), None
        if is_recorded:
            return compare_recorded(name, program, recording)
        return compare(name, largest_descendant(program.pid))
    finally:
        end(program)


def main():
    is_recorded = sys.argv[2:3] == ["--recorded"]
    names, wrong, count = sys.argv[2 + is_recorded:] or PROGRAMS, 0, 0
    for name in names:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            large_c(os.path.join(folder, "large.c"))
            line, is_fine = run(name, folder, is_recorded)
        print(line, flush=True)
        count += is_fine is not None
        wrong += is_fine is False
    print("%d programs, %d wrong" % (count, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
