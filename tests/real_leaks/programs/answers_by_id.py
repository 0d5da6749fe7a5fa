"""Answers by the number of the request."""
import json

from loop import LEAKY, turns

answers = {}


def handle(n):
    answers[n if LEAKY else n % 16] = json.dumps({"id": n, "rows": list(range(80))})


for turn in turns(60):
    for n in range(10):
        handle(10 * turn + n)
