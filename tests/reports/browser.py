"""A headless Chromium, spoken to over a pipe: what a page renders to, logs, and asks the network for."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find() -> str | None:
    """Return the path of a Chromium, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one page; messages end with a null byte, as the protocol of a pipe has it."""

    def __init__(self, folder: Path) -> None:
        path = find()
        assert path is not None
        theirs_in, self.to = os.pipe()
        self.back, theirs_out = os.pipe()
        # the browser reads from 3 and writes to 4: out of their way first, whatever numbers the pipes have
        high = [os.dup2(end, 100 + number, inheritable=False) for number, end in enumerate((theirs_in, theirs_out))]

        def arrange() -> None:
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [
                path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--disable-background-networking", "--no-first-run", f"--user-data-dir={folder}",
                "--remote-debugging-pipe", "about:blank",
            ],
            preexec_fn=arrange, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder), "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
        )  # fmt: skip
        for end in (theirs_in, theirs_out, *high):
            os.close(end)
        self.number, self.rest, self.events = 0, b"", []
        target = next(
            one for one in self.call("Target.getTargets", session=None)["targetInfos"] if one["type"] == "page"
        )
        attached = self.call("Target.attachToTarget", session=None, targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, *, session: str | None = "own", **params: Any) -> dict[str, Any]:
        """Call a method of the protocol, and return what it gives back; events on the way are kept."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            got = self._next()
            if got.get("id") == self.number:
                assert "error" not in got, got
                return got["result"]
            self.events.append(got)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            part = os.read(self.back, 1 << 20)
            assert part, "the browser ended"
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\0")
        return json.loads(line)

    def open(self, page: Path, *, width: int, dark: bool = False, height: int = 900) -> None:
        """Open a file in a window of this size."""
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=page.as_uri())
        end = time.monotonic() + 600
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            assert time.monotonic() < end, "the page did not load"
            self.events.append(self._next())

    def ask(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    @property
    def complaints(self) -> list[str]:
        """What the page logged, or threw."""
        names = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(one["params"]) for one in self.events if one.get("method") in names]

    @property
    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        return [
            one["params"]["request"]["url"] for one in self.events if one.get("method") == "Network.requestWillBeSent"
        ]

    def screenshot(self, path: Path, *, top: float = 0, height: float | None = None) -> None:
        """Write a picture of the whole page, or of a stretch of it."""
        whole = self.ask("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": top, "width": whole[0], "height": height or whole[1], "scale": 1}
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """End the browser."""
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for end in (self.to, self.back):
            os.close(end)
