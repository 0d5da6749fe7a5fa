# SPDX-License-Identifier: Apache-2.0
"""
What each customer of the verdict says of a recording, through the public command line alone, so that any
leaktide can be asked: leaks, report, the page, gate with SARIF, diff, ranks, summaries, the exports and the
Python module.

An answer is a Said. The words for doubts are those that summaries keep (`unjudged`).
"""

import collections
import gzip
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("browser", "support")]
from page_data import datasets_of
from protobuf_reading import message, packed

LEAK, NO_LEAK, CANNOT_SAY, NO_VERDICT = "LEAK", "No leak", "CANNOT SAY", "no verdict"
PASSED, SILENT, REFUSED = "passed", "-", "refused"

# A word, and how its sentences read: of leaks, of the gate, of summaries.
DOUBTS = [(word, re.compile(pattern)) for word, pattern in [
    ("blocks", r"No block was recorded|Nothing was allocated|No block is in this recording|no allocation of a block|"
               r"no block of the program.s own was made"),
    ("steps", r"steps? judged, \d+ are needed|judged steps?, \d+ are needed|steps found by their period|[Nn]o steps|too few steps"),
    ("unrecorded", r"no memory of it was recorded|none of its memory was recorded"),
    ("state", r"A STATE without history|a state without history"),
    ("hidden", r"CPython's own allocator made"),
    ("unseen", r"that no recorded block explains|by what no recorded block explains"),
    ("loop", r"a loop of .{1,40} ended|a loop ended before the program did"),
    ("names", r"Functions of the interpreter have no names|functions of the interpreter have no names"),
    ("turns", r"MAY BE A LEAK|MAY BE A CACHE that still fills|MAY BE GARBAGE|what stays may be a leak, a cache"),
    ("waiting", r"an exit handler lets go|a leak that an exit handler frees"),
    ("rise", r"and no stack alone tells why"),
    ("device", r"of one loop stay, and less than|most blocks made there while the loop ran|"
               r"leaks of one kind of memory cannot be judged"),
    ("missing", r"nothing was found to leak in what could be read|much of the recording is missing"),
    ("older", r"its summary does not tell"),
]]
POLICY = '[leak]\nmin_slope = "%s"\n'


class Leak(collections.namedtuple("Leak", "ledger rate amount chance")):
    """One leak under its name: its ledger or pool, bytes for each step or turn, bytes that stay, and the chance in
    parts of a billion that it is none. None: not known."""


class Said:
    """word: of the list above; leaks: {name: [Leak]}; sentence: what decided; status: of the process."""

    def __init__(self, word, doubt="", leaks=None, sentence="", status=0, command=()):
        self.word, self.doubt, self.leaks = word, doubt, leaks or {}
        self.sentence, self.status, self.command = sentence, status, command

    def words(self):
        return "%s: %s" % (self.word, self.doubt) if self.doubt else self.word

    def names(self):
        return "; ".join("%s = %s" % (name, "+".join(sorted(figure(leak) for leak in leaks)))
                         for name, leaks in sorted(self.leaks.items()))


def figure(leak):
    rate = "%d/step" % leak.rate if leak.rate else "?/step"
    return rate if leak.amount is None else "%s, %d" % (rate, leak.amount)


def doubt_of(sentence):
    for word, pattern in DOUBTS:
        if pattern.search(sentence):
            return word
    return "other"


def add(leaks, name, ledger, rate, amount=None, chance=None):
    """Some customers name a file with its folder, some without: here without."""
    name = re.sub(r"\((?:[^()]*/)?([^()/]+:\d+)\)", r"(\1)", name or "(unknown)")
    leaks.setdefault(name, []).append(Leak(ledger, rate or None, amount, chance))


# --- sentences ------------------------------------------------------------------------------------

NO_LEAK_SENTENCE = re.compile(r"^(No leak|no leak)\b(?! verdict)")
NO_VERDICT_SENTENCE = re.compile(r"^No steps, so no leak verdict|^A STATE without|^No leak verdict")
DOUBT_SENTENCE = re.compile(r"^CANNOT SAY whether|^MAY BE (A LEAK|A CACHE that|GARBAGE)|"
                            r"^LEAKS: cannot say|leaks cannot be judged")
