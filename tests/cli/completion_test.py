"""What Tab makes of a line, in shells that run: completions of bash and zsh.

    completion_test.py LEAKTIDE bash|zsh

Exit status 77 where there is no such shell.
A shell runs on a terminal of its own. The line is typed, Tab is pressed, and a key that prints the
line is pressed after it.
"""

import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

LEAKTIDE, SHELL = os.path.abspath(sys.argv[1]), sys.argv[2]
PATIENCE_S = 20

# line, what it becomes after Tab; blanks and commas that wait for more do not matter
CASES = [
    ("leaktide repo", "leaktide report "),
    ("leaktide report --fail", "leaktide report --fail-on="),
    ("leaktide run --follow-children=y", "leaktide run --follow-children=yes"),
    ("leaktide report some_f", "leaktide report some_file.csv "),
    ("msmemscope --stri", "msmemscope --strict-compat "),
    ("msmemscope --collect-mode=d", "msmemscope --collect-mode=deferred"),
    ("msmemscope --analysis=leaks,dec", "msmemscope --analysis=leaks,decompose"),
    ("msleaks --input-path=some_f", "msleaks --input-path=some_file.csv"),
    ("leaktide msmemscope --format=c", "leaktide msmemscope --format=csv"),
]


class Shell:
    """An interactive shell without settings of its own, in a folder with one file."""

    def __init__(self, command, setup):
        self.folder = tempfile.mkdtemp()
        with open(os.path.join(self.folder, "some_file.csv"), "w", encoding="ascii"):
            pass
        parent, child = pty.openpty()
        environment = {"PATH": os.path.dirname(LEAKTIDE) + ":/usr/bin:/bin", "TERM": "dumb",
                       "HOME": self.folder, "LC_ALL": "C.UTF-8", "PS1": "$ "}
        self.process = subprocess.Popen(command, stdin=child, stdout=child, stderr=child,
                                        cwd=self.folder, env=environment, start_new_session=True)
        os.close(child)
        self.terminal = parent
        self.said = ""
        for line in setup + ["echo re''ady"]:
            self.type(line + "\n")
        self.wait_for("ready")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, word):
        """What the shell wrote up to the word."""
        end = time.monotonic() + PATIENCE_S
        while word not in self.said:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError("the shell does not say %r: %r" % (word, self.said))
            self.said += os.read(self.terminal, 65536).decode("utf-8", "replace")
        before, _, self.said = self.said.partition(word)
        return before

    def complete(self, line):
        self.type("\x15" + line + "\t" + "\x18")  # an empty line first; Ctrl-X prints
        self.wait_for("<<<")
        return self.wait_for(">>>")

    def close(self):
        os.close(self.terminal)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], [
        "source <(leaktide completion bash)",
        "bind 'set bell-style none'",
        "bind -x '\"\\C-x\": echo \"<\"\"<<$READLINE_LINE>\"\">>\"'",
    ]),
    "zsh": (["zsh", "-f", "-i"], [
        "mkdir functions && leaktide completion zsh -o functions/_leaktide",
        "fpath=($PWD/functions $fpath) && autoload -U compinit && compinit -u -D",
        "unsetopt beep; bindkey -e",
        "show() { print -r -- \"<\"\"<<$BUFFER>\"\">>\" }",
        "zle -N show && bindkey '^X' show",
    ]),
}


class Completion(unittest.TestCase):
    def test_lines_are_completed(self):
        shell = Shell(*SHELLS[SHELL])
        self.addCleanup(shell.close)
        for line, expected in CASES:
            rest = " ," if "," in line else " "
            with self.subTest(line=line):
                self.assertEqual(shell.complete(line).rstrip(rest), expected.rstrip())


if __name__ == "__main__":
    if not shutil.which(SHELL):
        print(SHELL + " is not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
