"""Keys that JSON does not have are skipped."""
import simplejson

from loop import turns

for turn in turns(60):
    for n in range(40):
        simplejson.dumps({(turn, n): 1, "name": n}, skipkeys=True, sort_keys=True)
