# SPDX-License-Identifier: Apache-2.0
"""
Ways to break a file, one list for each form of file. A mutation is (name, what must hold, function of
the file's bytes that gives other bytes). What must hold:

  SAME   it is the same recording in other words: the answer is the same
  TOLD   something is broken: the answer is the same, or says first what is missing
  LESS   it is a smaller recording, and nothing in it shows what it was: no crash, and no gate
         passes that has nothing to judge
"""

import csv
import io
import json
import os
import pickle
import random
import sqlite3
import tempfile

SAME, TOLD, LESS = "same", "told", "less"
GARBAGE = "#?!"


def cuts(data, count, rng):
    for at in sorted(rng.sample(range(1, len(data)), min(count, len(data) - 1))):
        yield "cut at byte %d" % at, TOLD, data[:at]


# --- csv ------------------------------------------------------------------------------------------


def csv_rows(data):
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def csv_bytes(rows, end="\n"):
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerows(rows)
    return out.getvalue().encode()


def is_free_text(column):
    """Whether any text may stand there: then nobody can see that it was another."""
    return column.lower() in ("name", "component", "stream ptr", "streamptr") or "stack" in column


def of_csv(data, count, rng):
    rows = csv_rows(data)
    header, body = rows[0], rows[1:]
    width = len(header)
    order = list(range(width))
    rng.shuffle(order)
    yield "lines end in CR LF", SAME, csv_bytes(rows, "\r\n")
    yield "a byte order mark", SAME, b"\xef\xbb\xbf" + csv_bytes(rows)
    yield "columns in small letters", SAME, csv_bytes([[name.lower() for name in header]] + body)
    yield "columns in another order", SAME, csv_bytes([[row[i] for i in order] for row in rows
                                                       if len(row) == width])
    yield "one column more", SAME, csv_bytes([header + ["More"]] + [row + [""] for row in body])
    yield "empty lines at the end", SAME, csv_bytes(rows) + b"\n\n"
    for column in range(width):
        yield "no column %s" % header[column], TOLD, csv_bytes(
            [row[:column] + row[column + 1:] for row in rows])
        yield "an unknown name for %s" % header[column], TOLD, csv_bytes(
            [header[:column] + ["Whatever"] + header[column + 1:]] + body)
    for _ in range(count):
        row, column = rng.randrange(len(body)), rng.randrange(width)
        for word in (GARBAGE, ""):
            if column < len(body[row]) and body[row][column].strip() not in ("", "N/A"):
                given = sum(len(other) == width and other[column].strip() not in ("", "N/A")
                            for other in body)
                alone = not word and given < 3  # nobody can see that others have it
                what = LESS if is_free_text(header[column]) or alone else TOLD
                yield "%r for %s in row %d" % (word, header[column], row + 1), what, csv_bytes(
                    [header] + body[:row]
                    + [body[row][:column] + [word] + body[row][column + 1:]] + body[row + 1:])
        yield "row %d is short" % (row + 1), TOLD, csv_bytes(
            [header] + body[:row] + [body[row][:max(1, column)]] + body[row + 1:])
        yield "no row %d" % (row + 1), LESS, csv_bytes(rows[:row + 1] + rows[row + 2:])
    yield "no rows", LESS, csv_bytes([header])
    for name, what, cut in cuts(data, count, rng):
        if not cut.endswith(b"\n") and not data[len(cut):].lstrip(b"\r").startswith(b"\n"):
            yield name, what, cut


# --- JSON of objects ------------------------------------------------------------------------------


