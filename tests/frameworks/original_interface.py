"""What the original's manual says of its Python module: is it there?"""
import json
import os
import tempfile

from original_tools import Table, environment_for, run, tools

NAMES = """config start stop step take_snapshot TakeSnapshot RecordFunction tracer.start tracer.stop watcher.watch watcher.remove
describe.describer init_framework_hooks cleanup_framework_hooks enable_npu_sanitizer analyze list_analyzers get_analyzer_config
check_leaks check_inefficient analyzer.LeaksAnalyzer analyzer.LeaksConfig analyzer.InefficientConfig
analyzer.InefficientAnalyzer""".split()
MODULES = ("msmemscope.describe", "msmemscope.analyzer", "msleaks")
PROBE = """
import functools, importlib, json, sys
def is_there(name):
    try:
        functools.reduce(getattr, name.split("."), importlib.import_module("msmemscope"))
    except AttributeError:
        return False
    return True
def is_module(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
names, modules = json.loads(sys.argv[1])
print(json.dumps({**{name: is_there(name) for name in names}, **{"import " + name: is_module(name) for name in modules}}))
"""


def tell(options, folders, cann):
    answers = []
    for tool in tools(options.original, options.leaktide):
        with tempfile.TemporaryDirectory() as folder:
            environment = environment_for(tool, cann, folders)
            if not tool.environment:  # theirs asks for its libraries
                environment["LD_LIBRARY_PATH"] += ":" + os.path.join(options.original, "output", "lib64")
            else:
                environment["PYTHONPATH"] += ":" + os.path.join(os.path.dirname(os.path.dirname(tool.command)), "python")
            done = run([options.python, "-S", "-c", PROBE, json.dumps([NAMES, MODULES])], folder, environment)
            if done.returncode:
                raise RuntimeError(done.stderr.strip()[-400:])
            answers.append(json.loads(done.stdout.splitlines()[-1]))
    theirs, ours = answers
    table = Table("interface")
    for name in theirs:
        table.row(name, int(theirs[name]), int(ours[name]))
    return table.is_right
