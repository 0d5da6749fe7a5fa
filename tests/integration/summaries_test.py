# SPDX-License-Identifier: Apache-2.0
"""Summaries: the same answer as from recordings, from damaged and merged folders too, and planted causes are found.

Run as summaries_test.py LEAKTIDE MAKE_CLUSTER MAKE_TRACES FIXTURES. PyArrow and DuckDB, where they are
there, read what is written and write what is read.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import report_tables

LEAKTIDE, MAKE_CLUSTER, MAKE_TRACES, FIXTURES = sys.argv[1:5]
CAUSES = {"clean": set(), "stray": set(), "rank": {"rank"}, "one_host": {"one_host"}, "stages": {"stages"}, "leak_all": {"leak"},
          "leak_one": {"leak"}, "leak_late": {"leak"}, "refused": {"refused"},
          "died": {"died_first"}, "died_of_memory": {"died_first"}, "stopped": set()}
TABLES = ["account", "failures", "findings", "ledgers", "modules", "operators", "ranks", "sites", "steps"]

try:
    import pyarrow.parquet
except ImportError:
    pyarrow = None
try:
    import duckdb
except ImportError:
    duckdb = None


def command(*words, status=0):
    done = subprocess.run([LEAKTIDE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          timeout=300)
    assert done.returncode == status, (words, done.returncode, done.stdout[:500], done.stderr)
    return done.stdout


def ranks(*words, status=0):
    return report_tables.load(command("ranks", "--format=json", *words, status=status))


def make_cluster(folder, cause, count, seed, *more):
    words = [MAKE_CLUSTER, folder, cause, str(count), str(seed), *map(str, more)]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


def check(test, cause, planted, answer):
    """What was planted is found, and nothing else."""
    findings = answer["findings"]
    test.assertEqual({finding["cause"] for finding in findings}, CAUSES[cause], findings)
    if not findings:
        return
    test.assertEqual(len(findings), 1, findings)
    found = findings[0]
    rank = "rank %d on node-%04d" % (planted["rank"], planted["host"])
    if cause in ("rank", "leak_one", "leak_late", "refused", "died", "died_of_memory"):
        test.assertEqual(found["rank"], rank)
    if cause in ("rank", "leak_all", "leak_one", "leak_late", "refused"):
        test.assertEqual(found["step"], planted["step"])
    if cause in ("rank", "leak_all", "leak_one", "leak_late"):
        test.assertEqual(found["site"], "planted (cause.py:7)")
    if cause == "died_of_memory":
        test.assertIn("was killed (the kernel killed 1 of its cgroup for memory) after 60 steps", found["sentence"])
    if cause == "one_host":
        test.assertEqual((found["host_name"], found["rank_count"]), ("node-%04d" % planted["host"], 8))
    if cause == "leak_all":
        test.assertEqual(found["rank_count"], planted["rank_count"])
    if cause == "stages":
        test.assertIn("stage %d peaks" % planted["stage"], found["sentence"])


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name

    def tearDown(self):
        self.temporary.cleanup()

    def path(self, *names):
        return os.path.join(self.folder, *names)


class Clusters(Folder):
    def test_what_is_planted_is_found_and_nothing_else(self):
        for cause in CAUSES:
            for seed, count in ((1, 64), (2, 128)):
                with self.subTest(cause=cause, seed=seed):
                    path = self.path("%s-%d" % (cause, seed))
                    check(self, cause, make_cluster(path, cause, count, seed), ranks(path))

    def test_the_largest_leak_comes_first(self):
        """Over all ranks: a kilobyte on each of 64 is less than a megabyte on one."""
        make_cluster(self.path("ranks"), "leak_two", 64, 4)
        answer = ranks(self.path("ranks"))
        self.assertEqual([finding["site"] for finding in answer["findings"]], ["planted (cause.py:7)", "small (cause.py:9)"])
        self.assertIn("1.00 MiB per step at planted", answer["verdict"][0])

    def test_the_layout_may_be_said_with_the_question(self):
        planted = make_cluster(self.path("ranks"), "stages", 64, 3)
        for status, layout in ((0, "dp=16,pp=4"), (2, "dp=16,xx=4"), (2, "pp=0"), (2, "pp=4,pp=4")):
            words = ("ranks", "--format=json", "--parallel=" + layout, self.path("ranks"))
            said = command(*words, status=status)
            if status == 0:
                self.assertIn("stage %d peaks" % planted["stage"], json.loads(said)["verdict"][0])

    def test_the_order_of_folders_and_hosts_does_not_matter(self):
        """Hosts of which the first by name was read last; what is said is the same in every sentence and number."""
        for cause in ("one_host", "rank", "leak_two", "refused", "died"):
            path, turned = self.path(cause), self.path(cause + "-turned")
            make_cluster(path, cause, 64, 3, 10, 20, "each")
            os.mkdir(turned)
            for place, name in enumerate(sorted(os.listdir(path), reverse=True)):
                shutil.copytree(os.path.join(path, name), os.path.join(turned, "summary-%05d" % place))
            with self.subTest(cause=cause):
                answer = ranks(path)
                self.assertTrue(answer["findings"])
                self.assertEqual(ranks(turned), answer)

    def test_stages_of_two_ranks_are_not_compared_by_their_sites(self):
        make_cluster(self.path("ranks"), "rank", 64, 3)
        for layout, measured in (("dp=64", True), ("dp=16,pp=4", True), ("dp=2,pp=32", False)):
            rows = ranks("--parallel=" + layout, self.path("ranks"))["tables"].get("rank_differences", [])
            self.assertEqual("site" in {row["measure"] for row in rows}, measured, layout)

    def test_exit_status(self):
        make_cluster(self.path("leak"), "leak_one", 64, 1)
        make_cluster(self.path("rank"), "rank", 64, 1)
        for name, fail_on, status in (("leak", "leak", 1), ("leak", "finding", 1), ("rank", "leak", 0),
                                      ("rank", "finding", 1), ("rank", "any", 2)):
            with self.subTest(name=name, fail_on=fail_on):
                command("ranks", "--fail-on=" + fail_on, self.path(name), status=status)


class Damage(Folder):
    """One summary a rank, of which some are not as they should be."""

    def setUp(self):
        super().setUp()
        self.planted = make_cluster(self.path("ranks"), "rank", 64, 5, 10, 20, "each")
        self.summaries = [path for path in sorted(glob.glob(self.path("ranks", "*")))
                          if int(path[-5:]) != self.planted["rank"]]

    def answer(self, status):
        answer = ranks(self.path("ranks"), status=status)
        outlier = [finding for finding in answer["findings"] if finding["cause"] == "rank"]
        self.assertEqual(len(outlier), 1)
        self.assertEqual(outlier[0]["step"], self.planted["step"])
        return answer

    def notes(self, answer):
        return " ".join(note["sentence"] if isinstance(note, dict) else note for note in answer["notes"])

    def test_all_are_there(self):
        answer = self.answer(0)
        self.assertEqual(answer["facts"]["rank_count"], 64)
        self.assertEqual(answer["facts"]["unread_summary_count"], 0)

    def test_a_rank_that_is_missing_is_named(self):
        shutil.rmtree(self.summaries[7])
        answer = self.answer(3)
        self.assertEqual(answer["verdict"][0],
                         "INCOMPLETE: 1 of 64 ranks are not there: %d." % int(self.summaries[7][-5:]))

    def test_a_torn_file_is_named(self):
        for name in ("sites", "ranks"):
            with self.subTest(name=name):
                path = os.path.join(self.summaries[8], name + ".parquet")
                with open(path, "r+b") as file:
                    file.truncate(os.path.getsize(path) // 2)
                answer = self.answer(3)
                self.assertIn(self.summaries[8], self.notes(answer))
                self.assertTrue(answer["verdict"][0].startswith("INCOMPLETE: 1 of 64 summaries could not be read; "))

    def test_a_table_that_is_not_there_is_named(self):
        os.remove(os.path.join(self.summaries[8], "steps.parquet"))
        self.assertIn("steps.parquet: No such file", self.notes(self.answer(3)))

    def test_another_version_is_named(self):
        path = os.path.join(self.summaries[9], "ledgers.parquet")
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(data.replace(b"summary_version\x18\x011", b"summary_version\x18\x012"))
        self.assertIn("summaries of version 2; this leaktide reads version 1", self.notes(self.answer(3)))

    def test_what_a_killed_task_left_is_named(self):
        shutil.copytree(self.summaries[3], self.summaries[3] + ".partial-17")  # killed, begun again, and finished
        self.assertNotIn("was not finished", "".join(self.notes(self.answer(0))))
        shutil.rmtree(self.summaries[3] + ".partial-17")
        os.rename(self.summaries[3], self.summaries[3] + ".partial-4711")
        self.assertIn("was not finished: summarize again", self.notes(self.answer(3)))

    def test_a_rank_that_is_there_twice_counts_once(self):
        shutil.copytree(self.summaries[4], self.path("ranks", "again"))
        answer = self.answer(0)
        self.assertEqual(answer["facts"]["rank_count"], 64)
        self.assertIn("there twice", self.notes(answer))

    def test_nothing_is_no_summary(self):
        os.mkdir(self.path("empty"))
        command("summarize", "--merge", "-o", self.path("merged"), self.path("empty"), status=4)

    def test_merged_is_the_same(self):
        command("summarize", "--merge", "-o", self.path("merged"), self.path("ranks"))
        self.assertEqual(sorted(os.listdir(self.path("merged"))), [name + ".parquet" for name in TABLES])
        single, merged = ranks(self.path("ranks")), ranks(self.path("merged"))
        self.assertEqual((single["facts"].pop("summary_count"), merged["facts"].pop("summary_count")), (64, 1))
        self.assertEqual(single, merged)

    def test_something_else_is_not_replaced(self):
        os.mkdir(self.path("other"))
        with open(self.path("other", "thesis.txt"), "w", encoding="ascii") as file:
            file.write("years of work")
        command("summarize", "--merge", "-o", self.path("other"), self.path("ranks"), status=2)
        self.assertEqual(os.listdir(self.path("other")), ["thesis.txt"])


class Recordings(Folder):
    """Any input becomes a summary, and several say the same as their recordings."""

    def inputs(self):
        subprocess.run([MAKE_TRACES], cwd=self.folder, check=True)
        found = [self.path(name) for name in ("leak", "stacks", "two", "cudart", "cuda", "hip", "refused", "accounts")]
        for kind in ("ascend", "chrome", "heaptrack", "jemalloc", "memscope", "snapshot"):
            found += [path for path in sorted(glob.glob(os.path.join(FIXTURES, kind, "*")))
                      if not path.endswith((".py", ".md"))]
        return found

    def test_every_input_is_summarized(self):
        done = 0
        for number, path in enumerate(self.inputs()):
            output = self.path("of-%d" % number)
            read = subprocess.run([LEAKTIDE, "info", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            made = subprocess.run([LEAKTIDE, "summarize", "-o", output, path], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
            with self.subTest(path=path):
                self.assertIn(made.returncode, (read.returncode, 4), made.stderr)
                if not os.path.isdir(output):
                    continue
                done += 1
                summary, = os.listdir(output)
                self.assertEqual(sorted(os.listdir(os.path.join(output, summary))),
                                 [name + ".parquet" for name in TABLES])
                size = sum(os.path.getsize(file) for file in glob.glob(os.path.join(output, summary, "*")))
                self.assertLess(size, 100000)
        self.assertGreater(done, 25)

    def test_summaries_say_what_recordings_say(self):
        self.inputs()
        for names in (("two",), ("lines_base", "lines"), ("leak", "lines")):
            with self.subTest(names=names):
                paths = [self.path(name) for name in names]
                output = self.path("-".join(names))
                command("summarize", "-o", output, *paths)
                of_recordings, of_summaries = ranks(*paths), ranks(output)
                self.assertEqual(of_recordings["findings"], of_summaries["findings"])
                # The first of several without a number is another one.
                verdicts = [[re.sub("the first, [^:]*:", "", said) for said in answer["verdict"]] for answer in (of_recordings, of_summaries)]
                self.assertEqual(*verdicts)
                # Processes without the number of a rank come in the order of the inputs, or of the folders' names.
                for name in ("ranks", "rank_differences"):
                    mine, theirs = ([{k: v for k, v in row.items() if k != "ledger"}
                                     for row in sorted(answer["tables"].get(name, []), key=str)]
                                    for answer in (of_summaries, of_recordings))
                    self.assertEqual(theirs, mine)

    def test_a_leak_is_since_the_same_step_in_leaks_and_in_ranks(self):
        self.inputs()
        for name in ("leak", "cudart"):
            finding = report_tables.load(command("leaks", "--format=json", self.path(name), status=1))["findings"][0]
            said = command("ranks", self.path(name), self.path("lines"))
            since = "since step %d" % finding["first_step"]
            self.assertIn(since, finding["sentence"])
            self.assertIn("(%s); %s" % (finding["ledger"].split()[0], since), said)

    def test_the_same_recording_replaces_its_summary(self):
        self.inputs()
        for _ in range(2):
            command("summarize", "-o", self.path("out"), self.path("leak"))
        self.assertEqual(len(os.listdir(self.path("out"))), 1)

    def test_what_the_recording_does_not_say(self):
        self.inputs()
        for number, name in enumerate(("cudart", "cuda")):
            command("summarize", "-o", self.path("out"), "--rank=%d" % number, "--world-size=3", "--hostname=h%d" % number,
                    self.path(name))
        answer = ranks(self.path("out"), status=3)
        self.assertEqual(answer["verdict"][0], "INCOMPLETE: 1 of 3 ranks are not there: 2.")
        self.assertEqual([row["process"] for row in answer["tables"]["ranks"]], ["rank 0 on h0", "rank 1 on h1"])
        command("summarize", "-o", self.path("out"), "--rank=0", self.path("two"), status=2)

    def test_what_cannot_be_read_does_not_stop_the_others(self):
        self.inputs()
        command("summarize", "-o", self.path("out"), self.path("text"), self.path("leak"), status=3)
        self.assertEqual(len(os.listdir(self.path("out"))), 1)


class Engines(Folder):
    def setUp(self):
        super().setUp()
        self.planted = make_cluster(self.path("ranks"), "rank", 64, 6)
        self.summary = self.path("ranks", "cluster-00000")

    def answer_of(self, write, findings=False):
        """The answer, or its findings alone, when another program has written all files again."""
        before = ranks(self.path("ranks"))
        for name in TABLES:
            path = os.path.join(self.summary, name + ".parquet")
            write(path, path + ".new")
            os.rename(path + ".new", path)
        after = ranks(self.path("ranks"))
        if findings:
            before, after = before["findings"], after["findings"]
        self.assertEqual(after, before)

    @unittest.skipUnless(pyarrow, "no PyArrow")
    def test_pyarrow_reads_and_writes(self):
        table = pyarrow.parquet.read_table(os.path.join(self.summary, "ranks.parquet"))
        self.assertEqual(table.column("rank").to_pylist(), list(range(64)))
        self.assertEqual(set(table.column("tp").to_pylist()), {None})
        self.assertEqual(table.column("host")[63].as_py(), "node-0007")
        self.answer_of(lambda old, new: pyarrow.parquet.write_table(pyarrow.parquet.read_table(old), new,
                                                                    compression="zstd", row_group_size=100))

    @unittest.skipUnless(pyarrow, "no PyArrow")
    def test_columns_that_an_older_writer_did_not_know(self):
        def write(old, new):
            table = pyarrow.parquet.read_table(old)
            late = [name for name in ("kernel_kill_count", "exit_status", "judged_count", "unjudged") if name in table.column_names]
            pyarrow.parquet.write_table(table.drop(late), new, compression="zstd")
        self.answer_of(write, findings=True)
        answer = ranks(self.path("ranks"))
        self.assertEqual(answer["facts"]["unjudged_rank_count"], 64)
        self.assertIn("its summary does not tell: summarize its recording again", answer["verdict"][-1])

    @unittest.skipUnless(duckdb, "no DuckDB")
    def test_duckdb_reads_and_writes(self):
        found = duckdb.sql("SELECT r.rank FROM '%s/*/ranks.parquet' r JOIN '%s/*/ledgers.parquet' l USING (process_key) "
                           "ORDER BY l.peak_bytes DESC LIMIT 1" % (self.path("ranks"), self.path("ranks"))).fetchall()
        self.assertEqual(found, [(self.planted["rank"],)])
        self.answer_of(lambda old, new: duckdb.sql("COPY (SELECT * FROM '%s') TO '%s' (FORMAT parquet, COMPRESSION zstd)"
                                                   % (old, new)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
