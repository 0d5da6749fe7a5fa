"""Tables of what users wished and what was found wrong, one row each: A, or what is still not so.

A row says what is right, and where that is written or how it was computed. Its check runs the tool and yields each fault in
words; without a fault the row is "A". A row that only a reader can grade has his grade instead, and says so.
"""
import json
import os
import subprocess
from dataclasses import dataclass, field

LIMIT_SECONDS = 600


class NotHere(Exception):
    """What a row needs and this machine has not: wheels, recordings, a tool."""


@dataclass
class Answer:
    status: int
    lines: list  # of stdout
    errors: str

    @property
    def text(self):
        return "\n".join(self.lines)

    def tables(self):
        """{name: rows of all ledgers} of an answer in JSON."""
        rows = {}
        for table in json.loads(self.text)["tables"]:
            rows.setdefault(table["name"], []).extend(table["rows"])
        return rows


@dataclass
class Kit:
    """What checks use. data: the folder of recordings, or ""; scratch: an empty folder of this row."""

    leaktide: str
    data: str = ""
    scratch: str = ""
    options: object = None            # of run.py, for rows that record
    made: dict = field(default_factory=dict)  # libraries of vendors, by wheels

    def ask(self, *words, **more):
        done = subprocess.run([self.leaktide, *words], capture_output=True, text=True, timeout=LIMIT_SECONDS, errors="replace",
                              **more)
        return Answer(done.returncode, done.stdout.splitlines(), done.stderr)

    def ask_tables(self, *words):
        return self.ask(words[0], "--format=json", *words[1:]).tables()

    def recording(self, path):
        whole = os.path.join(self.data, path)
        if not self.data or not os.path.exists(whole):
            raise NotHere("no recording %s" % path)
        return whole

    def file(self, name, text):
        path = os.path.join(self.scratch, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def gate(self, policy, *paths):
        return self.ask("gate", "--policy", self.file("leaktide.toml", policy), *paths)


@dataclass
class Row:
    name: str
    right: str          # what is right, in words
    source: str         # where that is written, or how it was computed
    check: object = None  # a generator of faults, called with a kit
    read: str = ""      # the grade of a reader, where nothing is computed


def faults_of_answer(answer, status, *wanted, never=()):
    """Of one answer: its exit status, parts that its text has, and parts that it has not."""
    said = (answer.text or answer.errors)
    first = (said.splitlines() or [""])[0][:160]
    if answer.status != status:
        yield "exit %d, not %d: %s" % (answer.status, status, first)
    for words in wanted:
        if words not in said:
            yield "no \"%s\": %s" % (words, first)
    for words in never:
        if words in said:
            yield "says \"%s\"" % words


def grade_of(row, kit):
    """The grade, and whether it is a good one: True, False, or None where nothing could be run."""
    if not row.check:
        return "%s (by reading)" % row.read, None
    try:
        faults = list(row.check(kit))
    except NotHere as lack:
        return "not run: %s" % lack, None
    except (RuntimeError, OSError, subprocess.SubprocessError, ValueError, LookupError) as trouble:
        return "FAILED: %s: %s" % (type(trouble).__name__, str(trouble)[-300:]), False
    return ("; ".join(faults), False) if faults else ("A", True)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")
