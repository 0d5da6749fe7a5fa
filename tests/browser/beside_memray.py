# SPDX-License-Identifier: Apache-2.0
"""The page of leaktide beside memray's flame graph, of one program that leaks at a line: what each shows of it before any click.

    beside_memray.py LEAKTIDE PYTHON FOLDER-OF-THE-MARKS

PYTHON has memray. Prints, for each page: its size, when it is open, how many boxes the flame graph has, the width of the widest box
that names the line, and whether a sentence on the first screen names it. Ends with 77 where memray or Chromium is not here.
"""

import os
import subprocess
import sys
import tempfile
import time

from browser import Browser, find_browser

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leaking.py")
STEPS, KEPT_BYTES, NAME = "120", "8192", "remember"
SIZE = (1440, 900)
# memray's boxes have their words as a title or in a label; ours as text and label.
BOXES = """(() => {
    const boxes = [...document.querySelectorAll('.d3-flame-graph g.frame, .flame svg g:has(> rect)')];
    const words = each => each.getAttribute('aria-label') || each.__data__?.data?.name || each.textContent;
    const named = boxes.filter(each => words(each).includes('NAME')).map(each => each.querySelector('rect')?.getBoundingClientRect().width ?? 0);
    return {boxes: boxes.length, widest_px: Math.round(Math.max(0, ...named)),
        sentence: document.querySelector('#verdict-sentences p')?.textContent.includes('NAME') ?? false}; })()""".replace("NAME", NAME)


def ours(leaktide, python, folder, env):
    recording, page = os.path.join(folder, "x.leaktide"), os.path.join(folder, "leaktide.html")
    subprocess.run([leaktide, "run", "--quiet", "--no-report", "--device=cpu", "--call-stack=python,c", "-o", recording, "--",
                    python, PROGRAM, STEPS, KEPT_BYTES], check=True, env=env, timeout=300)
    subprocess.run([leaktide, "report", "-f", "html", "-o", page, recording], stdout=subprocess.DEVNULL, timeout=300)
    return page


def memrays(python, folder, env):
    capture, page = os.path.join(folder, "x.bin"), os.path.join(folder, "memray.html")
    run = [python, "-m", "memray", "run", "-q", "--native", "--trace-python-allocators", "-o", capture, PROGRAM, STEPS, KEPT_BYTES]
    subprocess.run(run, check=True, env=env, timeout=300, stdout=subprocess.DEVNULL)
    subprocess.run([python, "-m", "memray", "flamegraph", "--no-web", "-o", page, capture], check=True, timeout=300,
                   stdout=subprocess.DEVNULL)
    return page


def look(browser, name, path, until):
    began = time.monotonic()
    page = browser.open(path, size=SIZE, until=until)
    seconds = time.monotonic() - began
    print("%s: %.1f MB, open after %.2f s, %s" % (name, os.path.getsize(path) / 1e6, seconds, page.evaluate(BOXES)), flush=True)
    page.close()


def main():
    leaktide, python, marks = sys.argv[1:4]
    has_memray = subprocess.run([python, "-c", "import memray"], stderr=subprocess.DEVNULL).returncode == 0
    if not find_browser() or not has_memray:
        print("skipped: no Chromium or no memray here")
        sys.exit(77)
    env = dict(os.environ, PYTHONPATH=marks)
    with tempfile.TemporaryDirectory() as folder, Browser(seconds=120) as browser:
        look(browser, "leaktide", ours(leaktide, python, folder, env), "document.documentElement?.dataset.ready === 'whole'")
        look(browser, "memray", memrays(python, folder, env), "document.querySelectorAll('.d3-flame-graph g.frame').length > 1")


if __name__ == "__main__":
    main()
