# SPDX-License-Identifier: Apache-2.0
"""The page of many ranks, in Chromium: who differs is seen, named, and leads to its own page.

Run as ranks_page_test.py LEAKTIDE MAKE_CLUSTER. Skipped without Chromium.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

from browser import Browser, find_browser

LEAKTIDE, MAKE_CLUSTER = sys.argv[1:3]
COLOURS = """(number => {
    const canvas = document.querySelectorAll('.heat canvas')[number];
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const rows = new Set();
    for (let i = 0; i < data.length; i += 4)
        if (data[i] > data[i + 2] + 60 && data[i + 3])
            rows.add(Math.floor(i / 4 / canvas.width));
    return [...rows].map(row => row / canvas.height);
})"""
POINT = """((number, x, y, kind) => {
    const canvas = document.querySelectorAll('.heat canvas')[number], box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent(kind, {clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true}));
})"""


class RanksPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def open(self, ranks, *more):
        """The page, and what was planted."""
        summaries, path = os.path.join(self.folder, "summaries"), os.path.join(self.folder, "ranks.html")
        planted = json.loads(subprocess.run([MAKE_CLUSTER, summaries, "rank", str(ranks), "5", *more], stdout=subprocess.PIPE,
                                            check=True).stdout)
        self.assertTrue(glob.glob(summaries + "/*/ranks.parquet"))
        subprocess.run([LEAKTIDE, "ranks", "-f", "html", "-o", path, summaries], check=True)
        page = self.browser.open(path)
        self.assertEqual((page.complaints(), page.requests()), ([], []))
        self.assertEqual(page.evaluate("document.querySelectorAll('.error').length"), 0)
        return page, planted

    def check(self, ranks, *more):
        page, planted = self.open(ranks, *more)
        name = "rank %d on node-%04d" % (planted["rank"], planted["host"])
        place = (planted["rank"] + 0.5) / planted["rank_count"]
        for number in (0, 1):  # by step, by site
            page.wait_for("%s(%d).length" % (COLOURS, number))  # it is drawn when its size is known
            rows = page.evaluate("%s(%d)" % (COLOURS, number))
            for row in rows:
                self.assertAlmostEqual(row, place, delta=0.02)
            page.evaluate("%s(%d, %f, %f, 'mousemove')" % (POINT, number, 0.99 if number == 0 else 0.001, place))
            said = page.evaluate("document.querySelector('#heat .readout').textContent")
            self.assertTrue(said.startswith(name + ", " + ("step" if number == 0 else "planted")), said)
        page.evaluate("%s(0, 0.99, %f, 'click')" % (POINT, place))
        self.assertIn(name, page.evaluate("document.querySelector('.rank-chosen').textContent"))
        page.set_size(390, 844)
        page.wait_for("document.documentElement.scrollWidth <= 390")

    def test_a_row_is_a_rank(self):
        self.check(64)

    def test_a_row_is_of_several_ranks(self):
        self.check(2600)

    def test_keys_choose_a_rank(self):
        page, _ = self.open(64)
        page.evaluate("document.querySelector('.heat canvas').focus()")
        for key in ("ArrowDown", "ArrowRight", "Enter"):
            page.press(key)
        page.wait_for("document.querySelector('.rank-chosen').textContent.startsWith('rank ')")

    def test_a_rank_leads_to_its_own_page(self):
        job, summaries, path = (os.path.join(self.folder, name) for name in ("job", "summaries", "ranks.html"))
        script = "for r in 0 1; do RANK=$r WORLD_SIZE=2 %s -c 'kept = bytearray((1 + 8 * '$r') << 20)'; done" % sys.executable
        subprocess.run([LEAKTIDE, "run", "--quiet", "-o", job, "--", "sh", "-c", script], check=True)
        for words, said in (([], "leaktide report -f html"), (["--pages"], "its own page")):
            subprocess.run([LEAKTIDE, "summarize", *words, "-o", summaries, job], check=True)
            subprocess.run([LEAKTIDE, "ranks", "-f", "html", "-o", path, summaries], check=True)
            page = self.browser.open(path)
            page.wait_for("(%s(0, 0.001, 0.75, 'click'), document.querySelector('.rank-chosen').textContent)" % POINT)
            self.assertIn(said, page.evaluate("document.querySelector('.rank-chosen').textContent"))
        # The link is still right where both were moved.
        moved = os.path.join(self.folder, "moved")
        os.mkdir(moved)
        for name in (summaries, path):
            os.rename(name, os.path.join(moved, os.path.basename(name)))
        page = self.browser.open(os.path.join(moved, "ranks.html"))
        page.wait_for("(%s(0, 0.001, 0.75, 'click'), document.querySelector('.rank-chosen a'))" % POINT)
        link = page.evaluate("document.querySelector('.rank-chosen a').href")
        self.assertTrue(link.startswith("file://" + moved + "/summaries/pages/"), link)
        self.assertEqual(self.browser.open(link[len("file://"):]).evaluate("document.querySelectorAll('.error').length"), 0)


if __name__ == "__main__":
    if not find_browser():
        print("skipped: no Chromium here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
