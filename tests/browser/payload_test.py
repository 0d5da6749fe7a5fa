# SPDX-License-Identifier: Apache-2.0
"""The data inside of the HTML report, read without a browser: is it what the recording holds?

Run as payload_test.py LEAKTIDE.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from made_up_profile import EVIL, stream_of, write_profile
from page_data import datasets_of

LEAKTIDE = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures")
MODULES = os.path.join(HERE, "..", "..", "analyzer", "report", "html")
TILE = """globalThis.window = globalThis;
globalThis.matchMedia = () => ({matches: false, addEventListener() {}});
globalThis.document = {documentElement: {}, getElementById() { return null; }, addEventListener() {}};
globalThis.addEventListener = () => {};
globalThis.location = {hash: ''};
const {setLanguage} = await import('./html/language.js');
const {growthNumber} = await import('./html/verdict.js');
const {readFileSync} = await import('fs');
setLanguage(process.argv[3]);
console.log(JSON.stringify(growthNumber(JSON.parse(readFileSync(process.argv[2])))));
"""


def clean_loop(path):
    """A trace of twelve steps, in each of which a block is made and freed."""
    events = []
    for ns in range(1000, 13000, 1000):
        events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % (ns // 1000), "pid": 1,
                       "tid": 1, "ts": ns, "dur": 900})
        for at, change, alive in ((10, 512, 512), (800, -512, 0)):
            events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1,
                           "ts": ns + at, "args": {"Addr": 4096, "Bytes": change, "Device Type": 1, "Device Id": 0,
                                                   "Total Allocated": alive, "Total Reserved": 4096}})
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    return path


@unittest.skipUnless(shutil.which("node"), "needs node")
class TileTest(unittest.TestCase):
    """What the tile about leaks says: of the page's own modules, without a browser."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(MODULES, os.path.join(self.folder, "html"))
        for name, text in (("package.json", '{"type": "module"}'), ("tile.mjs", TILE)):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)

    def tile(self, recording, question="report", language="en"):
        page, report = (os.path.join(self.folder, name) for name in ("page.html", "report.json"))
        subprocess.run([LEAKTIDE, question, "-f", "html", "-o", page, recording], check=True, timeout=60)
        with open(page, encoding="utf-8") as file:
            told = datasets_of(file.read())["report"]
        with open(report, "w", encoding="utf-8") as file:
            json.dump(told, file)
        said = subprocess.run(["node", os.path.join(self.folder, "tile.mjs"), report, language], check=True, timeout=60,
                              stdout=subprocess.PIPE).stdout
        return json.loads(said)

    def test_what_is_not_judged_is_no_zero(self):
        for recording, title, number, hint in [
                ("snapshot/snapshot.json", "leaks", "not judged", "CANNOT SAY whether something leaks: 1 step judged"),
                ("heaptrack/version3.txt", "leaks", "not judged", "the recording has no steps"),
                ("jemalloc/small.heap", "leaks", "not judged", "CANNOT SAY whether something leaks: a loop"),
                ("snapshot/oom.json", "largest leak", "+2.00 MiB per step", "")]:
            with self.subTest(recording=recording):
                tile = self.tile(os.path.join(FIXTURES, recording))
                self.assertEqual((tile["title"], tile["number"]), (title, number))
                self.assertIn(hint, tile.get("hint", ""))
                self.assertNotEqual(tile["text"], "")

    def test_only_a_verdict_is_a_zero(self):
        loop = clean_loop(os.path.join(self.folder, "loop.json"))
        self.assertEqual(self.tile(loop)["number"], "0 B")
        self.assertIsNone(self.tile(loop, "peak"))

    def test_it_is_said_in_chinese(self):
        tile = self.tile(os.path.join(FIXTURES, "snapshot", "snapshot.json"), language="zh")
        self.assertEqual((tile["title"], tile["number"]), ("泄漏", "未判定"))
        self.assertIn("窗口内净增长", tile["text"])


class PayloadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            profile = write_profile(folder)
            page, exported = os.path.join(folder, "report.html"), os.path.join(folder, "report.db")
            subprocess.run([LEAKTIDE, "report", "-f", "html", "-o", page, profile], check=True, timeout=60)
            subprocess.run([LEAKTIDE, "export", "--to", "sqlite", "-o", exported, profile], check=True, timeout=60)
            with open(page, encoding="utf-8") as file:
                cls.page = file.read()
            cls.data = datasets_of(cls.page)
            database = sqlite3.connect(exported)
            cls.blocks = database.execute(
                "SELECT born_ns, freed_ns, size_bytes, who FROM named_blocks WHERE is_older IS NOT 1"
                " ORDER BY born_ns, block").fetchall()
            cls.peak = database.execute("SELECT MAX(live_bytes) FROM curve WHERE ledger = 0").fetchone()[0]
            database.close()

    def test_every_block_is_there(self):
        blocks, groups, names = self.data["blocks"], self.data["groups"], self.data["names"]["text"]
        self.assertEqual(self.data["picture"]["rest_count"], [0])
        rows = [(born, born + life - 1 if life else None, size, names[groups["label"][group]])
                for born, life, size, group in zip(blocks["born_ns"], blocks["life_ns_next"],
                                                   blocks["size_bytes"], blocks["group"])]
        key = lambda row: (row[0], row[2], row[3])
        self.assertEqual(sorted(rows, key=key), sorted(self.blocks, key=key))

    def test_every_block_has_its_stream(self):
        streams, names = self.data["blocks"]["stream"], self.data["names"]["text"]
        self.assertEqual([names[each] for each in streams], [stream_of(i) for i in range(len(streams))])

    def test_curve_reaches_the_peak(self):
        points, curves = self.data["points"], self.data["curves"]
        first = curves["of"].index(0)
        start = sum(curves["point_count"][:first])
        highest = max(last + above for last, above in list(
            zip(points["last_bytes"], points["above_bytes"]))[start:start + curves["point_count"][first]])
        self.assertEqual(highest, self.peak)
        self.assertEqual(self.data["ledgers"]["peak_bytes"][0], self.peak)
        self.assertEqual(next(table["rows"][0]["peak_bytes"] for table in self.data["report"]["tables"]
                              if table["name"] == "peaks"), self.peak)

    def test_nothing_of_a_stranger_is_outside_of_the_data(self):
        outside = re.sub(r'<script type="application/octet-stream".*?</script>', "", self.page, flags=re.S)
        for name in EVIL[:2]:
            self.assertNotIn(name, outside)

    def test_nothing_is_asked_of_a_network(self):
        self.assertIn("default-src 'none'", self.page)
        for words in (r"\bsrc=[\"']?http", r"\bhref=[\"']?http", r"@import", r"\bfetch\(", r"XMLHttpRequest",
                      r"\bimport\("):
            self.assertIsNone(re.search(words, self.page), words)


MANY = 30000


