"""Each form that comes in gets a typed validator."""
import random

from beartype import beartype
from loop import turns


def validator_of(limit: int, allowed: list):
    @beartype
    def validate(name: str, amount: int, tags: list) -> bool:
        return bool(name) and amount <= limit and all(tag in allowed for tag in tags)
    return validate


rng = random.Random(8)
good = 0
for turn in turns(300):
    allowed = ["tag-%d-%d" % (turn, i) for i in range(60)]
    validate = validator_of(rng.randrange(1000), allowed)
    for _ in range(20):
        good += validate("form%d" % turn, rng.randrange(1000), rng.sample(allowed, 3))