def of_json(data, count, rng):
    trace = json.loads(data)
    events = trace["traceEvents"]

    def with_events(changed):
        return json.dumps(dict(trace, traceEvents=changed)).encode()

    def with_event(index, event):
        return with_events(events[:index] + [event] + events[index + 1:])

    yield "indented", SAME, json.dumps(trace, indent=1).encode()
    yield "without blanks", SAME, json.dumps(trace, separators=(",", ":")).encode()
    yield "a list of events", SAME, json.dumps(events).encode()
    yield "numbers as text", SAME, with_events(
        [dict(event, ts=str(event["ts"])) if "ts" in event else event for event in events])
    yield "no events", LESS, with_events([])
    yield "no steps", LESS, with_events(
        [event for event in events if not event.get("name", "").startswith("ProfilerStep")])
    for key in ("Addr", "Bytes", "Device Id", "Device Type"):
        yield "no %s anywhere" % key, TOLD, with_events(
            [dict(event, args={k: v for k, v in event.get("args", {}).items() if k != key})
             for event in events])
    for _ in range(count):
        index = rng.randrange(len(events))
        event = events[index]
        yield "no event %d" % index, LESS, with_events(events[:index] + events[index + 1:])
        inner = event.get("args", {})
        for key in sorted(inner) + ["ts", "dur"]:
            where = inner if key in inner else event
            if key not in where:
                continue
            without = {k: v for k, v in where.items() if k != key}
            broken = [("missing", without)] + [
                (json.dumps(value), dict(without, **{key: value}))
                for value in (GARBAGE, None, True, [], {})]
            for said, changed in broken:
                yield "%s of event %d is %s" % (key, index, said), TOLD, with_event(
                    index, dict(event, args=changed) if where is inner else changed)
    for name, what, cut in cuts(data.rstrip(), count, rng):
        yield name, what, cut


# --- databases ------------------------------------------------------------------------------------


# Tables of names, and columns that are NULL where there is nothing to say.
WORDS = ("STRING_IDS", "ENUM_MODULE", "ENUM_MEMORY")
MAY_BE_NULL = ("releaseTime", "activeReleaseTime", "duration", "activeDuration", "streamPtr",
               "allocationTime", "allocationTotalActive", "releaseTotalAllocated",
               "releaseTotalReserved", "releaseTotalActive", "totalActive", "totalAllocated",
               "totalReserved")


def of_database(data, count, rng):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.db")

        def changed(*statements):
            with open(path, "wb") as file:
                file.write(data)
            database = sqlite3.connect(path)
            for statement in statements:
                database.execute(*statement) if isinstance(statement, tuple) else database.execute(
                    statement)
            database.commit()
            database.execute("VACUUM")
            database.close()
            with open(path, "rb") as file:
                return file.read()

        with open(path, "wb") as file:
            file.write(data)
        database = sqlite3.connect(path)
        tables = {name: [row[1] for row in database.execute('PRAGMA table_info("%s")' % name)
                         if not row[5]]  # a key can only be a number
                  for (name,) in database.execute(
                      "SELECT name FROM sqlite_master WHERE type = 'table'")}
        sizes = {name: database.execute('SELECT max(rowid) FROM "%s"' % name).fetchone()[0] or 0
                 for name in tables}
        database.close()
        for table, columns in sorted(tables.items()):
            yield "no table %s" % table, LESS, changed('DROP TABLE "%s"' % table)
            yield "no rows in %s" % table, LESS, changed('DELETE FROM "%s"' % table)
            for column in columns:
                yield "no column %s of %s" % (column, table), TOLD, changed(
                    'ALTER TABLE "%s" RENAME COLUMN "%s" TO "whatever"' % (table, column))
            for _ in range(count if sizes[table] else 0):
                row, column = rng.randint(1, sizes[table]), rng.choice(columns)
                for word in (GARBAGE, None):
                    what = (LESS if is_free_text(column) or table in WORDS
                            or word is None and column in MAY_BE_NULL else TOLD)
                    yield "%r for %s in row %d of %s" % (word, column, row, table), what, changed(
                        ('UPDATE "%s" SET "%s" = ? WHERE rowid = ? AND "%s" NOT IN (\'\', \'N/A\')'
                         % (table, column, column), (word, row)))
        for name, what, cut in cuts(data, count, rng):
            yield name, what, cut


