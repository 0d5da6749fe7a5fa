# SPDX-License-Identifier: Apache-2.0
"""
damaged_inputs_test.py MEMTIDE FIXTURES: a recording that was cut, or in which bytes changed, ends in
exit status 3 and a sentence that names the file and the line or byte; with --partial, what was read
before it is reported all the same.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

MEMTIDE, FIXTURES = sys.argv[1:3]

# Fixture, and whether something is left of it when two thirds of it are there.
CUTS = [
    ('ascend/operator_memory_15.csv', True),
    ('ascend/operator_memory_10.csv', True),
    ('ascend/operator_memory_msprof.csv', True),
    ('ascend/memory_record.csv', True),
    ('ascend/npu_module_mem.csv', True),
    ('ascend/npu_mem.csv', True),
    ('ascend/static_op_mem.csv', True),
    ('ascend/profiler.db', False),
    ('memscope/today.csv', True),
    ('memscope/attr2506.csv', True),
    ('memscope/first.csv', True),
    ('memscope/today.db', False),
    ('snapshot/protocol2.pickle', True),
    ('snapshot/protocol4.pickle', True),
    ('snapshot/protocol5.pickle', True),
    ('snapshot/cpp.pickle', True),
    ('snapshot/torch2.0.pickle', True),
    ('snapshot/snapshot.json', True),
    ('chrome/object.json', True),
    ('chrome/object.json.gz', False), # small: the decoder gives nothing before it has all
]
WHOLE = [path for path, _ in CUTS] + ['heaptrack/version3.txt', 'heaptrack/version1.txt',
                                      'heaptrack/version3.txt.gz', 'heaptrack/version3.txt.zst',
                                      'jemalloc/small.heap', 'chrome/list.json']
PLACE = re.compile(r'\b(line|byte|row) [0-9]+|cut short|disk image')


def cut(path):
    """A third is missing; of a csv, which may be of few rows, the end of the last row."""
    def change(data):
        if path.endswith('.csv'):
            head, body = bytes(data).split(b'\n', 1)
            last = body.rstrip(b'\n').rsplit(b'\n', 1)[-1]
            return head + b'\n' + body.rstrip(b'\n') + b'\n' + last[:len(last) // 2]
        return data[:len(data) * 2 // 3]
    return change


class Answer:
    def __init__(self, path, *options):
        self.run = subprocess.run([MEMTIDE, 'report', '--format=json', *options, path],
                                  capture_output=True, check=False, timeout=60)
        self.status = self.run.returncode
        text = self.run.stdout.decode('utf-8', 'replace')
        self.json = json.loads(text) if text else None
        said = [self.run.stderr.decode('utf-8', 'replace')]
        if self.json:
            said += [note['sentence'] for note in self.json['notes']]
        self.damage = [sentence for sentence in said
                       if os.path.basename(path) in sentence and PLACE.search(sentence)]


class Damaged(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def copy(self, path, change):
        with open(os.path.join(FIXTURES, path), 'rb') as whole:
            data = change(bytearray(whole.read()))
        name = os.path.join(self.folder.name, os.path.basename(path))
        with open(name, 'wb') as copy:
            copy.write(data)
        return name

    def test_a_cut_file_ends_in_3_and_says_where(self):
        for path, _ in CUTS:
            with self.subTest(path=path):
                answer = Answer(self.copy(path, cut(path)))
                self.assertEqual(answer.status, 3)
                self.assertTrue(answer.damage, answer.run.stderr)

    def test_partial_reports_what_was_before_the_cut(self):
        for path, is_something_left in CUTS:
            with self.subTest(path=path):
                copy = self.copy(path, cut(path))
                answer = Answer(copy, '--partial')
                self.assertEqual(answer.status, 3)
                self.assertTrue(answer.damage)
                self.assertEqual(bool(answer.json), is_something_left)
                if answer.json:
                    self.assertGreater(answer.json['facts']['event_count'], 0)

    def test_partial_changes_nothing_about_a_whole_file(self):
        for path in WHOLE:
            with self.subTest(path=path):
                whole = os.path.join(FIXTURES, path)
                self.assertEqual(Answer(whole, '--partial').json, Answer(whole).json)

    def test_the_other_inputs_are_reported_beside_a_damaged_one(self):
        damaged = self.copy('ascend/profiler.db', lambda data: data[:len(data) // 2])
        good = os.path.join(FIXTURES, 'snapshot/protocol4.pickle')
        run = subprocess.run([MEMTIDE, 'report', '--format=json', '--partial', damaged, good],
                             capture_output=True, check=False)
        self.assertEqual(run.returncode, 3)
        alone = Answer(good).json['facts']['event_count']
        self.assertEqual(json.loads(run.stdout)['facts']['event_count'], alone)

    def test_flipped_bytes_are_never_more_than_an_error(self):
        for path in WHOLE:
            size = os.path.getsize(os.path.join(FIXTURES, path))
            for at in range(0, size, max(size // 13, 1)):
                def flip(data, at=at):
                    data[at] ^= 0xff
                    return data
                for options in ((), ('--partial',)):
                    with self.subTest(path=path, at=at, options=options):
                        answer = Answer(self.copy(path, flip), *options)
                        self.assertIn(answer.status, (0, 3), answer.run.stderr)
                        if answer.status == 3 and not answer.json:
                            self.assertIn(os.path.basename(path), answer.run.stderr.decode())

    def test_a_packed_trace_is_read_up_to_its_cut(self):
        events = [{'ph': 'i', 'name': '[memory]', 's': 't', 'pid': 1, 'tid': 1, 'ts': at,
                   'args': {'Device Type': 1, 'Device Id': 0, 'Addr': at * 4096 + at * 7919 % 9,
                            'Bytes': 512, 'Total Allocated': at * 512,
                            'Total Reserved': 1 << 30}} for at in range(1, 20000)]
        whole = gzip.compress(json.dumps({'schemaVersion': 1, 'traceEvents': events}).encode())
        name = os.path.join(self.folder.name, 'trace.json.gz')
        with open(name, 'wb') as copy:
            copy.write(whole[:len(whole) // 2])
        self.assertEqual(Answer(name).status, 3)
        answer = Answer(name, '--partial')
        self.assertEqual(answer.status, 3)
        self.assertTrue(answer.damage)
        self.assertTrue(1000 < answer.json['facts']['event_count'] < 20100)

    def test_a_flipped_row_is_named_by_its_line(self):
        def flip(data):
            lines = data.split(b'\n')
            lines[1] = lines[1].replace(b',', b';', 1)
            return b'\n'.join(lines)
        for path in ('ascend/operator_memory_15.csv', 'ascend/memory_record.csv',
                     'ascend/npu_module_mem.csv', 'memscope/today.csv'):
            with self.subTest(path=path):
                answer = Answer(self.copy(path, flip))
                self.assertEqual(answer.status, 3)
                self.assertTrue(any('line 2' in sentence for sentence in answer.damage),
                                answer.damage)
                self.assertGreater(answer.json['facts']['event_count'], 0)

    def test_a_pickle_with_a_forbidden_instruction_names_the_byte(self):
        def flip(data):
            data[-1] = ord('c') # GLOBAL, which would import something
            return data
        answer = Answer(self.copy('snapshot/protocol4.pickle', flip), '--partial')
        self.assertEqual(answer.status, 3)
        self.assertIsNone(answer.json)
        self.assertRegex(answer.run.stderr.decode(), r'protocol4.pickle: pickle at byte [0-9]+: ')

    def test_a_log_beside_a_database_is_told(self):
        for path in ('ascend/profiler.db', 'memscope/today.db'):
            with self.subTest(path=path):
                copy = self.copy(path, lambda data: data)
                before = Answer(copy)
                with open(copy + '-wal', 'wb') as log:
                    log.write(b'7' * 4096)
                answer = Answer(copy)
                self.assertEqual(answer.status, 3)
                self.assertEqual(answer.json['facts'], before.json['facts'])
                self.assertTrue(any('-wal holds 4096 bytes of changes' in note['sentence']
                                    for note in answer.json['notes']))
                self.assertEqual(sorted(os.listdir(self.folder.name)),
                                 sorted({os.path.basename(copy), os.path.basename(copy) + '-wal'}))
                os.remove(copy + '-wal')
                os.remove(copy)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
