"""Errors are kept; their tracebacks hold the frames and what they worked on."""
from loop import LEAKY, turns

errors = []


def parse(n):
    buffer = bytearray(16000)
    raise ValueError("row %d of %d" % (n, len(buffer)))


for turn in turns(60):
    for n in range(3):
        try:
            parse(turn)
        except ValueError as error:
            errors.append(error if LEAKY else str(error))
    del errors[:-1000]
