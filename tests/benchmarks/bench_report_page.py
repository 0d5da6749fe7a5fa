#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTML report of a large recording: its size, and how a browser copes with it.

    bench_report_page.py BUILD-FOLDER [--quick] [--events N | --recording PATH]

Makes a recording of N events (1e7) that looks like training, or takes one that is there, as of a real framework, writes its
page, and opens that in headless Chromium and Firefox several times. Prints lines as bench.h says; none for a browser that is not here.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "browser"))
from browser import Browser, find_browser  # noqa: E402
from firefox import Firefox, find_firefox  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
EVENTS = int(float(sys.argv[sys.argv.index("--events") + 1])) if "--events" in sys.argv else 10**7
RECORDING = sys.argv[sys.argv.index("--recording") + 1] if "--recording" in sys.argv else None
ROUNDS = 1 if QUICK else 5
LIMIT_S = 900

# Waits until what was asked for is on the screen.
TIMED = """(async () => {
    const times = [];
    for (let i = 0; i < %d; i++) {
        const start = performance.now();
        %s;
        for (let turn = 0; turn < 5; turn++) // the picture is drawn when the turn ends
            await null;
        times.push(performance.now() - start);
        await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
    }
    return times; })()"""
BUTTON = "document.querySelectorAll('#timeline .buttons button')[%d].click()"
SELECT = """const inputs = document.querySelectorAll('#timeline form.range input.time');
    const end = performance.measureEnd ??= Number(inputs[1].value) || 1;
    inputs[0].value = (end * (0.2 + 0.1 * i)).toFixed(9); inputs[1].value = (end * (0.25 + 0.1 * i)).toFixed(9);
    inputs[0].form.requestSubmit()"""


def say(name, unit, runs, **more):
    print(json.dumps({"name": name, "unit": unit, "median": statistics.median(runs),
                      "min": min(runs), "runs": runs, **more}), flush=True)


def measure(page_path):
    """One visit: what it took, by name."""
    with Browser(seconds=60, options=("--js-flags=--expose-gc",)) as browser:
        page = browser.open(page_path)
        found = {
            **{name: [page.evaluate(MOMENT % name)] for name in MOMENTS},
            "zoom in": page.evaluate(TIMED % (8, BUTTON % 0)),
            "zoom out": page.evaluate(TIMED % (8, BUTTON % 1)),
            "select": page.evaluate(TIMED % (6, SELECT)),
        }
        page.evaluate("""(() => { const select = document.querySelectorAll('#timeline select')[1];
            select.value = 'site'; select.dispatchEvent(new Event('change')); })()""")
        found["zoom in, stacked by site"] = page.evaluate(TIMED % (6, BUTTON % 0))
        page.evaluate("gc()")
        heap = page.call("Runtime.getHeapUsage")
        found["heap"] = [(heap["usedSize"] + heap.get("backingStorageSize", 0)) / 1e6]
        if page.complaints():
            raise SystemExit("the page complains: %s" % page.complaints())
    return found


MOMENTS = ("first picture", "whole page")
MOMENT = "performance.getEntriesByName('%s')[0].startTime"


def measure_in_firefox(page_path):
    with Firefox(seconds=60) as firefox:
        firefox.open(page_path)
        return {name: firefox.evaluate(MOMENT % name) for name in MOMENTS}


def write_page(recording, page):
    """Seconds of the clock, and of processors."""
    start, before = time.monotonic(), os.times()
    status = subprocess.run([os.path.join(BUILD, "bin", "leaktide"), "report", "--format", "html", "-o", page, recording],
                            timeout=LIMIT_S).returncode
    if status not in (0, 3):
        raise SystemExit("leaktide report: exit status %d" % status)
    after = os.times()
    return time.monotonic() - start, sum(after[2:4]) - sum(before[2:4])


def events_of(recording):
    info = subprocess.run([os.path.join(BUILD, "bin", "leaktide"), "info", "-f", "json", recording], timeout=LIMIT_S,
                          stdout=subprocess.PIPE).stdout
    return json.loads(info)["facts"]["event_count"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        page, recording, events = os.path.join(folder, "report.html"), RECORDING or folder, 10**5 if QUICK else EVENTS
        if RECORDING:
            events = events_of(RECORDING)
        else:
            subprocess.run([os.path.join(BUILD, "benchmarks", "programs", "make_training"), folder, str(events)],
                           check=True, timeout=LIMIT_S)
        wall_s, processor_s = write_page(recording, page)
        say("report page: writing", "s", [round(wall_s, 2)], events=events)
        say("report page: writing, processor time", "s", [round(processor_s, 2)], events=events)
        say("report page: size", "MB", [os.path.getsize(page) / 1e6], events=events)
        visits = [measure(page) for _ in range(ROUNDS)] if find_browser() else []
        firefox = [measure_in_firefox(page) for _ in range(ROUNDS)] if find_firefox() else []
    for name in MOMENTS if firefox else ():
        say("report page: %s, Firefox" % name, "ms", [round(visit[name], 1) for visit in firefox], events=events)
    for name in visits[0] if visits else ():
        runs = [round(value, 1) for visit in visits for value in visit[name]]
        say("report page: " + name, "MB" if name == "heap" else "ms", runs, most=max(runs), events=events)


main()
