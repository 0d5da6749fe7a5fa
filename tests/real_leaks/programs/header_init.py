"""Dictionaries of headers are made from pairs, again and again."""
from multidict import CIMultiDict

from loop import turns

for turn in turns(60):
    for n in range(40):
        CIMultiDict({"Host": "example %d" % n, "Accept": "*/*"}, token="%d" % turn)
