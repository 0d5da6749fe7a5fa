"""Work is given to a pool of threads."""
from concurrent.futures import ThreadPoolExecutor

from loop import turns


def work(n):
    return sum(len(str(i)) for i in range(n))


with ThreadPoolExecutor(4) as pool:
    for turn in turns(60):
        list(pool.map(work, range(100, 120)))
