# SPDX-License-Identifier: MIT
"""The preloaded library's functions, or their absence.

The library is in the process already or it isn't: nothing is loaded here.  The
calls are short and never block, so they keep the interpreter's lock.
"""

import ctypes
import sys
import warnings


class Total(ctypes.Structure):
    """struct traceprof_total."""
    _fields_ = [("name", ctypes.c_char_p), ("category", ctypes.c_char_p),
                ("calls", ctypes.c_uint64), ("total_ns", ctypes.c_uint64),
                ("min_ns", ctypes.c_uint64), ("max_ns", ctypes.c_uint64)]


Each = ctypes.PYFUNCTYPE(None, ctypes.POINTER(Total), ctypes.c_void_p)

_SIGNATURES = {
    "step": (None, ()),
    "push": (None, (ctypes.c_char_p,)),
    "pop": (None, ()),
    "mark": (None, (ctypes.c_char_p,)),
    "counter": (None, (ctypes.c_char_p, ctypes.c_double)),
    "start": (ctypes.c_int, (ctypes.c_char_p,)),
    "stop": (ctypes.c_int, ()),
    "enabled": (ctypes.c_int, ()),
    "totals": (ctypes.c_int, (Each, ctypes.c_void_p)),
    "reset": (None, ()),
    "report": (None, (ctypes.c_int,)),
}


def _find():
    """Functions by name; empty when the library isn't preloaded."""
    process = ctypes.PyDLL(None)
    found = {}
    for name, (result, arguments) in _SIGNATURES.items():
        try:
            function = getattr(process, f"traceprof_{name}_")
        except AttributeError:
            return {}
        function.restype = result
        function.argtypes = arguments
        found[name] = function
    return found


_functions = _find()


def is_preloaded():
    """True if the library is in this process."""
    return bool(_functions)


def call(name, *arguments):
    """Calls traceprof_NAME_(); None when the library isn't there."""
    function = _functions.get(name)
    return function(*arguments) if function else None


def text(name):
    """A name as the library takes it."""
    return str(name).encode("utf-8", "replace").replace(b"\0", b" ")


_said = set()


def _level():
    """How far up the program's own line is, as warnings count."""
    frame, level = sys._getframe(2), 2
    while frame.f_back and (frame.f_globals.get("__name__", "").partition(".")[0]
                            in ("traceprof", "contextlib")):
        frame, level = frame.f_back, level + 1
    return level


def say_once(what):
    """A warning, the first time that it is true."""
    if what not in _said:
        _said.add(what)
        warnings.warn("traceprof: " + what, RuntimeWarning, stacklevel=_level())


def expect_preloaded():
    """Says once that nothing will be recorded."""
    if not _functions:
        say_once("libtraceprof.so is not preloaded, so nothing is recorded")
    return bool(_functions)
