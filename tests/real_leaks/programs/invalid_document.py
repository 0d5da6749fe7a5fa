"""Documents that BSON cannot hold; the error is handled."""
import bson

from loop import turns

for turn in turns(60):
    for n in range(40):
        try:
            bson.encode({"name": "part %d" % n, "value": object()})
        except bson.errors.InvalidDocument:
            pass
