"""A real browser without a window, driven through its own protocol (Chrome DevTools)."""

import base64
import io
import itertools
import json
import shutil
import subprocess
import time
import urllib.request

import numpy as np
import pytest
from PIL import Image

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)


def browser_or_skip():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser on this machine (one of {', '.join(BROWSERS)})")
    return found


class Tab:
    """A page in a browser of its own.

    Args:
        folder: for the browser's profile.
        url: what it opens.
        size: [pixels] of the picture.
    """

    def __init__(self, folder, url, size=(1200, 800)):
        connect = pytest.importorskip("websockets.sync.client").connect
        profile = folder / "profile"
        how = [f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"]
        command = [browser_or_skip(), *FLAGS, *how, "about:blank"]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdout=quiet, stderr=quiet)
        told = profile / "DevToolsActivePort"
        try:
            self.wait(lambda: told.exists() and told.read_text().count("\n") >= 1)
            port = told.read_text().split()[0]
            self.wait(lambda: self._pages(port))
            page = self._pages(port)[0]
            self.socket = connect(page["webSocketDebuggerUrl"], max_size=None).__enter__()
        except BaseException:
            self.process.kill()
            raise
        self.numbers = itertools.count(1)
        self.log = []  # texts of the browser's console: requests that failed, and errors
        self.ask("Log.enable")
        self.resize(*size)
        self.open(url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait(900)

    def resize(self, width, height):
        """Give the window another size [pixels]."""
        size = {"width": width, "height": height}
        self.ask("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)

    def open(self, url):
        """Go to that page and wait until all of it is loaded: before, it may have no body."""
        answer = self.ask("Page.navigate", url=url)
        assert "errorText" not in answer, answer
        self.wait(lambda: self.run("document.readyState") == "complete")

    @staticmethod
    def _pages(port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=100) as answer:
            return [p for p in json.load(answer) if p["type"] == "page"]

    @staticmethod
    def wait(what, seconds=400):
        """Until ``what`` is true; gives it."""
        end = time.monotonic() + seconds
        while True:
            found = what()
            if found:
                return found
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.1)

    def ask(self, method, **params):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.recv(timeout=900))
            if answer.get("method") == "Log.entryAdded":
                entry = answer["params"]["entry"]
                self.log.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def run(self, script):
        """The value of a JavaScript expression; promises are waited for."""
        how = {"returnByValue": True, "awaitPromise": True}
        result = self.ask("Runtime.evaluate", expression=script, **how)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def text(self):
        return self.run("document.body ? document.body.innerText : ''")

    def picture(self):
        """(h,w,3) of what the page shows."""
        png = base64.b64decode(self.ask("Page.captureScreenshot")["data"])
        with Image.open(io.BytesIO(png)) as image:
            return np.asarray(image.convert("RGB")).astype(int)

    def click(self, text):
        """The middle of the button of that text."""
        x, y = self.run(
            "(() => { const b = [...document.querySelectorAll('button')].find("
            f"(e) => e.innerText.trim() === {json.dumps(text)}).getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
