#!/usr/bin/env python3
"""Pages of an nginx are the files that it serves, for many clients at once.   nginx_load.py NGINX

Half of the clients keep their connection. The configuration is read again while they ask.
"""

import hashlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time

CLIENTS = 8
REQUESTS = 250  # of each client
SIZES = (0, 1, 4095, 70000, 1 << 20)

CONFIGURATION = """
daemon off;
worker_processes 2;
pid {work}/nginx.pid;
error_log {work}/error.log;
thread_pool default threads=4;
events {{ worker_connections 128; }}
http {{
    access_log {work}/access.log;
    client_body_temp_path {work}/body;
    proxy_temp_path {work}/proxy;
    fastcgi_temp_path {work}/fastcgi;
    uwsgi_temp_path {work}/uwsgi;
    scgi_temp_path {work}/scgi;
    aio threads;
    server {{
        listen 127.0.0.1:{port};
        location / {{ root {work}/pages; }}
        location /again/ {{ proxy_pass http://127.0.0.1:{port}/; }}
    }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_pages(folder):
    """Checksum of each page, by its path."""
    os.makedirs(folder)
    os.chmod(folder, 0o755)
    sums = {}
    for size in SIZES:
        content = hashlib.sha256(b"%d" % size).digest() * (size // 32 + 1)
        with open(f"{folder}/{size}", "wb") as file:
            file.write(content[:size])
        sums[f"/{size}"] = sums[f"/again/{size}"] = hashlib.sha256(content[:size]).digest()
    return sums


class Client(threading.Thread):
    def __init__(self, port, sums, keeps):
        super().__init__()
        self.port, self.sums, self.keeps = port, sums, keeps
        self.right = self.retried = 0

    def ask(self, connection, path):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status == 200 and hashlib.sha256(answer.read()).digest() == self.sums[path]

    def run(self):
        paths = sorted(self.sums)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        for index in range(REQUESTS):
            path = paths[index % len(paths)]
            try:
                self.right += self.ask(connection, path)
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                # A kept connection may be closed by a worker that makes room for the next.
                connection.close()
                self.retried += self.keeps
                self.right += self.keeps and self.ask(connection, path)
            if not self.keeps:
                connection.close()
        connection.close()


def wait_for(port, patience_s=20):
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("not ok 1 - nginx listens")


def main():
    work = os.environ["WORK"]
    os.chmod(work, 0o755)
    sums = make_pages(f"{work}/pages")
    port = free_port()
    with open(f"{work}/nginx.conf", "w", encoding="ascii") as file:
        file.write(CONFIGURATION.format(port=port, work=work))
    server = subprocess.Popen([os.path.abspath(sys.argv[1]), "-p", work, "-c", f"{work}/nginx.conf"],
                              stderr=subprocess.DEVNULL)
    wait_for(port)
    clients = [Client(port, sums, keeps=bool(index % 2)) for index in range(CLIENTS)]
    for client in clients:
        client.start()
    time.sleep(0.5)
    server.send_signal(signal.SIGHUP)
    for client in clients:
        client.join()
    server.send_signal(signal.SIGQUIT)
    status = server.wait(30)
    right = sum(client.right for client in clients)
    print(f"{'ok' if right == CLIENTS * REQUESTS else 'not ok'} 1 - every page is right "
          f"# {right} of {CLIENTS * REQUESTS}")
    print(f"{'ok' if status == 0 else 'not ok'} 2 - nginx ends when asked # {status}")


if __name__ == "__main__":
    sys.exit(main())