LEAK_SENTENCE = re.compile(r"^(LEAK|NEW LEAK|STILL LEAKS|leak)\b")


def said_in(sentences, leaks, silent=SILENT):
    """Of the sentences of an answer the one that decides."""
    for word, pattern in ((LEAK, LEAK_SENTENCE), (NO_LEAK, NO_LEAK_SENTENCE), (CANNOT_SAY, DOUBT_SENTENCE),
                          (NO_VERDICT, NO_VERDICT_SENTENCE)):
        for sentence in sentences:
            if pattern.search(sentence):
                doubt = doubt_of(sentence) if word in (CANNOT_SAY, NO_VERDICT) else ""
                return Said(word, doubt, leaks, sentence)
    return Said(silent, "", leaks)


def said_in_answer(answer):
    """Of an answer as JSON of leaks, of report, of a page."""
    leaks = {}
    for row in answer["findings"]:
        if row["kind"] == "leak":
            amount = row.get("grown_bytes", row.get("overdue_bytes"))
            add(leaks, row["site"], row["ledger"], row["growth_bytes_per_step"], amount, row.get("rise_chance_ppb"))
    return said_in(answer["verdict"], leaks)


def label(function, file, line):
    """A place as reports name it."""
    return "%s (%s:%d)" % (function, file, line) if function and file else function


# --- running --------------------------------------------------------------------------------------

class Asker:
    """Asks one leaktide about recordings; folder: for what it writes."""

    def __init__(self, leaktide, folder, python_module=""):
        self.leaktide, self.folder, self.python_module = os.path.abspath(leaktide), folder, python_module
        self.policies = {}

    def run(self, *words):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("GITHUB_", "LEAKTIDE_", "LC_", "LANG"))}
        return subprocess.run([self.leaktide, *words], env=environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)

    def path(self, name):
        return os.path.join(self.folder, name)

    def out(self, name):
        """A place where nothing lies."""
        path = self.path(name)
        subprocess.run(["rm", "-rf", path], check=True)
        return path

    def policy(self, text):
        """A file of this text, of its own."""
        path = self.path("policy-%d.toml" % self.policies.setdefault(text, len(self.policies)))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def answer(self, *words):
        """(process, answer as JSON or None)"""
        ran = self.run(*words, "--format=json")
        return ran, json.loads(ran.stdout) if ran.stdout else None

    def finish(self, ran, said):
        said.status = ran.returncode
        said.command = ran.args
        return said

    def refused(self, ran):
        sentence = ran.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        return self.finish(ran, Said(REFUSED, "", {}, sentence))


def by_question(question, *fixed):
    def ask(asker, recording, *options):
        ran, answer = asker.answer(question, *fixed, *options, recording)
        return asker.finish(ran, said_in_answer(answer)) if answer else asker.refused(ran)
    return ask


ask_leaks = by_question("leaks")
ask_report = by_question("report", "--fail-on=leak")


def ask_page(asker, recording, *options):
    out = asker.out("page.html")
    ran = asker.run("report", "--format=html", "--fail-on=leak", "-o", out, *options, recording)
    if not os.path.exists(out):
        return asker.refused(ran)
    with open(out, encoding="utf-8") as file:
        return asker.finish(ran, said_in_answer(datasets_of(file.read())["report"]))


