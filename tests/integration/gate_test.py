"""leaktide gate, bless and suppress: budgets on made-up recordings, and on the sample as it changes.

Run as gate_test.py LEAKTIDE MAKE-TRACES SAMPLE-FOLDER INCLUDE-FOLDER COMPILER [REFERENCE-DATA]
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import report_tables

LEAKTIDE, MAKE_TRACES, SAMPLE, INCLUDE, COMPILER = sys.argv[1:6]
REFERENCE = sys.argv[6] if len(sys.argv) > 6 else ""
PEAK = '[device."*"]\npeak_live = "1 GiB"\n'


class Folder(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_program(self, *arguments, variables=None):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("GITHUB_", "LEAKTIDE_"))}
        env.update(variables or {})
        return subprocess.run(arguments, cwd=self.folder, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False,
                              timeout=120)

    def leaktide(self, *arguments, **more):
        return self.run_program(LEAKTIDE, *arguments, **more)


class MadeUpTest(Folder):
    """Against the recordings of tests/cli: 12 steps; a leak of 1 MiB a step at train+0x440."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.run_program(MAKE_TRACES).returncode, 0)

    def gate(self, policy, *arguments, recording="leak", **more):
        self.write("leaktide.toml", policy)
        return self.leaktide("gate", *arguments, *([recording] if recording else []), **more)

    def check(self, policy, status, *words, **more):
        done = self.gate(policy, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)
        return done

    def test_policies_and_what_is_said_of_them(self):
        cases = [
            # policy, exit status, words
            (PEAK, 0, ("passed", "limit 1.00 GiB")),
            ('[device."*"]\npeak_live = "1 MiB"\n', 1, ("FAILED", "over the limit of 1.00 MiB",
                                                        "leaktide.toml:2")),
            ('[device.host]\npeak_live = "1 KiB"\n', 0, ("peak of host: 512 B",)),
            ('[device."npu:7"]\npeak_live = "1 GiB"\n', 4, ("cannot judge", "npu:7",
                                                            "pta of npu:0, host of host")),
            ('[device."npu:*".pool.pta]\npeak_live = "1 KiB"\n[device."*"]\npeak_live = "1 GiB"\n',
             1, ("peak of pta on npu:0", "over the limit of 1.00 KiB", "1 of 3 checks failed")),
            ('[device."*"]\npeak_live = { rel = "+2%" }\n', 4, ("there is none", "leaktide bless")),
            ("[leak]\n", 1, ("leak: 1.00 MiB per step at train+0x440",)),
            ('[leak]\nmin_slope = "2 MiB/step"\n', 0, ("1 leak, within the limits of [leak]",)),
            ("[leak]\nallow_cache_growth = false\n" + '[require]\nsteps_min = 2\n', 1,
             ("leak: 1.00 MiB per step", "growing cache at train+0x550: 2.00 MiB since step 3")),
            ("[require]\nsteps_min = 13\n", 4, ("only 12 of the 13 steps",)),
            ('[[site]]\nmatch = "train*"\nlive_at_peak = "1 KiB"\n', 1, ("over the limit",)),
            ('[[site]]\nmatch = "nobody*"\nlive_at_peak = "1 KiB"\n', 0,
             ("nothing at the peak matches nobody*",)),
            ('[phase.backward]\npeak_live = "1 GiB"\n', 4, ("phase backward",)),
            ('[ranks]\nimbalance = "5%"\n', 4, ("cannot tell highest peak of a rank",)),
            # wrong use
            ("", 2, ("no rule in it",)),
            ("[leak", 2, ("leaktide.toml:1: expected ]",)),
            ("[leek]\n", 2, ("leaktide.toml:1", "did you mean leak?")),
            ('[device."*"]\npeek_live = "1 GiB"\n', 2, ("leaktide.toml:2", "did you mean peak_live?")),
            ('[device."*"]\npeak_live = 28\n', 2, ("leaktide.toml:2: peak_live", "28 GiB")),
            ('[device."*"]\npeak_live = "28"\n', 2, ("needs a unit",)),
            ('[device."*"]\npeak_live = "28 GBit"\n', 2, ("unit is not known",)),
            ('[device."*"]\nfrag = "8"\n', 2, ("share is a number and %",)),
            ('[device."*"]\npeak_live = {}\n', 2, ("needs max or rel",)),
            ('[[site]]\nmatch = "x"\n', 2, ("match and live_at_peak",)),
            ("[require]\nsteps_min = -1\n", 2, ("whole number",)),
            ("[leak]\nconfidence = 0.5\n", 2, ("0.99",)),
            ("site = 1\n", 2, ("[[site]]",)),
            ("leak = 1\n", 2, ("a table is expected",)),
        ]
        for policy, status, words in cases:
            with self.subTest(policy=policy):
                self.check(policy, status, *words)

    def test_lines_of_one_function_go_by_the_largest(self):
        self.check('[device.host]\npeak_live = "1 MiB"\n', 1, "2.00 MiB at load (batch.c:12)",
                   recording="lines_late")

    def test_too_little_is_never_passed(self):
        self.check("[leak]\n", 4, "3 steps judged, 5 are needed", recording="short")
        self.check("[leak]\n", 4, "has no steps", recording="window")
        self.check(PEAK, 3, "17 of 18 events (94 %) were lost", recording="lost")
        self.check("[require]\ntrace_complete = false\n" + PEAK, 0, recording="lost")
        self.check(PEAK, 4, recording="empty")
        self.check(PEAK, 3, recording="newer")
        self.check(PEAK, 3, recording="nowhere")
        self.check(PEAK, 2, "needs a recording", recording=None)
        os.unlink(self.path("leaktide.toml"))
        done = self.leaktide("gate", "leak")
        self.assertEqual(done.returncode, 2)
        self.assertIn("name the policy with --policy", done.stderr)

    def test_growth_that_is_not_known_is_not_judged(self):
        self.check('[leak]\nwindow_growth = "1 GiB"\n', 4, "of unknown size", recording="window")

    def test_baselines(self):
        policy = '[baseline]\nfile = "b"\n[device."*"]\npeak_live = { rel = "+2%" }\n'
        self.check(policy, 4, "there is none at b")
        self.assertEqual(self.leaktide("bless", "short").returncode, 0)
        text = self.read("b")
        rows = [line for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual(rows, sorted(rows))
        self.check(policy, 0, "+0 B (+0.00 %, allowed +2.00 %)", recording="short")
        self.check(policy, 1, "+11.0 MiB (+11.34 %, allowed +2.00 %)", "at train+0x550 (was ")
        self.check(policy.replace('"+2%"', '"+12%"'), 0)
        self.check(policy.replace('"+2%"', '"+2%", floor = "20 MiB"'), 0)
        self.write("b", text.replace(" = ", " == ", 1))
        self.check(policy, 2, "b:2: \"key = number\" is expected")
        self.write("b", text.replace(" = ", " = x", 1))
        self.check(policy, 2, "b:2: expected a whole number after =")
        self.write("b", text + rows[0] + "\n")
        self.check(policy, 2, "is there twice")
        self.write("b", "hello\n")
        self.check(policy, 2, "b:1: this is no baseline")
        self.write("b", text.splitlines()[0] + "\n")
        self.check(policy, 4, "has no npu:0/pta/peak_live to compare with")
        done = self.gate(policy, "--baseline=nowhere")
        self.assertEqual(done.returncode, 3)
        done = self.leaktide("bless", "lost")
        self.assertEqual(done.returncode, 3)
        self.assertIn("not complete", done.stderr)

    def test_noise_is_not_judged(self):
        policy = '[device."npu:0"]\npeak_live = { rel = "+5%", max = "100 MiB" }\n'
        self.write("leaktide.toml", policy)
        done = self.leaktide("bless", "--traces", "--baseline=b", "short", "leak")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("n=2", self.read("b"))
        # the best of two keeps the absolute limit; the spread is 11 %
        done = self.gate(policy, "--traces", "--baseline=b", "short")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("tighter than twice the noise", done.stdout)
        self.assertIn("limit 100 MiB", done.stdout)
        forced = policy.replace('"+5%"', '"+5%", force = true')
        done = self.gate(forced, "--traces", "--baseline=b", "short")  # the median is the same
        self.assertEqual(done.returncode, 0, done.stdout)
        done = self.gate(forced, "--traces", "--baseline=b", "leak", recording="leak")
        self.assertEqual(done.returncode, 1, done.stdout)

    def test_suppressions(self):
        policy = '[leak]\n[suppress]\nfile = "s"\n'
        self.write("s", "# none\n")
        self.write("leaktide.toml", policy)
        made = self.leaktide("suppress", "leak").stdout
        self.assertIn("leak:", made)
        cases = [
            (made, 0, "suppressed by s:"),
            ('leak:train until=2999-12-31 reason="soon"\n', 0, "suppressed by s:1: soon"),
            ("leak:^train+0x440 (train)$\n", 2, "expected name=value"),
            ('leak:^train+0x440$\n', 0, "suppressed"),
            ("leak:tr*n\n", 0, "suppressed"),
            ("leak:^rain\n", 1, "suppresses nothing any more"),
            ("leak:train until=2020-01-31\n", 1, "ended on 2020-01-31"),
            ('leak:train max="1 KiB"\n', 1, "holds more than the 1.00 KiB"),
            ("leak:train until=2020-02-31\n", 2, "s:1: until"),
            ("leak:train untill=2020-01-31\n", 2, "did you mean until"),
            ("train\n", 2, "s:1: leak: and a pattern"),
            ("leak:\n", 2, "the pattern is empty"),
        ]
        for text, status, word in cases:
            with self.subTest(text=text):
                self.write("s", text)
                self.check(policy, status, word)

    def test_explains_a_key(self):
        self.write("leaktide.toml", PEAK)
        done = self.leaktide("gate", "--explain=npu:0/pta/peak_live", "leak")
        self.assertEqual(done.returncode, 0)
        self.assertIn("held at the peak by", done.stdout)
        done = self.leaktide("gate", "--explain=npu:0/pta/peek_live", "leak")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean npu:0/pta/peak_live?", done.stderr)

    def all_formats(self):
        self.write("leaktide.toml", '[leak]\n[device."*"]\npeak_live = "1 MiB"\n'
                                   '[device."npu:9"]\nfrag = "1%"\n')
        done = self.leaktide("gate", "--format=text,md,junit,sarif,json,openmetrics,github,gitlab",
                            "--output=out", "leak")
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stdout

    JUNIT = {  # elements, their attributes, what may be in them: as Jenkins' junit-10.xsd has it, and file and line as pytest's
        "testsuites": (set(), {"testsuite"}),
        "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time"}, {"testcase"}),
        "testcase": ({"classname", "name", "time", "file", "line"}, {"failure", "error", "skipped", "system-out"}),
        "failure": ({"message", "type"}, set()),
        "error": ({"message", "type"}, set()),
        "skipped": ({"message"}, set()),
        "system-out": (set(), set()),
    }

    def check_junit(self, element):
        attributes, children = self.JUNIT[element.tag]
        self.assertEqual(set(element.attrib), attributes)
        for child in element:
            self.assertIn(child.tag, children)
            self.check_junit(child)

    def check_summary(self, verdict):
        """A row of five cells for each case, and what agrees to it."""
        lines = self.read("out/summary.md").splitlines()
        self.assertEqual(lines[:4], ["### " + verdict["headline"], "",
                                     "| check | now | limit | was | where |", "|---|--:|--:|--:|---|"])
        rows = [line for line in lines if line.startswith("| ") and "check | now" not in line]
        self.assertEqual(len(rows), len(verdict["cases"]))
        for row in rows:
            self.assertEqual(row.replace("\\|", "").count("|"), 6, row)
        self.assertEqual("leaktide suppress --policy" in "\n".join(lines),
                         any(case["rule"] == "leak" and case["outcome"] == "failed" for case in verdict["cases"]))

    def test_formats_agree(self):
        said = self.all_formats()
        verdict = json.loads(self.read("out/gate.json"))
        outcomes = [case["outcome"] for case in verdict["cases"]]
        failed, unsure = outcomes.count("failed"), outcomes.count("unsure")
        self.assertEqual((failed, unsure), (2, 1))
        self.assertEqual(len({case["key"] for case in verdict["cases"]}), len(outcomes))
        suite = ElementTree.parse(self.path("out/junit.xml")).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")),
                         (str(len(outcomes)), str(failed), str(unsure)))
        self.assertEqual(len(suite.findall("testcase/failure")), failed)
        self.check_junit(ElementTree.parse(self.path("out/junit.xml")).getroot())
        sarif = json.loads(self.read("out/results.sarif"))["runs"][0]
        self.assertEqual(len(sarif["results"]), failed + unsure)
        rules = [rule["id"] for rule in sarif["tool"]["driver"]["rules"]]
        for result in sarif["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            self.assertGreaterEqual(
                result["locations"][0]["physicalLocation"]["region"]["startLine"], 1)
            self.assertRegex(result["partialFingerprints"]["leaktideKey/v1"], "^[0-9a-f]{16}$")
        self.assertEqual(said.count("::error file="), failed + unsure)
        findings = json.loads(self.read("out/gl-code-quality-report.json"))
        self.assertEqual([finding["description"] for finding in findings],
                         [result["message"]["text"] for result in sarif["results"]])
        self.assertEqual(verdict["headline"], said.splitlines()[0])
        self.assertLess(len(self.read("out/summary.md").splitlines()), 60)
        self.check_summary(verdict)
        for case in verdict["cases"]:
            if case["outcome"] == "failed":
                self.assertIn(case["sentence"], said)

    FILES = {"md": "summary.md", "junit": "junit.xml", "sarif": "results.sarif", "json": "gate.json",
             "openmetrics": "metrics.txt", "gitlab": "gl-code-quality-report.json"}

    def written(self, policy, recording):
        """What each format says of the gate, by its name; its exit status."""
        self.write("leaktide.toml", policy)
        done = self.leaktide("gate", "--format=github," + ",".join(self.FILES), "--output=out", recording)
        said = {name: self.read(os.path.join("out", file)) for name, file in self.FILES.items()}
        return dict(said, github=done.stdout), done.returncode

    def test_leaks_that_are_not_judged_pass_in_no_format(self):
        said, status = self.written('[leak]\n', "short")
        self.assertEqual(status, 4)
        for name in set(said) - {"openmetrics"}:
            self.assertIn("CANNOT SAY whether something leaks: 3 steps judged, 5 are needed", said[name], name)
            self.assertNotRegex(said[name], r"(?i)no leak|\b0 leaks|0 B", name)
        self.assertIn("Memory gate CANNOT JUDGE: 1 of ", said["md"])
        self.assertIsNotNone(ElementTree.fromstring(said["junit"]).find("testsuite/testcase[@name='leaks']/error"))
        result, = json.loads(said["sarif"])["runs"][0]["results"]
        self.assertEqual((result["ruleId"], result["level"]), ("mem/leak", "error"))
        self.assertEqual(json.loads(said["json"])["outcome"], "unsure")
        self.assertTrue(said["github"].startswith("::error file=leaktide.toml,line=1,title=leaktide leaks::"))
        finding, = json.loads(said["gitlab"])
        self.assertEqual((finding["check_name"], finding["severity"]), ("mem/leak", "major"))

    def test_a_metric_says_whether_leaks_were_judged(self):
        cases = [  # policy, recording, whether they were; None: nobody asked
            ('[leak]\n', "short", 0), ('[leak]\n', "leak", 1), ('[leak]\n', "tidy", 1), ('[leak]\n', "few_turns", 0),
            ('[leak]\nwindow_growth = "1 GiB"\n', "lines", 0), (PEAK, "leak", None)]
        for policy, recording, judged in cases:
            with self.subTest(policy=policy, recording=recording):
                said = self.written(policy, recording)[0]["openmetrics"]
                found = re.search(r"^leaktide_leaks_judged (\d)$", said, re.M)
                self.assertEqual(found and int(found.group(1)), judged)
                self.assertEqual("leaktide_leak_per_step_bytes{" in said, recording == "leak" and policy != PEAK)

    def test_gitlab_gets_findings_of_the_project(self):
        """Keys and severities as its report format has them; paths in the project."""
        self.write("s", "leak:nobody\n")
        done = self.gate('[leak]\n[suppress]\nfile = "s"\n[device."npu:9"]\nfrag = "1%"\n',
                         "--format=gitlab")
        self.assertEqual(done.returncode, 1)
        findings = json.loads(done.stdout)
        for finding in findings:
            self.assertEqual(set(finding), {"description", "check_name", "fingerprint", "severity",
                                            "location"})
            self.assertEqual(finding["location"]["path"], "leaktide.toml")
            self.assertGreaterEqual(finding["location"]["lines"]["begin"], 1)
        self.assertEqual([(finding["check_name"], finding["severity"]) for finding in findings],
                         [("mem/fragmentation", "major"), ("mem/leak", "critical"),
                          ("gate/suppression", "info")])
        self.assertEqual(len({finding["fingerprint"] for finding in findings}), 3)
        self.assertEqual(json.loads(self.gate('[device."*"]\npeak_live = "1 GiB"\n',
                                              "--format=gitlab").stdout), [])

    def test_remarks_are_no_pass_when_strict(self):
        cases = [
            # policy, suppressions, exit status without --strict and with it
            ('[leak]\nmin_slope = "2 MiB/step"\n', "leak:nobody\n", 0, 5),
            ('[leak]\nmin_slope = "2 MiB/step"\n', "", 0, 0),
            ('[[site]]\nmatch = "nobody*"\nlive_at_peak = "1 KiB"\n', "", 0, 5),
            ('[device."*"]\npeak_live = "1 KiB"\n', "leak:nobody\n", 1, 1),
            ('[device."npu:7"]\npeak_live = "1 GiB"\n', "leak:nobody\n", 4, 4),
        ]
        for policy, known, status, strict in cases:
            with self.subTest(policy=policy, known=known):
                self.write("s", known + "# end\n")
                policy += '[suppress]\nfile = "s"\n'
                self.assertEqual(self.gate(policy).returncode, status)
                self.assertEqual(self.gate(policy, "--strict").returncode, strict)

    def test_names_are_for_people(self):
        cases = [
            ('[device."npu:9"]\nfrag = "1%"\n', "", "| fragmentation of npu:9 |"),
            ('[ranks]\nimbalance = "5%"\n', "", "| highest peak of a rank over the median |"),
            ('[[site]]\nmatch = "nobody*"\nlive_at_peak = "1 KiB"\n', "", "| site nobody* |"),
            ('[[site]]\nmatch = "*"\nlive_at_peak = {rel = "+5%"}\n', "", "| site * |"),
            ('[leak]\n[suppress]\nfile = "s"\n', "leak:nobody\n", "| suppression of nobody |"),
        ]
        for policy, known, row in cases:
            with self.subTest(policy=policy):
                self.write("s", known + "# end\n")
                done = self.gate(policy, "--format=md")
                self.assertNotIn("/line-", done.stdout)
                self.assertIn(row, re.sub(r"[\\]|[^\x00-\x7f]+ ", "", done.stdout))

    def test_openmetrics_is_what_a_parser_reads(self):
        self.all_formats()
        text = self.read("out/metrics.txt")
        self.assertTrue(text.endswith("# EOF\n"))
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("python3-prometheus-client is not installed")
        families = {family.name: family for family in text_string_to_metric_families(text)}
        peaks = {sample.labels["pool"]: sample.value
                 for sample in families["leaktide_peak_live_bytes"].samples}
        report = report_tables.load(self.leaktide("peak", "--format=json", "leak").stdout)
        self.assertEqual(peaks, {row["ledger"].split()[0]: row["peak_bytes"]
                                 for row in report["tables"]["peaks"]})

    def test_every_value_has_its_unit(self):
        self.write("leaktide.toml", '[require]\nsteps_min = 2\n[leak]\n'
                                   '[device."*"]\npeak_live = "1 GiB"\n'
                                   '[[site]]\nmatch = "*"\nlive_at_peak = "1 GiB"\n')
        cases = json.loads(self.leaktide("gate", "--format=json", "leak").stdout)["cases"]
        self.assertEqual({case["rule"]: case["unit"] for case in cases},
                         {"trace_complete": None, "steps_min": "steps",
                          "leak": "bytes_per_step", "peak_live": "bytes", "site": "bytes"})

    def test_github_gets_annotations_and_a_summary_by_itself(self):
        self.write("leaktide.toml", "[leak]\n")
        self.write("page.md", "before\n")
        done = self.leaktide("gate", "leak", variables={
            "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": self.path("page.md")})
        self.assertIn("::error file=leaktide.toml,line=1,title=leaktide leak at train+0x440::leak:", done.stdout)
        self.assertTrue(self.read("page.md").startswith("before\n### Memory gate FAILED"))

    def test_wrong_formats(self):
        self.write("leaktide.toml", PEAK)
        done = self.leaktide("gate", "--format=junitt", "leak")
        self.assertEqual((done.returncode, "did you mean junit" in done.stderr), (2, True))
        done = self.leaktide("gate", "--format=junit,sarif", "leak")
        self.assertEqual((done.returncode, "need a folder" in done.stderr), (2, True))


