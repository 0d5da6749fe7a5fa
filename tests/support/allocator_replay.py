# SPDX-License-Identifier: Apache-2.0
"""PyTorch's caching allocator once more, in lists that are searched from end to end.

A second opinion on analyzer/analyses/pools/caching_allocator.c: written from the rules of
c10/cuda/CUDACachingAllocator.cpp (get_free_block, should_split, try_allocate_expandable_block,
find_expandable_block, map_block, unmap_block, release_cached_blocks), and slow.
"""

MIB = 1 << 20
SMALL_MOST, SMALL_PAGE, LARGE_PAGE = MIB, 2 * MIB, 20 * MIB
FREE, TAKEN, UNMAPPED = "free", "taken", "unmapped"


def rounded(size, pad=0):
    return max(512, -(-(size + pad) // 512) * 512)


class Chunk:
    def __init__(self, address, size, state):
        self.address, self.size, self.state = address, size, state


class Segment:
    """Chunks without a gap. One of an expandable allocator is a whole range of addresses."""

    def __init__(self, stream, is_small, chunk):
        self.stream, self.is_small, self.chunks = stream, is_small, [chunk]
        self.page = SMALL_PAGE if is_small else LARGE_PAGE

    def index(self, chunk):
        return next(i for i, other in enumerate(self.chunks) if other is chunk)

    def after(self, chunk):
        index = self.index(chunk) + 1
        return self.chunks[index] if index < len(self.chunks) else None

    def cut(self, chunk, size):
        """Its first bytes stay; the rest is a chunk of the same state."""
        if size < chunk.size:
            self.chunks.insert(self.index(chunk) + 1,
                               Chunk(chunk.address + size, chunk.size - size, chunk.state))
            chunk.size = size
        return chunk

    def merge(self):
        """Neighbours that are both free, or both not mapped, become one: the first."""
        merged = []
        for chunk in self.chunks:
            if merged and chunk.state != TAKEN and merged[-1].state == chunk.state:
                merged[-1].size += chunk.size
            else:
                merged.append(chunk)
        self.chunks = merged


class Allocator:
    def __init__(self, is_expandable, pad=0):
        self.is_expandable, self.pad = is_expandable, pad
        self.segments = []
        self.reserved = self.peak = 0
        self.next_address = LARGE_PAGE

    def reserve(self, size):
        self.reserved += size
        self.peak = max(self.peak, self.reserved)

    def _lane(self, stream, is_small):
        return [segment for segment in self.segments
                if segment.stream == stream and segment.is_small == is_small]

    def take(self, stream, request):
        """(segment, chunk) for a request."""
        size = rounded(request, self.pad)
        is_small = size <= SMALL_MOST
        found = self._best_fit(stream, is_small, size)
        if not found:
            make = self._grow if self.is_expandable else self._segment
            found = make(stream, is_small, size)
        segment, chunk = found
        rest = chunk.size - size
        if rest >= 512 if is_small or self.is_expandable else rest > SMALL_MOST:
            segment.cut(chunk, size)
        chunk.state = TAKEN
        return segment, chunk

    def _best_fit(self, stream, is_small, size):
        fits = sorted(((chunk.size, chunk.address, segment, chunk)
                       for segment in self._lane(stream, is_small) for chunk in segment.chunks
                       if chunk.state == FREE and chunk.size >= size), key=lambda fit: fit[:2])
        if not fits:
            return None
        best = 0
        while (self.is_expandable and best + 1 < len(fits) and
               self._reach(*fits[best + 1][2:]) < self._reach(*fits[best][2:])):
            best += 1
        return fits[best][2:]

    @staticmethod
    def _reach(segment, chunk):
        """What a chunk could become by mapping what follows it."""
        after = segment.after(chunk)
        return chunk.size + (after.size if after and after.state == UNMAPPED else 0)

    def _segment(self, stream, is_small, size):
        if is_small:
            size = SMALL_PAGE
        else:
            size = LARGE_PAGE if size < 10 * MIB else -(-size // SMALL_PAGE) * SMALL_PAGE
        segment = Segment(stream, is_small, Chunk(self.next_address, size, FREE))
        self.next_address += size + LARGE_PAGE
        self.segments.append(segment)
        self.reserve(size)
        return segment, segment.chunks[0]

    def _grow(self, stream, is_small, size):
        for segment in sorted(self._lane(stream, is_small), key=lambda s: s.chunks[0].address):
            for index, chunk in enumerate(segment.chunks):
                start = index - (index > 0 and segment.chunks[index - 1].state == FREE)
                if chunk.state == UNMAPPED and self._has_room(segment, start, size):
                    return self._map_up_to(segment, segment.chunks[start], size)
        segment = Segment(stream, is_small, Chunk(self.next_address, LARGE_PAGE << 20, UNMAPPED))
        self.next_address += LARGE_PAGE << 20  # pages begin at multiples of their size
        self.segments.append(segment)
        return self._map_up_to(segment, segment.chunks[0], size)

    @staticmethod
    def _has_room(segment, start, size):
        room = 0
        for chunk in segment.chunks[start:]:
            if chunk.state == TAKEN or room >= size:
                break
            room += chunk.size
        return room >= size

    def _map_up_to(self, segment, chunk, size):
        address = chunk.address
        while chunk.state == UNMAPPED or chunk.size < size:
            target = chunk if chunk.state == UNMAPPED else segment.after(chunk)
            missing = size if target is chunk else size - chunk.size
            pages = -(-min(missing, target.size) // segment.page) * segment.page
            segment.cut(target, pages).state = FREE
            self.reserve(target.size)
            segment.merge()
            chunk = next(c for c in segment.chunks if c.address <= address < c.address + c.size)
        return segment, chunk

    def give(self, taken):
        segment, chunk = taken
        chunk.state = FREE
        segment.merge()

    def empty(self):
        """Whole segments, or whole pages, go back. Addresses of the segments that went."""
        gone = []
        for segment in list(self.segments):
            if self.is_expandable:
                self._unmap(segment)
            elif len(segment.chunks) == 1 and segment.chunks[0].state == FREE:
                self.reserved -= segment.chunks[0].size
                self.segments.remove(segment)
                gone.append(segment.chunks[0].address)
        return gone

    def _unmap(self, segment):
        for chunk in [chunk for chunk in segment.chunks if chunk.state == FREE]:
            first = -(-chunk.address // segment.page) * segment.page
            last = (chunk.address + chunk.size) // segment.page * segment.page
            if first >= last:
                continue
            if first > chunk.address:
                segment.cut(chunk, first - chunk.address)
                chunk = segment.after(chunk)
            segment.cut(chunk, last - first).state = UNMAPPED
            self.reserved -= last - first
        segment.merge()


def replay(events, is_expandable, gives_back, pad=0):
    """Most that is reserved. events: ("alloc", block, stream, bytes), ("free", block), ("empty",)"""
    allocator, taken = Allocator(is_expandable, pad), {}
    for what, *rest in events:
        if what == "alloc":
            taken[rest[0]] = allocator.take(*rest[1:])
        elif what == "free":
            allocator.give(taken.pop(rest[0]))
        elif gives_back:
            allocator.empty()
    return allocator.peak


def events_of_snapshot(snapshot, device):
    """What replay() takes: first the blocks that are older than the history, by address."""
    trace = snapshot["device_traces"][device]
    older = {}
    for segment in snapshot["segments"]:
        at = segment["address"]
        for block in segment["blocks"] if segment["device"] == device else ():
            if block["state"].startswith("active"):
                older[block.get("address", at)] = (segment["stream"],
                                                   block.get("requested_size") or block["size"])
            at += block["size"]
    for entry in reversed(trace):
        if entry["action"] == "alloc":
            older.pop(entry["addr"], None)
        elif entry["action"] == "free_completed":
            older[entry["addr"]] = (entry["stream"], entry["size"])
    events = [("alloc", address, *older[address]) for address in sorted(older)]
    for entry in trace:
        if entry["action"] == "alloc":
            events.append(("alloc", entry["addr"], entry["stream"], entry["size"]))
        elif entry["action"] == "free_completed":
            events.append(("free", entry["addr"]))
        elif entry["action"] in ("segment_free", "segment_unmap") and events[-1] != ("empty",):
            events.append(("empty",))
    return events
