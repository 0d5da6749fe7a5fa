# SPDX-License-Identifier: Apache-2.0
"""Pictures of each section of the HTML report, light and dark, on a desk and on a telephone, to be looked at.

    screenshots.py LEAKTIDE FOLDER NAME=INPUT... [NAME=BASE,INPUT...]
    screenshots.py LEAKTIDE FOLDER --real [REFERENCE-DATA]

Writes FOLDER/NAME-SIZE-THEME-SECTION.png, and sheets of them, FOLDER/sheet-NAME-SIZE-N.png, light beside dark; two inputs are
compared. --real: the recordings of real_inputs.py. Says what page_structure.py, the browser and, with MT_AXE, axe-core find wrong;
then the status is 1.
Ends with 77 where there is no Chromium.
"""

import os
import subprocess
import sys

import axe
from browser import Browser, find_browser
from page_structure import faults_of
from real_inputs import NAMES, real_inputs

SIZES = {"desk": (1440, 900), "telephone": (390, 844)}
THEMES = {"light": False, "dark": True}
# Beside what each section shows first; NAME of the picture -> (section, its address)
MORE_VIEWS = {"timeline-operator": ("timeline", "#by=operator"), "timeline-purpose": ("timeline", "#by=purpose"),
              "flame-peak": ("flame", "#m=peak"), "flame-inverted": ("flame", "#m=peak&inv=1"), "selection-blocks": ("selection", "#tab=blocks")}
SECTIONS = """['top', ...[...document.querySelectorAll('main section')].filter(each => each.checkVisibility()).map(each => each.id)]"""
AFTER_DRAWING = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))).then(() => true)"
SHEET_WIDTH, SHEET_HEIGHT = 1500, 1300


def make_page(leaktide, name, inputs, folder):
    page = os.path.join(folder, name + ".html")
    command = [leaktide, "report" if len(inputs) == 1 else "diff", "-f", "html", "-o", page, *inputs]
    status = subprocess.run(command, timeout=600, stderr=subprocess.DEVNULL).returncode
    if not os.path.exists(page):
        raise SystemExit("%s: status %d, and no page" % (" ".join(command), status))
    return page


class Looks:
    """All pictures of one page, and what is wrong with it."""

    def __init__(self, browser, page_path, stem):
        self.browser, self.page_path, self.stem = browser, page_path, stem
        self.faults = []

    def shoot(self, size, theme):
        page = self.browser.open(self.page_path, "", is_dark=THEMES[theme], size=SIZES[size])
        try:
            page.evaluate(AFTER_DRAWING)
            self.take(page, size, theme, "first-screen", None)
            self.faults += ["%s, %s: %s" % (size, theme, fault) for fault in faults_of(page)]
            if axe.IS_HERE:
                self.faults += ["%s, %s: axe: %s, %d times, first %s" % (size, theme, *each) for each in axe.violations(page)]
            sections = [each for each in page.evaluate(SECTIONS) if each]
            for section in sections:
                self.take(page, size, theme, section, "#" + section)
            self.faults += ["%s, %s: the page complains: %s" % (size, theme, each) for each in page.complaints()]
        finally:
            page.close()
        return ["first-screen", *sections]

    def shoot_view(self, size, theme, name):
        section, address = MORE_VIEWS[name]
        page = self.browser.open(self.page_path, address, is_dark=THEMES[theme], size=SIZES[size])
        try:
            page.evaluate(AFTER_DRAWING)
            self.faults += ["%s, %s, %s: %s" % (size, theme, address, fault) for fault in faults_of(page) + page.complaints()]
            if page.evaluate("document.getElementById('%s') !== null" % section):
                self.take(page, size, theme, name, "#" + section)
        finally:
            page.close()

    def path(self, size, theme, section):
        return "%s-%s-%s-%s.png" % (self.stem, size, theme, section)

    def take(self, page, size, theme, section, selector):
        page.screenshot(self.path(size, theme, section), selector)

    def sheet(self, size, sections):
        """What was taken, light beside dark, in pages that can be looked at."""
        rows = [[self.path(size, theme, section) for theme in THEMES] for section in sections]
        rows = [row for row in rows if all(map(os.path.exists, row))]
        folder, name = os.path.split(self.stem)
        html = os.path.join(folder, "sheet-%s-%s.html" % (name, size))
        cells = ["<div class=row>%s</div>" % "".join("<img src='%s'>" % os.path.basename(path) for path in row) for row in rows]
        with open(html, "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html><style>body{margin:4px;background:#888;width:%dpx;columns:%d} .row{break-inside:avoid;margin:0 0 10px}"
                       "img{width:49.5%%;vertical-align:top}</style>%s" % (SHEET_WIDTH, 1 if size == "desk" else 3, "".join(cells)))
        page = self.browser.open(html, size=(SHEET_WIDTH + 20, SHEET_HEIGHT),
                                 until="document.readyState === 'complete' && [...document.images].every(each => each.complete)")
        try:
            height = page.evaluate("document.documentElement.scrollHeight")
            for i in range((height + SHEET_HEIGHT - 1) // SHEET_HEIGHT):
                page.evaluate("scrollTo(0, %d)" % (i * SHEET_HEIGHT))
                page.screenshot(html[:-len(".html")] + "-%d.png" % (i + 1))
        finally:
            page.close()


def look_at(name, inputs, leaktide, folder):
    with Browser(seconds=90) as browser:
        looks = Looks(browser, make_page(leaktide, name, inputs, folder), os.path.join(folder, name))
        for size in SIZES:
            for theme in THEMES:
                sections = looks.shoot(size, theme)
                for view in MORE_VIEWS:
                    looks.shoot_view(size, theme, view)
            looks.sheet(size, [*sections, *MORE_VIEWS])
    for fault in looks.faults:
        print("%s: %s" % (name, fault), flush=True)
    return len(looks.faults)


def main():
    leaktide, folder, *wanted = sys.argv[1:]
    if not find_browser():
        print("skipped: no Chromium here")
        sys.exit(77)
    os.makedirs(folder, exist_ok=True)
    if wanted[:1] == ["--real"]:
        inputs = {name: [path] for name, path in real_inputs(leaktide, wanted[1] if wanted[1:] else "", folder, NAMES).items()}
    else:
        inputs = {name: paths.split(",") for name, paths in (argument.split("=", 1) for argument in wanted)}
    fault_count = sum(look_at(name, paths, leaktide, folder) for name, paths in inputs.items())
    print("%d pages, %d faults: %s" % (len(inputs), fault_count, folder))
    sys.exit(1 if fault_count else 0)


if __name__ == "__main__":
    main()
