"""Argument vectors, those of the original's own parser test and ours: are they accepted, and with which config.json?"""
import glob
import json
import os
import re
import tempfile

from original_tools import Table, environment_for, run, tools

OURS = [
    ["--events=alloc，free"], ["--steps=1"], ["--steps=01"], ["--steps=4294967296"], ["--steps=1,1"], ["--steps=1,2,3,4,5"],
    ["--call-stack=c:0"], ["--call-stack=c:1001"], ["--call-stack=c"], ["--call-stack=python"], ["--device=npu:31"],
    ["--device=npu:32"], ["--device=cpu"], ["--device=npu,cpu"], ["--device=npu:2,npu:7"], ["--analysis=oom"], ["--analysis=oom:5"],
    ["--analysis=oom:0"], ["--analysis=oom:1001"], ["--analysis=oomx"], ["--analysis="], ["--analysis=host-leaks"],
    ["--host-leak-mode=event"], ["--watch=a,b"], ["--watch=,b"], ["--watch=a"], ["--output-path=中文"], ["--output-path=a;b"],
    ["--output-path=" + "x" * 5000], ["--format=xml"], ["--log-level=fatal"], ["--level=kernel,op"],
    ["--analysis=leaks,inefficient,decompose"], ["--analysis=leaks,none"], ["--events=alloc,none"],
    ["--level=op", "--events=alloc,free,access,launch", "--call-stack=c,python", "--format=csv"], ["-o", "o2"], ["-i", "x"],
    ["--pid", "1"], ["--block-size-threshold=1024"], ["--sample-rate=4"], ["--foo"], ["-z"], ["--mstx-info=test"], ["--lev=op"],
    ["--events"], ["--analysis=leaks,"], ["--events=,alloc"], ["--collect-mode=deferred"], ["--verbose"], ["--debug", "-q"], ["-vq"],
]
# Options of all versions of the tool are accepted, its limits are not there, and a wrong value is refused (docs/msmemscope.md).
DOCUMENTED = {"--host-leak-mode": "accepted", "--block-size-threshold": "accepted", "--sample-rate": "accepted",
              "--mstx-info": "accepted", "--steps": "accepted", "--analysis=host-leaks": "accepted",
              "--analysis=oom": "refused", "--output-path=xxx": "refused"}
PROGRAM = r"""
#include <stddef.h>
#include <stdio.h>
int aclInit(const char *), aclFinalize(void), aclrtSetDevice(int), aclrtMalloc(void **, size_t, int), aclrtFree(void *);
int main(void)
{
    void *block;
    aclInit(0); aclrtSetDevice(0); aclrtMalloc(&block, 4096, 0); aclrtFree(block); aclFinalize();
    puts("it ran");
    return 0;
}
"""


def vectors_of(original):
    """From the texts of its test: the lists of arguments."""
    with open(os.path.join(original, "test", "framework", "test_client_parser.cpp")) as file:
        text = file.read()
    vectors = []
    for part in re.findall(r"std::vector<const char\*>\s+\w+\s*=\s*\{(.*?)\};", text, re.S):
        words = re.findall(r'"((?:[^"\\]|\\.)*)"', part)[1:]
        words = [word for word in words if word not in ("--", "python", "train.py", "test")]
        if words not in vectors:
            vectors.append(words)
    return vectors


def outcome(tool, vector, program, cann):
    """What was printed last, and the configuration; None: there is none."""
    with tempfile.TemporaryDirectory() as folder:
        has_output = any("output" in word or word == "-o" for word in vector)
        done = run([tool.command, *vector, *([] if has_output else ["--output-path=out"]), program], folder,
                   environment_for(tool, cann))
        files = glob.glob(os.path.join(folder, "**", "config.json"), recursive=True)
        config = None
        if files:
            with open(files[0]) as file:
                config = json.load(file)
            config.pop("npuSlots", None)  # not initialised there
            config.pop("outputDir", None)  # the folder of this run
        return "it ran" in done.stdout, config


def tell(options, folders, cann):
    table = Table("arguments")
    theirs, ours = tools(options.original, options.leaktide)
    equal = 0
    vectors = vectors_of(options.original)
    vectors += [vector for vector in OURS if vector not in vectors]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        build(PROGRAM, program, cann)
        for vector in vectors:
            there, here = (outcome(tool, vector, program, cann) for tool in (theirs, ours))
            if is_as_there(there, here):
                equal += 1
                continue
            reason = next((DOCUMENTED[start] for start in DOCUMENTED for word in vector if word.startswith(start)), "")
            has_reason = reason == ("accepted" if here[0] else "refused") and here[0] != there[0]
            table.row(" ".join(vector)[:70], tell_outcome(there), tell_outcome(here), reason if has_reason else "")
            if there[1] and here[1]:
                table.row("  of its config.json", *differing(there[1], here[1]))
    table.row("vectors with the same outcome and configuration", len(vectors), equal, "above" if table.is_right else "")
    return table.is_right


def is_as_there(there, here):
    """Newer versions have more settings."""
    return there[0] == here[0] and (there[1] == here[1] or (
        there[1] and here[1] and all(here[1].get(key) == value for key, value in there[1].items())))


def tell_outcome(outcome):
    return ("runs" if outcome[0] else "refused") + ("" if outcome[1] is not None else ", no config")


def differing(there, here):
    keys = [key for key in there if there.get(key) != here.get(key)]
    return tuple(" ".join("%s=%s" % (key, config.get(key)) for key in keys) for config in (there, here))


def build(text, program, cann):
    with open(program + ".c", "w") as file:
        file.write(text)
    done = run(["cc", "-w", "-o", program, program + ".c", "-L" + os.path.join(cann, "lib64"), "-lascendcl", "-lms_tools_ext",
                "-Wl,--allow-shlib-undefined"], os.path.dirname(program), dict(os.environ))
    if done.returncode:
        raise RuntimeError(done.stderr)
