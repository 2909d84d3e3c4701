"""A headless Firefox, driven through a socket in its own protocol, Marionette: nothing to install.

Messages are JSON, each after its length and a colon: [0, number, command, parameters], answered by
[1, number, error, result].
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from tests.insight.page.chromium import Browser

NAMES = ("firefox", "firefox-esr")
PREFERENCES = {
    "app.normandy.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "ui.useOverlayScrollbars": 1,
}
LISTEN = """
globalThis.asked = [];  // by pages: a request of the browser's own is loaded for the system
const observe = (request) => {
  const { loadInfo, URI } = request.QueryInterface(Ci.nsIChannel);
  if (!loadInfo.loadingPrincipal?.isSystemPrincipal) asked.push(URI.spec);
};
Services.obs.addObserver({ observe }, "http-on-modify-request");
Services.console.reset();
"""
COMPLAINTS = """
return Services.console.getMessageArray()
  .filter((each) => each instanceof Ci.nsIScriptError && !(each.flags & Ci.nsIScriptError.warningFlag))
  .filter((each) => /^(http|blob|data|file)/.test(each.sourceName))
  .map(String);
"""
EVALUATE = """
const [text, done] = arguments;
(async () => window.eval(text))().then((value) => done([value]), (error) => done(String(error)));
"""


def find_firefox():
    """The path of a Firefox, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Firefox(Browser):
    """One tab."""

    def __init__(self, patience=60):
        self.patience, self._number, self._unread = patience, 0, b""
        self.profile = tempfile.mkdtemp(prefix="tinyvit-browser-")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        preferences = (PREFERENCES | {"marionette.port": port}).items()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences]
        Path(self.profile, "user.js").write_text("".join(lines))
        self._process = subprocess.Popen(
            [
                *(find_firefox(), "--headless", "--no-remote", "--profile", self.profile),
                *("--marionette", "--remote-allow-system-access"),
            ],
            env=os.environ | {"HOME": self.profile},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + patience
        while True:
            try:
                self._socket = socket.create_connection(("127.0.0.1", port), patience)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self._read()  # its greeting
        self.send("WebDriver:NewSession", capabilities={})
        self.send("WebDriver:SetTimeouts", script=1000 * patience)
        self._behind_the_page(LISTEN)

    def close(self):
        self._process.kill()
        self._process.wait()
        self._socket.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, command, **params):
        """Send a command and return its result."""
        self._number += 1
        message = json.dumps([0, self._number, command, params]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self._read()
        if error:
            raise RuntimeError(f"{command}: {error}")
        return result

    def _read(self):
        while b":" not in self._unread:
            self._receive()
        length, _, self._unread = self._unread.partition(b":")
        while len(self._unread) < int(length):
            self._receive()
        message, self._unread = self._unread[: int(length)], self._unread[int(length) :]
        return json.loads(message)

    def _receive(self):
        piece = self._socket.recv(1 << 16)
        if not piece:
            raise TimeoutError("the browser does not answer")
        self._unread += piece

    def _behind_the_page(self, script):
        """The result of a script of the browser itself."""
        self.send("Marionette:SetContext", value="chrome")
        try:
            return self.send("WebDriver:ExecuteScript", script=script, args=[], sandbox="system")["value"]
        finally:
            self.send("Marionette:SetContext", value="content")

    def go(self, url):
        """Begin to open an address."""
        self.send("WebDriver:Navigate", url=url)

    def evaluate(self, script):
        """The value of an expression in the page; promises are awaited."""
        value = self.send("WebDriver:ExecuteAsyncScript", script=EVALUATE, args=[script], sandbox=None)[
            "value"
        ]
        if isinstance(value, str):
            raise RuntimeError(value)
        return value[0]

    def view(self, width, height):
        """Set the width of the page, which may be less than a window's, and the height of the window."""
        self.send("WebDriver:SetWindowRect", width=max(width, 500), height=height)
        window = 'Services.wm.getMostRecentWindow("navigator:browser")'
        self._behind_the_page(f'{window}.gBrowser.selectedBrowser.style.width = "{width}px";')
        self.wait(f"innerWidth === {width}")

    def requests(self):
        """The addresses that the page has asked for."""
        return self._behind_the_page("return asked")

    def complaints(self):
        """Errors that the page threw, and what its console reported as errors."""
        return self._behind_the_page(COMPLAINTS)
