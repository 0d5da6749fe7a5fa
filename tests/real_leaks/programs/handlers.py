"""Each request adds a handler to a logger that outlives it."""
import io
import logging

from loop import LEAKY, turns


def request(n):
    log = logging.getLogger("service")
    handler = logging.StreamHandler(io.StringIO())
    log.addHandler(handler)
    log.warning("request %d", n)
    if not LEAKY:
        log.removeHandler(handler)


for turn in turns(60):
    request(turn)
