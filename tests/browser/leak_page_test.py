# SPDX-License-Identifier: Apache-2.0
"""The page of a recording with a leak, in a browser: where does it open, and where does each part lead?

Run as leak_page_test.py LEAKTIDE PYTHON-MODULES. Ends with 77, skipped, where there is no Chromium.
MT_AXE, if set, is an axe.min.js of axe-core: then the page is judged by that, too.
"""

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import axe
from browser import Browser, find_browser

LEAKTIDE, MODULES = sys.argv[1:3]
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leaking.py")
LATE_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "late_leak.py")
STEPS, KEPT_BYTES = 30, 20000
SIZES = ((1440, 900), (390, 844))


def record(folder, name, kept_bytes):
    path = os.path.join(folder, name)
    subprocess.run([LEAKTIDE, "run", "--quiet", "--device=cpu", "--call-stack=python,c", "-o", path, "--", sys.executable,
                    os.path.join(folder, "leaking.py"), str(STEPS), str(kept_bytes)], env={**os.environ, "PYTHONPATH": MODULES}, check=True,
                   timeout=120)
    return path


def write(path, *arguments):
    subprocess.run([LEAKTIDE, *arguments, "-o", path], timeout=120, stderr=subprocess.DEVNULL)
    return path


class LeakPageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = cls.folder.name
        program = shutil.copy2(PROGRAM, folder)
        leaking, mended = record(folder, "leaking", KEPT_BYTES), record(folder, "mended", 0)
        cls.path = write(os.path.join(folder, "leak.html"), "report", "-f", "html", leaking)
        cls.difference = write(os.path.join(folder, "diff.html"), "diff", "-f", "html", mended, leaking)
        cls.chinese = write(os.path.join(folder, "chinese.html"), "report", "-f", "html", "--lang=zh", leaking)
        cls.with_sources = write(os.path.join(folder, "sources.html"), "report", "-f", "html", "--with-sources", leaking)
        os.utime(program)
        cls.younger = write(os.path.join(folder, "younger.html"), "report", "-f", "html", "--with-sources", leaking)
        late = os.path.join(folder, "late")
        subprocess.run([LEAKTIDE, "run", "--quiet", "--device=cpu", "--call-stack=python,c", "-o", late, "--", sys.executable, LATE_PROGRAM],
                       check=True, timeout=120)
        cls.late = write(os.path.join(folder, "late.html"), "report", "-f", "html", late)
        cls.database = write(os.path.join(folder, "leak.db"), "export", "--to", "sqlite", leaking)
        cls.browser = Browser(seconds=60)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def open(self, path=None, **how):
        page = self.browser.open(path or self.path, **{"size": SIZES[0], **how})
        self.addCleanup(page.close)
        self.addCleanup(lambda: self.assertEqual((page.complaints(), page.requests()), ([], [])))
        return page

    def query(self, text):
        database = sqlite3.connect(self.database)
        try:
            return database.execute(text).fetchone()[0]
        finally:
            database.close()

    def test_a_page_in_chinese_opens_in_chinese(self):
        page = self.open(self.chinese)
        self.assertEqual(page.evaluate("document.documentElement.lang"), "zh")
        self.assertEqual(page.evaluate("document.getElementById('verdict-title').textContent"), "结论")
        self.assertIn("泄漏", page.evaluate("document.getElementById('verdict-sentences').textContent"))
        self.assertEqual(self.open().evaluate("document.documentElement.lang"), "en")

    def rows(self, page):
        """The table beside the flame graph, as its button copies it."""
        text = page.evaluate("""(async () => {
            let text = null;
            Object.defineProperty(navigator, 'clipboard',
                {value: {writeText: async copied => { text = copied; }}, configurable: true});
            [...document.querySelectorAll('.flame-table .table-tools button')].at(-1).click();
            await new Promise(resolve => setTimeout(resolve));
            return text; })()""")
        return list(csv.DictReader(io.StringIO(text)))

    def itself(self, page):
        return sum(float(row["own"]) for row in self.rows(page))

    # ---- where it opens

    def test_first_screen_has_verdict_and_chart_with_the_leak_on_top(self):
        for width, height in SIZES:
            with self.subTest(width=width):
                page = self.open(size=(width, height))
                seen = page.evaluate("""(() => {
                    const box = selector => document.querySelector(selector).getBoundingClientRect();
                    const first = document.querySelector('#timeline .legend .key');
                    return {verdict: box('#verdict-sentences p').bottom, chart: box('#timeline .u-over').bottom,
                        first: first.textContent, colour: first.querySelector('.swatch').style.background,
                        ledger: document.querySelector('#timeline select').selectedOptions[0].textContent,
                        notes: document.querySelectorAll('#numbers details[open]').length,
                        wide: document.documentElement.scrollWidth}; })()""")
                self.assertLess(seen["verdict"], seen["chart"])
                self.assertLessEqual(seen["chart"], height)
                self.assertIn("Trainer.remember", seen["first"])
                self.assertEqual(seen["colour"], "rgb(198, 45, 31)")
                self.assertEqual((seen["ledger"], seen["notes"], seen["wide"]), ("host", 0, width))

    def test_a_short_loop_behind_a_long_start_is_looked_at_alone(self):
        page = self.open(self.late)
        seen = page.evaluate("""({summary: document.querySelector('#timeline-summary').textContent,
            only: document.querySelector('#timeline-only').checked,
            legend: [...document.querySelectorAll('#timeline .legend .key')].map(each => each.textContent)})""")
        self.assertTrue(seen["only"])
        self.assertEqual(len(seen["legend"]), 1, seen["legend"])
        self.assertIn("make (", seen["legend"][0])
        from_s, to_s = [float(each) for each in re.search(r"from ([0-9.]+) s to ([0-9.]+) s", seen["summary"]).groups()]
        self.assertGreater(from_s, 1)  # what it starts with takes two seconds
        self.assertLess(to_s - from_s, 1)
        page.evaluate("document.querySelector('#timeline-only').click()")
        page.wait_for("document.querySelectorAll('#timeline .legend .key').length > 2")

    def test_flame_graph_of_a_leak_that_the_end_freed_has_the_stacks_that_leaked(self):
        page = self.open(self.late, fragment="#l=host&by=site&site=&m=leaked&plumbing=1")
        boxes = page.evaluate("[...document.querySelectorAll('.flame [role=treeitem]')].map(each => each.getAttribute('aria-label'))")
        self.assertTrue(any("PyByteArray" in box for box in boxes), boxes)
        self.assertEqual([box for box in boxes if "bytes_new" in box or "PyBytes" in box], [])  # the block of the first turn is large, and no leak
        self.assertTrue(any("late_leak.py:21" in box and "Python" in box for box in boxes), boxes)

    def test_site_of_a_leak_shows_the_stacks_that_leaked(self):
        page = self.open(self.late)
        self.assertIn("PyByteArray", page.evaluate("""(() => {
            document.querySelector('#site-leaking-stacks .stack .plumbing button')?.click();
            return document.querySelector('#site-leaking-stacks').textContent; })()"""))

    # ---- ways

    def test_sentences_lead_to_curve_blocks_and_stack_and_back_leads_back(self):
        page = self.open(fragment="#l=python")
        self.assertFalse(page.evaluate("document.querySelector('#site').checkVisibility()"))
        page.evaluate("[...document.querySelectorAll('#verdict-sentences a')]"
                      ".find(each => each.textContent.includes('Trainer.remember')).click()")
        self.assertIn("Trainer.remember", page.evaluate("document.querySelector('#site h2').textContent"))
        self.assertIn("site=Trainer.remember", page.evaluate("location.hash"))
        self.assertIn("l=host", page.evaluate("location.hash"))
        self.assertTrue(page.evaluate("document.querySelector('#site .stack').textContent.includes('leaking.py:21')"))
        self.assertTrue(page.evaluate("document.querySelector('#site-blocks tbody tr') !== null"))
        self.assertTrue(page.evaluate("document.querySelector('#site polyline') !== null"))
        page.evaluate("history.back()")
        page.wait_for("location.hash.includes('l=python')")
        page.wait_for("!document.querySelector('#site').checkVisibility()")
        self.assertEqual(page.evaluate("document.querySelector('#timeline select').selectedOptions[0].textContent"),
                         "python")

    def test_tiles_cards_and_rows_lead_to_the_site(self):
        for start in ("#verdict .card.bad", "#steps .multiple.bad a", "#peak td a.link"):
            with self.subTest(start):
                page = self.open(fragment="#l=host")
                page.evaluate("document.querySelector('%s').click()" % start)
                self.assertTrue(page.evaluate("document.querySelector('#site').checkVisibility()"))

    def test_address_keeps_tab_filter_and_sort(self):
        page = self.open(fragment="#l=host&tab=blocks&f=remember&sort=born_ns")
        self.assertEqual(page.evaluate("document.querySelector('#selection-filter').value"), "remember")
        self.assertEqual(page.evaluate("document.querySelector('#selection [aria-selected=true]').id"), "tab-blocks")
        self.assertEqual(page.evaluate(
            "document.querySelector('#selection th[aria-sort]').textContent.includes('▲')"), True)
        self.assertTrue(page.evaluate("[...document.querySelectorAll('#selection tbody tr td:first-child')]"
                                      ".every(cell => cell.textContent.includes('remember'))"))

    # ---- the flame graph

    def test_flame_graph_adds_up_to_what_the_database_says(self):
        wanted = {
            "peak": "SELECT MAX(live_bytes) FROM curve JOIN ledgers USING (ledger) WHERE ledgers.name = 'host'",
            "end": "SELECT SUM(size_bytes) FROM named_blocks WHERE ledger_name = 'host' AND freed_ns IS NULL",
            "allocated": "SELECT SUM(size_bytes) FROM named_blocks WHERE ledger_name = 'host'",
            "blocks": "SELECT COUNT(*) FROM named_blocks WHERE ledger_name = 'host'",
        }
        for measure, question in wanted.items():
            page = self.open(fragment="#l=host&m=%s" % measure)
            for box in (None, "#flame-inv", "#flame-plumbing"):
                with self.subTest(measure, box=box):
                    if box:
                        page.evaluate("document.querySelector('%s').click()" % box)
                    self.assertEqual(self.itself(page), self.query(question))

    def test_flame_graph_of_the_leak_names_the_line(self):
        page = self.open()
        growth = self.itself(page)
        self.assertLess(abs(growth - KEPT_BYTES), 2000)
        remember = next(row for row in self.rows(page) if row["function"] == "Trainer.remember")
        self.assertEqual(remember["place"], "leaking.py:21")
        self.assertAlmostEqual(float(remember["total"]), growth, delta=2000)
        colours = page.evaluate("""Object.fromEntries([...document.querySelectorAll('.flame [role=treeitem]')].map(box =>
            [box.getAttribute('aria-label').split(' ')[0], box.querySelector('rect').getAttribute('fill')]))""")
        styles = page.evaluate("""['--python', '--native'].map(name =>
            getComputedStyle(document.documentElement).getPropertyValue(name).trim())""")
        self.assertEqual(colours["Trainer.remember"], styles[0])

    def test_flame_graph_by_keys(self):
        page = self.open(fragment="#l=host&m=end")
        label = lambda: page.evaluate("document.activeElement.getAttribute('aria-label')")
        page.evaluate("document.querySelector('.flame [tabindex=\"0\"]').focus()")
        root = label()
        page.press("ArrowDown")
        first = label()
        self.assertNotEqual(first, root)
        page.press("Enter")
        page.wait_for("location.hash.includes('z=')")
        self.assertEqual(label(), first)
        self.assertEqual(page.evaluate("document.querySelector('.flame [aria-selected=true]')"
                                       ".getAttribute('aria-label')"), first)
        page.press("Escape")
        page.wait_for("!location.hash.includes('z=')")
        page.press("/")
        page.type("remember")
        self.assertEqual(page.evaluate("document.activeElement.id"), "flame-search")
        page.wait_for("location.hash.includes('q=remember')")
        self.assertIn("of the whole", page.evaluate("document.querySelector('#flame .readout').textContent"))

    def test_source_lines_stand_in_stacks_and_in_the_flame_graph_if_asked_for(self):
        page = self.open(self.with_sources)
        self.assertEqual(page.evaluate("[...document.querySelectorAll('#site .stack code.source')].slice(0, 3)"
                                       ".map(each => each.textContent)"),
                         ["self.kept.append(bytearray(size))", "self.remember(size)", "trainer.step(int(sys.argv[2]))"])
        page.evaluate("""[...document.querySelectorAll('.flame [role=treeitem]')].find(box =>
            box.getAttribute('aria-label').startsWith('Trainer.remember')).focus()""")
        self.assertEqual(page.evaluate("document.querySelector('#flame code.source').textContent"),
                         "self.kept.append(bytearray(size))")
        page.evaluate("""(() => { const search = document.querySelector('#flame-search');
            search.value = 'self.kept.append'; search.dispatchEvent(new Event('input')); })()""")
        self.assertGreater(page.evaluate("document.querySelectorAll('.flame g.found').length"), 0)
        self.assertEqual(self.open().evaluate("document.querySelectorAll('code.source').length"), 0)

    def test_lines_of_a_file_that_was_written_after_the_recording_are_not_shown(self):
        page = self.open(self.younger)
        self.assertEqual(page.evaluate("document.querySelector('#site .stack span.source').textContent"),
                         "the file was written after the recording")
        self.assertFalse(page.evaluate("document.body.textContent.includes('self.kept.append')"))

    def test_zoom_of_the_flame_graph_is_in_the_address(self):
        page = self.open(fragment="#l=host&m=end")
        page.evaluate("document.querySelectorAll('.flame g')[2].dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        selected = "document.querySelector('.flame [aria-selected=true]').getAttribute('aria-label')"
        zoomed, address = page.evaluate(selected), page.evaluate("location.hash")
        again = self.open(fragment=address)
        self.assertEqual(again.evaluate(selected), zoomed)
        page.evaluate("history.back()")
        page.wait_for(selected + " !== " + json.dumps(zoomed))

    def test_differences_are_red_and_blue(self):
        page = self.open(self.difference, fragment="#l=host&m=allocated")
        rows = page.evaluate("""[...document.querySelectorAll('.flame [role=treeitem]')].filter(box =>
            box.getAttribute('aria-label').startsWith('Trainer.remember')).map(box =>
            [box.getAttribute('aria-label'), box.querySelector('rect').getAttribute('fill')])""")
        more = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--more').trim()")
        self.assertTrue(rows)
        self.assertIn("was ", rows[0][0])
        self.assertTrue(rows[0][1].startswith(more), rows)
        joined = page.evaluate("[...document.querySelectorAll('.flame-table td:first-child')]"
                               ".filter(cell => /^\\d/.test(cell.textContent)).length")
        self.assertEqual(joined, 0)

    # ---- where blocks lie, and whose they are

    def test_address_map_shows_what_is_alive_at_a_moment(self):
        page = self.open(fragment="#l=host")
        end_ns = self.query("SELECT MAX(freed_ns) FROM named_blocks WHERE ledger_name = 'host'")
        words = lambda: page.evaluate("document.querySelector('#addresses .summary').textContent")
        red = """(() => { const canvas = document.querySelector('#addresses canvas');
            const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height});
            const context = copy.getContext('2d', {willReadFrequently: true});
            context.drawImage(canvas, 0, 0);
            const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
            let found = 0;
            for (let i = 0; i < data.length; i += 4)
                found += data[i] === 198 && data[i + 1] === 45 && data[i + 2] === 31;
            return found; })()"""
        kept_ns = self.query("SELECT MAX(born_ns) FROM named_blocks WHERE who LIKE 'Trainer.remember%'")
        for at in (end_ns // 5, end_ns // 2, kept_ns):
            page.evaluate("location.hash = '#l=host&at=%d.%09d'" % divmod(at, 10**9))
            alive = self.query("SELECT COUNT(*) FROM named_blocks WHERE ledger_name = 'host' AND is_older IS NOT 1"
                               " AND born_ns <= %d AND COALESCE(freed_ns > %d, 1)" % (at, at))
            page.wait_for("document.querySelector('#addresses .summary').textContent.includes(' %s blocks')"
                          % format(alive, ","))
        self.assertEqual(page.evaluate(red), 0)
        page.evaluate("document.querySelector('#verdict .card.bad').click()")
        self.assertGreater(page.evaluate(red), 100)
        before = words()
        page.evaluate("""(() => { const slider = document.querySelector('#addresses input[type=range]');
            slider.value = 100; slider.dispatchEvent(new Event('input')); })()""")
        page.wait_for("/at=/.test(location.hash)")
        self.assertNotEqual(words(), before)

    def test_timeline_by_thread_and_by_purpose(self):
        for by, wanted in (("thread", 2), ("purpose", 1)):
            page = self.open(fragment="#l=host&by=" + by)
            self.assertEqual(page.evaluate("document.querySelectorAll('#timeline select')[1].value"), by)
            names = page.evaluate("[...document.querySelectorAll('#timeline .legend .key')].map(key => key.textContent)")
            self.assertGreaterEqual(len(names), wanted, names)

    def test_timeline_by_parts_of_the_account(self):
        page = self.open(fragment="#l=host&by=account", scripts=["""URL.createObjectURL = blob => {
            window.saved = blob.text(); return 'data:,'; };"""])
        text = page.evaluate("""(async () => {
            [...document.querySelectorAll('#timeline button.download')].find(each => each.textContent === 'csv').click();
            return await window.saved; })()""")
        last = list(csv.DictReader(io.StringIO(text)))[-1]
        del last["from_ns"]
        # the one that the program asked for, or that of its exit: a busy recorder does not come in time for it
        resident = self.query("SELECT SUM(resident_bytes) FROM accounts WHERE account = (SELECT MAX(account) FROM accounts)")
        self.assertGreater(resident, 0)
        self.assertEqual(sum(float(value) for value in last.values()), resident)
        self.assertIn("code and its data", last)

    def test_timeline_of_a_comparison_has_both_recordings(self):
        page = self.open(self.difference, scripts=["""URL.createObjectURL = blob => {
            window.saved = blob.text(); return 'data:,'; };"""])
        self.assertEqual(page.evaluate("document.querySelector('#timeline select').selectedOptions[0].textContent"), "host")
        text = page.evaluate("""(async () => {
            [...document.querySelectorAll('#timeline button.download')].find(each => each.textContent === 'csv').click();
            return await window.saved; })()""")
        rows = list(csv.DictReader(io.StringIO(text)))
        names = ("host: allocated lowest_bytes", "host: base lowest_bytes")
        more = [float(row[names[0]]) - float(row[names[1]]) for row in rows if row[names[0]] and row[names[1]]]
        self.assertGreater(max(more), 20 * KEPT_BYTES)
        ends = [bool(rows[-1][name]) for name in names]
        self.assertIn(True, ends)  # the longer one goes on; both do if they are as long

    # ---- files, fingers, other readers

    def test_downloads_hold_what_is_seen(self):
        page = self.open(scripts=["""window.saved = [];
            URL.createObjectURL = blob => { window.saved.push(blob.text()); return 'data:,'; };
            HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; };"""])
        for place, format, wanted in (("#flame", "svg", "Trainer.remember"), ("#timeline", "csv", "Trainer.remember"),
                                      ("#settings", "json", '"verdict"'), ("#flame-table, .flame-table", "csv", "leaking.py:21")):
            with self.subTest(place):
                text = page.evaluate("""(async () => {
                    [...document.querySelectorAll('%s')].flatMap(each => [...each.querySelectorAll('button.download')])
                        .find(each => each.textContent === '%s').click();
                    await new Promise(done => setTimeout(done, 50));
                    return window.saved.at(-1); })()""" % (place, format))
                self.assertIn(wanted, text)
                self.assertTrue(page.evaluate("window.savedAs").endswith("." + format))

    def test_two_fingers_zoom_and_one_moves(self):
        page = self.open(size=SIZES[1])
        page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        page.evaluate("document.querySelector('#timeline').scrollIntoView()")
        left, top, width, height = page.evaluate("(() => { const b = document.querySelector('.u-over')"
                                                 ".getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
        y, middle = top + height / 2, left + width / 2
        page.touch([(middle - 40, y), (middle + 40, y)], [(middle - 80, y), (middle + 80, y)])
        page.wait_for("/t=/.test(location.hash)")
        stretch = lambda: [float(each) for each in page.evaluate("/[#&]t=([^&]*)/.exec(location.hash)[1]").split("-")]
        zoomed = stretch()
        page.touch([(middle, y)], [(middle - 60, y)])
        page.wait_for("!location.hash.includes('t=%s-')" % page.evaluate("/t=([^-]*)-/.exec(location.hash)[1]"))
        moved = stretch()
        self.assertGreater(moved[0], zoomed[0])
        self.assertAlmostEqual(moved[1] - moved[0], zoomed[1] - zoomed[0], places=6)

    def test_everything_has_a_name(self):
        page = self.open()
        unnamed = page.evaluate("""[...document.querySelectorAll('button, input, select, svg, canvas, nav, [role]')]
            .filter(each => each.checkVisibility() && !each.getAttribute('aria-label') && !each.textContent.trim() &&
                !each.labels?.length && !each.getAttribute('aria-labelledby')).map(each => each.outerHTML.slice(0, 120))""")
        self.assertEqual(unnamed, [])
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
        self.assertEqual(len(ids), len(set(ids)))

    @unittest.skipUnless(axe.IS_HERE, "MT_AXE names no axe.min.js")
    def test_axe_finds_nothing(self):
        for path in (self.path, self.difference):
            for size, is_dark in zip(SIZES, (False, True)):
                self.assertEqual(axe.violations(self.open(path, size=size, is_dark=is_dark)), [])


if __name__ == "__main__":
    if not find_browser():
        print("skipped: no Chromium here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
