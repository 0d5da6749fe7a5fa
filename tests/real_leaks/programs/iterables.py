"""Models have a field that is any iterable."""
from collections.abc import Iterable

from pydantic import BaseModel

from loop import turns


class Trace(BaseModel):
    elements: Iterable[int]


for turn in turns(60):
    for n in range(10):
        Trace(elements=[n, 2, 3])
