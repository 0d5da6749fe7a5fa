#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The vendor of docs/how-to-add-a-hook-table.md compiles: its source with its table, as they stand there.

usage: how_to.py COMPILER PROJECT_FOLDER
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = "docs/how-to-add-a-hook-table.md"
FOLDERS = ["include", "tracer/hooks", "tracer/record", "tracer/runtimes", "tracer/unwind"]
# What other steps of the page add to tables of the tracer.
NAMES = ["-DLAYER_VENDOR=LAYER_MARKS", "-DSPACE_VENDOR_MEMORY=SPACE_CUDA_MEMORY"]


def block_with(page, words):
    """The one block of C with these words, without the indentation of its list."""
    found = [block for block in re.findall(r"```c\n(.*?)```", page, re.S) if words in block]
    assert len(found) == 1, f"{PAGE}: {len(found)} blocks of C have {words}"
    return re.sub(r"^   ", "", found[0], flags=re.M)


def main():
    compiler, root = sys.argv[1], pathlib.Path(sys.argv[2])
    page = (root / PAGE).read_text()
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "vendor.c"
        source.write_text(block_with(page, '#include "device_hook_table.h"'))
        (pathlib.Path(folder) / "vendor.def").write_text(block_with(page, "HOOK(alloc, vendorMalloc"))
        return subprocess.run([compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                               *NAMES, f"-I{folder}", *[f"-I{root / name}" for name in FOLDERS],
                               source], check=False).returncode


sys.exit(main())
