"""Each request has a thread, which keeps the current user in a Local."""
import threading
import zlib

from asgiref.local import Local
from loop import turns

PAGE = ("<h1>Report</h1>" + "<p>row %d</p>" * 40) % tuple(range(40))
current = Local()
totals = {}


def handle(user):
    current.user = user
    totals[current.user] = zlib.crc32(zlib.compress(PAGE.replace("Report", user).encode() * 20))


for turn in turns(200):
    threads = [threading.Thread(target=handle, args=("user%d" % i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
