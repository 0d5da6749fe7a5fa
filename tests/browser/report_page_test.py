# SPDX-License-Identifier: Apache-2.0
"""The HTML report, in a browser: does it show what the recording holds, by mouse and by keyboard?

Run as report_page_test.py LEAKTIDE FIXTURES REFERENCE-DATA ('' where there is none). Ends with 77, skipped,
where there is no Chromium.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from browser import Browser, find_browser
from made_up_profile import EVIL, WORDS, write_profile

LEAKTIDE, FIXTURES, REFERENCES = sys.argv[1:4]
PAGE_SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "analyzer", "report", "html")


def leaktide(*arguments):
    run = subprocess.run([LEAKTIDE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         universal_newlines=True, timeout=60)
    if run.returncode != 0:
        raise AssertionError("%s: %d %s" % (arguments, run.returncode, run.stderr))
    return run.stdout


class Recording:
    """An input, its page and its database."""

    def __init__(self, path, folder, name):
        self.page = os.path.join(folder, name + ".html")
        self.database = os.path.join(folder, name + ".db")
        leaktide("report", path, "--format", "html", "-o", self.page)
        leaktide("export", "--to", "sqlite", path, "-o", self.database)

    def query(self, text, **values):
        database = sqlite3.connect(self.database)
        try:
            return database.execute(text, values).fetchall()
        finally:
            database.close()

    def selected_by_operator(self, selection, ledger):
        """What the table of a selection shows, asked of the database."""
        rows = self.query("""
            SELECT operator_name, SUM(size_bytes), COUNT(*),
                   SUM(CASE WHEN born_ns >= :f THEN size_bytes ELSE 0 END),
                   SUM(CASE WHEN born_ns >= :f AND freed_ns <= :t THEN size_bytes ELSE 0 END),
                   SUM(CASE WHEN born_ns >= :f AND COALESCE(freed_ns > :t, 1) THEN size_bytes ELSE 0 END),
                   SUM(CASE WHEN born_ns < :f AND freed_ns <= :t THEN size_bytes ELSE 0 END),
                   SUM(CASE WHEN born_ns < :f AND COALESCE(freed_ns > :t, 1) THEN size_bytes ELSE 0 END)
            FROM named_blocks WHERE ledger_name = :l AND is_older IS NOT 1
              AND born_ns <= :t AND COALESCE(freed_ns > :f, 1)
            GROUP BY operator_name""", f=selection[0], t=selection[1], l=ledger)
        return sorted(tuple(row) for row in rows)


class Reader:
    """What a person sees and does on an open page."""

    def __init__(self, page):
        self.page = page

    def selection(self):
        """The selection, in nanoseconds, as the page has it."""
        texts = self.page.evaluate(
            "[...document.querySelectorAll('#timeline form.range input.time')].slice(0, 2)"
            ".map(input => input.value)")
        return [int(text.replace(".", "")) for text in texts]

    def ledger(self):
        return self.page.evaluate(
            "document.querySelector('#timeline select').selectedOptions[0].textContent")

    def copied_table(self):
        """The table below the selection, as its button copies it."""
        return self.page.evaluate("""(async () => {
            let text = null;
            Object.defineProperty(navigator, 'clipboard',
                {value: {writeText: async copied => { text = copied; }}, configurable: true});
            [...document.querySelectorAll('#selection-table .table-tools button')].at(-1).click();
            await new Promise(resolve => setTimeout(resolve));
            return text; })()""")

    def table(self):
        """{name: the other cells} of the copied table, which is exact."""
        import csv
        import io
        rows = list(csv.reader(io.StringIO(self.copied_table())))
        keys = ["met_bytes", "met_count", "born_bytes", "within_bytes", "survived_bytes", "ended_bytes",
                "through_bytes"]
        places = [rows[0].index(key) for key in keys]
        unquoted = lambda name: name[1:] if name[:2] == "'=" else name
        return sorted((unquoted(row[0]), *(int(row[place]) for place in places)) for row in rows[1:])

    def drag(self, start, end):
        """Over the timeline, from one share of its width to another."""
        self.page.evaluate("document.querySelector('#timeline').scrollIntoView()")
        box = self.page.evaluate(
            "(() => { const b = document.querySelector('.u-over').getBoundingClientRect();"
            " return [b.left, b.top, b.width, b.height]; })()")
        y = box[1] + box[3] / 2
        self.page.drag((box[0] + box[2] * start, y), (box[0] + box[2] * end, y))


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.made_up = Recording(write_profile(cls.folder.name), cls.folder.name, "made_up")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def open(self, recording, **how):
        page = self.browser.open(recording.page, **how)
        self.addCleanup(self.check_quiet, page)
        return page, Reader(page)

    def check_quiet(self, page):
        self.assertEqual(page.complaints(), [])
        self.assertEqual(page.requests(), [])

    def check_selection(self, recording, reader):
        expected = recording.selected_by_operator(reader.selection(), reader.ledger())
        self.assertTrue(expected)
        self.assertEqual(reader.table(), expected)

    def test_selection_by_mouse_is_what_the_database_says(self):
        _, reader = self.open(self.made_up)
        self.check_selection(self.made_up, reader)  # the near-peak region, to begin with
        before = reader.selection()
        for start, end in ((0.2, 0.31), (0.9, 0.05), (0.7, 0.72)):
            reader.drag(start, end)
            self.assertNotEqual(reader.selection(), before)
            self.check_selection(self.made_up, reader)

    @unittest.skipUnless(REFERENCES, "no reference data")
    def test_selection_on_a_real_profile_is_what_the_database_says(self):
        recording = Recording(os.path.join(REFERENCES, "ascend/st-level2/rank_0_ascend_pt"),
                              self.folder.name, "real")
        _, reader = self.open(recording)
        reader.drag(0.35, 0.5)
        names = [row[0] for row in reader.table()]
        self.assertIn("aten::matmul", names)
        self.check_selection(recording, reader)

    def test_everything_can_be_done_with_keys(self):
        page, reader = self.open(self.made_up)
        self.tab_to(page, "document.activeElement.classList.contains('chart')")
        page.press("+")
        page.press("ArrowRight")
        page.press("ArrowRight", shift=True)
        self.check_selection(self.made_up, reader)
        page.press("ArrowLeft", shift=True, alt=True)
        self.check_selection(self.made_up, reader)
        self.tab_to(page, "document.activeElement.id === 'selection-filter'")
        page.type("swiglu")
        self.assertEqual([row[0] for row in reader.table()], ["npu::npu_swiglu"])
        self.tab_to(page, "document.activeElement.id === 'only-changed'")
        page.press("Space")
        self.assertTrue(page.evaluate("document.querySelector('#only-changed').checked"))
        self.tab_to(page, "document.activeElement.id === 'tab-operator'")
        page.press("ArrowLeft")
        self.assertEqual(page.evaluate("document.activeElement.id"), "tab-blocks")
        self.tab_to(page, "document.activeElement.classList.contains('link')")
        page.press("Enter")
        page.wait_for("location.hash.includes('tab=blocks')")

    def tab_to(self, page, condition):
        """Tab until it is so; the page must not swallow the key."""
        for _ in range(400):
            page.press("Tab")
            if page.evaluate(condition):
                return
        self.fail("not to be reached with Tab: " + condition)

    def test_numbers_select_exactly_and_bounds_count(self):
        page, reader = self.open(self.made_up)
        born, freed = self.made_up.query(
            "SELECT born_ns, freed_ns FROM blocks WHERE freed_ns IS NOT NULL ORDER BY block LIMIT 1 OFFSET 400")[0]
        for stretch in ((born, freed), (born + 1, freed - 1), (freed, freed + 1000), (born - 1000, born)):
            page.evaluate("""(() => {
                const inputs = document.querySelectorAll('#timeline form.range input.time');
                inputs[0].value = '%d.%09d'; inputs[1].value = '%d.%09d';
                inputs[0].form.requestSubmit(); })()""" % (*divmod(stretch[0], 10**9), *divmod(stretch[1], 10**9)))
            self.assertEqual(tuple(reader.selection()), stretch)
            self.check_selection(self.made_up, reader)

    def test_long_names_fit_a_telephone(self):
        name = "pipeline::" + "DeviceAddressUtils" * 6
        folder = os.path.join(self.folder.name, "long")
        os.mkdir(folder)
        with open(write_profile(folder)) as file:
            text = file.read().replace(WORDS[0], name)
        with open(os.path.join(folder, "operator_memory.csv"), "w") as file:
            file.write(text)
        long = Recording(os.path.join(folder, "operator_memory.csv"), folder, "long")
        page, _ = self.open(long, fragment="#by=operator", size=(390, 844))
        page.evaluate("[...document.querySelectorAll('#peak a')].find(each => each.textContent.includes('%s')).click()" % name)
        self.assertIn(name, page.evaluate("document.querySelector('#site h2').textContent"))
        self.assertIn(name, page.evaluate("document.querySelector('#timeline-summary').textContent"))
        self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), 390)
        self.assertLess(page.evaluate("Math.max(...[...document.querySelectorAll('#nav button')].map(each => each.offsetWidth))"), 260)

    def test_numbers_have_as_many_digits_as_they_deserve(self):
        with open(os.path.join(PAGE_SOURCES, "format.js"), encoding="utf-8") as file:
            text = "\n".join(line.replace("export ", "") for line in file.read().splitlines() if not line.startswith("import "))
        page = self.browser.open(self.made_up.page)
        shown = page.evaluate("(() => { const say = text => text; %s; return [0, 512, 358.2775, 0.4, 1023.4, 1536, -2e6].map(size); })()" % text)
        self.assertEqual(shown, ["0 B", "512 B", "358 B", "0.40 B", "1023 B", "1.50 KiB", "-1.91 MiB"])

    def test_names_of_strangers_stay_text(self):
        page, _ = self.open(self.made_up)
        self.assertEqual(page.evaluate("document.title"), "leaktide report")
        self.assertEqual(page.evaluate("document.querySelectorAll('img, main script, iframe').length"), 0)
        text = page.evaluate("document.body.textContent")
        for name in EVIL:
            self.assertIn(name, text)

    def test_stacked_layers_add_up_to_the_total(self):
        page, _ = self.open(self.made_up, fragment="#by=operator")
        peak = self.made_up.query("SELECT MAX(live_bytes) FROM curve WHERE ledger = 0")[0][0]
        shown = page.evaluate("document.querySelector('.card-number').textContent")
        self.assertEqual(shown, "%.1f MiB" % (peak / 2**20))
        legend = page.evaluate(
            "[...document.querySelectorAll('#timeline .legend .key')].map(key => key.textContent)")
        self.assertEqual(sorted(legend), sorted(WORDS))

    def test_blocks_by_stream(self):
        page, _ = self.open(self.made_up, fragment="#by=stream&tab=stream")
        legend = page.evaluate("[...document.querySelectorAll('#timeline .legend .key')].map(key => key.textContent)")
        self.assertEqual(sorted(legend), ["stream 2", "stream 7"])
        self.assertIn("stream 7", page.evaluate("document.querySelector('#selection-table').textContent"))

    def test_address_keeps_the_view(self):
        page, reader = self.open(self.made_up, fragment="#t=0.01-0.02&s=0.012-0.013&by=size")
        self.assertEqual(reader.selection(), [12000000, 13000000])
        self.check_selection(self.made_up, reader)
        self.assertIn("from 0.01000 s to 0.02000 s",
                      page.evaluate("document.querySelector('#timeline-summary').textContent"))
        reader.drag(0.5, 0.6)
        page.wait_for("location.hash.includes('s=0.015') && location.hash.includes('by=size')")

    def test_address_without_sense_is_passed_over(self):
        for fragment in ("#t=9-8&s=x&l=nobody&by=constructor", "#%", "#t=-1-1e9", "#s=0.01-0.01"):
            _, reader = self.open(self.made_up, fragment=fragment)
            self.check_selection(self.made_up, reader)

    def test_filters_by_size(self):
        page, reader = self.open(self.made_up)
        page.evaluate("""(() => {
            const [least, most] = document.querySelectorAll('#selection input.size');
            least.value = '0.25'; least.dispatchEvent(new Event('input'));
            most.value = '0.5'; most.dispatchEvent(new Event('input')); })()""")
        start, end = reader.selection()
        wanted = self.made_up.query(
            "SELECT COUNT(*), SUM(size_bytes) FROM blocks WHERE born_ns <= :t AND COALESCE(freed_ns > :f, 1)"
            " AND size_bytes BETWEEN 262144 AND 524288", f=start, t=end)[0]
        rows = reader.table()
        self.assertEqual((sum(row[2] for row in rows), sum(row[1] for row in rows)), wanted)

    def test_languages_and_themes_change_in_place(self):
        page, reader = self.open(self.made_up)
        before = reader.selection()
        page.evaluate("document.querySelector('#language').click()")
        page.wait_for("document.documentElement.lang === 'zh'")
        self.assertIn("时间线", page.evaluate("document.querySelector('#timeline h2').textContent"))
        self.assertEqual(reader.selection(), before)
        page.evaluate("document.querySelector('#theme').click()")
        self.assertEqual(page.evaluate("document.documentElement.dataset.theme"), "light")
        page.evaluate("document.querySelector('#language').click()")
        page.evaluate("localStorage.clear()")

    def test_pages_of_all_kinds_open(self):
        inputs = {
            "steps": ["report", "memscope/today.csv"],
            "segments": ["report", "snapshot/torch2.0.pickle"],
            "ranks": ["report", "memscope/run"],
            "one question": ["leaks", "memscope/today.csv"],
            "difference": ["diff", "memscope/first.csv", "memscope/today.csv"],
            "difference of steps": ["diff", "--steps=1,2", "memscope/today.csv"],
        }
        if REFERENCES:
            inputs["long names"] = ["report", os.path.join(REFERENCES, "pytorch/torch2.6_cs336_silmont_small.pickle")]
        sections = {}
        fixtures = os.path.join(self.folder.name, "a_folder_with_a_name_that_is_wider_than_a_telephone" * 2)
        os.symlink(os.path.abspath(FIXTURES), fixtures)
        for name, (command, *rest) in inputs.items():
            path = os.path.join(self.folder.name, "kind.html")
            arguments = [each if each.startswith("-") else os.path.join(fixtures, each) for each in rest]
            with self.subTest(name):
                # 1 and 3 to 4: what it says of the recording; the page is there
                status = subprocess.run([LEAKTIDE, command, "-f", "html", "-o", path, *arguments],
                                        stderr=subprocess.DEVNULL, timeout=60).returncode
                self.assertIn(status, (0, 1, 3, 4))
                page = self.browser.open(path)
                self.check_quiet(page)
                self.assertEqual(page.evaluate("document.querySelectorAll('.error').length"), 0)
                page.set_size(390, 844)
                page.wait_for("document.documentElement.scrollWidth <= 390")
                sections[name] = page.evaluate(
                    "[...document.querySelectorAll('main section')].map(section => section.id)")
        self.assertIn("steps", sections["steps"])
        self.assertIn("fragmentation", sections["segments"])
        self.assertIn("difference", sections["difference"])
        self.assertNotIn("difference", sections["steps"])

    def test_verdict_needs_no_script(self):
        with open(self.made_up.page) as file:
            head = file.read().split('id="data-report"')[0]
        self.assertIn("PEAK:", head)
        self.assertIn("&#60;img", leaktide_verdict_of_evil(self.folder.name))

    def test_damaged_data_is_said(self):
        path = os.path.join(self.folder.name, "damaged.html")
        with open(self.made_up.page) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text.replace('id="data-points">eJ', 'id="data-points">AA'))
        page = self.browser.open(path, until="document.querySelector('.error')")
        self.assertIn("cannot be read", page.evaluate("document.querySelector('.error').textContent"))


def leaktide_verdict_of_evil(folder):
    """The part of a page before its data, when the largest holder has an evil name."""
    path = os.path.join(folder, "evil")
    os.makedirs(path, exist_ok=True)
    with open(write_profile(path)) as file:
        lines = file.read().splitlines()
    with open(os.path.join(path, "operator_memory.csv"), "w") as file:
        file.write("\n".join([lines[0]] + [line for line in lines[1:] if "<img" in line]) + "\n")
    page = os.path.join(folder, "evil.html")
    leaktide("report", path, "--format", "html", "-o", page)
    with open(page) as file:
        return file.read().split('id="data-report"')[0]


if __name__ == "__main__":
    if not find_browser():
        print("skipped: no Chromium here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
