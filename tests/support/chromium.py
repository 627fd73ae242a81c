"""A page in a headless Chromium, driven over the DevTools protocol."""

import asyncio
import base64
import json
import os
import shutil
import signal
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientSession, ClientWebSocketResponse

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WAIT_SECONDS = 60.0
_OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--window-size=1280,800",
    "--remote-debugging-port=0", "--remote-allow-origins=*",
)  # fmt: skip
# xterm.js draws with WebGL, from which no text can be read; without it, rows of text are elements of the page.
_WITHOUT_WEBGL = (
    "const get = HTMLCanvasElement.prototype.getContext;"
    "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
    " return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest) };"
)


class Chromium:
    """A browser with one page; its files are in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ids = count(1)

    async def __aenter__(self) -> Self:
        assert CHROMIUM is not None
        self._process = await asyncio.create_subprocess_exec(
            CHROMIUM, *_OPTIONS, f"--user-data-dir={self._folder}", "about:blank",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        self._http = ClientSession()
        port = await self._wait_for_port()
        async with self._http.get(f"http://127.0.0.1:{port}/json/list") as answer:
            pages = await answer.json()
        page = next(page for page in pages if page["type"] == "page")
        self._link: ClientWebSocketResponse = await self._http.ws_connect(
            page["webSocketDebuggerUrl"], max_msg_size=1 << 28
        )
        await self.call("Page.enable")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def _wait_for_port(self) -> str:
        file = self._folder / "DevToolsActivePort"
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                if file.is_file() and (lines := file.read_text().splitlines()):
                    return lines[0]
                await asyncio.sleep(0.05)

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        number = next(self._ids)
        await self._link.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(WAIT_SECONDS):
            async for message in self._link:
                answer = json.loads(message.data)
                if answer.get("id") == number:
                    assert "error" not in answer, answer
                    result = answer["result"]
                    assert isinstance(result, dict)
                    return result
        raise AssertionError("the browser has closed the connection")

    async def open(self, url: str, *, readable: bool = True) -> None:
        """Open a page. With `readable`, the text of its terminal can be read; without, it is drawn as for a person."""
        if readable:
            await self.call("Page.addScriptToEvaluateOnNewDocument", source=_WITHOUT_WEBGL)
        await self.call("Page.navigate", url=url)

    async def evaluate(self, code: str) -> Any:
        """Return the value of JavaScript code in the page."""
        result = await self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def text(self) -> str:
        """Return the text of the page's terminal and of the page itself."""
        rows = "[...document.querySelectorAll('.xterm-rows > div')].map(row => row.textContent).join('\\n')"
        return str(await self.evaluate(f"{rows} + (document.body?.innerText ?? '')")).replace("\xa0", " ")

    async def wait_for(self, text: str) -> str:
        """Wait until a text is on the page, and return all of it."""
        shown = ""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while text not in shown:
                    await asyncio.sleep(0.05)
                    shown = await self.text()
        except TimeoutError:
            raise AssertionError(f"{text!r} is not on the page:\n{shown}") from None
        return shown

    async def press(self, *keys: str) -> None:
        """Press keys: single characters, or names such as `Enter`."""
        codes = {"Enter": ("\r", 13), "Escape": ("", 27), "Tab": ("", 9)}
        for key in keys:
            text, code = codes.get(key, (key, ord(key[0].upper())))
            pressed = {"key": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
            await self.call("Input.dispatchKeyEvent", type="keyDown", **pressed)
            await self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def paste(self, text: str) -> None:
        """Paste a text into the page's terminal."""
        await self.evaluate(
            "{const held = new DataTransfer(); held.setData('text/plain', TEXT);"
            "document.querySelector('.xterm-helper-textarea').dispatchEvent("
            "new ClipboardEvent('paste', {clipboardData: held, bubbles: true, cancelable: true}))}".replace(
                "TEXT", json.dumps(text)
            )
        )

    async def screenshot(self) -> bytes:
        """Return a picture of the page as PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot"))["data"])
