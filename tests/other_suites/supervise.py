#!/usr/bin/env python3
"""Runs a program for a limited time and leaves nothing of it behind.

    supervise.py SECONDS PROGRAM [ARGUMENT...]

Ends with the status of the program, 128 + N when signal N ended it, or 124 when its time was up.
Servers that it started and forgot end with it: as a subreaper we become their parent, wherever
they hide from their process group. A main thread that has left its process alone (a zombie with
threads) is ended, too.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
TIME_IS_UP = 124


def children_of(process):
    """The processes whose parent is this one, whichever of its threads started them."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass  # it has ended meanwhile
    return found


def descendants_of(process):
    found = []
    for child in children_of(process):
        found += [child] + descendants_of(child)
    return found


def reap():
    """Takes note of every child that has ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def end_all(patience_s=10):
    """Ends what is left; what is started meanwhile, too."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        left = descendants_of(os.getpid())
        if not left:
            return
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
        reap()


class TimeIsUp(Exception):
    pass


def time_is_up(*_):
    raise TimeIsUp


def status_of(process):
    """Waits for it, and like the first of all processes for whoever else becomes our child.

    Otherwise a test that waits until a server is gone would find it for ever, as a zombie.
    """
    while True:
        ended, status = os.wait()
        if ended == process:
            return (128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else
                    os.WEXITSTATUS(status))


def run(limit_s, command):
    signal.signal(signal.SIGALRM, time_is_up)
    try:
        started = subprocess.Popen(command, start_new_session=True)
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        return status_of(started.pid)
    except OSError as trouble:
        print(f"{command[0]}: {trouble.strerror}", file=sys.stderr)
        return 127
    except TimeIsUp:
        return TIME_IS_UP
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    # Whoever ends us, or is gone, wants all of it to end. And what is handled here is not ignored
    # in the program: a shell ignores some signals for what it starts in the background.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        return run(float(sys.argv[1]), sys.argv[2:])
    finally:
        end_all()


if __name__ == "__main__":
    sys.exit(main())