def write_many_stacks(path, helpers=200):
    """main calls load, load calls one of the lines of helper, and each of these one of the allocator's."""
    lines = ["v 10400 2", "X prog", "I 1000 100000", "s prog", "s main", "s load", "s helper", "s inner", "s code.c"]

    def frame(function, line, caller):
        frame.addresses += 1
        lines.append("i %x 1 %x 6 %x" % (frame.addresses, function, line))
        frame.stacks += 1
        lines.append("t %x %x" % (frame.addresses, caller))
        return frame.stacks
    frame.addresses = frame.stacks = 0
    load = frame(3, 20, frame(2, 10, 0))
    kinds = 0
    for helper in range(helpers):
        caller = frame(4, 100 + helper, load)
        for inner in range(MANY // helpers):
            lines.append("a %x %x" % (64 + kinds, frame(5, 1 + inner, caller)))
            lines.append("+ %x" % kinds)
            kinds += 1
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\nc 64\n")


class ManyStacksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            recording, page = os.path.join(folder, "many.txt"), os.path.join(folder, "report.html")
            write_many_stacks(recording)
            subprocess.run([LEAKTIDE, "report", "-f", "html", "-o", page, recording], check=True, timeout=120)
            with open(page, encoding="utf-8") as file:
                cls.data = datasets_of(file.read())

    def stack_of(self, group):
        frames, nodes, names = self.data["frames"], self.data["stack_nodes"], self.data["names"]["text"]
        node, found = self.data["groups"]["stack"][group], []
        while node:
            frame = nodes["frame"][node]
            found.append((names[frames["function"][frame]], frames["line"][frame]))
            node = nodes["outer"][node]
        return found

    def test_the_heaviest_stacks_are_themselves_and_the_others_are_joined(self):
        groups = self.data["groups"]
        counts = groups["group_count"][1:]
        self.assertEqual(sum(counts), MANY)
        self.assertLessEqual(len(counts), 8192 + MANY // 2)
        self.assertGreaterEqual(counts.count(1), 8000)
        own = [group for group, count in enumerate(groups["group_count"]) if count == 1]
        joined = [group for group, count in enumerate(groups["group_count"]) if count > 1]
        self.assertTrue(joined)
        for group in joined:
            self.assertEqual(self.stack_of(group)[-2:], [("load", 20), ("main", 10)])
            self.assertLess(groups["peak_bytes"][group] / groups["group_count"][group],
                            max(groups["peak_bytes"][each] for each in own))
        self.assertEqual(len(self.stack_of(own[-1])), 4)

    def test_nothing_is_lost_by_joining(self):
        groups, ledgers = self.data["groups"], self.data["ledgers"]
        sizes = range(64, 64 + MANY)
        self.assertEqual(ledgers["peak_bytes"], [sum(sizes)])
        self.assertEqual(sum(groups["peak_bytes"]), sum(sizes))
        self.assertEqual(sum(groups["peak_count"]), MANY)
        self.assertEqual(sum(groups["end_bytes"]), sum(sizes))
        self.assertEqual(sum(self.data["blocks"]["size_bytes"]), sum(sizes))
        self.assertLess(max(self.data["blocks"]["group"]), len(groups["ledger"]))

    def test_a_frame_is_written_once_and_a_node_once(self):
        frames, nodes = self.data["frames"], self.data["stack_nodes"]
        self.assertEqual(len(set(zip(*frames.values()))), len(frames["line"]))
        self.assertEqual(len(set(zip(nodes["frame"][1:], nodes["outer"][1:]))), len(nodes["frame"]) - 1)
        self.assertLessEqual(len(frames["line"]), 2 + 200 + MANY // 200)

    def test_rows_of_stacks_are_bounded_and_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            recording, page = os.path.join(folder, "many.txt"), os.path.join(folder, "report.html")
            write_many_stacks(recording, helpers=10)
            subprocess.run([LEAKTIDE, "report", "-f", "html", "-o", page, recording], check=True, timeout=120)
            with open(page, encoding="utf-8") as file:
                data = datasets_of(file.read())
        table = next(table for table in data["report"]["tables"] if table["name"] == "held_at_peak")
        frames, nodes = data["report-frames"], data["report-nodes"]
        self.assertEqual((table["row_count"], len(table["rows"])), (MANY // 10, 1000))
        self.assertEqual(len(set(zip(nodes["frame"][1:], nodes["outer"][1:]))), len(nodes["frame"]) - 1)
        self.assertLessEqual(len(frames["line"]), 2 + 10 + MANY // 10)
        node, found = table["rows"][0]["stack"], []
        while node:
            found.append((frames["function"][nodes["frame"][node]], frames["line"][nodes["frame"][node]]))
            node = nodes["outer"][node]
        self.assertEqual([name for name, _ in found], ["inner", "helper", "load", "main"])
        self.assertEqual("inner (code.c:%d)" % found[0][1], table["rows"][0]["site"])


def write_frames_of(path, files):
    """A recording in which each file has blocks of its lines 1 to 3, written in heaptrack's text."""
    lines = ["v 10400 2", "X prog", "I 1000 100000", "s prog", "s work"]
    for i, file in enumerate(files):
        lines.append("s " + file)
        for line in (1, 2, 3):
            number = 3 * i + line
            lines += ["i %x 1 2 %x %x" % (number, 3 + i, line), "t %x 0" % number,
                      "a 40 %x" % number, "+ %x" % (number - 1)]
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\nc 64\n")


class SourceLinesTest(unittest.TestCase):
    """What a page has of source files: what was asked for, and no more than a source's lines that frames name."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        path = lambda name: os.path.join(cls.folder.name, name)
        cls.source, cls.secret, pipe = path("train.py"), path("password.txt"), path("pipe.py")
        long_line = "x = '" + "\u00e4" * 300 + "'"
        for name, text in ((cls.source, "    keep(batch)\t\n" + long_line + "\n</script>\nnever = 1\n"),
                           (cls.secret, "first secret\nsecond\nthird\n")):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        os.mkfifo(pipe)
        cls.recording = path("frames.txt")
        write_frames_of(cls.recording, [cls.source, cls.secret, pipe, path("absent.py"), "/dev/zero.c"])

    def write(self, *options):
        page = os.path.join(self.folder.name, "report.html")
        subprocess.run([LEAKTIDE, "report", "-f", "html", *options, "-o", page, self.recording], check=True, timeout=60)
        with open(page, encoding="utf-8") as file:
            return file.read()

    def test_lines_of_frames_are_there_if_asked_for(self):
        page = self.write("--with-sources")
        lines = datasets_of(page)["source-lines"]
        self.assertEqual(lines["file"], [self.source] * 3)
        self.assertEqual(lines["line"], [1, 2, 3])
        self.assertEqual(lines["text"], ["keep(batch)", "x = '" + "\u00e4" * 97, "</script>"])
        self.assertNotIn("keep(batch)", page)

    def test_there_are_none_if_nobody_asks(self):
        self.assertNotIn("source-lines", datasets_of(self.write()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