def ask_python(asker, recording):
    """recording.leaks(); NotJudged is CANNOT SAY, another exception its own word."""
    program = ("import sys, json, leaktide_reading as reading\n"
               "recording = reading.open_recording(sys.argv[1])\n"
               "try:\n"
               "    found = [[it.site, it.ledger, it.bytes_per_step, it.values.get('grown_bytes') or it.values.get('overdue_bytes')]\n"
               "             for it in recording.leaks()]\n"
               "except reading.Error as error:\n"
               "    found = [type(error).__name__, str(error)]\n"
               "else:\n"
               "    found = [None, found]\n"
               "print(json.dumps(found))\n")
    library = os.path.join(os.path.dirname(os.path.dirname(asker.leaktide)), "lib", "libleaktide.so.0.1")
    environment = dict(os.environ, LEAKTIDE_LIBRARY=library, PYTHONPATH=asker.python_module)
    ran = subprocess.run([sys.executable, "-B", "-c", program, recording], env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    ran.args = ["python3", "-c", "leaktide.open(%r).leaks()" % recording]
    if ran.returncode:
        return asker.refused(ran)
    raised, found = json.loads(ran.stdout)
    if raised:
        return asker.finish(ran, Said(CANNOT_SAY if raised == "NotJudged" else "raised", doubt_of(found), {}, found))
    leaks = {}
    for row in found:
        add(leaks, *row)
    return asker.finish(ran, Said(LEAK if leaks else SILENT, "", leaks))


# --- the gate -------------------------------------------------------------------------------------

def said_in_cases(cases):
    """Of the cases of a gate about leaks."""
    leaks, rows = {}, [row for row in cases if row["rule"] in ("leak", "window_growth")]
    for row in rows:
        if "/leak/" in row["key"] and not row["sentence"].startswith("growing cache"):
            add(leaks, label(row["function"], row["file"], row["line"]), row["key"].split("/")[1], row["value"])
    outcomes = [row["outcome"] for row in rows]
    sentence = rows[0]["sentence"] if rows else ""
    if leaks or "failed" in outcomes:
        return Said(LEAK if leaks else "failed", "", leaks, sentence)
    if "unsure" in outcomes:
        sentence = rows[outcomes.index("unsure")]["sentence"]
        return Said(CANNOT_SAY, doubt_of(sentence), {}, sentence)
    return Said(NO_LEAK if NO_LEAK_SENTENCE.match(sentence) else PASSED if rows else SILENT, "", {}, sentence)


def ask_gate(asker, recording, policy=POLICY % "1 B/step"):
    ran = asker.run("gate", "--policy", asker.policy(policy), "--format=json", recording)
    if not ran.stdout:
        return asker.refused(ran)
    return asker.finish(ran, said_in_cases(json.loads(ran.stdout)["cases"]))


LEAK_AT = re.compile(r" at (.+?)(?=[:;,] | \([a-z_]+( device \d+)?\)$|$)")


def ask_sarif(asker, recording, policy=POLICY % "1 B/step"):
    out = asker.out("sarif")
    ran = asker.run("gate", "--policy", asker.policy(policy), "--format=sarif", "-o", out, recording)
    try:
        with open(os.path.join(out, "results.sarif"), encoding="utf-8") as file:
            run = json.load(file)["runs"][0]
    except OSError:
        return asker.refused(ran)
    leaks, sentences = {}, []
    for result in run["results"]:
        if result["ruleId"] == "mem/leak":
            sentences.append(result["message"]["text"])
            named = LEAK_AT.search(sentences[-1])
            if LEAK_SENTENCE.match(sentences[-1]) and named:
                add(leaks, named.group(1), None, None)
    said = said_in(sentences, leaks)
    if said.word == SILENT and sentences:
        said = Said(CANNOT_SAY, doubt_of(sentences[0]), {}, sentences[0])
    elif said.word == SILENT and ran.returncode == 0:
        said.word = PASSED
    return asker.finish(ran, said)


# --- comparisons ----------------------------------------------------------------------------------

def ask_diff(asker, recording):
    ran, answer = asker.answer("diff", recording, recording)
    if not answer:
        return asker.refused(ran)
    leaks = {}
    for table in answer["tables"]:
        for row in table["rows"] if table["name"] == "leak_changes" else []:
            add(leaks, row["site"], row["ledger"], row["growth_bytes_per_step"], row["bytes"])
    said = said_in(answer["verdict"], leaks)
    if "LEAKS: none before, and none now." in answer["verdict"]:
        said = Said(NO_LEAK, "", leaks, "LEAKS: none before, and none now.")
    return asker.finish(ran, Said(LEAK, "", leaks, said.sentence) if leaks else said)


def said_of_ranks(answer):
    """A leak's number is for each step where that is known, and else what stays."""
    leaks = {}
    for row in answer["findings"]:
        if row["kind"] == "rank" and row["cause"] == "leak":
            stays = " stay at " in row["sentence"]
            add(leaks, row["site"], row["pool"], None if stays else row["value_bytes"],
                row["value_bytes"] if stays else None)
    said = said_in(answer["verdict"], leaks)
    return Said(LEAK, "", leaks, said.sentence) if leaks else said


def ask_ranks(asker, recording, *options):
    ran, answer = asker.answer("ranks", *options, recording)
    return asker.finish(ran, said_of_ranks(answer)) if answer else asker.refused(ran)


def summarized(asker, recording, *options):
    """(process, folder of the summaries or None)"""
    out = asker.out("summaries")
    ran = asker.run("summarize", "--hostname=host", "-o", out, *options, recording)
    return ran, out if os.path.isdir(out) and os.listdir(out) else None


def ask_summary(asker, recording, *options):
    ran, out = summarized(asker, recording, *options)
    if not out:
        return asker.refused(ran)
    ran, answer = asker.answer("ranks", out)
    return asker.finish(ran, said_of_ranks(answer)) if answer else asker.refused(ran)


def ask_summary_gate(asker, recording, policy=POLICY % "1 B/step"):
    """As ask_gate, of the summaries: the column `unjudged` speaks here."""
    ran, out = summarized(asker, recording)
    return ask_gate(asker, out, policy) if out else asker.refused(ran)


# --- exports --------------------------------------------------------------------------------------

def exported(asker, to, recording):
    out = asker.out("exported")
    ran = asker.run("export", "--to", to, "-o", out, recording)
    if not os.path.exists(out):
        return ran, None
    with open(out, "rb") as file:
        return ran, file.read()


def frame_label(frame):
    """A frame of a snapshot, whose file is the module where no line is known."""
    return label(frame["name"], frame["filename"] if frame["line"] else "", frame["line"])


def ask_viz(asker, recording):
    """Blocks of the category leak, by the stack of their alloc: the names are those of all frames."""
    ran, data = exported(asker, "memory-viz-json", recording)
    if data is None:
        return asker.refused(ran)
    snapshot, leaks = json.loads(data), {}
    for ledger, trace in zip(snapshot["leaktide_ledgers"], snapshot["device_traces"]):
        for row in trace:
            if row.get("category") == "leak":
                add(leaks, " < ".join(frame_label(frame) for frame in row["frames"]), ledger, None, row["size"])
    return asker.finish(ran, Said(LEAK if leaks else SILENT, "", leaks))


def ask_speedscope(asker, recording):
    ran, data = exported(asker, "speedscope", recording)
    if data is None:
        return asker.refused(ran)
    profile, leaks = json.loads(data), {}
    frames = [label(row["name"], row.get("file"), row.get("line", 0)) for row in profile["shared"]["frames"]]
    for row in profile["profiles"]:
        for sample, weight in zip(row["samples"], row["weights"]) if row["name"] == "growth per step" else []:
            names = [frames[index] for index in sample]
            if weight:
                add(leaks, " < ".join(reversed(names[1:])), names[0], weight)
    return asker.finish(ran, Said(LEAK if leaks else SILENT, "", leaks))


def ask_pprof(asker, recording):
    ran, data = exported(asker, "pprof", recording)
    if data is None:
        return asker.refused(ran)
    top = message(gzip.decompress(data))
    texts = [text.decode("utf-8", "replace") for text in top[6]]
    types = [texts[message(row)[1][0]] for row in top[1]]
    functions = {row[1][0]: row for row in map(message, top[5])}
    places = {}
    for row in map(message, top[4]):
        line = message(row[4][0])
        function = functions[line[1][0]]
        file = texts[function[4][0]] if function[4] else ""
        number = line[2][0] if line[2] else 0
        places[row[1][0]] = label(texts[function[2][0]], file if number else "", number)
    leaks = {}
    for row in map(message, top[2]):
        names = [places[number] for number in packed(row[1][0])]
        growth = packed(row[2][0])[types.index("growth_per_step_space")]
        if growth:
            add(leaks, " < ".join(names[:-1]), names[-1], growth)
    return asker.finish(ran, Said(LEAK if leaks else SILENT, "", leaks))


CUSTOMERS = [("leaks", ask_leaks), ("report", ask_report), ("page", ask_page), ("python", ask_python),
             ("gate", ask_gate), ("sarif", ask_sarif), ("diff", ask_diff), ("ranks", ask_ranks),
             ("summary", ask_summary), ("summary gate", ask_summary_gate), ("memory-viz", ask_viz),
             ("speedscope", ask_speedscope), ("pprof", ask_pprof)]
