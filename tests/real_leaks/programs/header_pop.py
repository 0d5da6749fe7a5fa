"""A header that is not there is popped, with a default."""
from multidict import CIMultiDict

from loop import turns

headers = CIMultiDict(Host="example", Accept="*/*")
for turn in turns(60):
    for n in range(80):
        headers.pop("X-Request-%d-%d" % (turn, n), None)
