# SPDX-License-Identifier: MIT
"""What the GPU training programs share: marked steps, times, exact losses.

A step is marked in each way that there is: by traceprof.h's functions where the
library is preloaded ("train_step"), and by whatever the program adds.
"""

import contextlib
import ctypes
import json
import time


def annotation_calls():
    """(push, pop) of the library, or None where it isn't preloaded."""
    try:
        process = ctypes.CDLL(None)
        push, pop = process.traceprof_push_, process.traceprof_pop_
    except (AttributeError, OSError):
        return None
    push.argtypes, push.restype = [ctypes.c_char_p], None
    pop.argtypes, pop.restype = [], None
    return push, pop


class Steps:
    """Times each step from begin to end and keeps the losses to the last bit."""

    def __init__(self, *also):
        self.calls = annotation_calls()
        self.also = also        # context managers to be made for each step
        self.losses = []
        self.times_ms = []

    def run(self, step):
        """`step()` gives the loss, which makes it wait for the GPU."""
        with contextlib.ExitStack() as stack:
            for make in self.also:
                stack.enter_context(make())
            if self.calls:
                self.calls[0](b"train_step")
                stack.callback(self.calls[1])
            start = time.perf_counter()
            loss = step()
            self.times_ms.append((time.perf_counter() - start) * 1000)
        self.losses.append(float(loss).hex())

    def write(self, path, **more):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"losses": self.losses, "step_ms": self.times_ms, **more}, file)
