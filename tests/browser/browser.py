# SPDX-License-Identifier: Apache-2.0
"""
Drives Chromium through its DevTools protocol, over a pipe: no driver, no package, no port.

    with Browser() as browser:
        page = browser.open(path)
        page.evaluate("document.title")

Every wait has an end: a browser that does not answer raises BrowserError. What the page complains
about is in page.complaints, what it asks of a network in page.requests.
"""
import base64
import glob
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

CANDIDATES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# A browser that was just installed is read from the disk while other tests run.
START_SECONDS = 40
STARTS = 3


class BrowserError(Exception):
    """The browser is not there, does not answer, or the page threw."""


def find_browser():
    """Path of a Chromium, or None."""
    wanted = os.environ.get("MT_CHROMIUM")
    if wanted:
        return wanted if os.path.exists(wanted) else None
    for name in CANDIDATES:
        found = shutil.which(name)
        if found:
            return found
    return None


def group_is_gone(group):
    """Is none of its processes left that could still write? What waits for its parent alone cannot."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                state, _, its_group = file.read().rsplit(")", 1)[1].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state not in "ZX":
            return False
    return True


def end_group(process):
    """Ends a process and all of its group, and waits until none of them can write any more."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait(10)
    deadline = time.monotonic() + 10
    while not group_is_gone(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)


def remove_profile(profile):
    """Removes the folder of a profile, and the one of Chromium's socket that it leads to."""
    try:
        shutil.rmtree(os.path.dirname(os.readlink(os.path.join(profile, "SingletonSocket"))), ignore_errors=True)
    except OSError:
        pass  # a browser that ended by itself removed it
    shutil.rmtree(profile)


class Browser:
    """One headless browser with a profile of its own, which goes with it."""

    def __init__(self, seconds=30, size=(1400, 1000), language="en-US", options=()):
        self.seconds = seconds
        self.next_id = 0
        self.buffer = b""
        self.events = []
        self.profile = tempfile.mkdtemp(prefix="leaktide-browser-")
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()
        program = find_browser()
        if not program:
            raise BrowserError("no Chromium")
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
                   "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                   f"--lang={language}", f"--window-size={size[0]},{size[1]}",
                   f"--user-data-dir={self.profile}", "--remote-debugging-pipe", *options, "about:blank"]

        def set_up():
            # The browser reads from 3 and writes to 4; both may be taken, so by way of high numbers.
            os.setsid()
            high = [os.dup2(to_browser, 1003), os.dup2(from_browser, 1004)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, preexec_fn=set_up, pass_fds=(3, 4),
                                        env={**os.environ, "LANGUAGE": language.replace("-", "_")})
        os.close(to_browser)
        os.close(from_browser)
        self.wait_until_it_opens_pages()

    def wait_until_it_opens_pages(self):
        """Opens and closes a page: the first may take much longer than the others, and may be lost."""
        usual, self.seconds = self.seconds, START_SECONDS
        for start in range(STARTS):
            try:
                target = self.call("Target.createTarget", url="about:blank")["targetId"]
                self.call("Target.closeTarget", targetId=target)
                break
            except BrowserError:
                if start == STARTS - 1 or self.process.poll() is not None:
                    self.close()
                    raise
        self.seconds = usual

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser and all its processes, and takes away what they wrote."""
        try:
            self.seconds = 10
            self.call("Browser.close")
        except (BrowserError, OSError):
            pass  # it is ended below
        for end in (self.out, self.into):
            os.close(end)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        end_group(self.process)
        remove_profile(self.profile)

    def read_message(self, deadline):
        """The next message, or None at the deadline."""
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.into], [], [], left)[0]:
                return None
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise BrowserError("the browser went away")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """Asks and waits for the answer; events that come meanwhile are kept."""
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        deadline = time.monotonic() + self.seconds
        while True:
            answer = self.read_message(deadline)
            if answer is None:
                raise BrowserError(f"{method}: no answer in {self.seconds} s")
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, fragment="", is_dark=False, scripts=(), size=None,
             until="document.documentElement?.dataset.ready === 'whole'"):
        """Opens a file and waits until the whole page is drawn, or until something else is so."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.set_dark(is_dark)
        if size:
            page.set_size(*size)
        for script in scripts:
            page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        page.call("Page.navigate", url=f"file://{os.path.abspath(path)}{fragment}")
        page.wait_for(until)
        return page


