# SPDX-License-Identifier: Apache-2.0
"""Does page_structure.py find what it is for? Each made-up page has one fault, and the first has none."""

import sys
import tempfile
import unittest

from browser import Browser, find_browser
from page_structure import faults_of

WELL = "<section id=a><h2>Heading</h2><p>Some words.</p><table><thead><tr><th>x<tbody><tr><td>1</table></section>"
FAULTS = {
    "the page is": WELL + "<div style='width:900px'>wide</div>",
    "leaves the window": WELL + "<section id=b><h2>B</h2><p style='white-space:nowrap'>%s</p></section>" % ("word " * 60),
    "lies on": WELL + "<section id=b><h2>B</h2><p>first words</p><p style='margin-top:-2em'>second words</p></section>",
    "it is empty": WELL + "<section id=b><h2>B</h2><p></p></section>",
    "it has no heading": WELL + "<section id=b><p>words</p></section>",
    "it says NaN": WELL + "<section id=b><h2>B</h2><p>NaN MiB</p></section>",
    "a table without rows": WELL + "<section id=b><h2>B</h2><table><thead><tr><th>x<tbody></table></section>",
    "nothing is drawn": WELL + "<section id=b><h2>B</h2><canvas width=90 height=90></canvas></section>",
    "is wider than its box": WELL + "<section id=b><h2>B</h2><svg><g><rect width=20 height=20 /><text y=15>many words</text></g></svg></section>",
    "is cut off": WELL + "<section id=b><h2>B</h2><svg width=400 height=20 style='max-width:100px'><rect width=400 height=9 /></svg></section>",
    "a colour is not on the line": WELL + "<section id=b><h2>B</h2><span style='display:block;width:90px'><span class=swatch style='display:inline-block;"
                                          "width:12px;height:12px'></span> %s</span></section>" % ("word" * 5),
    "a tick is not on the line": WELL + "<section id=b><h2>B</h2><label style='display:flex;flex-direction:column'><input type=checkbox>words</label></section>",
    "a table of few columns": WELL + "<section id=b><h2>B</h2><div style='overflow:auto;width:90px'><table><thead><tr><th>x<tbody><tr>"
                                     "<td style='white-space:nowrap'>%s</table></div></section>" % ("word " * 9),
    "is wider than its button": WELL + "<section id=b><h2>B</h2><button style='width:30px;overflow:hidden;white-space:nowrap'>a long word</button></section>",
}


class PageStructureTest(unittest.TestCase):
    def faults(self, body):
        with tempfile.NamedTemporaryFile("w", suffix=".html") as file:
            file.write("<!DOCTYPE html><meta charset=utf-8><body style='margin:0'><main>%s</main>" % body)
            file.flush()
            page = self.browser.open(file.name, size=(600, 400), until="document.readyState === 'complete'")
            try:
                return faults_of(page)
            finally:
                page.close()

    def test_a_page_that_is_well_has_none(self):
        self.assertEqual(self.faults(WELL), [])

    def test_each_fault_is_found(self):
        for words, body in FAULTS.items():
            with self.subTest(words):
                self.assertTrue(any(words in fault for fault in self.faults(body)), self.faults(body))

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)


if __name__ == "__main__":
    if not find_browser():
        print("skipped: no Chromium here")
        sys.exit(77)
    unittest.main(verbosity=1)
