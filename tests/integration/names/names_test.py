#!/usr/bin/env python3
"""Names of strangers leave leaktide in one way: nothing that moves a cursor, turns the writing or is
run by a spreadsheet comes out of any command, in any format.

usage: names_test.py LEAKTIDE MSMEMSCOPE PROGRAM
"""

import base64
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom
import zlib

LEAKTIDE, MSMEMSCOPE, PROGRAM = sys.argv[1:4]

QUESTIONS = ["report", "leaks", "peak", "stacks", "blocks", "steps", "ops", "breakdown", "modules",
             "ranks", "info", "frag", "oom", "inefficient", "advice"]
FOLDER_NAME = "a\x1b[31m\u202e\n=b".encode() + b"\xff"
DANGEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]")
FORMULA = re.compile(r"[=@\t\r]|[+-](?![0-9.]+$)")
failures = []


def check(is_good, what):
    if not is_good:
        failures.append(what)
        print("failed:", what)


def run(*arguments, codes=(0, 1, 2, 3, 4), **more):
    done = subprocess.run([os.fsencode(word) for word in arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, **more)
    check(done.returncode in codes, "%s ends with %d: %s"
          % (arguments, done.returncode, done.stderr[-500:]))
    return done


def scan(text_bytes, what, allowed=""):
    """Returns the text, which is UTF-8 without anything dangerous."""
    try:
        text = text_bytes.decode("utf-8")
    except UnicodeDecodeError as error:
        check(False, "%s: no UTF-8: %s" % (what, error))
        text = text_bytes.decode("utf-8", "replace")
    found = [match for match in DANGEROUS.findall(text) if match not in allowed]
    check(not found, "%s: %d times %r" % (what, len(found), sorted(set(found))))
    return text


def scan_csv(text_bytes, what, allowed=""):
    text = scan(text_bytes, what, allowed)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        check(False, "%s: no csv: %s" % (what, error))
        return []
    check(len(rows) > 1, "%s: has rows" % what)
    check(len({len(row) for row in rows}) == 1, "%s: each row has as many cells" % what)
    bad = [cell for row in rows for cell in row if FORMULA.match(cell.rstrip("\t"))]
    check(not bad, "%s: %d cells are formulas: %s" % (what, len(bad), bad[:3]))
    return rows


def payloads(page):
    for name, data in re.findall(rb'id="data-([a-z-]+)">([A-Za-z0-9+/=]*)</script>', page):
        yield name.decode(), zlib.decompress(base64.b64decode(data))


def scan_page(page, what):
    text = page.decode("utf-8")
    verdict = "".join(re.findall("<p>.*</p>", text))
    scan(verdict.encode(), what + ": verdict")
    check("<b" not in verdict, what + ": markup of a name")
    count = 0
    for name, data in payloads(page):
        count += 1
        if name == "report":
            shown = json.dumps(json.loads(data.decode("utf-8")), ensure_ascii=False)
            scan(shown.encode(), what + ": JSON")
        else:
            columns = json.loads(data.split(b"\n", 1)[0])["columns"]
            body = data.split(b"\n", 1)[1]
            for column in columns:
                cells, body = body[:column["bytes"]], body[column["bytes"]:]
                if column["kind"] == "text":
                    scan(cells.replace(b"\0", b" "), "%s: %s.%s" % (what, name, column["key"]))
    check(count > 2, what + ": has data")


def json_texts(value):
    if isinstance(value, dict):
        value = list(value) + list(value.values())
    if isinstance(value, list):
        return [text for item in value for text in json_texts(item)]
    return [value] if isinstance(value, str) else []


def ask_everything(recording):
    seen = ""
    for question in QUESTIONS:
        seen += scan(run(LEAKTIDE, question, recording).stdout, question)
        text = scan(run(LEAKTIDE, question, "-f", "json", recording).stdout, question + " json")
        json.loads(text)
        scan_page(run(LEAKTIDE, question, "-f", "html", recording).stdout, question + " html")
    for text_format in ("text", "json"):
        scan(run(LEAKTIDE, "diff", "-f", text_format, recording, recording).stdout,
             "diff " + text_format)
    for shown in (r"\x1b[31mred", r"\u202e", r"\xff", r"\u009b", r"line\nbreak\rreturn"):
        check(shown in seen, "%s is shown in texts" % shown)
    exact = json_texts(json.loads(run(LEAKTIDE, "report", "-f", "json", recording).stdout.decode()))
    check(any("\x1b[31mred\x1b]0;T\a" in text for text in exact), "JSON has the name exactly")


def export(recording, name, folder):
    out = os.path.join(folder, "export-" + name)
    run(LEAKTIDE, "export", "-t", name, "-o", out, recording, codes=(0,))
    return out


def read(path):
    with open(path, "rb") as file:
        return file.read()


def proto_texts(data):
    """Parts of the raw names, anywhere; long enough that no number of the file is one by chance."""
    return [name for name in (b"\x1b[31m", b"\xe2\x80\xae", b"UTF-8 \xff\xfe", b"\xc2\x9b31m")
            if name in data]


def export_everything(recording, folder):
    rows = scan_csv(read(export(recording, "csv", folder)), "export csv")
    check(any("'=cmd|' /C calc'!A0" in row for row in rows), "csv: a formula is a text")
    sizes = {row[rows[0].index("size_bytes")] for row in rows[1:]}
    check({"4096", "64"} <= sizes, "csv: numbers are numbers: %s" % sorted(sizes)[:5])
    scan_csv(read(export(recording, "memscope-csv", folder)), "export memscope-csv")
    for name in ("chrome", "speedscope", "memory-viz-json"):
        json.loads(scan(read(export(recording, name, folder)), "export " + name))
    folded = scan(read(export(recording, "folded", folder)), "export folded")
    check(all(re.match(r".+ [0-9]+$", line) for line in folded.splitlines()), "folded: lines")
    raw = proto_texts(gzip.decompress(read(export(recording, "pprof", folder))))
    check(not raw, "export pprof: %r" % raw)
    raw = proto_texts(read(export(recording, "perfetto", folder)))
    check(not raw, "export perfetto: %r" % raw)
    for name in ("sqlite", "memscope-db", "memory-viz"):
        export(recording, name, folder)
    top = export(recording, "ascend", folder)
    for where, _, files in os.walk(top):
        for file in files:
            path = os.path.join(where, file)
            if file.endswith(".csv"):
                scan_csv(read(path), "export ascend: " + file, allowed="\r\t")
            elif file.endswith(".json"):
                json.loads(scan(read(path), "export ascend: " + file))


POLICY = """[leak]
min_slope = "1 B/step"
[device."*"]
peak_live = "1 KiB"
peak_reserved = "1 KiB"
"""


def hold_against_a_budget(recording, folder):
    policy = os.path.join(folder, "policy-\x1b[31m\u202e.toml")
    with open(policy, "w") as file:
        file.write("[leak]\nallow = 0\n")
    scan(run(LEAKTIDE, "gate", "--policy", policy, recording).stderr, "gate: wrong policy")
    with open(policy, "w") as file:
        file.write(POLICY)
    baseline = os.path.join(folder, "base\x1b.lock")
    done = run(LEAKTIDE, "bless", "--policy", policy, "--baseline", baseline, recording, codes=(0,))
    scan(done.stderr, "bless")
    text = scan(read(baseline), "baseline")
    check(r"\x1b[31mred" in text, "baseline has the name")
    for name in ("text", "md", "junit", "sarif", "json", "openmetrics", "github", "gitlab"):
        done = run(LEAKTIDE, "gate", "--policy", policy, "--baseline", baseline, "--format", name,
                   recording)
        text = scan(done.stdout + done.stderr, "gate " + name)
        check(re.search(r"(x1b|u001b)\\?\[31mred", text), "gate %s has the name" % name)
        if name in ("sarif", "json", "gitlab"):
            json.loads(text)
        if name == "junit":
            xml.dom.minidom.parseString(text)
        if name == "github":
            check(all(line.startswith("::") for line in text.splitlines()), "github: lines")
        if name == "json":
            keys = [case["key"] for case in json.loads(text)["cases"]]
    check(not any("not in the baseline" in text for text in [done.stdout.decode()]),
          "keys of a baseline are found again")
    for key in [key for key in keys if "31mred" in key][:5]:
        scan(run(LEAKTIDE, "gate", "--policy", policy, "--baseline", baseline, "--explain", key,
                 recording, codes=(0, 1)).stdout, "gate --explain")
    suppressions = run(LEAKTIDE, "suppress", "--policy", policy, recording)
    check(b"leak:" in suppressions.stdout, "there is something to suppress")
    scan(suppressions.stdout + suppressions.stderr, "suppress")


def as_msmemscope(program, folder):
    """Its own layout: csv files for each device, and what it prints."""
    out = os.path.join(folder, "scope")
    done = run(MSMEMSCOPE, "--output=" + out, "--events=alloc,free,launch",
               "--analysis=leaks,decompose", "--call-stack=c,python", program)
    scan(done.stdout + done.stderr, "msmemscope")
    files = [os.path.join(where, file) for where, _, names in os.walk(out) for file in names
             if file.endswith(".csv")]
    for path in files:
        if os.path.getsize(path):
            scan_csv(read(path), "msmemscope: " + os.path.basename(path))


def complain(recording, folder):
    missing = os.path.join(os.fsencode(folder), b"no\x1b[31m\xe2\x80\xae\n\xff")
    for command in QUESTIONS + ["diff"]:
        scan(run(LEAKTIDE, command, missing).stderr, command + " of what is missing")
    broken = os.path.join(os.fsencode(folder), b"broken\x1b]0;T\a.csv")
    with open(broken, "wb") as file:
        file.write(b"\x1b[31m,\xe2\x80\xae,\xff\n1,2,3\n")
    for arguments in (["report", broken], ["report", "-f", "\x1b[31m", recording],
                      ["export", "-t", "\x1b[31m", recording],
                      ["export", "-t", "csv", "-o", missing + b"/out", recording],
                      ["\x1b[31m\u202e"], ["report", "--\x1b[31m"],
                      ["run", "--device=\x1b[31m", "--", "true"], ["run", "--", missing],
                      ["ctl", "\x1b[31m", "status"]):
        done = run(LEAKTIDE, *arguments, cwd=folder, codes=(2, 3, 4, 127))
        check(done.stderr, "%r says why" % arguments)
        scan(done.stdout + done.stderr, repr(arguments))
    done = run(MSMEMSCOPE, "--\x1b[31m\u202e")
    scan(done.stdout + done.stderr, "msmemscope, unknown option")


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(os.fsencode(folder), b"prog\x1b[31m\xe2\x80\xae=\xff")
        shutil.copy(PROGRAM, program)
        recording = os.path.join(os.fsencode(folder), FOLDER_NAME + b".leaktide")
        done = run(LEAKTIDE, "run", "--device=npu,gpu,opencl,cpu", "--call-stack=c", "-o", recording,
                   "--", program, codes=(0,))
        said = scan(done.stderr, "run")
        check(r"\x1b[31m" in said, "run names what it recorded: %s" % said)
        ask_everything(recording)
        export_everything(recording, folder)
        hold_against_a_budget(recording, folder)
        as_msmemscope(program, folder)
        complain(recording, folder)
    print("%d failed" % len(failures))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
