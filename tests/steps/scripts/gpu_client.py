# SPDX-License-Identifier: MIT
"""CUDA's driver by ctypes, for scripts whose kernels do nothing: only their order and
the lines that they are called from count."""

import ctypes
import os

_driver = ctypes.CDLL("libcuda.so.1")
_text = ".visible .entry %s(.param .u64 data)\n{\n\tret;\n}\n"
_host = ctypes.create_string_buffer(64)


def _check(error):
    if error:
        raise SystemExit(f"CUDA's driver: error {error}")


def _start():
    device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    _check(_driver.cuInit(0))
    _check(_driver.cuDeviceGet(ctypes.byref(device), 0))
    _check(_driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    _check(_driver.cuCtxSetCurrent(context))
    _check(_driver.cuMemAlloc_v2(ctypes.byref(memory), 4096))
    return memory


_memory = _start()
_arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(_memory), ctypes.c_void_p))


def kernels(*names):
    """One of each name."""
    module, found = ctypes.c_void_p(), []
    text = ".version 7.0\n.target sm_50\n.address_size 64\n" + "".join(
        _text % name for name in names)
    _check(_driver.cuModuleLoadData(ctypes.byref(module), text.encode()))
    for name in names:
        function = ctypes.c_void_p()
        _check(_driver.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
        found.append(function)
    return found


# A library whose code can't be read calls the driver, as most libraries do.
_closed = os.environ.get("CLOSED_LIBRARY")
_calls = ctypes.CDLL(_closed) if _closed else _driver


def launch(kernel):
    _check(_calls.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, _arguments, None))


def read():
    """Waits for a result."""
    _check(_calls.cuMemcpyDtoH_v2(_host, _memory, 64))
