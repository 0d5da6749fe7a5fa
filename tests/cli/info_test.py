# SPDX-License-Identifier: Apache-2.0
"""info_test.py LEAKTIDE MAKE_TRACES FIXTURES: info looks at no call stacks, and says the same as if it did.

`info` alone is a reading without sites; with `--step-site=` it is one with them.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

LEAKTIDE, MAKE_TRACES, FIXTURES = (os.path.abspath(path) for path in sys.argv[1:4])


def info(folder, name, *options):
    done = subprocess.run([LEAKTIDE, "info", "-f", "json", *options, name], cwd=folder, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def table(text, name):
    return [found for found in json.loads(text)["tables"] if found["name"] == name]


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([MAKE_TRACES], cwd=folder, check=True)
        shutil.copytree(FIXTURES, folder, dirs_exist_ok=True)
        names = [name for name in sorted(os.listdir(folder)) if name != "README.md"]
        assert len(names) > 10, names
        answers = {name: info(folder, name) for name in names}
        for name, answer in answers.items():
            assert answer == info(folder, name, "--step-site="), f"{name}: {answer}"
        codes = [code for code, _, _ in answers.values()]
        assert 0 in codes and 3 in codes, codes  # whole ones, and damaged ones
        failed = [name for name, (_, text, _) in answers.items() if text and table(text, "failed")]
        assert failed, "no recording with a failed request"
        assert "do not read back" in answers["broken_stacks"][1], answers["broken_stacks"]


main()