class Page:
    """A page that is open."""

    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        """The value of an expression; of a promise, what it brings."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait_for(self, expression):
        deadline = time.monotonic() + self.browser.seconds
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > deadline:
                raise BrowserError(f"did not come true: {expression}; {self.complaints()}")
            time.sleep(0.02)

    def press(self, key, shift=False, alt=False):
        """A key, pressed and released, where the focus is."""
        text = key if len(key) == 1 else {"Enter": "\r", "Space": " "}.get(key, "")
        name = " " if key == "Space" else key
        modifiers = (8 if shift else 0) | (1 if alt else 0)
        codes = {"Tab": 9, "Enter": 13, "Space": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40, "Escape": 27, "Backspace": 8}
        code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=name, text=text,
                  modifiers=modifiers, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, modifiers=modifiers,
                  windowsVirtualKeyCode=code)

    def touch(self, *moments):
        """Fingers on the glass: lists of points, one moment after the other; then they are lifted."""
        for i, points in enumerate(moments):
            self.call("Input.dispatchTouchEvent", type="touchMove" if i else "touchStart",
                      touchPoints=[{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(points)])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def type(self, text):
        for letter in text:
            self.press(letter)

    def drag(self, start, end):
        """The left button, from one point of the window to another."""
        def mouse(kind, point, **more):
            self.call("Input.dispatchMouseEvent", type=kind, x=point[0], y=point[1], **more)
        mouse("mouseMoved", start)
        mouse("mousePressed", start, button="left", buttons=1, clickCount=1)
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        mouse("mouseMoved", middle, button="left", buttons=1)
        mouse("mouseMoved", end, button="left", buttons=1)
        mouse("mouseReleased", end, button="left", clickCount=1)

    def set_dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def set_size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)

    def screenshot(self, path, selector=None):
        """A picture of an element, or of what the window shows."""
        parameters = {"format": "png"}
        if selector:
            box = self.evaluate(
                f"(() => {{ const b = document.querySelector({json.dumps(selector)})"
                ".getBoundingClientRect(); return [b.left + scrollX, b.top + scrollY, b.width, b.height];"
                " })()")
            parameters.update(captureBeyondViewport=True, clip={
                "x": max(0, box[0] - 8), "y": max(0, box[1] - 8), "width": box[2] + 16,
                "height": min(box[3] + 16, 3000), "scale": 1})
        data = self.call("Page.captureScreenshot", **parameters)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def mine(self, method):
        return [event["params"] for event in self.browser.events
                if event["method"] == method and event.get("sessionId") == self.session]

    def complaints(self):
        """Exceptions, console errors and warnings, violations of the security policy."""
        found = [each["exceptionDetails"].get("exception", {}).get("description",
                                                                  each["exceptionDetails"]["text"])
                 for each in self.mine("Runtime.exceptionThrown")]
        found += [" ".join(str(argument.get("value", argument.get("description", "")))
                           for argument in each["args"])
                  for each in self.mine("Runtime.consoleAPICalled") if each["type"] in ("error", "warning")]
        found += [each["entry"]["text"] for each in self.mine("Log.entryAdded")
                  if each["entry"]["level"] in ("error", "warning")]
        return found

    def requests(self):
        """Addresses that the page asked for, except itself and what is inside of it."""
        addresses = [each["request"]["url"] for each in self.mine("Network.requestWillBeSent")]
        return [each for each in addresses[1:] if not each.startswith(("data:", "blob:"))]
