# SPDX-License-Identifier: Apache-2.0
"""Every answer in JSON, of every question about every kind of input, is as docs/schema/ says.

The schemas allow members to be added; here they are closed: what is not in them fails.

Run as json_schema_test.py LEAKTIDE CLI_MAKE_TRACES SOURCE_FOLDER.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema

LEAKTIDE, MAKE_TRACES, SOURCE = sys.argv[1:4]
FIXTURES = os.path.join(SOURCE, "tests", "fixtures")
KINDS = ["ascend", "chrome", "heaptrack", "jemalloc", "memscope", "recordings", "snapshot"]
POLICY = '[leak]\n[require]\nsteps_min = 2\n[device."*"]\npeak_live = "64 MiB"\n'


def schema(name):
    with open(os.path.join(SOURCE, "docs", "schema", name), encoding="utf-8") as file:
        return json.load(file)


def closed(part):
    """The same, of which nothing that is not named is one."""
    if isinstance(part, list):
        return [closed(each) for each in part]
    if not isinstance(part, dict):
        return part
    result = {key: closed(each) for key, each in part.items()}
    if "required" in part and "properties" in part:
        result["additionalProperties"] = False
    return result


def closed_report():
    whole = schema("leaktide-report-2.schema.json")
    for member, key in (("tables", "name"), ("findings", "kind")):
        items = whole["properties"][member]["items"]
        names = [each["if"]["properties"][key]["const"] for each in items["allOf"]]
        items["properties"][key] = {"enum": names}
    findings = whole["properties"]["findings"]["items"]
    del findings["required"]  # each kind says it again, with its own members
    whole["properties"]["facts"]["additionalProperties"] = False
    return closed(whole)


def validator(of):
    jsonschema.Draft7Validator.check_schema(of)
    return jsonschema.Draft7Validator(of)


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([MAKE_TRACES], cwd=cls.folder.name, check=True)
        cls.inputs = sorted(glob.glob(os.path.join(cls.folder.name, "*")))
        cls.inputs += sorted(glob.glob(os.path.join(cls.folder.name, "proc", "[0-9]*")))
        for kind in KINDS:
            cls.inputs += [path for path in sorted(glob.glob(os.path.join(FIXTURES, kind, "*")))
                           if not path.endswith((".py", ".md"))]
        cls.policy = os.path.join(cls.folder.name, "policy.toml")
        with open(cls.policy, "w", encoding="ascii") as file:
            file.write(POLICY)
        cls.report, cls.gate = validator(closed_report()), validator(closed(
            schema("leaktide-gate-2.schema.json")))
        cls.questions = schema("leaktide-report-2.schema.json")["properties"]["command"]["enum"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def answer(self, by, *words):
        """What the command wrote, checked; None where it cannot read the input."""
        done = subprocess.run([LEAKTIDE, *words, "--format=json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        if not done.stdout:
            self.assertIn(done.returncode, (3, 4), done.stderr)
            return None
        answer = json.loads(done.stdout)
        wrong = ["%s: %s" % ("/".join(map(str, error.absolute_path)), error.message[:300])
                 for error in by.iter_errors(answer)]
        self.assertEqual(wrong, [], words)
        return answer

    def test_the_questions_are_those_of_the_command(self):
        def printed(*words):
            return subprocess.run([LEAKTIDE, *words], stdout=subprocess.PIPE, check=True).stdout.decode()

        names = re.findall("^  leaktide ([a-z]+) ", printed("help"), re.MULTILINE)
        asked = [name for name in names if name not in ("help", "version") and
                 "--format=text|json" in printed(name, "--help")]
        self.assertEqual(sorted(self.questions), sorted(asked))

    def test_every_question_about_every_input(self):
        seen, answers = set(), 0
        for path in self.inputs:
            for question in self.questions:
                if question == "diff":
                    continue
                with self.subTest(question=question, path=path):
                    answer = self.answer(self.report, question, path)
                    if answer:
                        answers += 1
                        self.assertEqual(answer["command"], question)
                        seen |= {table["name"] for table in answer["tables"] if table["rows"]}
        self.assertGreater(answers, 500)
        self.assertGreater(len(seen), 40, seen)

    def test_comparisons(self):
        made = {os.path.basename(path): path for path in self.inputs}
        for pair in (("lines_base", "lines"), ("stacks", "leak"), ("snapshot.json", "oom.json"),
                     ("memory_record.csv", "npu_mem.csv"), ("today.csv", "first.csv")):
            for question in ("diff", "ranks"):
                with self.subTest(question=question, pair=pair):
                    answer = self.answer(self.report, question, *(made[name] for name in pair))
                    self.assertEqual(answer["command"], question)

    def test_runs_over_time(self):
        made = {os.path.basename(path): path for path in self.inputs}
        runs = os.path.join(self.folder.name, "runs-over-time")
        os.mkdir(runs)
        for number, name in enumerate(("lines_base", "lines", "leak")):
            subprocess.run([LEAKTIDE, "summarize", "-o", os.path.join(runs, str(number)), made[name]], check=True)
        answer = self.answer(self.report, "history", runs)
        self.assertEqual(answer["facts"]["run_count"], 3)
        self.assertEqual(len(answer["findings"]), 1)

    def test_gates(self):
        outcomes = set()
        for path in self.inputs:
            with self.subTest(path=path):
                answer = self.answer(self.gate, "gate", "--policy", self.policy, path)
                if answer:
                    outcomes |= {case["outcome"] for case in answer["cases"]}
        self.assertTrue({"passed", "failed", "unsure"} <= outcomes, outcomes)


class Page(unittest.TestCase):
    """docs/json-schema.md names what the schema has, no more and no less."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(SOURCE, "docs", "json-schema.md"), encoding="utf-8") as file:
            cls.text = file.read()
        cls.schema = schema("leaktide-report-2.schema.json")

    def rows(self):
        """{table: the columns that its row of the page names}"""
        columns = {}
        section = self.text.split("\n## Tables\n")[1].split("\n## ")[0]
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if not line.startswith("| `"):
                continue
            named = re.findall("`([a-z_]+)`", cells[3])
            for like in re.findall("as `([a-z_]+)`", cells[3]):
                named.remove(like)
                named += columns[like]
            for name in re.findall("`([a-z_]+)`", cells[0]):
                columns[name] = named
        return columns

    def test_the_example_is_one(self):
        example = json.loads(re.search("```json\n(.*?)```", self.text, re.DOTALL).group(1))
        self.assertEqual([error.message for error in validator(self.schema).iter_errors(example)], [])

    def test_every_table_and_column(self):
        rows = self.rows()
        definitions = {name[len("row_of_"):]: set(row["properties"])
                       for name, row in self.schema["definitions"].items() if name.startswith("row_of_")}
        self.assertEqual(set(rows), set(definitions))
        for name, columns in definitions.items():
            with self.subTest(table=name):
                self.assertEqual(set(rows[name]), columns)

    def test_every_fact_and_figure(self):
        named = set(re.findall("`([a-z_0-9.]+)`", self.text))
        for kind in ("leak", "advice", "inefficient", "peak_growth", "kept_growth"):
            for key in self.schema["definitions"]["finding_" + kind]["properties"]:
                self.assertIn(key, named)
        for key in self.schema["properties"]["facts"]["properties"]:
            self.assertTrue({key, "facts." + key} & named, key)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
