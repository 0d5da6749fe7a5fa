# SPDX-License-Identifier: Apache-2.0
"""
large_input_test.py LEAKTIDE: memory to read a file grows with the blocks that are alive, not with
its size.
"""
import os
import pty
import subprocess
import sys
import tempfile
import time
import unittest

import report_tables

LEAKTIDE = sys.argv[1]
HEADER = ('Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Allocation Total '
          'Allocated(MB),Allocation Total Reserved(MB),Release Total Allocated(MB),Release Total '
          'Reserved(MB),Device Type\r\n')
READ = ('import resource, subprocess, sys; run = subprocess.run(sys.argv[1:], capture_output=True);'
        'print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);'
        'sys.stdout.buffer.write(run.stdout); sys.exit(run.returncode)')


def read(path):
    """Kilobytes of memory, exit status, answer."""
    run = subprocess.run([sys.executable, '-c', READ, LEAKTIDE, 'ops', '--format=json', path],
                         capture_output=True, text=True, check=False)
    memory, text = run.stdout.split('\n', 1)
    return int(memory), run.returncode, report_tables.load(text)


def read_on_terminal(path):
    """What standard error said, and how long it took."""
    ours, theirs = pty.openpty()
    began = time.monotonic()
    with subprocess.Popen([LEAKTIDE, 'ops', path], stdout=subprocess.DEVNULL, stderr=theirs,
                          env=dict(os.environ, TERM='xterm')) as run:
        os.close(theirs)
        said = b''
        try:
            part = os.read(ours, 4096)
            while part:
                said += part
                part = os.read(ours, 4096)
        except OSError:  # its end
            pass
    os.close(ours)
    return said.decode(), time.monotonic() - began


class Large(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def make(self, row_count):
        path = os.path.join(self.folder.name, f'operator_memory_{row_count}.csv')
        with open(path, 'w', encoding='ascii', newline='') as file:
            file.write(HEADER)
            for row in range(row_count):
                start = 1764246877074330 + row
                file.write(f'aten::op{row % 50},1.5,{start}.000\t,{start + 3}.500\t,3.500\t,'
                           '10.5,64.0,9.0,64.0,NPU:0\r\n')
                if row % 1000 == 999:
                    file.write('aten::bad,1.5\r\n')
        return path

    def test_pitfall_6_a_large_file_takes_no_more_memory_and_skipped_rows_are_counted(self):
        small_kib, _, _ = read(self.make(50000))  # enough for a second thread to decode
        large_kib, status, answer = read(self.make(200000))
        self.assertLess(large_kib - small_kib, 16384)
        self.assertEqual(status, 3)
        self.assertEqual(sum(row['allocated_count'] for row in answer['tables']['operators']),
                         200000)
        self.assertIn({'count': 200, 'sentence': 'operator_memory_200000.csv: rows skipped, the '
                       'first in line 1002: not as many columns as the header'}, answer['notes'])

    def test_it_says_how_far_it_is_on_a_terminal_when_it_takes_long(self):
        for row_count in (1000000, 4000000):
            said, seconds = read_on_terminal(self.make(row_count))
            if seconds > 2:
                break
        self.assertRegex(said, r'[0-9,]+ events, [0-9,]+ a second')
        self.assertTrue(said.rstrip('\x00').endswith('\r\x1b[K'), said[-40:])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