def of_memscope_database(data, count, rng):
    """Also the attributes as Python's json writes them, and columns as older versions named them."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.db")
        for name, pairs in (("attributes with blanks", None),
                            ("columns of the year before", {
                                "ID": "id", "Event": "event", "Event Type": "eventType",
                                "Name": "name", "Timestamp(ns)": "timestamp",
                                "Process Id": "processId", "Thread Id": "threadId",
                                "Device Id": "deviceId", "Ptr": "ptr", "Attr": "attr"})):
            with open(path, "wb") as file:
                file.write(data)
            database = sqlite3.connect(path)
            if pairs:
                for old, new in pairs.items():
                    database.execute('ALTER TABLE memscope_dump RENAME COLUMN "%s" TO "%s"'
                                     % (old, new))
            else:
                for rowid, attr in database.execute(
                        "SELECT rowid, Attr FROM memscope_dump WHERE Attr != ''").fetchall():
                    database.execute("UPDATE memscope_dump SET Attr = ? WHERE rowid = ?",
                                     (json.dumps(json.loads(attr), indent=1), rowid))
            database.commit()
            database.close()
            with open(path, "rb") as file:
                yield name, SAME, file.read()
    yield from of_database(data, count, rng)


# --- pickles --------------------------------------------------------------------------------------


def of_pickle(data, count, rng):
    snapshot = pickle.loads(data)

    def changed(change):
        copy = pickle.loads(data)
        change(copy)
        return pickle.dumps(copy, protocol=4)

    for protocol in (2, 3, 4, 5):
        yield "protocol %d" % protocol, SAME, pickle.dumps(snapshot, protocol=protocol)
    yield "no segments", LESS, changed(lambda copy: copy.update(segments=[]))
    yield "no history", LESS, changed(lambda copy: copy.update(device_traces=[]))
    for key in ("segments", "device_traces"):
        yield "%s is no list" % key, TOLD, changed(lambda copy, key=key: copy.update({key: 5}))
    traces = [i for i, trace in enumerate(snapshot["device_traces"]) if trace]
    for _ in range(count):
        device = rng.choice(traces)
        entries = snapshot["device_traces"][device]
        index = rng.randrange(len(entries))
        for key in ("action", "addr", "size", "time_us"):
            if key not in entries[index]:
                continue
            # One like those of torch_npu, which have no times.
            is_plain = key == "time_us" and len(entries) == 1
            yield "no %s in event %d" % (key, index), LESS if is_plain else TOLD, changed(
                lambda copy, key=key: copy["device_traces"][device][index].pop(key))
            yield "%s of event %d is garbage" % (key, index), TOLD, changed(
                lambda copy, key=key: copy["device_traces"][device][index].update({key: GARBAGE}))
    for index, segment in enumerate(snapshot["segments"][:count]):
        for key in ("address", "total_size", "device", "blocks"):
            yield "no %s in segment %d" % (key, index), TOLD, changed(
                lambda copy, key=key: copy["segments"][index].pop(key))
        block = rng.randrange(len(segment["blocks"]))
        for key in ("size", "requested_size", "state"):
            if key in segment["blocks"][block]:
                yield "%s of a block in segment %d is garbage" % (key, index), TOLD, changed(
                    lambda copy, key=key: copy["segments"][index]["blocks"][block].update(
                        {key: GARBAGE}))
    for name, what, cut in cuts(data, count, rng):
        yield name, what, cut


# --- lines of text --------------------------------------------------------------------------------


def of_lines(data, count, rng):
    lines = data.split(b"\n")
    for _ in range(count):
        index = rng.randrange(len(lines) - 1)
        yield "garbage in line %d" % (index + 1), TOLD, b"\n".join(
            lines[:index] + [lines[index][:1] + b" " + GARBAGE.encode()] + lines[index + 1:])
    for name, what, cut in cuts(data, count, rng):
        yield name, TOLD if not cut.endswith(b"\n") else LESS, cut


# --- bytes ----------------------------------------------------------------------------------------


def of_bytes(data, count, rng):
    for name, what, cut in cuts(data, 3 * count, rng):
        yield name, what, cut
    for _ in range(count):
        at = rng.randrange(len(data))
        flipped = bytearray(data)
        flipped[at] ^= 1 << rng.randrange(8)
        yield "byte %d is another" % at, LESS, bytes(flipped)


FORMS = {
    ".csv": of_csv,
    ".json": of_json,
    ".db": of_database,
    ".pickle": of_pickle,
    ".pkl": of_pickle,
    ".txt": of_lines,
    ".heap": of_lines,
    ".mtt": of_bytes,
}


def of_file(path, count, seed):
    """All mutations of a file, the same for the same seed."""
    rng = random.Random("%s %s" % (os.path.basename(path), seed))
    with open(path, "rb") as file:
        data = file.read()
    form = FORMS[os.path.splitext(path)[1]]
    if form is of_database and b"memscope_dump" in data:
        form = of_memscope_database
    return form(data, count, rng)
