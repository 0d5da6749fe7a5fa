# SPDX-License-Identifier: Apache-2.0
"""
damaged_inputs_test.py LEAKTIDE FIXTURES: a recording that was cut, or in which bytes changed, ends in
exit status 3 and a sentence that names the file and the line or byte; with --partial, what was read
before it is reported all the same.
"""
import gzip
import json
import os
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

LEAKTIDE, FIXTURES = sys.argv[1:3]

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
    ('chrome/list.json', True),
    ('jemalloc/small.heap', True),
]
WHOLE = [path for path, _ in CUTS] + ['heaptrack/version3.txt', 'heaptrack/version1.txt',
                                      'heaptrack/version3.txt.gz', 'heaptrack/version3.txt.zst']
PLACE = re.compile(r'\b(line|byte|row|page) [0-9]+|cut short|disk image')


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
        self.run = subprocess.run([LEAKTIDE, 'report', '--format=json', *options, path],
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

    def test_a_cut_row_of_the_memory_tracker_is_named(self):
        path = 'ascend/tracker/rank_2/memory_block.csv'
        answer = Answer(self.copy(path, cut(path)))
        self.assertEqual(answer.status, 3)
        self.assertRegex(' '.join(answer.damage), r'memory_block.csv ends within a row, in line [0-9]+: it was cut')
        self.assertGreater(answer.json['facts']['event_count'], 0)

    def test_a_header_without_its_line_end_is_damage(self):
        path = self.copy('ascend/tracker/rank_2/memory_block.csv',
                         lambda data: bytes(data).replace(b'\n', b'x', 1))
        answer = Answer(path)
        self.assertEqual(answer.status, 3)
        self.assertRegex(' '.join(answer.damage), r'no usable rows; the first, in line 2: not as')

    def test_partial_changes_nothing_about_a_whole_file(self):
        for path in WHOLE:
            with self.subTest(path=path):
                whole = os.path.join(FIXTURES, path)
                self.assertEqual(Answer(whole, '--partial').json, Answer(whole).json)

    def test_the_other_inputs_are_reported_beside_a_damaged_one(self):
        damaged = self.copy('ascend/profiler.db', lambda data: data[:len(data) // 2])
        good = os.path.join(FIXTURES, 'snapshot/protocol4.pickle')
        run = subprocess.run([LEAKTIDE, 'report', '--format=json', '--partial', damaged, good],
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

    def heaptrack(self, name, pack):
        lines = ['v 10400 3', 's 5 layer', 'i 1000 1', 't 1 0', 'a 64 1', 'a 10 1']
        lines += [f'{"+-"[at % 3 == 2]} {at * 7 % 2}\nc {at:x}' for at in range(60000)]
        name = os.path.join(self.folder.name, name)
        whole = pack(('\n'.join(lines) + '\n').encode())
        with open(name, 'wb') as copy:
            copy.write(whole[:len(whole) * 2 // 3])
        return name

    def test_a_heaptrack_file_is_read_up_to_its_cut(self):
        packs = [('run.txt', bytes), ('run.gz', gzip.compress)]
        if shutil.which('zstd'):
            packs.append(('run.zst', lambda data: subprocess.run(
                ['zstd', '-q', '-c'], input=data, capture_output=True,
                check=True).stdout))
        for name, pack in packs:
            with self.subTest(name=name):
                path = self.heaptrack(name, pack)
                answer = Answer(path)
                self.assertEqual(answer.status, 3)
                self.assertTrue(answer.damage, answer.run.stderr)
                answer = Answer(path, '--partial')
                self.assertEqual(answer.status, 3)
                self.assertTrue(answer.damage)
                self.assertTrue(500 < answer.json['facts']['event_count'] < 60000)

    def test_a_packed_file_of_which_nothing_can_be_unpacked_is_cut(self):
        for path in ('heaptrack/version3.txt.gz', 'heaptrack/version3.txt.zst'):
            with self.subTest(path=path):
                answer = Answer(self.copy(path, lambda data: data[:20]))
                self.assertEqual(answer.status, 3)
                self.assertTrue(answer.damage, answer.run.stderr)

    def test_half_a_number_at_the_end_is_no_number(self):
        with open(os.path.join(FIXTURES, 'heaptrack/version3.txt'), 'rb') as whole:
            lines = whole.read()
        path = os.path.join(self.folder.name, 'half.txt')
        with open(path, 'wb') as copy:
            copy.write(lines + b'+ 0\n+ 1')
        answer = Answer(path, '--partial')
        self.assertEqual(answer.status, 3)
        self.assertEqual(answer.json['facts']['event_count'], 8)
        self.assertTrue(any('line 26' in sentence for sentence in answer.damage), answer.damage)

    def test_a_profile_whose_stacks_are_missing_is_cut(self):
        def change(data):
            return data[:data.index(b'@ 0x7e0000002030')]
        path = self.copy('jemalloc/small.heap', change)
        answer = Answer(path)
        self.assertEqual(answer.status, 3)
        self.assertTrue(any('2 of 5 sampled blocks' in said for said in answer.damage))
        answer = Answer(path, '--partial')
        self.assertEqual(answer.status, 3)
        self.assertGreater(answer.json['facts']['event_count'], 0)

    def database(self, row_count):
        path = os.path.join(self.folder.name, 'memscope_dump_1.db')
        database = sqlite3.connect(path)
        database.execute('CREATE TABLE memscope_dump ("ID" INTEGER, "Event" TEXT, "Event Type" '
                         'TEXT, "Name" TEXT, "Timestamp(ns)" INTEGER, "Process Id" INTEGER, '
                         '"Thread Id" INTEGER, "Device Id" TEXT, "Ptr" TEXT, "Attr" TEXT)')
        database.executemany(
            'INSERT INTO memscope_dump VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            ((row, 'MALLOC', 'PTA', 'N/A', 1764753084425691000 + row, 7, 7, '0', hex(row * 512),
              '{"addr":"%d","size":"512"}' % (row * 512)) for row in range(row_count)))
        database.commit()
        database.close()
        return path

    def test_a_database_is_read_up_to_its_cut(self):
        path = self.database(5000)
        size = os.path.getsize(path)
        rows = []
        for part in (0.9, 0.5, 0.2):
            os.truncate(path, int(size * part) + 77) # in the middle of a page
            answer = Answer(path)
            self.assertEqual(answer.status, 3)
            self.assertTrue(answer.damage)
            answer = Answer(path, '--partial')
            self.assertEqual(answer.status, 3)
            self.assertTrue(answer.damage)
            rows.append(answer.json['facts']['event_count'])
            self.assertLess(abs(rows[-1] / 5000 - part), 0.1)
            self.assertTrue(any(f'memscope_dump: {rows[-1]} rows' in note['sentence']
                                for note in answer.json['notes']))
        self.assertEqual(rows, sorted(rows, reverse=True))

    def test_a_database_without_its_rows_says_so(self):
        path = self.database(100)
        os.truncate(path, 4096)
        for options in ((), ('--partial',)):
            answer = Answer(path, *options)
            self.assertEqual(answer.status, 3)
            self.assertRegex(answer.run.stderr.decode(), r'ends at byte 4096 of [0-9]+')

    def test_a_database_is_read_up_to_a_damaged_page(self):
        path = self.database(5000)
        with open(path, 'r+b') as file:
            file.seek(4096 * 60)
            file.write(b'\xff' * 64)
        self.assertEqual(Answer(path).status, 3)
        answer = Answer(path, '--partial')
        self.assertEqual(answer.status, 3)
        self.assertTrue(answer.damage)
        self.assertTrue(1000 < answer.json['facts']['event_count'] < 4000)

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

    def test_a_thing_of_a_snapshot_that_makes_no_sense_is_left_out(self):
        segments = [{'address': 4096, 'total_size': 8192, 'device': 0, 'blocks': [
            {'address': 4096, 'size': 512, 'requested_size': 500, 'state': 'active_allocated'}]}]
        broken = {'address': 'nowhere', 'total_size': 1, 'device': 0, 'blocks': []}
        entries = [{'action': 'alloc', 'addr': 8192, 'size': 100, 'stream': 0, 'frames': []},
                   {'action': 'alloc', 'addr': 'nowhere', 'size': 1, 'stream': 0, 'frames': []}]
        for snapshot in ({'segments': segments + [broken], 'device_traces': [[]]},
                         {'segments': segments, 'device_traces': [entries]}):
            with self.subTest(snapshot=snapshot):
                path = os.path.join(self.folder.name, 'odd.pickle')
                with open(path, 'wb') as file:
                    pickle.dump(snapshot, file)
                answer = Answer(path, '--partial')
                self.assertEqual(answer.status, 3)
                self.assertTrue(answer.damage)
                self.assertTrue(answer.json is None or answer.json['facts']['event_count'] < 5)

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
