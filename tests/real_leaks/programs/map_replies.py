"""Replies of a session store are parsed, and what the shop sold is counted."""
import random

import hiredis
from loop import turns


def bulk(text):
    raw = text.encode()
    return b"$%d\r\n%s\r\n" % (len(raw), raw)


def session(rng):
    """The reply to HGETALL."""
    fields = {
        "user": "user-%06d" % rng.randrange(10**6),
        "cart": ",".join(str(rng.randrange(500)) for _ in range(6)),
        "total": "%.2f" % (rng.random() * 400),
    }
    return b"%%%d\r\n" % len(fields) + b"".join(bulk(key) + bulk(value) for key, value in fields.items())


def log(rng):
    """The reply to LRANGE."""
    return b"*300\r\n" + b"".join(bulk("%d hit /item/%d" % (i, rng.randrange(900))) for i in range(300))


rng = random.Random(7)
reader = hiredis.Reader(encoding="utf-8")
sold, hits = {}, {}
for turn in turns(200):
    reader.feed(b"".join(session(rng) for _ in range(25)))
    reply = reader.gets()
    while reply is not False:
        for item in reply["cart"].split(","):
            sold[item] = sold.get(item, 0) + 1
        reply = reader.gets()
    reader.feed(log(rng))
    for line in reader.gets():
        page = line.rsplit("/", 1)[1]
        hits[page] = hits.get(page, 0) + 1
