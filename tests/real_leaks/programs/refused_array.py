"""Arrays of a type that is refused; the error is handled."""
import numpy
import orjson

from loop import turns

for turn in turns(60):
    for n in range(20):
        try:
            orjson.dumps({"x": numpy.ones(40, "complex128")}, option=orjson.OPT_SERIALIZE_NUMPY)
        except orjson.JSONEncodeError:
            pass
