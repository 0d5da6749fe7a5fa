"""Every allocation, byte and leak of every stack, as heaptrack saw the same program.

    heaptrack_agreement_test.py TRACER SITE_SUMS BENCHMARKS-FOLDER [--all]

Both record the programs of the benchmarks, made small; python3 and clang only with --all. Stacks are compared frame by
frame, as module and address in its file, so no names are needed. Left out on both sides: stacks
through the tracers' own libraries (heaptrack brings libstdc++ and libunwind, which allocate 72 KiB
when they are loaded: its peak is higher by that) and frames beyond heaptrack's 64. heaptrack ends
before the last destructors of the process, so programs that clean up late have a few more
allocations and frees here; and clang orders some tables by address. A fiftieth of the allocations
and bytes may be apart for that. Exit status 77: no heaptrack.
"""
import collections
import os
import shutil
import subprocess
import sys
import tempfile

HEAPTRACK_FRAMES = 64
OWN = ("libheaptrack", "libascend_kernel_hook", "libunwind.so", "libstdc++.so")
STABLE = {"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}


class Sums:
    def __init__(self):
        self.stacks = collections.defaultdict(lambda: [0, 0, 0])
        self.peak = 0

    def add(self, frames, allocs, size, live):
        frames = [frame for frame in frames if frame != "?"]
        if any(own in frame for frame in frames for own in OWN):
            return
        sums = self.stacks[tuple(frames[:HEAPTRACK_FRAMES - 6])]
        for index, value in enumerate((allocs, size, live)):
            sums[index] += value

    def total(self, index):
        return sum(sums[index] for sums in self.stacks.values())


def ours(tracer, site_sums, program, work):
    folder = os.path.join(work, "ours")
    program.run(environment={**STABLE, "LD_PRELOAD": tracer, "LEAKTIDE_OPTIONS":
                             f"--device=cpu --call-stack=c --output-path={folder}"})
    lines = subprocess.run([site_sums, folder], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    shutil.rmtree(folder)
    found = Sums()
    found.peak = int(lines[0])
    for line in lines[1:]:
        words = line.split(" ")
        found.add(words[3:], *(int(word) for word in words[:3]))
    return found


class RawTrace:
    """heaptrack's raw output: modules, a tree of addresses, allocations, frees."""

    def __init__(self):
        self.sums, self.modules, self.tree, self.frames = Sums(), [], [(0, 0)], {}
        self.blocks, self.live, self.allocations = {}, 0, []

    def module(self, words):
        if words[1] == "-":
            return
        # m LENGTH PATH BASE, then offset and size of each segment
        base = int(words[2], 16)
        end = max(base + int(offset, 16) + int(size, 16)
                  for offset, size in zip(words[3::2], words[4::2]))
        name = self.executable if words[1] == "x" else os.path.basename(words[1])
        self.modules.append((base, end, name))

    def frame(self, address):
        if address not in self.frames:
            self.frames[address] = next((f"{name}+{address - base:x}" for base, end, name
                                         in reversed(self.modules) if base <= address < end), "?")
        return self.frames[address]

    def stack(self, index):
        frames = []
        while index:
            address, index = self.tree[index]
            frames.append(self.frame(address))
        return frames

    def line(self, line):
        kind, words = line[0], line.split()[1:]
        if kind == "x":
            self.executable = os.path.basename(words[-1])
        elif kind == "m":
            self.module(words)
        elif kind == "t":
            # One less than the return address.
            self.tree.append((int(words[0], 16) + 1, int(words[1], 16)))
        elif kind == "+":
            size, trace, address = (int(word, 16) for word in words)
            self.free(address)
            self.blocks[address] = (size, trace)
            self.allocations.append((size, trace))
            self.live += size
            self.sums.peak = max(self.sums.peak, self.live)
        elif kind == "-":
            self.free(int(words[0], 16))

    def free(self, address):
        self.live -= self.blocks.pop(address, (0, 0))[0]

    def finish(self):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for size, trace in self.allocations:
            sums[trace][0] += 1
            sums[trace][1] += size
        for size, trace in self.blocks.values():
            sums[trace][2] += size
        for trace, values in sums.items():
            self.sums.add(self.stack(trace), *values)
        return self.sums


def theirs(program, work):
    path = os.path.join(work, "theirs")
    program.run(before=["heaptrack", "-r", "-o", path], environment=STABLE)
    trace = RawTrace()
    text = subprocess.run(["zstd", "-dcq", path + ".raw.zst"], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    os.remove(path + ".raw.zst")
    for line in text.splitlines():
        trace.line(line)
    return trace.finish()


def compare(name, own, other):
    """The share of allocations in stacks that both have with equal numbers."""
    stacks = set(own.stacks) | set(other.stacks)
    apart = [0, 0, 0]
    for stack in stacks:
        for index in range(3):
            apart[index] += abs(own.stacks.get(stack, (0, 0, 0))[index] -
                                other.stacks.get(stack, (0, 0, 0))[index])
    totals = [max(own.total(index), other.total(index), 1) for index in range(3)]
    print(f"{name}: {len(own.stacks)} and {len(other.stacks)} stacks; "
          f"allocations {own.total(0)} and {other.total(0)}, apart {apart[0]}; "
          f"bytes {own.total(1)} and {other.total(1)}, apart {apart[1]}; "
          f"never freed {own.total(2)} and {other.total(2)}, apart {apart[2]}; "
          f"peak {own.peak} and {other.peak}", flush=True)
    return apart[0] <= totals[0] / 50 and apart[1] <= totals[1] / 50


def main():
    tracer, site_sums, benchmarks = sys.argv[1:4]
    if not shutil.which("heaptrack") or not shutil.which("zstd"):
        print("heaptrack or zstd is not here")
        return 77
    sys.path.insert(0, benchmarks)
    from workloads import real_programs
    agreed = True
    with tempfile.TemporaryDirectory() as work:
        for program in real_programs(work, 40):
            if program.name in ("python3", "clang") and "--all" not in sys.argv:
                continue
            agreed &= compare(program.name, ours(tracer, site_sums, program, work),
                              theirs(program, work))
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
