"""An adapter for a model that holds itself is made for each request."""
from pydantic import BaseModel, TypeAdapter

from loop import turns


class Leaf(BaseModel):
    value: int


class Tree(BaseModel):
    children: list["Tree"]
    leaf: Leaf


for turn in turns(60):
    TypeAdapter(list[Tree]).validate_python([{"children": [], "leaf": {"value": turn}}])
