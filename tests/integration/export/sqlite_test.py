"""Every figure of a report is one query on the exported database: those of docs/sqlite-schema.md.

Run as sqlite_test.py LEAKTIDE CLI_MAKE_TRACES REFERENCE_DATA DOCS-FOLDER
"""

import json
import os
import random
import re
import sqlite3
import sys

import exported

DOCS = sys.argv.pop(4)
SITES, STEPS = 60, 40


def queries():
    with open(os.path.join(DOCS, "sqlite-schema.md"), encoding="utf-8") as page:
        return dict(re.findall(r"```sql\n-- ([^\n]*)\n(.*?)```", page.read(), re.S))


def named(row):
    """As the queries of docs/sqlite-schema.md say that a site is not known."""
    return {key: "(unknown)" if cell is None and key in ("site", "new_site") else cell
            for key, cell in row.items()}


def rows_of(table, columns):
    return sorted((tuple(row[column] for column in columns) for row in table), key=repr)


def write_snapshot(path, trace, marks):
    """trace: action, address, size, time, and who; without one, the size tells who."""
    with open(path, "w", encoding="ascii") as out:
        json.dump({"segments": [], "device_traces": [[
            {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time,
             "frames": [{"name": (who or ["f%d" % (size % 7)])[0], "filename": "m.py",
                         "line": 1 if who else size}]}
            for action, address, size, time, *who in trace]], "external_annotations": [
                {"stage": stage, "name": name, "device": 0, "time_us": time}
                for stage, name, time in marks]}, out)


