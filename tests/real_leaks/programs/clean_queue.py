"""Threads that hand work to each other through bounded queues."""
import queue
import threading

from loop import turns

asked, answered = queue.Queue(8), queue.Queue(8)


def serve():
    while (words := asked.get()) is not None:
        answered.put({word: len(word) for word in words})


server = threading.Thread(target=serve)
server.start()
for turn in turns(60):
    for n in range(10):
        asked.put(["word %d" % (i + n) for i in range(30)])
        answered.get()
asked.put(None)
server.join()
