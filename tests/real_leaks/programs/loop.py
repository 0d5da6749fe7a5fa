"""What every program here shares: the loop, and which variant runs."""
import os

LEAKY = os.environ.get("REAL_LEAKS_VARIANT") == "leaky"


def turns(count):
    """The turns of the loop, marked as steps or not."""
    if os.environ.get("REAL_LEAKS_MARKS"):
        import leaktide
        return leaktide.steps(range(count))
    return range(count)
