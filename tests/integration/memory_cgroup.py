# SPDX-License-Identifier: Apache-2.0
"""A cgroup of version 1 or 2 for a test, where one can be made."""
import os
import re


def make(name, limit_bytes=None):
    """A folder whose cgroup.procs takes processes; None: none can be made here."""
    with open("/proc/self/cgroup", encoding="ascii") as file:
        lines = file.read()
    memory = re.search(r"^\d+:memory:(.*)$", lines, re.M)
    new = re.search(r"^0::(.*)$", lines, re.M)
    for root, path in (("/sys/fs/cgroup/memory", memory), ("/sys/fs/cgroup", new)):
        folder = root + (path[1].rstrip("/") if path else "") + "/" + name
        try:
            os.mkdir(folder)
        except OSError:
            continue
        if os.path.exists(folder + "/memory.stat") and limit(folder, limit_bytes):
            return folder
        os.rmdir(folder)
    return None


def limit(folder, limit_bytes):
    """Whether it has that limit now."""
    if limit_bytes is None:
        return True
    for name in ("memory.limit_in_bytes", "memory.max"):
        try:
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(str(limit_bytes))
            return True
        except OSError:
            continue
    return False
