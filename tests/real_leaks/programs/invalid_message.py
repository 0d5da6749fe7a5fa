"""Messages whose nested part breaks off; the error is handled."""
import msgpack

from loop import turns

for turn in turns(60):
    for n in range(40):
        try:
            msgpack.unpackb(b"\x92\x93\xa4left\xa5right\xc1\x02")
        except ValueError:
            pass
