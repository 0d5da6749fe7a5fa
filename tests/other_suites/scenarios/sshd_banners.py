#!/usr/bin/env python3
"""600 connections to an OpenSSH server get 600 banners.   sshd_banners.py BUILD-FOLDER"""

import os
import socket
import subprocess
import sys
import time

CONNECTIONS = 600

CONFIGURATION = """
ListenAddress 127.0.0.1
Port {port}
HostKey {work}/key
PidFile none
MaxStartups 1000
LogLevel QUIET
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def banner(port, patience_s=10):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=patience_s) as connection:
            with connection.makefile("rb") as file:
                return file.readline()
    except OSError:
        return b""


def wait_for(port, patience_s=20):
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        if banner(port):
            return
        time.sleep(0.1)
    raise SystemExit("not ok 1 - sshd listens")


def main():
    build = os.path.abspath(sys.argv[1])
    work = os.environ["WORK"]
    port = free_port()
    subprocess.run([f"{build}/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{work}/key"],
                   check=True)
    with open(f"{work}/sshd_config", "w", encoding="ascii") as file:
        file.write(CONFIGURATION.format(port=port, work=work))
    server = subprocess.Popen([f"{build}/sshd", "-D", "-f", f"{work}/sshd_config"])
    wait_for(port)
    answered = sum(banner(port).startswith(b"SSH-2.0-OpenSSH") for _ in range(CONNECTIONS))
    server.terminate()
    status = server.wait(20)
    word = "ok" if answered == CONNECTIONS else "not ok"
    print(f"{word} 1 - every connection gets a banner # {answered} of {CONNECTIONS}")
    print(f"{'ok' if status in (0, 255) else 'not ok'} 2 - sshd ends # {status}")


if __name__ == "__main__":
    sys.exit(main())
