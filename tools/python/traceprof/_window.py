# SPDX-License-Identifier: MIT
"""One recording window, and the file that it becomes.

The library writes a window's file in its own folder while the program goes on.
What wants it elsewhere waits for it to be whole, then links it there.
"""

import collections
import glob
import json
import os
import re
import shutil
import time
import zlib

from . import _library

# As the library saw them when the process started.
_FOLDER = os.path.abspath(os.environ.get("TRACEPROF_DIR") or "./traceprof")


def _files():
    """This process's files, oldest first."""
    pattern = re.compile(rf"_{os.getpid()}(_rank\d+)?\.(\d+)\.pt\.trace\.json")
    found = []
    for path in glob.glob(os.path.join(glob.escape(_FOLDER), "*.pt.trace.json*")):
        match = pattern.search(os.path.basename(path))
        if match:
            found.append((int(match.group(2)), path))
    return [path for _, path in sorted(found)]


_NAME = re.compile(rb'"step":\{[^}]*?"name":("(?:[^"\\]|\\.)*")')
_old = set(_files())            # of a process that had our number before
_names = {}                     # of windows that are written, by path
_counts = collections.Counter() # windows of ours, by name


def _name_of(path):
    """The name of the window, None while more may be written: a file says at
    its end whether it is final."""
    if path in _names:
        return _names[path]
    last = b""
    try:
        with open(path, "rb") as file:
            coder = zlib.decompressobj(31) if path.endswith(".gz") else None
            for piece in iter(lambda: file.read(1 << 20), b""):
                last = (last + (coder.decompress(piece) if coder else piece))[-(1 << 20):]
    except (OSError, zlib.error):
        return None
    if b'"final":true' not in last:
        return None
    found = _NAME.search(last)
    _names[path] = json.loads(found.group(1)) if found else ""
    return _names[path]


class Window:
    """A window that may not be recording: another one was, or no library."""

    active = None               # the one of ours that is open

    def __init__(self, name, folder=None):
        self._name = str(name)
        self._text = _library.text(name).decode("utf-8")
        self._folder = folder
        self._path = None
        self._number = _counts[self._name]
        self.recorded = (_library.expect_preloaded()
                         and _library.call("start", _library.text(name)) == 0)
        self._open = self.recorded
        if self.recorded:
            _counts[self._name] += 1
            Window.active = self
        elif _library.is_preloaded():
            self._refuse()

    @property
    def is_open(self):
        """True while it records."""
        return self._open

    @staticmethod
    def refuse(name):
        """Says that another one is recording."""
        active = Window.active._name if Window.active else name
        _library.say_once(f"a window is already active, {active!r}: "
                          f"{name!r} is not recorded on its own")

    def _refuse(self):
        if Window.active:
            self.refuse(self._name)
        else:
            _library.say_once("the run is recorded as a whole or by its schedule "
                              "already: windows are only marked in it; "
                              "TRACEPROF_STEP=manual leaves them to the program")

    def stop(self):
        """Ends the window; the program goes on at once."""
        if self._open:
            self._open = False
            Window.active = None
            _library.call("stop")

    def result(self, timeout=10.0):
        """The path of the finished file; None if nothing was recorded or it is
        not written within `timeout` seconds."""
        self.stop()
        deadline = time.monotonic() + timeout
        while self.recorded and not self._path:
            named = [path for path in _files()
                     if path not in _old and _name_of(path) == self._text]
            if len(named) > self._number:
                self._path = self._place(named[self._number])
            elif time.monotonic() >= deadline:
                break
            else:
                time.sleep(0.02)
        return self._path

    def _place(self, path):
        if self._folder is None:
            return path
        os.makedirs(self._folder, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", self._name) or "trace"
        number = os.path.basename(path).split(".pt.trace", 1)[0].rsplit(".", 1)[1]
        wanted = os.path.join(self._folder, f"{name}.{number}.pt.trace.json"
                              + (".gz" if path.endswith(".gz") else ""))
        try:
            os.link(path, wanted)
        except OSError:
            shutil.copyfile(path, wanted)
        return wanted

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()
