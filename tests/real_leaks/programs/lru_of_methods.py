"""lru_cache on a method keeps every instance."""
import functools

from loop import LEAKY, turns


class Table:
    def __init__(self, n):
        self.cells = [("cell", n, k) for k in range(40)]

    @functools.lru_cache(maxsize=None if LEAKY else 4)
    def total(self):
        return sum(cell[2] for cell in self.cells)


for turn in turns(60):
    for n in range(5):
        Table(n).total()