class ReferenceTest(Folder):
    """Budgets hold for recordings of other tools too."""

    INPUTS = [
        "ascend/st-level2/rank_0_ascend_pt", "ascend/text-202410/level0/rank0_ascend_pt",
        "ascend/db-202501/level0/rank0_ascend_pt",
        "ascend/memsnapshot/snapshot_with_empty_cache.pkl",
    ]

    def setUp(self):
        super().setUp()
        if not REFERENCE:
            self.skipTest("no reference data")

    def gate(self, policy, path, *arguments):
        self.write("leaktide.toml", "[require]\ntrace_complete = false\n" + policy)
        return self.leaktide("gate", *arguments, os.path.join(REFERENCE, path))

    def recordings(self):
        yield from self.INPUTS
        for kind in ("pytorch", "memscope"):
            for place, _, files in sorted(os.walk(os.path.join(REFERENCE, kind))):
                for name in sorted(files):
                    path = os.path.join(place, name)
                    report = self.leaktide("peak", "--format=json", path)
                    if report.returncode == 0 and report_tables.load(report.stdout)["tables"].get("peaks"):
                        yield os.path.relpath(path, REFERENCE)

    def test_every_kind_of_recording_can_be_judged(self):
        judged = 0
        for path in self.recordings():
            with self.subTest(path=path):
                done = self.gate('[device."*"]\npeak_live = "1 TiB"\n', path)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                done = self.gate('[device."*"]\npeak_live = "1 B"\n', path)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                judged += 1
        self.assertGreater(judged, 8)

    def test_what_nobody_accounts_for(self):
        done = self.gate('[device."npu:*"]\nunattributed = "1 B"\n',
                         "ascend/text-202410/level0/rank0_ascend_pt")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("unattributed memory on npu:0: 523 MiB", done.stdout)

    def test_growth_of_a_window(self):
        path = "ascend/text-202501/level0/rank0_ascend_pt"
        policy = "[leak]\nwindow_growth = \"%d B\"\n"
        done = self.gate(policy % 18951167, path)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("kept 18.1 MiB of the recorded time", done.stdout)
        self.assertEqual(self.gate(policy % 18951168, path).returncode, 0)

    def test_growth_of_several_windows(self):
        under = os.path.join(REFERENCE, "ascend/text-202501/level0/rank0_ascend_pt")
        over = os.path.join(REFERENCE, "ascend/text-202410/level0/rank0_ascend_pt")
        self.write("leaktide.toml", "[require]\ntrace_complete = false\n"
                                    "[leak]\nwindow_growth = \"18951168 B\"\n")
        for paths, status in ((over, under, under), 0), ((under, over, over), 1):
            done = self.leaktide("gate", "--traces", *paths)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            self.assertIn("the middle one of 3 recordings", done.stdout)


