"""Messages are built, sent as bytes and read."""
from google.protobuf.struct_pb2 import Struct

from loop import turns

for turn in turns(60):
    for n in range(10):
        message = Struct()
        message.update({"turn": turn, "names": ["a", "b", str(n)], "inner": {"value": n / 3}})
        Struct.FromString(message.SerializeToString())
