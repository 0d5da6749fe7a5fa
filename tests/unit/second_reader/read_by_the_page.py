"""A second reader, written from docs/trace-format.md alone.

    read_by_the_page.py make_known_trace

Reads the chunks of the trace that make_known_trace writes, and compares every record with what it
says it wrote. When this fails after a change of the format, the page needs the same change.
"""
import ctypes
import ctypes.util
import pathlib
import struct
import subprocess
import sys
import tempfile

MASK = (1 << 64) - 1
RECORDS = {
    1: "SITE SIZE_AT_SITE NEW_ADDRESS", 2: "OLD_ADDRESS",
    3: "SITE SIZE_AT_SITE NEW_ADDRESS DICTIONARY DICTIONARY", 4: "OLD_ADDRESS DICTIONARY",
    5: "SITE PLAIN DICTIONARY DICTIONARY PLAIN", 6: "DICTIONARY DICTIONARY DELTA",
    7: "DICTIONARY", 8: "DICTIONARY", 9: "DELTA DICTIONARY DICTIONARY", 10: "DELTA",
    11: "DICTIONARY DICTIONARY", 12: "DELTA DELTA", 13: "DELTA", 14: "DICTIONARY",
    15: "DICTIONARY", 16: "DICTIONARY DICTIONARY", 17: "DELTA PLAIN DICTIONARY DICTIONARY",
    18: "DICTIONARY DICTIONARY DELTA", 19: "PLAIN BYTES", 20: "PLAIN PLAIN PLAIN PLAIN BYTES",
    21: "PLAIN", 22: "PLAIN PLAIN", 23: "PLAIN PLAIN PLAIN", 24: "DICTIONARY PLAIN",
    25: "DICTIONARY DICTIONARY PLAIN", 26: "DELTA PLAIN DICTIONARY BYTES",
    27: "DELTA PLAIN PLAIN", 28: "DELTA",
    29: "DELTA PLAIN DICTIONARY DICTIONARY DICTIONARY DICTIONARY DICTIONARY",
    30: "DICTIONARY DICTIONARY DICTIONARY PLAIN PLAIN", 32: "PLAIN",
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


def unzigzag16(value):
    return (unzigzag(value & ((1 << 60) - 1)) << 4) + (value >> 60)


def units(size):
    return max(2, (size + 23 & MASK) >> 4)


def size_class(size):
    count = units(size)
    return count if count < 1024 else 1024 + ((count * 0x9E3779B97F4A7C15 & MASK) >> 54)


def column_of(code, position):
    return code * 8 + position if code < 31 else 256 + (code - 32) * 32 + position


class Chunk:
    frames = []  # of the stack before, in the chunk before as well: there is one stream

    def __init__(self, raw, first_time):
        self.columns = {}
        self.time = first_time
        self.dictionaries, self.last = {}, {}
        self.follow, self.before, self.before_that = [0] * 4096, 0, 0
        self.sites, self.newest_site, self.sizes = [0], 0, {}
        self.blocks, self.top, self.below, self.fresh = [None], {}, {}, 0
        self.old_age = self.old_address = 0
        count, at = varint(raw, 0)
        table = []
        for _ in range(count):
            number, at = varint(raw, at)
            size_bytes, at = varint(raw, at)
            table.append((number, size_bytes))
        for number, size_bytes in table:
            self.columns[number] = [raw[at:at + size_bytes], 0]
            at += size_bytes
        assert at == len(raw)

    def take(self, number):
        column = self.columns[number]
        value, column[1] = varint(column[0], column[1])
        return value

    def plain(self, number, hit):
        return self.take(number)

    def delta(self, number, hit):
        self.last[number] = self.last.get(number, 0) + unzigzag(self.take(number)) & MASK
        return self.last[number]

    def dictionary(self, number, hit):
        values = self.dictionaries.setdefault(number, [None])
        entry = self.take(number)
        if entry:
            return values[entry]
        value = self.take(number)
        if len(values) <= 511:
            values.append(value)
        return value

    def bytes(self, number, hit):
        size_bytes = self.take(number)
        column = self.columns[number]
        column[1] += size_bytes
        return column[0][column[1] - size_bytes:column[1]]

    def site(self, number, hit):
        slot = (self.before * 0x9E3779B1 + self.before_that * 0x85EBCA6B & 0xFFFFFFFF) >> 20
        if hit:
            site = self.follow[slot]
        else:
            site = self.take(number)
        value = self.sites[site]
        if not hit and not site:
            value = self.newest_site = self.newest_site + unzigzag(self.take(number)) & MASK
            if len(self.sites) <= 8191:
                site = len(self.sites)
                self.sites.append(value)
        self.follow[slot] = site
        self.before, self.before_that = site, self.before
        return value

    def size_at_site(self, number, hit):
        if not hit:
            self.sizes[self.before] = self.take(number)
        self.size = self.sizes.get(self.before, 0)
        return self.size

    def new_address(self, number, hit):
        its_class = size_class(self.size)
        top = self.top.get(its_class, 0)
        if hit:
            address = self.blocks[top][0] if top else self.fresh
        else:
            address = self.fresh + unzigzag16(self.take(number)) & MASK
        if not top or not hit:
            self.fresh = address + 16 * units(self.size) & MASK
        if top:
            self.top[its_class] = self.below[top]
        self.blocks.append((address, its_class))
        return address

    def old_address_(self, number, hit):
        if not hit:
            self.old_address = self.old_address + unzigzag16(self.take(number)) & MASK
            return self.old_address
        self.old_age += unzigzag(self.take(number))
        block = len(self.blocks) - 1 - self.old_age
        address, its_class = self.blocks[block]
        self.below[block] = self.top.get(its_class, 0)
        self.top[its_class] = block
        return address

    def record(self, index):
        readers = {
            "PLAIN": self.plain, "DELTA": self.delta, "DICTIONARY": self.dictionary,
            "BYTES": self.bytes, "SITE": self.site, "SIZE_AT_SITE": self.size_at_site,
            "NEW_ADDRESS": self.new_address, "OLD_ADDRESS": self.old_address_,
        }
        byte = self.columns[0][0][index]
        code = byte & 31
        if code == 31:
            code = self.take(2)
        self.time += self.take(1)
        fields = [readers[encoding](column_of(code, position), byte >> (5 + position) & 1)
                  for position, encoding in enumerate(RECORDS[code].split())]
        if code == 19:
            fields[1] = fields[1].decode()
        if code == 20:
            fields[4] = fields[4].hex()
        if code == 26:
            fields[3] = self.stack(fields[1], fields[3])
        return " ".join(str(value) for value in [code, self.time] + fields)

    def stack(self, shared, data):
        frames, at = Chunk.frames[:shared], 0
        while at < len(data):
            value, at = varint(data, at)
            before = frames[-1] if frames else 0
            if value & 1:
                frames.append(1 << 63 | value >> 1)
            else:
                frames.append((0 if before >> 63 else before) + unzigzag(value >> 1))
        Chunk.frames = frames
        return ",".join(str(frame) for frame in frames)


def unpack(zstd, payload, raw_bytes):
    raw = ctypes.create_string_buffer(raw_bytes)
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    got = zstd.ZSTD_decompress(raw, ctypes.c_size_t(raw_bytes), payload,
                               ctypes.c_size_t(len(payload)))
    assert got == raw_bytes
    return raw.raw


def records_of(path, zstd):
    data = path.read_bytes()
    assert data[:8] == b"MEMTIDE\n"
    at, = struct.unpack_from("<H", data, 12)
    while at < len(data):
        (magic, kind, header_bytes, payload_bytes, raw_bytes, _, event_count, _, _, first_time,
         last_time, _) = struct.unpack_from("<4sHHIIIIQQQQQ", data, at)
        assert magic == b"MTCK"
        if kind == 1:
            payload = data[at + header_bytes:at + header_bytes + payload_bytes]
            chunk = Chunk(unpack(zstd, payload, raw_bytes), first_time)
            for index in range(event_count):
                yield chunk.record(index)
            assert chunk.time == last_time
            assert all(used == len(column) for number, (column, used) in chunk.columns.items()
                       if number)
        at = at + header_bytes + payload_bytes + 7 & ~7


def main():
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    with tempfile.TemporaryDirectory() as folder:
        known = subprocess.run([sys.argv[1], folder], check=True, stdout=subprocess.PIPE, text=True)
        expected = known.stdout.splitlines()
        path, = pathlib.Path(folder).glob("*.mtt")
        read = list(records_of(path, zstd))
    for index, (ours, theirs) in enumerate(zip(expected, read)):
        assert ours == theirs, f"record {index}: wrote {ours}, read {theirs}"
    kinds = {int(line.split()[0]) for line in expected}
    assert kinds == set(RECORDS), "kinds that nobody wrote: %s" % (set(RECORDS) - kinds)
    assert len(read) == len(expected), f"wrote {len(expected)} records, read {len(read)}"
    print(f"{len(read)} records")


if __name__ == "__main__":
    main()
