"""JSON back and forth; sizes by chance."""
import json
import random

from loop import turns

chance = random.Random(1)
for turn in turns(80):
    for n in range(10):
        rows = [{"x": chance.random()} for _ in range(chance.randrange(40))]
        json.loads(json.dumps({"id": turn, "rows": rows}, indent=1))
