# SPDX-License-Identifier: Apache-2.0
"""
odd_shapes_test.py LEAKTIDE TINY_STEPS RELOAD_LIBRARY LIBRARY OTHER_LIBRARY: a recording of an unusual
shape costs what its events cost.

Limits are ten times what is needed and more; what they forbid takes a hundred times that.
"""
import base64
import contextlib
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import zlib

import report_tables

LEAKTIDE, TINY_STEPS, RELOAD_LIBRARY, LIBRARY, OTHER_LIBRARY = sys.argv[1:]
SECONDS_MOST = 60  # of processor time


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MOST, SECONDS_MOST))


class Recording(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def record(self, *command):
        trace = self.path('run.leaktide')
        subprocess.run([LEAKTIDE, 'run', '--device=cpu', '--no-report', '--quiet', '-o', trace, '--',
                        *command], check=True, timeout=300)
        return trace

    def ask(self, *arguments):
        done = subprocess.run([LEAKTIDE, *arguments], stdout=subprocess.PIPE, check=False,
                              preexec_fn=limited, timeout=500)
        self.assertIn(done.returncode, (0, 1), arguments)
        return done.stdout.decode()


class MillionSteps(Recording):
    COUNT = 1000000

    def test_a_page_takes_the_last_steps_and_a_person_gets_fewer(self):
        trace = self.record(TINY_STEPS, str(self.COUNT))
        self.ask('report', '--format=html', '-o', self.path('page.html'), trace)
        with open(self.path('page.html'), encoding='utf-8') as file:
            page = file.read()
        self.assertLess(len(page), 15e6)
        packed = re.search(r'id="data-report">([^<]*)<', page).group(1)
        report = report_tables.load(zlib.decompress(base64.b64decode(packed)))
        self.assertEqual(report['facts']['step_count'], self.COUNT)
        for name in ('steps', ('peaks_by_step', 'host')):
            rows = report['tables'][name]
            self.assertLessEqual(len(rows), 20000, name)
            self.assertEqual(rows[-1]['step'], self.COUNT - 1, name)
            self.assertEqual(rows[-1]['peak_bytes'], 8192, name)
        lines = self.ask('peak', trace).splitlines()
        self.assertLess(len(lines), 200)
        self.assertIn(f'Only the last 20 of {self.COUNT - 1} steps of host.',
                      [line.strip() for line in lines])


class ReloadedLibraries(Recording):
    SITES = 16  # of each library
    COUNT = 20000

    def site_count(self, *libraries):
        """Of all that a few rounds allocate, in the libraries and elsewhere."""
        trace, database = self.record(RELOAD_LIBRARY, '200', *libraries), self.path('run.db')
        self.ask('export', '-t', 'sqlite', '-o', database, trace)
        with contextlib.closing(sqlite3.connect(database)) as connection:
            return connection.execute('SELECT count(*) FROM sites').fetchone()[0]

    def test_each_place_is_one_site_however_often_it_is_loaded(self):
        self.assertLess(self.site_count(LIBRARY), 200)

    def test_two_libraries_in_turn_have_sites_of_their_own(self):
        self.assertLess(self.site_count(LIBRARY, OTHER_LIBRARY), 200)

    def test_reading_takes_no_longer_for_it(self):
        for libraries in ([LIBRARY], [LIBRARY, OTHER_LIBRARY]):
            with self.subTest(libraries):
                trace = self.record(RELOAD_LIBRARY, str(self.COUNT), *libraries)
                self.ask('info', trace)
                shutil.rmtree(trace)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
