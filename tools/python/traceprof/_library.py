# SPDX-License-Identifier: MIT
"""The preloaded library's functions, or their absence.

The library is in the process already or it isn't: nothing is loaded here.  The
calls are short and never block, so they keep the interpreter's lock.
"""

import ctypes

_SIGNATURES = {
    "step": (None, ()),
    "push": (None, (ctypes.c_char_p,)),
    "pop": (None, ()),
    "mark": (None, (ctypes.c_char_p,)),
    "counter": (None, (ctypes.c_char_p, ctypes.c_double)),
    "start": (ctypes.c_int, (ctypes.c_char_p,)),
    "stop": (ctypes.c_int, ()),
    "enabled": (ctypes.c_int, ()),
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
