"""The newest twenty, always."""
import collections

from loop import turns

newest = collections.deque(maxlen=20)
for turn in turns(120):
    newest.append([str(turn * k) for k in range(200)])
