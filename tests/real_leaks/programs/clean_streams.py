"""Streams are compressed and read again in pieces."""
import io

import zstandard

from loop import turns

text = b"the same line again and again\n" * 2000
for turn in turns(60):
    packed = zstandard.ZstdCompressor().compress(text + b"%d" % turn)
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)) as reader:
        while reader.read(4096):
            pass
