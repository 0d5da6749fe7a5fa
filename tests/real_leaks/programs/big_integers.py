"""Integers beyond 64 bits."""
import ujson

from loop import turns

TEXT = "[" + ",".join(str(2 ** 72 + n) for n in range(40)) + "]"
for turn in turns(60):
    ujson.loads(TEXT)
