"""Maps arrive whose keys are not allowed; the error is handled."""
import msgpack

from loop import turns

message = msgpack.packb([{"name": "first", 7: "second"}] * 4)
for turn in turns(60):
    for n in range(30):
        try:
            msgpack.unpackb(message, strict_map_key=True)
        except ValueError:
            pass
