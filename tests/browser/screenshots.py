# SPDX-License-Identifier: Apache-2.0
"""Pictures of each view of the HTML report, light and dark, to be looked at.

    screenshots.py LEAKTIDE FOLDER NAME=INPUT... [NAME=BASE,INPUT...]

Writes FOLDER/NAME-VIEW-THEME.png; two inputs are compared.
"""

import os
import subprocess
import sys

from browser import Browser, find_browser

VIEWS = ["verdict", "difference", "timeline", "site", "flame", "selection", "peak", "steps", "counters", "fragmentation", "ranks",
         "tables"]
FRAGMENTS = {"timeline": ["", "#by=operator", "#by=site"], "flame": ["", "#m=peak", "#m=peak&inv=1"]}


def make_page(leaktide, name, inputs, folder):
    page = os.path.join(folder, name + ".html")
    command = [leaktide, "report" if len(inputs) == 1 else "diff", "-f", "html", "-o", page, *inputs]
    subprocess.run(command, timeout=120, stderr=subprocess.DEVNULL)
    return page


def shoot(browser, page_path, stem, is_dark):
    theme = "dark" if is_dark else "light"
    for view in VIEWS:
        for i, fragment in enumerate(FRAGMENTS.get(view, [""])):
            page = browser.open(page_path, fragment, is_dark=is_dark)
            page.set_size(1300, 900)
            if page.evaluate("document.getElementById('%s') !== null" % view):
                page.evaluate("new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
                              ".then(() => true)")
                page.screenshot("%s-%s%s-%s.png" % (stem, view, i or "", theme), "#" + view)
            for complaint in page.complaints():
                print("%s: %s" % (page_path, complaint))
            page.close()


def main():
    leaktide, folder = sys.argv[1:3]
    if not find_browser():
        print("no Chromium here: no pictures")
        return
    os.makedirs(folder, exist_ok=True)
    for argument in sys.argv[3:]:
        name, inputs = argument.split("=", 1)
        page = make_page(leaktide, name, inputs.split(","), folder)
        with Browser() as browser:
            for is_dark in (False, True):
                shoot(browser, page, os.path.join(folder, name), is_dark)


main()
