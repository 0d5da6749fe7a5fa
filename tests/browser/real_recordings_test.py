# SPDX-License-Identifier: Apache-2.0
"""Pages of real recordings, in Chromium and in Firefox: PyTorch with Python and C stacks, a C program, a profile, a snapshot.

Run as real_recordings_test.py LEAKTIDE REFERENCE-DATA. What is not here is left out, and said: real_inputs.py tells how each is had.
Ends with 77, skipped, where there is no Chromium.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
import unittest

import axe
from browser import Browser, find_browser
from firefox import Firefox, find_firefox
from page_data import datasets_of
from page_structure import faults_of
from real_inputs import real_inputs

LEAKTIDE, REFERENCE = sys.argv[1:3]
SIZES = ((1440, 900), (390, 844))
PAGE_BYTES_MOST, FIRST_MS_MOST, WHOLE_MS_MOST = 12e6, 5000, 10000  # times: of a busy machine; the benchmark measures them
class Recording:
    def __init__(self, folder, name, recording):
        self.name = name
        self.page = os.path.join(folder, name + ".html")
        status = subprocess.run([LEAKTIDE, "report", "-f", "html", "-o", self.page, recording], timeout=400,
                                stderr=subprocess.DEVNULL).returncode
        assert status in (0, 3), (name, status)  # 3: some of the reference data say themselves that rows are missing
        with open(self.page, encoding="utf-8") as file:
            self.data = datasets_of(file.read())
        self.names = self.data["names"]["text"]
        self.report = self.data["report"]

    def ledger_name(self, index):
        return self.names[self.data["ledgers"]["name"][index]]

    def rows(self, name):
        return [row for table in self.report["tables"] if table["name"] == name for row in table["rows"]]

    def leaked_bytes(self, ledger_name):
        stacks = self.rows("leaking_stacks")
        if stacks:
            return sum(row["overdue_bytes"] for row in stacks if row["ledger"] == ledger_name)
        return sum(finding["growth_bytes_per_step"] or 0 for finding in self.report["findings"]
                   if finding["kind"] == "leak" and finding["ledger"] == ledger_name)


def on(*names):
    """The test is done for each recording, or for those of these names."""
    def wrap(test):
        @functools.wraps(test)
        def run(self):
            for recording in self.recordings:
                if not names or recording.name in names:
                    with self.subTest(recording.name):
                        test(self, recording)
        return run
    return wrap


class RealRecordingsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = cls.folder.name
        inputs = real_inputs(LEAKTIDE, REFERENCE, folder, ("torch", "sqlite", "profile", "snapshot"))
        cls.recordings = [Recording(folder, name, path) for name, path in inputs.items()]
        cls.browser = Browser(seconds=60)
        cls.addClassCleanup(cls.browser.close)

    def open(self, recording, **how):
        page = self.browser.open(recording.page, **{"size": SIZES[0], **how})
        self.addCleanup(page.close)
        self.addCleanup(lambda: self.assertEqual((page.complaints(), page.requests()), ([], [])))
        return page

    # ---- it opens

    @on()
    def test_pages_are_small_and_open_soon(self, recording):
        self.assertLess(os.path.getsize(recording.page), PAGE_BYTES_MOST)
        page = self.open(recording)
        times = [page.evaluate("performance.getEntriesByName('%s')[0].startTime" % name)
                 for name in ("first picture", "whole page")]
        print("%s: %.1f MB, first picture %.0f ms, whole page %.0f ms"
              % (recording.name, os.path.getsize(recording.page) / 1e6, *times), flush=True)
        self.assertLess(times[0], FIRST_MS_MOST)
        self.assertLess(times[1], WHOLE_MS_MOST)
        self.assertEqual(page.evaluate("document.querySelectorAll('.error').length"), 0)

    @on()
    def test_first_screen_has_verdict_and_chart(self, recording):
        for width, height in SIZES:
            page = self.open(recording, size=(width, height))
            seen = page.evaluate("""(() => {
                const box = selector => document.querySelector(selector).getBoundingClientRect();
                return {verdict: box('#verdict-sentences p').bottom, chart: box('#timeline .u-over').bottom,
                    wide: document.documentElement.scrollWidth}; })()""")
            self.assertLess(seen["verdict"], seen["chart"])
            self.assertLessEqual(seen["chart"], height)
            self.assertEqual(seen["wide"], width)

    @on()
    def test_nothing_overlaps_or_is_empty(self, recording):
        for size, is_dark in zip(SIZES, (False, True)):
            self.assertEqual(faults_of(self.open(recording, size=size, is_dark=is_dark)), [], size)

    @on("torch", "sqlite", "profile")
    def test_first_screen_names_who_holds_the_peak(self, recording):
        tables = recording.report["tables"]
        peak = next(table["rows"][0] for table in tables if table["name"] == "peaks")
        holder = next(table["rows"][0] for table in tables if table["name"] == "held_at_peak" and table["rows"])
        self.assertEqual(holder["ledger"], peak["ledger"])
        self.assertIn(holder["site"], self.open(recording).evaluate("document.querySelector('#numbers .card').textContent"))

    @on("profile")
    def test_an_operator_is_not_named_twice(self, recording):
        titles = self.open(recording).evaluate("[...document.querySelectorAll('#peak table')][0].querySelector('thead').textContent")
        self.assertEqual(titles.count("operator"), 1)

    # ---- ways and addresses

    @on()
    def test_names_in_sentences_lead_somewhere_and_back_leads_back(self, recording):
        looks = """[[...document.querySelectorAll('#timeline select')].map(each => each.value),
            document.querySelector('#site').checkVisibility() && document.querySelector('#site h2').textContent]"""
        page = self.open(recording)
        links = page.evaluate("document.querySelectorAll('#verdict-sentences a').length")
        self.assertGreater(links, 0)
        for i in range(min(links, 4)):
            before = page.evaluate(looks)
            name = page.evaluate("""(() => { const link = document.querySelectorAll('#verdict-sentences a')[%d];
                link.click(); return link.textContent; })()""" % i)
            shown = page.evaluate("""[document.querySelector('#site').checkVisibility() ? document.querySelector('#site h2').textContent : '',
                document.querySelector('#timeline select').selectedOptions[0].textContent]""")
            self.assertIn(name, shown)
            page.evaluate("history.back()")
            page.wait_for("JSON.stringify(%s) === %s" % (looks, json.dumps(json.dumps(before, ensure_ascii=False, separators=(",", ":")))))

    @on()
    def test_an_address_opens_the_same_view(self, recording):
        looks = """[location.hash, [...document.querySelectorAll('#timeline select')].map(each => each.value),
            document.querySelector('#timeline-summary').textContent, document.querySelector('#selection-summary').textContent,
            [...document.querySelectorAll('#timeline .legend .key')].map(each => each.textContent),
            document.querySelector('#flame .readout').textContent]"""
        page = self.open(recording)
        page.evaluate("document.querySelectorAll('#timeline .buttons button')[0].click()")  # zoom
        page.evaluate("""(() => { const by = document.querySelectorAll('#timeline select')[1];
            by.value = 'size'; by.dispatchEvent(new Event('change')); })()""")
        page.wait_for("location.hash.includes('by=size') && location.hash.includes('t=')")
        page.evaluate("new Promise(resolve => setTimeout(resolve, 400))")
        there = page.evaluate(looks)
        self.assertEqual(self.open(recording, fragment=there[0]).evaluate(looks), there)

    # ---- the flame graph

    @on()
    def test_flame_graph_is_as_wide_as_what_was_recorded(self, recording):
        select = "[...document.querySelectorAll('#flame select')].at(-1)"
        ledgers = recording.data["ledgers"]
        page = self.open(recording)
        most = page.evaluate("document.querySelector('#timeline select').selectedOptions[0].textContent")
        index = [recording.ledger_name(i) for i in range(len(ledgers["name"]))].index(most)
        counted = [row["end_bytes"] for row in recording.rows("window") if row["ledger"] == most and row["end_bytes"] is not None]
        # What the pool counts and no block stands for has its own bar.
        wanted = {"peak": ledgers["peak_bytes"][index] + ledgers["unseen_peak_bytes"][index],
                  "end": counted[0] if counted else ledgers["end_bytes"][index],
                  "leaked": recording.leaked_bytes(most)}
        for measure in page.evaluate("[...%s.options].map(each => each.value)" % select):
            page.evaluate("""(() => { const select = %s;
                select.value = '%s'; select.dispatchEvent(new Event('change')); })()""" % (select, measure))
            shown = page.evaluate("document.querySelector('.flame [aria-level=\"1\"]').getAttribute('aria-label').split(' · ')[1]")
            if measure in wanted:
                self.assertEqual(shown, page_size(wanted[measure]), measure)

    @on("torch")
    def test_flame_graph_names_lines_and_finds_them(self, recording):
        page = self.open(recording, fragment="")
        labels = page.evaluate("[...document.querySelectorAll('.flame [role=treeitem]')].map(each => each.getAttribute('aria-label'))")
        python = [label for label in labels if "Python" in label]
        self.assertTrue(python)
        self.assertEqual([label for label in python if ".py:" not in label], [])
        page.evaluate("""(() => { const search = document.querySelector('#flame-search');
            search.value = 'torch_leaking.py'; search.dispatchEvent(new Event('input')); })()""")
        self.assertGreater(page.evaluate("document.querySelectorAll('.flame g.found').length"), 0)

    @on("torch")
    def test_flame_graph_shows_an_operator_inside_of_who_called_it(self, recording):
        page = self.open(recording, fragment="#m=peak")
        boxes = page.evaluate("""[...document.querySelectorAll('.flame [role=treeitem]')].map(each =>
            [Number(each.getAttribute('aria-level')), each.getAttribute('aria-label')])""")
        first = [label for level, label in boxes if level == 2]
        self.assertEqual([label for label in first if label.startswith("aten::")], [])
        self.assertTrue(any(level > 2 and label.startswith("aten::") for level, label in boxes), boxes[:20])

    # ---- the timeline

    @on()
    def test_timeline_is_drawn_by_everything_it_offers(self, recording):
        page = self.open(recording)
        for by in page.evaluate("[...document.querySelectorAll('#timeline select')[1].options].map(each => each.value)"):
            page.evaluate("""(() => { const by = document.querySelectorAll('#timeline select')[1];
                by.value = '%s'; by.dispatchEvent(new Event('change')); })()""" % by)
            self.assertGreater(page.evaluate("document.querySelectorAll('#timeline .legend .key, #timeline .legend label').length"), 0, by)
            self.assertNotIn("undefined", page.evaluate("document.querySelector('#timeline').textContent"), by)

    @on("torch")
    def test_operators_are_lanes(self, recording):
        self.assertGreater(len(recording.data["operators"]["name"]), 100)
        page = self.open(recording)
        self.assertGreater(page.evaluate("""(() => { const canvas = document.querySelector('.u-wrap canvas');
            const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: 60});
            const context = copy.getContext('2d', {willReadFrequently: true});
            context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--operator-a');
            context.fillRect(0, 0, 1, 1);
            const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
            context.clearRect(0, 0, 1, 1);
            context.drawImage(canvas, 0, 0);
            const {data} = context.getImageData(0, 0, canvas.width, 60);
            let found = 0;
            for (let i = 0; i < data.length; i += 4)
                found += data[i] === red && data[i + 1] === green && data[i + 2] === blue;
            return found; })()"""), 50)

    # ---- the selection

    @on("torch")
    def test_selection_says_what_it_has_as_sums_only(self, recording):
        rest, groups = recording.data["rest"], recording.data["groups"]
        ledger = next(i for i in range(len(recording.data["ledgers"]["name"])) if recording.ledger_name(i).startswith("python"))
        page = self.open(recording, fragment="#l=" + recording.ledger_name(ledger).replace(" ", "%20"))
        before_s = float(page.evaluate("document.querySelector('#timeline form.range input.time').value"))
        stretch = int(before_s * 1e9) // recording.data["picture"]["rest_stretch_ns"][0]
        held = sum(born - freed for at, group, born, freed in
                   zip(rest["stretch"], rest["group"], rest["born_bytes"], rest["freed_bytes"])
                   if at < stretch and groups["ledger"][group] == ledger)
        self.assertGreater(held, 1 << 20)
        self.assertIn("held %s before it" % page_size(held), page.evaluate("document.querySelector('#selection .remark').textContent"))

    # ---- other readers

    @unittest.skipUnless(axe.IS_HERE, "MT_AXE names no axe.min.js")
    @on()
    def test_axe_finds_nothing(self, recording):
        for size, is_dark in zip(SIZES, (False, True)):
            self.assertEqual(axe.violations(self.open(recording, size=size, is_dark=is_dark)), [])

    @unittest.skipUnless(find_firefox(), "no Firefox here")
    def test_firefox_shows_the_same(self):
        sentence = "document.querySelector('#verdict-sentences p').textContent"
        legend = "[...document.querySelectorAll('#timeline .legend .key')].map(each => each.textContent)"
        with Firefox() as firefox:
            for recording in self.recordings:
                firefox.open(recording.page)
                self.assertEqual(firefox.evaluate("document.querySelectorAll('.error').length"), 0)
                self.assertEqual(firefox.evaluate("document.querySelectorAll('.u-wrap canvas').length"), 1)
                self.assertEqual(firefox.evaluate(sentence), self.open(recording).evaluate(sentence))
                address = firefox.evaluate("([...document.querySelectorAll('#verdict-sentences a')].at(-1).click(), location.hash)")
                self.assertIn("l=", address)
                self.assertEqual(firefox.evaluate(legend), self.open(recording, fragment=address).evaluate(legend))
                length = firefox.evaluate("history.length")
                firefox.evaluate("(history.back(), new Promise(done => setTimeout(done, 300)))")
                self.assertEqual(firefox.evaluate("history.length"), length)
                self.assertEqual(firefox.evaluate("location.protocol"), "file:")


def page_size(size_bytes):
    """As format.js writes it: three digits, in powers of 1024."""
    if size_bytes < 1024:
        return "%d B" % size_bytes
    units = ["KiB", "MiB", "GiB", "TiB"]
    value = size_bytes / 1024
    while value >= 1023.5 and len(units) > 1:
        value, units = value / 1024, units[1:]
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return "%.*f %s" % (digits, value, units[0])


if __name__ == "__main__":
    if not find_browser():
        print("skipped: no Chromium here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