NATIVE = """#include <leaktide/tracer.h>
#include <stdlib.h>
static void *volatile kept;
void begin(void) { mt_step_begin(); }
void end(void) { mt_step_end(); }
void native_new(size_t size_bytes) { kept = malloc(size_bytes); }
"""

CALLER = """import ctypes
native = ctypes.CDLL("./libnative.so")
def forward():
    native.native_new(16384)
def train():
    for step in range(20):
        native.begin()
        forward()
        native.end()
train()
"""


class OnePlaceTest(Folder):
    """A leak whose memory a native function asks for, called by Python: all name Python's line."""

    def setUp(self):
        super().setUp()
        self.write("native.c", NATIVE)
        self.write("caller.py", CALLER)
        self.write("leaktide.toml", "[leak]\n")
        built = self.run_program(COMPILER, "-shared", "-fPIC", "-O1", "-I" + INCLUDE, "-o",
                                 "libnative.so", "native.c", "-ldl")
        self.assertEqual(built.returncode, 0, built.stderr)
        done = self.leaktide("run", "--quiet", "--device=cpu", "--call-stack=python,c",
                             "--output-path=run", "--", os.path.realpath(sys.executable),
                             "caller.py", variables={"PYTHONMALLOC": "malloc"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = self.leaktide("gate", "--format=text,md,junit,sarif,json,github,gitlab",
                                  "--output=out", "run").stdout

    def find(self):
        """The finding of the report, and its sentence as it begins everywhere."""
        done = self.leaktide("leaks", "--format=json", "run")
        found = [finding for finding in json.loads(done.stdout)["findings"]
                 if "caller.py:4" in finding["site"]]
        self.assertEqual(len(found), 1, done.stdout)
        return found[0], found[0]["sentence"].split("; ")[0]

    def test_the_same_words_and_the_same_line(self):
        finding, sentence = self.find()
        self.assertEqual((finding["function"], finding["line"]), ("forward", 4))
        self.assertEqual(os.path.basename(finding["file"]), "caller.py")
        case = [row for row in json.loads(self.read("out/gate.json"))["cases"]
                if row["outcome"] == "failed"][0]
        self.assertEqual((case["sentence"], case["function"], case["file"], case["line"]),
                         (sentence, "forward", finding["file"], 4))
        for name in ("summary.md", "junit.xml", "gl-code-quality-report.json"):
            self.assertIn("caller.py", self.read("out/" + name))
        findings = json.loads(self.read("out/gl-code-quality-report.json"))
        self.assertEqual(findings[0]["description"], sentence)
        self.assertEqual(findings[0]["location"]["lines"], {"begin": 4})
        self.assertRegex(self.said, r"caller\.py,line=4,title=leaktide leak at forward \([^)]*\)::" + re.escape(sentence))
        self.assertIn("caller.py:4\n", self.said)

    def test_sarif_has_the_calls(self):
        sarif = json.loads(self.read("out/results.sarif"))["runs"][0]["results"][0]
        self.assertEqual(sarif["message"]["text"], self.find()[1])
        place = sarif["locations"][0]["physicalLocation"]
        self.assertTrue(place["artifactLocation"]["uri"].endswith("caller.py"), place)
        self.assertEqual(place["region"]["startLine"], 4)
        flow = sarif["codeFlows"][0]["threadFlows"][0]["locations"]
        self.assertEqual([(step["location"]["message"]["text"],
                           step["location"]["physicalLocation"]["region"]["startLine"])
                          for step in flow], [("<module>", 10), ("train", 8), ("forward", 4)])


class SampleTest(Folder):
    """samples/ci_gate, as a team changes it."""

    def setUp(self):
        super().setUp()
        for name in ("leaktide.toml", "leaktide.supp"):
            shutil.copy(os.path.join(SAMPLE, name), self.path(name))
        with open(os.path.join(SAMPLE, "train.c"), encoding="utf-8") as file:
            self.source = file.read()

    def record(self, run, *flags, source=None, file_name="train.c"):
        self.write(file_name, source or self.source)
        built = self.run_program(COMPILER, "-g", "-O1", "-fno-inline", "-I" + INCLUDE, "-o",
                                 "train", file_name, *flags, "-ldl")
        self.assertEqual(built.returncode, 0, built.stderr)
        done = self.leaktide("run", "--quiet", "--device=cpu", "--call-stack=c",
                            "--output-path=" + run, "--", "./train")
        self.assertEqual((done.returncode, done.stdout), (0, "trained\n"), done.stderr)
        return run

    def bless(self):
        done = self.leaktide("bless", self.record("base"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def judge(self, run, status, *words):
        done = self.leaktide("gate", run)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stdout)
        return done.stdout

    def test_a_leak_fails_and_its_fix_passes(self):
        self.bless()
        said = self.judge(self.record("leaky", "-DFORGET_METRICS=1"), 1, "leak: 64.0 KiB per step",
                          "measure")
        line = next(number for number, text in enumerate(self.source.splitlines(), 1)
                    if "metrics = malloc" in text)
        self.assertRegex(said, r"code train\.c:%d\b" % line)
        self.judge(self.record("fixed"), 0)

    def test_moved_code_and_other_names_pass(self):
        self.bless()
        moved = "\n\n/* moved */\n\n" + re.sub(r"\bactivations\b", "outputs", self.source)
        os.makedirs(self.path("other/place"))
        self.judge(self.record("moved", source=moved, file_name="other/place/train.c"), 0)
        base = self.read("leaktide.base")
        self.assertEqual(self.leaktide("bless", "moved").returncode, 0)
        keys = [line.split(" = ")[0] for line in base.splitlines()]
        self.assertEqual(keys, [line.split(" = ")[0]
                                for line in self.read("leaktide.base").splitlines()])

    def test_two_leaks_of_one_function_are_told_by_the_faster(self):
        source = """#include <leaktide/tracer.h>
#include <stdio.h>
#include <stdlib.h>
static void *volatile kept[40];
int main(void)
{
    for (int i = 0; i < 20; i++) {
        mt_step_begin();
        kept[2 * i] = malloc(4096); /* line 9 */
        kept[2 * i + 1] = malloc(64);
        mt_step_end();
    }
    puts("trained");
}
"""
        self.write("leaktide.toml", "[leak]\n")
        first, second = self.record("one", source=source), self.record("two", source=source)
        self.judge(first, 1, "leak: 4.00 KiB per step at main (train.c:9)", "code train.c:9")
        done = self.leaktide("gate", "--traces", first, second)
        self.assertIn("in 2 of 2 recordings", done.stdout)

    def test_growth_of_one_percent(self):
        self.bless()
        extra = 12648448 // 100 // 4 + 1  # of four activations
        run = self.record("grown", "-DEXTRA_BYTES=%d" % extra)
        self.judge(run, 0)
        self.write("leaktide.toml", self.read("leaktide.toml").replace("+2%", "+0.5%"))
        self.judge(run, 1, "forward", "peak in phase forward of host: +")

    def test_an_unchanged_program_passes_every_time(self):
        self.bless()
        for _ in range(20):
            shutil.rmtree(self.path("again"), ignore_errors=True)
            done = self.leaktide("run", "--quiet", "--device=cpu", "--call-stack=c",
                                "--output-path=again", "--policy=leaktide.toml", "--", "./train")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_run_judges_only_what_ended_well(self):
        self.bless()
        done = self.leaktide("run", "--quiet", "--device=cpu", "--policy=leaktide.toml",
                            "--output-path=bad", "--", "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertIn("not held against leaktide.toml", done.stderr)

    def test_the_baseline_of_the_sample_is_its_own(self):
        shutil.copy(os.path.join(SAMPLE, "leaktide.base"), self.path("leaktide.base"))
        self.judge(self.record("now"), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
