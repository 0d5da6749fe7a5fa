#!/usr/bin/env python3
"""A server that closes every descriptor from 3 up before it listens, as daemons do.

The number of its listening socket is then one that anybody in its process may still believe to
be theirs. Each connection must get its greeting.
"""

import os
import socket
import subprocess
import sys
import time

CONNECTIONS = 300
GREETING = b"hello\n"
BUSY_S = 0.001


def serve():
    os.closerange(3, 4096)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(64)
    print(listening.getsockname()[1], flush=True)
    while True:
        until = time.monotonic() + BUSY_S
        while time.monotonic() < until:
            pass
        connection, _ = listening.accept()
        with connection:
            connection.sendall(GREETING)


def is_greeted(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            with connection.makefile("rb") as file:
                return file.read() == GREETING
    except OSError:
        return False


def main():
    if sys.argv[1:] == ["serve"]:
        serve()
    with subprocess.Popen([sys.executable, "-B", __file__, "serve"],
                          stdout=subprocess.PIPE) as server:
        port = int(server.stdout.readline())
        greeted = sum(is_greeted(port) for _ in range(CONNECTIONS))
        server.terminate()
    word = "ok" if greeted == CONNECTIONS else "not ok"
    print(f"{word} 1 - every connection is greeted # {greeted} of {CONNECTIONS}")


if __name__ == "__main__":
    sys.exit(main())
