# SPDX-License-Identifier: Apache-2.0
"""
Drives Firefox through Marionette, its own protocol: no driver, no package.

    with Firefox() as firefox:
        firefox.open(path)
        firefox.evaluate("document.title")
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

from browser import BrowserError, end_group, remove_profile


def find_firefox():
    """Path of a Firefox, or None."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Firefox:
    """One headless Firefox with a profile of its own, which goes with it."""

    def __init__(self, seconds=40):
        self.seconds = seconds
        self.next_id = 0
        self.buffer = b""
        self.profile = tempfile.mkdtemp(prefix="leaktide-firefox-")
        port = free_port()
        with open(os.path.join(self.profile, "user.js"), "w") as file:
            file.write('user_pref("marionette.port", %d);\n' % port)
        environment = {**os.environ, "HOME": self.profile, "MOZ_HEADLESS": "1"}
        self.process = subprocess.Popen(
            [find_firefox(), "--marionette", "--headless", "--no-remote", "--profile", self.profile],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
            start_new_session=True)
        try:
            self.connection = self.connect(port)
            self.read()  # it says hello
            self.call("WebDriver:NewSession", {})
        except BaseException:
            self.end()
            raise

    def connect(self, port):
        deadline = time.monotonic() + self.seconds
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", port), 1)
                connection.settimeout(self.seconds)
                return connection
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise BrowserError("Firefox does not answer") from None
                time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.end()

    def end(self):
        """Ends the browser and all its processes."""
        end_group(self.process)
        remove_profile(self.profile)

    def read(self):
        """A message is its length, a colon, and JSON."""
        while b":" not in self.buffer:
            self.receive()
        length, self.buffer = self.buffer.split(b":", 1)
        while len(self.buffer) < int(length):
            self.receive()
        message, self.buffer = self.buffer[:int(length)], self.buffer[int(length):]
        return json.loads(message)

    def receive(self):
        try:
            piece = self.connection.recv(1 << 20)
        except OSError as error:
            raise BrowserError("Firefox does not answer: %s" % error) from None
        if not piece:
            raise BrowserError("Firefox went away")
        self.buffer += piece

    def call(self, command, parameters):
        self.next_id += 1
        message = json.dumps([0, self.next_id, command, parameters]).encode()
        self.connection.sendall(str(len(message)).encode() + b":" + message)
        _, number, error, result = self.read()
        if error:
            raise BrowserError("%s: %s" % (command, error.get("message")))
        assert number == self.next_id
        return result

    def evaluate(self, expression):
        """The value of an expression; of a promise, what it brings."""
        script = "return (async () => (%s))();" % expression
        return self.call("WebDriver:ExecuteScript", {"script": script, "args": []})["value"]

    def open(self, path, fragment=""):
        """Opens a file and waits until the whole page is drawn."""
        self.call("WebDriver:Navigate", {"url": "file://" + os.path.abspath(path) + fragment})
        deadline = time.monotonic() + self.seconds
        while not self.evaluate("document.documentElement.dataset.ready === 'whole'"):
            if time.monotonic() > deadline:
                raise BrowserError("the page was not drawn: " +
                                   str(self.evaluate("document.body.textContent.slice(0, 500)")))
            time.sleep(0.05)

    def screenshot(self, path):
        data = self.call("WebDriver:TakeScreenshot", {"full": True})["value"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
