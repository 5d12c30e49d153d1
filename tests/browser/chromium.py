"""Headless Chromium, driven over a pipe by the protocol of its developer tools, without any package."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # required as root in a container; the browser opens only pages of these tests
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--mute-audio",
    "--remote-debugging-pipe",
)


def find():
    """Return the path of Chromium, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser and its pages.

    Chromium reads commands from its descriptor 3 and writes to 4, JSON with a zero byte after each.
    """

    def __init__(self, path, *, seconds=30.0):
        self.seconds = seconds
        self._numbers = itertools.count(1)
        self._events, self._rest = [], b""
        self._home = tempfile.mkdtemp(prefix="conclust-chromium-")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        command = [path, *FLAGS, f"--user-data-dir={self._home}", "about:blank"]
        # Both ends are moved away from 3 and 4 first, so that neither is closed when the other moves.
        script = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", script, str(to_read), str(to_write), *command],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)

    def close(self):
        """End the browser and remove its files."""
        try:
            self.ask("Browser.close")
        except (OSError, RuntimeError, TimeoutError):
            self._process.kill()
        self._process.wait(20)
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, method, session=None, **parameters):
        """Send a command and return its answer."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.seconds
        while True:
            answer = self._next(end, method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._events.append(answer)

    def events(self, session):
        """Return the events of a page since the last call, after all of them have arrived."""
        self.ask("Target.getTargets")
        mine = [event for event in self._events if event.get("sessionId") == session]
        self._events = [event for event in self._events if event.get("sessionId") != session]
        return mine

    def _next(self, end, what):
        while b"\0" not in self._rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise TimeoutError(f"Chromium did not answer within {self.seconds:.0f} s: {what}.")
            read = os.read(self._read, 1 << 20)
            if not read:
                raise RuntimeError("Chromium has ended.")
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def open(self, path, **look):
        """Open a file in a page of its own; see `Page.look` for its parameters."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        page.look(**look)
        page.go(path)
        return page


class Page:
    """A page: its looks, its text, the user's actions in it."""

    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target
        self.happened = []
        for domain in ("Page", "Runtime", "Log", "Network", "Security"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        return self.browser.ask(method, self.session, **parameters)

    def look(self, *, width=1280, height=900, dark=False, phone=False, still=False, media=""):
        """Set the width of the window in pixels, the light or dark scheme, a phone or not, and screen or print."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"},
        ]
        self.ask("Emulation.setEmulatedMedia", features=features, media=media)

    def go(self, path):
        """Load a file, and wait until it is loaded."""
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        end = time.monotonic() + self.browser.seconds
        while not any(event["method"] == "Page.loadEventFired" for event in self.all_events()):
            if time.monotonic() > end:
                raise TimeoutError(f"{path} was not loaded.")
            time.sleep(0.02)

    def all_events(self):
        """Return all that happened in this page."""
        self.happened += self.browser.events(self.session)
        return self.happened

    def troubles(self):
        """Return errors, violations of the policy, dialogs, and network requests."""
        values = []
        for event in self.all_events():
            name, what = event["method"], event["params"]
            if name == "Runtime.exceptionThrown":
                values.append(
                    what["exceptionDetails"].get("exception", {}).get("description", str(what))
                )
            elif name == "Runtime.consoleAPICalled" and what["type"] in (
                "error",
                "warning",
                "assert",
            ):
                values.append(str(what["args"]))
            elif name == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                values.append(what["entry"]["text"])
            elif name == "Page.javascriptDialogOpening":
                values.append(f"dialog: {what['message']}")
            elif name == "Network.requestWillBeSent":
                address = what["request"]["url"]
                if not address.startswith(("file:", "data:", "blob:")):
                    values.append(f"requested {address}")
        return values

    def run(self, script):
        """Return the value of a JavaScript expression."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", script))
        return answer["result"].get("value")

    def press(self, key, text=None):
        """Press a key, by its name ("Enter", "Escape", "Tab")."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, " ": 32}
        typed = {"Enter": "\r", " ": " "}.get(key, text)
        more = {"text": typed} if typed else {}
        code = codes.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key if key in ("Enter", "Escape", "Tab") else "",
                windowsVirtualKeyCode=code,
                **(more if kind == "keyDown" else {}),
            )

    def type(self, text):
        """Type a text where the cursor is."""
        self.ask("Input.insertText", text=text)

    def picture(self, path, *, whole=True):
        """Write a PNG of the whole page, or of the window."""
        more = {}
        if whole:
            size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
            more = {"clip": clip, "captureBeyondViewport": True}
        content = self.ask("Page.captureScreenshot", format="png", **more)["data"]
        Path(path).write_bytes(base64.b64decode(content))

    def print(self, path):
        """Write the printed page as PDF."""
        content = self.ask(
            "Page.printToPDF",
            printBackground=True,
            preferCSSPageSize=True,
            paperWidth=8.27,
            paperHeight=11.69,
        )["data"]
        Path(path).write_bytes(base64.b64decode(content))
