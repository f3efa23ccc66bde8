# SPDX-License-Identifier: MIT
"""Steps, scopes and recording windows for traceprof.

    LD_PRELOAD=libtraceprof.so python train.py

Without the library in the process everything here does nothing, so a program
may keep its calls.  Windows (profile_function, profile_trace, capture_async,
Profiler) need TRACEPROF_STEP=manual: otherwise the whole run is one window
already, and they only mark where they were.
"""

import contextlib
import functools
import statistics
import time
from collections import namedtuple

from . import _library
from ._window import Window

__version__ = "0.1"
__all__ = ["is_preloaded", "enabled", "step", "scope", "mark", "counter",
           "profile_function", "profile_trace", "capture_async", "Profiler",
           "Benchmark", "benchmark_function"]

is_preloaded = _library.is_preloaded


def enabled():
    """True while something is recorded."""
    return bool(_library.call("enabled"))


def step():
    """A step begins here."""
    _library.call("step")


def mark(name):
    """An instant on the time line."""
    _library.call("mark", _library.text(name))


def counter(name, value):
    """A value over time."""
    _library.call("counter", _library.text(name), float(value))


class scope(contextlib.ContextDecorator):
    """A named slice around a block, or around each call of a function.

        with scope("load"): ...

        @scope("forward")
        def forward(x): ...
    """

    def __init__(self, name):
        self._text = _library.text(name)

    def __enter__(self):
        _library.call("push", self._text)
        return self

    def __exit__(self, *unused):
        _library.call("pop")
        return False


def profile_function(function=None, *, warmup_steps=0, steps=1, log_dir=None):
    """Records `steps` calls of a function, each in a window of its own, after
    `warmup_steps` calls that pass unrecorded."""
    if function is None:
        return functools.partial(profile_function, warmup_steps=warmup_steps,
                                 steps=steps, log_dir=log_dir)
    name = function.__qualname__
    calls = 0

    @functools.wraps(function)
    def wrapper(*arguments, **named):
        nonlocal calls
        calls += 1
        if calls <= warmup_steps or calls > warmup_steps + steps:
            return function(*arguments, **named)
        with profile_trace(log_dir, name):      # with a slice of that name
            return function(*arguments, **named)
    return wrapper


@contextlib.contextmanager
def profile_trace(dir=None, name="trace"):
    """Records the block as one trace.  With `dir` the file is put there too, as
    NAME.NUMBER.pt.trace.json.gz, and the end of the block waits for it.  Gives
    the window: window.result() is the path."""
    window = Window(name, dir)
    try:
        with scope(name):
            yield window
    finally:
        window.stop()
        if dir is not None:
            window.result()


def capture_async(name="capture", dir=None):
    """Begins to record and returns at once: window.stop() ends it from wherever
    in the program, window.result(timeout) waits for the file."""
    return Window(name, dir)


class Profiler:
    """Records the first `num_steps` steps after `warmup_steps`.

        profiler = Profiler(num_steps=5, log_dir="traces")
        for batch in batches:
            profiler.begin_step()
            ...
            profiler.end_step()
    """

    def __init__(self, num_steps, log_dir=None, *, warmup_steps=0, name="steps"):
        if num_steps < 1:
            raise ValueError("num_steps must be at least 1")
        self._num_steps = num_steps
        self._warmup_steps = warmup_steps
        self._log_dir = log_dir
        self._name = name
        self._begun = 0
        self._window = None
        self._scope = None

    @property
    def step_number(self):
        """Steps that were begun."""
        return self._begun

    def begin_step(self):
        """A step begins; one that was not ended ends here."""
        if self._scope:
            self.end_step()
        if self._begun == self._warmup_steps:
            self._window = Window(self._name, self._log_dir)
        _library.call("step")
        self._scope = scope(f"step {self._begun}")
        self._scope.__enter__()
        self._begun += 1

    def end_step(self):
        """The step ends, and with the last one the window."""
        if not self._scope:
            return
        self._scope.__exit__()
        self._scope = None
        if self._begun == self._warmup_steps + self._num_steps:
            self.stop()

    def stop(self):
        """Ends the window early; waits for the file if it has a folder."""
        if self._window:
            self._window.stop()
            if self._log_dir is not None:
                self._window.result()

    def result(self, timeout=10.0):
        """The path of the file, None if nothing was recorded."""
        return self._window.result(timeout) if self._window else None


Benchmark = namedtuple("Benchmark", "mean std median min max times")
Benchmark.__doc__ = "Seconds of one call over several; `times` are all of them."


def benchmark_function(function, *arguments, warmup=3, repeat=10, name=None,
                       **named):
    """Calls a function `repeat` times after `warmup` calls and returns what one
    call takes.  Each is a scope in the trace."""
    if repeat < 1:
        raise ValueError("repeat must be at least 1")
    label = name or getattr(function, "__qualname__", repr(function))
    for _ in range(warmup):
        function(*arguments, **named)
    times = []
    for _ in range(repeat):
        with scope(label):
            start = time.perf_counter()
            function(*arguments, **named)
            times.append(time.perf_counter() - start)
    return Benchmark(statistics.fmean(times),
                     statistics.stdev(times) if repeat > 1 else 0.0,
                     statistics.median(times), min(times), max(times),
                     tuple(times))
