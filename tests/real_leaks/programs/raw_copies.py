"""Parts of messages are kept undecoded, each as a copy."""
import msgspec

from loop import turns

message = b'{"head": 1, "body": [%s]}' % b", ".join([b"1234"] * 40)


class Envelope(msgspec.Struct):
    body: msgspec.Raw


for turn in turns(60):
    for n in range(20):
        copy = msgspec.json.decode(message, type=Envelope).body.copy()
