# SPDX-License-Identifier: Apache-2.0
"""The pictures of README and docs: docs_pictures.py LEAKTIDE RECORDING FOLDER

RECORDING is one of torch_leaking.py (docs/pictures: 30 batches, --call-stack=python,c). Ends with 77 where there is no Chromium.
"""

import os
import sys
import tempfile
from urllib.parse import quote

from browser import Browser, find_browser
from screenshots import AFTER_DRAWING, make_page

WIDTH = 1280
# Without the head, which has paths of the machine.
WITHOUT_HEAD = "document.querySelectorAll('header, #nav').forEach(each => each.remove()), true"
CHART_END = "document.querySelector('#timeline .legend').getBoundingClientRect().bottom + scrollY"
LEDGER = "document.querySelector('#timeline select').selectedOptions[0].textContent"


def take_opening(browser, html, path):
    """What it opens on, from the verdict to the legend of its chart; the ledger that this is about."""
    page = browser.open(html, size=(WIDTH, 900))
    page.evaluate(WITHOUT_HEAD)
    page.set_size(WIDTH, int(page.evaluate(CHART_END)) + 4)
    page.evaluate(AFTER_DRAWING)
    page.screenshot(path)
    ledger = page.evaluate(LEDGER)
    page.close()
    return ledger


def take_section(browser, html, section, address, path):
    page = browser.open(html, address, size=(WIDTH, 900))
    page.evaluate(AFTER_DRAWING)
    page.screenshot(path, "#" + section)
    page.close()


def main():
    leaktide, recording, folder = sys.argv[1:4]
    if not find_browser():
        print("skipped: no Chromium here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch, Browser(seconds=90) as browser:
        html = make_page(leaktide, "page", [recording], scratch)
        ledger = take_opening(browser, html, os.path.join(folder, "timeline.png"))
        take_section(browser, html, "flame", "#l=%s&m=peak" % quote(ledger), os.path.join(folder, "flame.png"))


if __name__ == "__main__":
    main()
