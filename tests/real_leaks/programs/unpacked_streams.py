"""Streams of messages are read with a loop."""
import io

import msgpack

from loop import turns

stream = msgpack.packb([1, 2, 3]) * 10
for turn in turns(60):
    for message in msgpack.Unpacker(io.BytesIO(stream)):
        pass
