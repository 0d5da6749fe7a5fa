#!/usr/bin/env python3
"""msmemscope itself beside leaktide under its name: row by row, theirs and ours.

    original.py [--cache FOLDER] [--only TABLE]... --original FOLDER LEAKTIDE

FOLDER has the original as build_original.sh builds it. The wheels are those of run.py. The tables: its examples on real torch_npu,
its Python module, argument vectors, files of C programs, and programs of ours. The status is 1 where we have less than they and
no page says so, 77 where nothing could be run.
"""
import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import make_fakes  # noqa: E402
import original_examples  # noqa: E402
import original_files  # noqa: E402
import original_interface  # noqa: E402
import original_programs  # noqa: E402
import original_vectors  # noqa: E402
import run  # noqa: E402

TABLES = {"examples": original_examples, "interface": original_interface, "arguments": original_vectors,
          "files": original_files, "programs": original_programs}


def tell(options):
    """True: as it should be. None: nothing could be run."""
    folders = run.packages(options, "npu", "dependencies")
    if not folders or not os.path.isdir(os.path.join(options.original, "output", "lib64")):
        print("skipped: no wheels, or no original")
        return None
    is_right = True
    with tempfile.TemporaryDirectory() as cann:
        make_fakes.make(make_fakes.CANN, folders, cann)
        print("%-22s %-74s %10s %10s" % ("table", "what", "original", "ours"))
        for name in options.only or TABLES:
            is_right &= TABLES[name].tell(options, folders, cann)
    return is_right


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cache", default=run.CACHE)
    parser.add_argument("--original", required=True)
    parser.add_argument("--only", action="append", choices=TABLES)
    parser.add_argument("leaktide")
    options = parser.parse_args()
    options.fetch, options.python = False, sys.executable
    options.original, options.leaktide = os.path.abspath(options.original), os.path.abspath(options.leaktide)
    return {True: 0, False: 1, None: 77}[tell(options)]


if __name__ == "__main__":
    sys.exit(main())
