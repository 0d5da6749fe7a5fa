"""Tables are grouped and added up."""
import pandas

from loop import turns

for turn in turns(60):
    table = pandas.DataFrame({"key": [n % 5 for n in range(100)], "value": range(turn, turn + 100)})
    table.groupby("key").agg({"value": ["mean", "max"]})
