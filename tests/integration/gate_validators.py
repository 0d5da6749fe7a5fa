# SPDX-License-Identifier: Apache-2.0
"""The outputs of the gate, given to those who judge such files, with the program that made them.

    gate_validators.py LEAKTIDE CLI-MAKE-TRACES [FOLDER]

Of these, what is here: the SARIF multitool (MT_SARIF_MULTITOOL: the program of npm's @microsoft/sarif-multitool-linux), Jenkins'
junit-10.xsd (MT_JUNIT_XSD, with lxml), GitLab's codeclimate.json (MT_GITLAB_SCHEMA, with jsonschema), GitHub's Markdown
(the module cmarkgfm). FOLDER keeps the files, and a picture of the comment where there is a Chromium. Ends with 77 where none is here.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
POLICY = '[leak]\n[device."*"]\npeak_live = "1 MiB"\n[device."npu:9"]\nfrag = "1%"\n'
# Of the multitool: the page of the project is not published yet.
EXPECTED_WARNINGS = {"SARIF2005"}
COMMENT = """<!DOCTYPE html><meta charset=utf-8><style>body{font:14px/1.5 sans-serif;width:900px;margin:12px}
table{border-collapse:collapse;display:block;overflow:auto} td,th{border:1px solid #d0d7de;padding:6px 13px} code{background:#eff1f3}</style>%s"""


def has(module):
    return importlib.util.find_spec(module) is not None


def wanted(variable):
    path = os.environ.get(variable)
    return path if path and os.path.exists(path) else None


def check_sarif(out):
    """None where the multitool is not here, else its findings."""
    tool = wanted("MT_SARIF_MULTITOOL")
    if not tool:
        return None
    done = subprocess.run([tool, "validate", os.path.join(out, "results.sarif"), "--rule-kind", "Sarif;Ghas"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)
    found = re.findall(r"(?:warning|error) (\w+): (.*)", done.stdout)
    if "Analysis completed successfully" not in done.stdout:
        found.append(("", done.stdout))
    return ["%s %s" % each for each in found if each[0] not in EXPECTED_WARNINGS]


def check_junit(out):
    """But for file and line, which pytest and GitLab have and this schema does not."""
    schema = wanted("MT_JUNIT_XSD")
    if not schema or not has("lxml"):
        return None
    from lxml import etree
    document = etree.parse(os.path.join(out, "junit.xml"))
    for case in document.iter("testcase"):
        for name in ("file", "line"):
            case.attrib.pop(name, None)
    judge = etree.XMLSchema(etree.parse(schema))
    judge.validate(document)
    return [str(error) for error in judge.error_log]


def check_gitlab(out):
    schema = wanted("MT_GITLAB_SCHEMA")
    if not schema or not has("jsonschema"):
        return None
    import jsonschema
    with open(schema, encoding="utf-8") as file:
        judge = jsonschema.Draft7Validator(json.load(file))
    with open(os.path.join(out, "gl-code-quality-report.json"), encoding="utf-8") as file:
        rows = json.load(file)
    return [error.message for row in rows for error in judge.iter_errors(row)] + ([] if rows else ["no row"])


def check_markdown(out):
    """As many rows as cases, and nothing of Markdown left in what is shown."""
    if not has("cmarkgfm"):
        return None
    import cmarkgfm
    with open(os.path.join(out, "summary.md"), encoding="utf-8") as file:
        html = cmarkgfm.github_flavored_markdown_to_html(file.read(), cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE)  # GitHub has <details>
    with open(os.path.join(out, "gate.json"), encoding="utf-8") as file:
        count = len(json.load(file)["cases"])
    with open(os.path.join(out, "comment.html"), "w", encoding="utf-8") as file:
        file.write(COMMENT % html)
    text = re.sub(r"<(pre|code)>.*?</\1>", "", html, flags=re.S)
    rows = [row.count("<td") for row in re.findall(r"<tr>.*?</tr>", html, re.S) if "<td" in row]
    faults = [] if rows == [5] * count else ["rows of %s cells, for %d cases" % (rows, count)]
    return faults + ["left in the text: " + each for each in re.findall(r"\*\*.*?\*\*|`.*?`|\|.*?\|", re.sub(r"<[^>]*>", "", text))]


def picture(out):
    sys.path.insert(0, os.path.join(HERE, "..", "browser"))
    from browser import Browser, find_browser
    if not find_browser() or not os.path.exists(os.path.join(out, "comment.html")):
        return
    with Browser() as browser:
        page = browser.open(os.path.join(out, "comment.html"), size=(940, 500), until="document.readyState === 'complete'")
        page.screenshot(os.path.join(out, "comment.png"), "body")


def judge(leaktide, make_traces, folder):
    os.makedirs(folder, exist_ok=True)
    subprocess.run([make_traces], cwd=folder, check=True, timeout=120, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "leaktide.toml"), "w", encoding="utf-8") as file:
        file.write(POLICY)
    out = os.path.join(folder, "out")
    status = subprocess.run([leaktide, "gate", "--format=md,junit,sarif,json,gitlab", "--output=out", "leak"], cwd=folder, timeout=120,
                            stdout=subprocess.DEVNULL).returncode
    if status != 1:
        raise SystemExit("the gate: exit status %d" % status)
    ElementTree.parse(os.path.join(out, "junit.xml"))
    found = {"SARIF multitool": check_sarif(out), "junit-10.xsd": check_junit(out), "GitLab's schema": check_gitlab(out),
             "GitHub's Markdown": check_markdown(out)}
    picture(out)
    return found


def main():
    with tempfile.TemporaryDirectory() as temporary:
        found = judge(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3] if sys.argv[3:] else temporary)
    for name, faults in found.items():
        print("%s: %s" % (name, "not here" if faults is None else "; ".join(faults) or "no fault"))
    if all(faults is None for faults in found.values()):
        sys.exit(77)
    sys.exit(1 if any(found.values()) else 0)


main()
