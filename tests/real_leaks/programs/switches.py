"""Small tasks run in greenlets of their own."""
import greenlet

from loop import turns


def task(depth):
    if depth:
        return task(depth - 1)
    return greenlet.getcurrent().parent.switch(depth)


for turn in turns(60):
    for n in range(4):
        one = greenlet.greenlet(task)
        one.switch(20)
        one.switch(None)