class Sqlite(exported.Exported):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.queries = queries()
        cls.databases = {}

    def database(self, source):
        if source not in self.databases:
            out = os.path.join(self.folder, "%d.db" % len(self.databases))
            self.export("sqlite", source, out)
            self.databases[source] = sqlite3.connect(out)
            self.databases[source].row_factory = sqlite3.Row
        return self.databases[source]

    def ask(self, source, query, **values):
        return [dict(row) for row in self.database(source).execute(self.queries[query], values)]

    def each(self, query, table=None, question="report"):
        """Compares the query with the table of that name, for every input that has it."""
        compared = 0
        for source in self.inputs:
            with self.subTest(source=source, query=query):
                report = self.report(source, question)["tables"]
                wanted = table or query.replace(" ", "_")
                rows = [named(row) for name in report for row in report[name]
                        if wanted in (name, name[0])]
                if not rows:
                    continue
                answers = self.ask(source, query)
                columns = [column for column in answers[0] if column in rows[0]]
                shown = {row["ledger"] for row in rows}  # a report leaves small ledgers out
                answers = [row for row in answers if row["ledger"] in shown]
                self.assertEqual(rows_of(answers, columns), rows_of(rows, columns))
                compared += 1
        self.assertGreater(compared, 0, query)

    def test_totals(self):
        self.each("totals")

    def test_peaks(self):
        self.each("peaks")

    def test_held_at_the_peak(self):
        self.each("held at the peak", "held_at_peak")

    def test_window(self):
        self.each("window")

    def test_unreleased(self):
        self.each("unreleased")

    def test_operators(self):
        self.each("operators")

    def test_modules(self):
        self.each("modules")

    def test_near_the_peak(self):
        self.each("near the peak", "near_peak")

    def test_failed(self):
        source = self.out("failed.json")
        with open(source, "w", encoding="ascii") as out:
            event = {"addr": 4096, "size": 512, "stream": 0, "frames": []}
            json.dump({"segments": [], "device_traces": [[
                dict(event, action="alloc"),
                dict(event, action="oom", size=1 << 30, device_free=100),
                dict(event, action="alloc", addr=8192)]]}, out)
        rows = self.report(source)["tables"]["failed"]
        self.assertEqual(len(rows), 1)
        columns = ["time_ns", "request_bytes", "live_bytes", "ledger"]
        self.assertEqual(rows_of(self.ask(source, "failed"), columns), rows_of(rows, columns))
        self.assertEqual(rows[0]["live_bytes"], 512)

    def training(self):
        """A recording with phases, made up: a snapshot with ranges for them."""
        source = self.out("training.json")
        trace, marks = [], []
        for step in range(6):
            at = 1000 + step * 100
            marks += [("START", "ProfilerStep#%d" % step, at)]
            for phase, (name, size) in enumerate((("forward", 700), ("backward", 900),
                                                  ("optimizer", 300 + step))):
                marks += [("START", name, at + 10 + phase * 20), ("END", name, at + 25 + phase * 20)]
                trace += [("alloc", (phase + 1) << 20, size, at + 12 + phase * 20),
                          ("alloc", (step * 3 + phase + 9) << 20, 96 if phase == 1 else 32,
                           at + 13 + phase * 20),
                          ("free_completed", (phase + 1) << 20, size, at + 20 + phase * 20)]
            marks += [("END", "ProfilerStep#%d" % step, at + 90)]
        write_snapshot(source, trace, marks)
        return source

    def many_sites(self):
        """A third of the sites leak, each its own size; a third hold from step to step; the rest
        changes by chance."""
        source, trace, marks = self.out("sites.json"), [], []
        chance = random.Random(7)
        sites = range(SITES)
        for step in range(STEPS):
            at = 1000 + step * 10000
            marks += [("START", "ProfilerStep#%d" % step, at)]
            for site in sites:
                addresses = [(site * 2 + old % 2 + 1) << 30 for old in (step - 1, step)]
                size = 512 * (site + 1 + (site % 3 == 2) * chance.randrange(40))
                if site % 3:
                    trace += [("free_completed", addresses[0], 0, at + site)] * (step > 0)
                else:
                    addresses[1] += step << 20
                trace += [("alloc", addresses[1], size, at + site, "site %d" % site)]
            marks += [("END", "ProfilerStep#%d" % step, at + 9000)]
        write_snapshot(source, trace, marks)
        return source

    def test_phases(self):
        rows = self.report(self.training(), "steps")["tables"]["steps"]
        columns = ["step", "ledger", "forward_peak_bytes", "backward_peak_bytes",
                   "optimizer_peak_bytes"]
        self.assertGreater(min(row["backward_peak_bytes"] for row in rows), 900)
        self.assertEqual(rows_of(self.ask(self.training(), "phases"), columns),
                         rows_of(rows, columns))
        for source in self.inputs:
            with self.subTest(source=source):
                rows = [row for row in self.report(source, "steps")["tables"].get("steps", [])
                        if any(row[column] for column in columns[2:])]
                shown = {row["ledger"] for row in rows}
                answers = [row for row in self.ask(source, "phases") if row["ledger"] in shown
                           and any(row[column] for column in columns[2:])]
                self.assertEqual(rows_of(answers, columns), rows_of(rows, columns))

    def test_new_in_each_step(self):
        compared = 0
        for source in self.inputs + [self.training()]:
            with self.subTest(source=source):
                rows = [named(row) for row in self.report(source, "steps")["tables"].get("steps", [])
                        if row["new_bytes"] is not None]
                shown = {row["ledger"] for row in rows}
                answers = [row for row in self.ask(source, "new in each step")
                           if row["ledger"] in shown]
                columns = ["step", "ledger", "new_bytes", "new_site"]
                self.assertEqual(rows_of(answers, columns), rows_of(rows, columns))
                compared += len(rows)
        self.assertGreater(compared, 12)

    def test_leftovers(self):
        compared = 0
        for source in self.inputs + [self.training()]:
            with self.subTest(source=source):
                rows = [named(row) for row in
                        self.report(source, "leaks")["tables"].get("leftovers", [])]
                answers = {(row["ledger"], row["site"], row["left_count"]): row
                           for row in self.ask(source, "leftovers")}
                for row in rows:
                    answer = answers[row["ledger"], row["site"], row["left_count"]]
                    self.assertEqual(answer, {key: row[key] for key in answer})
                compared += len(rows)
        self.assertGreater(compared, 3)

    def test_growth_of_ledgers(self):
        compared = 0
        for source in self.inputs + [self.training()]:
            with self.subTest(source=source):
                report = self.report(source, "leaks")
                rows = report["tables"].get("ledger_growth", [])
                answers = {row["ledger"]: row for row in self.ask(
                    source, "ledger growth",
                    warm_up=report["facts"].get("warm_up_step_count", 0))}
                for row in rows:
                    answer = answers[row["ledger"]]
                    if row["growth_bytes_per_step"] is None:
                        del answer["growth_bytes_per_step"]
                    self.assertEqual(answer, {key: row[key] for key in answer})
                compared += len(rows)
        self.assertGreater(compared, 0)

    def test_samples(self):
        if not exported.REFERENCE_DATA:
            self.skipTest("no reference data")
        for source in self.inputs:
            columns = ["counter", "device", "first_bytes", "last_bytes", "lowest_bytes",
                       "highest_bytes", "sample_count"]
            rows = self.report(source)["tables"].get("samples", [])
            self.assertEqual(rows_of(self.ask(source, "samples"), columns), rows_of(rows, columns))

    def test_accounts(self):
        source = os.path.join(self.folder, "accounts")
        rows = self.report(source, "account")["tables"]["resident"]
        wanted = {row["part"]: row["resident_bytes"] for row in rows[1:] if row["resident_bytes"]}
        got = {row["part"].replace(" ", "_"): row["resident_bytes"] for row in self.ask(source, "resident")}
        self.assertGreater(len(got), 2)
        self.assertEqual(got, wanted)

    def test_steps_whose_ledgers_change(self):
        """The report leaves out ledgers that are the same at each step end."""
        compared = 0
        for source in self.inputs + [self.training()]:
            with self.subTest(source=source):
                rows = self.report(source, "steps")["tables"].get("steps", [])
                answers = [row for row in self.ask(source, "steps")
                           if row["ledger"] in {row["ledger"] for row in rows}]
                if not rows:
                    continue
                columns = [column for column in answers[0] if column in rows[0]]
                self.assertEqual(len(columns), 9)
                self.assertEqual(rows_of(answers, columns), rows_of(rows, columns))
                compared += 1
        self.assertGreaterEqual(compared, 3)

    def test_growth_of_leaks(self):
        source = os.path.join(self.folder, "leak")
        report = self.report(source, "leaks")
        answers = self.ask(source, "growth", warm_up=report["facts"]["warm_up_step_count"])
        by_site = {(row["ledger"], row["site"]): row for row in answers}
        self.assertGreater(len(report["findings"]), 0)
        for row in report["tables"]["leaks"]:
            answer = by_site[row["ledger"], row["site"]]
            self.assertEqual(answer["alive_bytes"], row["alive_bytes"])
            self.assertEqual(answer["alive_count"], row["alive_count"])
            if row["verdict"] == "leak":
                self.assertEqual(answer["growth_bytes_per_step"], row["growth_bytes_per_step"])
        worst = report["findings"][0]
        self.assertEqual(answers[0]["growth_bytes_per_step"], worst["growth_bytes_per_step"])

    def test_growth_of_many_sites(self):
        source = self.many_sites()
        report = self.report(source, "leaks", "--top", "0")
        answers = self.ask(source, "growth", warm_up=report["facts"]["warm_up_step_count"])
        found = {row["site"]: row["growth_bytes_per_step"] for row in report["findings"]}
        self.assertEqual(len(answers), SITES)
        self.assertEqual(len(found), SITES // 3)
        self.assertEqual({row["site"]: row["growth_bytes_per_step"]
                          for row in answers[:len(found)]}, found)
        for row in answers[len(found):]:
            self.assertLess(abs(row["growth_bytes_per_step"]), min(found.values()))

    def test_growth_looks_up_the_steps_of_a_site(self):
        """And does not compare each row with every other: sites times steps, squared."""
        plan = self.database(os.path.join(self.folder, "leak")).execute(
            "EXPLAIN QUERY PLAN " + self.queries["growth"], {"warm_up": 2}).fetchall()
        steps = [row["detail"] for row in plan]
        self.assertTrue(any(step.startswith("SEARCH b USING") for step in steps), steps)
        self.assertEqual([step for step in steps if re.match("SCAN b( |$)", step)], [])

    def test_alive_at_a_time_is_the_curve_at_that_time(self):
        for source in self.inputs:
            database = self.database(source)
            alive = sum(row["alive_bytes"] for row in self.ask(source, "alive at a time"))
            curve = database.execute(
                "SELECT SUM(live_bytes) FROM (SELECT live_bytes, ROW_NUMBER() OVER (PARTITION BY "
                "ledger ORDER BY event DESC, place DESC) AS newest FROM curve WHERE time_ns <= "
                "100000000) WHERE newest = 1").fetchone()[0]
            self.assertEqual(alive, curve or 0, source)

    def test_every_page_query_runs_and_every_site_has_a_stack(self):
        for source in self.inputs:
            for query in self.queries:
                self.ask(source, query, **({"warm_up": 0} if "growth" in query else {}))
            lost = self.database(source).execute(
                "SELECT COUNT(*) FROM sites WHERE site NOT IN (SELECT site FROM site_frames)")
            self.assertEqual(lost.fetchone()[0], 0, source)

    def test_names_in_another_encoding_can_be_read(self):
        folder = self.out("gbk")
        os.mkdir(folder)
        name = "算子".encode("gbk")
        with open(os.path.join(folder, "operator_memory.csv"), "wb") as rows:
            rows.write(b"Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),"
                       b"Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
                       b"Release Total Allocated(MB),Release Total Reserved(MB),Device Type\r\n"
                       + name + b",1.0,1700000000000000.0,,,1.0,1.0,,,NPU:0\r\n")
        names = self.database(folder).execute("SELECT name FROM operators").fetchall()
        self.assertEqual([row["name"] for row in names], [name.decode("utf-8", "replace")])
        out = self.export("ascend", folder, self.out("again"))
        again = os.path.join(out, os.listdir(out)[0], "ASCEND_PROFILER_OUTPUT")
        with open(os.path.join(again, "operator_memory.csv"), "rb") as rows:
            self.assertIn(b"\n\\xcb\\xe3\\xd7\\xd3,1.0,", rows.read())

    def test_is_indexed_and_whole(self):
        database = self.database(self.inputs[0])
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchone()[0], "ok")
        self.assertEqual(database.execute("PRAGMA foreign_key_check").fetchall(), [])
        plan = database.execute("EXPLAIN QUERY PLAN SELECT * FROM blocks WHERE site = 1").fetchone()
        self.assertIn("blocks_by_site", plan["detail"])

    def test_events_are_as_many_as_the_report_counts(self):
        for source in self.inputs:
            rows = self.report(source, "info")["tables"]["events"]
            kinds = dict(self.database(source).execute("SELECT * FROM event_kinds WHERE count > 0"))
            self.assertEqual(kinds, {row["event"].replace("_", " "): row["event_count"] for row in rows})
            others = dict(self.database(source).execute(
                "SELECT kind, COUNT(*) FROM events GROUP BY kind"))
            self.assertEqual(others, {kind: kinds[kind] for kind in others})


if __name__ == "__main__":
    exported.main()
