"""Each tenant's names have a pattern of their own."""
import msgspec

from loop import turns

for turn in turns(60):
    for n in range(10):
        msgspec.Meta(pattern="^tenant-%d-[a-z]+%d$" % (turn, n))
