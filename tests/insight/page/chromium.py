"""A headless Chromium, driven through two pipes in the protocol of its developer tools: nothing to install.

Messages are JSON, each followed by a zero byte. Chromium reads them from file descriptor 3 and writes to 4.
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--remote-debugging-pipe", "--disable-background-networking", "--disable-dev-shm-usage"),
)


def find_browser():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


LEAVING = ("navigated or closed", "context was destroyed", "Cannot find context")


class Browser:
    """The driver of a page in any browser."""

    def wait(self, condition):
        """Wait until an expression is true in the page."""
        end = time.monotonic() + self.patience
        while not self.is_true(condition):
            assert time.monotonic() < end, f"still not: {condition}"
            time.sleep(0.02)

    def is_true(self, condition):
        """True if an expression is true in the page, and not while another page takes its place."""
        try:
            return self.evaluate(f"Boolean({condition})")
        except RuntimeError as error:
            if not any(words in str(error) for words in LEAVING):
                raise
            return False


class Chromium(Browser):
    """One tab. evaluate(...) runs JavaScript in it; events lists what it reported, such as requests."""

    def __init__(self, patience=60):
        self.profile = tempfile.mkdtemp(prefix="tinyvit-browser-")
        (theirs_in, self._out), (self._in, theirs_out) = os.pipe(), os.pipe()
        # The shell moves the two pipes to descriptors 3 and 4, where Chromium expects them.
        moved = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", moved, "bash", find_browser(), *FLAGS, f"--user-data-dir={self.profile}"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.patience, self.events = patience, []
        self._number, self._unread, self._session = 0, b"", None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, **params):
        """Send a command and return its result; what else arrives meanwhile is kept in events."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.patience
        while True:
            answer = self._read(end)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _read(self, end):
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            piece = os.read(self._in, 1 << 16) if ready else b""
            if not piece:
                raise TimeoutError("the browser does not answer")
            self._unread += piece
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def go(self, url):
        """Begin to open an address."""
        self.send("Page.navigate", url=url)

    def open(self, path):
        """Open a file, and wait until its page has computed an answer."""
        self.go(Path(path).resolve().as_uri())
        self.wait("typeof state === 'object' && state.result && !busy && !planned")

    def evaluate(self, script):
        """The value of an expression in the page; promises are awaited."""
        result = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def settle(self):
        """Wait until the page has computed and drawn all that was asked of it."""
        self.wait("!busy && done === asked && !planned")

    def view(self, width, height, dark=False, touch=False):
        """Set the size of the window in CSS pixels, light or dark, and whether fingers touch it."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch}
        self.send("Emulation.setDeviceMetricsOverride", **metrics)
        self.send("Emulation.setTouchEmulationEnabled", enabled=touch)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def place(self, selector, x=0.5, y=0.5):
        """The place of a point of an element in the window, once in view; x and y are shares of its size."""
        return self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect();"
            f"return [b.left + {x} * b.width, b.top + {y} * b.height] }})()"
        )

    def mouse(self, kind, x, y, buttons=1):
        params = {"x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type=kind, **params)

    def drag(self, *points):
        """Press the mouse at the first point, go through the others, and let go."""
        self.mouse("mousePressed", *points[0])
        for point in points[1:]:
            self.mouse("mouseMoved", *point)
        self.mouse("mouseReleased", *points[-1], buttons=0)
        self.settle()

    def click(self, selector, x=0.5, y=0.5):
        self.drag(self.place(selector, x, y))

    def touch(self, *points):
        """The same with a finger."""
        self.send(
            "Input.dispatchTouchEvent",
            type="touchStart",
            touchPoints=[dict(zip("xy", points[0], strict=True))],
        )
        for x, y in points[1:]:
            self.send("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def key(self, name, text=""):
        codes = {
            "Tab": 9,
            "Enter": 13,
            " ": 32,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
        }
        params = {
            "key": name,
            "windowsVirtualKeyCode": codes[name],
            "text": text or ("\r" if name == "Enter" else ""),
        }
        self.send("Input.dispatchKeyEvent", type="keyDown", **params)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=codes[name])
        self.settle()

    def requests(self):
        """The addresses that the page has asked for."""
        self.evaluate("0")
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def complaints(self):
        """Errors that the page threw, and what its console reported as errors."""
        self.evaluate("0")
        thrown = [e["params"] for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        logged = [e["params"]["entry"] for e in self.events if e.get("method") == "Log.entryAdded"]
        return thrown + [entry for entry in logged if entry["level"] == "error"]
