# SPDX-License-Identifier: MIT
"""Steps, scopes and recording windows for traceprof.

    LD_PRELOAD=libtraceprof.so python train.py

Without the library in the process everything here does nothing, so a program
may keep its calls.  Windows (profile_function, profile_trace, capture_async,
Profiler) are files of their own.  What lies between them is recorded too, unless
TRACEPROF_STEP=manual; with a schedule of TRACEPROF_'s they only mark where they
were.
"""

import contextlib
import functools
import inspect
import os
import statistics
import threading
import time

from . import _library, _results
from ._schedule import ProfilerAction, profile, schedule
from ._steps import follow_steps, step
from ._window import Window

__version__ = "0.1"
__all__ = ["is_preloaded", "enabled", "step", "scope", "mark", "counter",
           "profile_function", "profile_scope", "profile_trace",
           "capture_async", "Profiler", "Benchmark", "benchmark_function",
           "ProfilerAction", "profile", "schedule", "profiler"]

is_preloaded = _library.is_preloaded


def enabled():
    """True while something is recorded."""
    return bool(_library.call("enabled"))


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
        _scopes.entered(self)
        _library.call("push", self._text)
        return self

    def __exit__(self, *unused):
        _library.call("pop")
        if not _scopes.left(self):
            _library.say_once(f"{self._text.decode()!r} ended before a scope that "
                              "began in it, as where tasks take turns: the times "
                              "of scopes that cross are mixed up")
        return False

    def __call__(self, function):
        if not _calls_end_early(function):
            return super().__call__(function)
        _library.say_once(f"{_label(function)}() gives its result later: "
                          "a scope around its calls would hold nothing")
        return function


profile_scope = scope


class _Scopes(threading.local):
    """Those that this thread is in."""

    def __init__(self):
        super().__init__()
        self._open = []

    def entered(self, one):
        self._open.append(one)

    def left(self, one):
        """False: it isn't the one that was entered last."""
        if self._open and self._open[-1] is one:
            self._open.pop()
            return True
        if one in self._open:
            self._open.remove(one)
        return False


_scopes = _Scopes()


def _calls_end_early(function):
    """What it does is done after its call: other tasks run meanwhile, whose
    scopes would cross."""
    return (inspect.iscoroutinefunction(function)
            or inspect.isgeneratorfunction(function)
            or inspect.isasyncgenfunction(function))


def _label(function):
    """What is called a function's name: a partial object or one of a class that
    is called has none."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isbuiltin(function):     # the other name has the class that it hides in
        return function.__name__
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def profile_function(function=None, *, warmup_steps=0, steps=1, log_dir=None):
    """Records `steps` calls of a function, each in a window of its own, after
    `warmup_steps` calls that pass unrecorded.

        @profile_function
        @profile_function("./profiles", warmup_steps=5)
    """
    if isinstance(function, (str, os.PathLike)):
        function, log_dir = None, function
    if function is None:
        return functools.partial(profile_function, warmup_steps=warmup_steps,
                                 steps=steps, log_dir=log_dir)
    name = _label(function)
    if _calls_end_early(function):
        _library.say_once(f"{name}() gives its result later: its calls are not "
                          "recorded, profile_trace() around them is")
        return function
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
def profile_trace(dir=None, name="trace", create_perfetto_link=False,
                  create_perfetto_trace=True):
    """Records the block as one trace (the last two arguments are jax.profiler's:
    Perfetto opens any trace; `traceprof open` does it).  With `dir` the file is put there too, as
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


def capture_async(name="capture", dir=None, *, num_steps=None):
    """Begins to record and returns at once: window.stop() ends it from wherever
    in the program, or the step after `num_steps` of them does.
    window.result(timeout) waits for the file.

    While a window is already active a second one is refused with a warning:
    window.recorded is False, and the first goes on.  Nothing is raised, since the
    program is to run as it does without the library.
    """
    window = Window(name, dir)
    if num_steps is not None:
        follow_steps(num_steps, window.stop)
    return window


class Profiler:
    """Records `num_steps` steps from `start_step` on.

        profiler = Profiler("./profiles", start_step=10, num_steps=5)
        for step, batch in enumerate(batches):
            profiler.begin_step(step)
            ...
            profiler.end_step(step)
    """

    def __init__(self, log_dir=None, start_step=0, num_steps=1, *, name="steps"):
        if num_steps < 1:
            raise ValueError("num_steps must be at least 1")
        self._first = start_step
        self._last = start_step + num_steps - 1
        self._log_dir = log_dir
        self._name = name
        self._number = None
        self._begun = 0
        self._window = None
        self._is_asked = False      # by capture_async(), and no step came since
        self._scope = None

    @property
    def step_number(self):
        """Steps that were begun."""
        return self._begun

    def begin_step(self, step=None):
        """A step begins; one that was not ended ends here."""
        if self._scope:
            self.end_step()
        self._number = self._begun if step is None else step
        self._is_asked = False
        if self._window is None and self._first <= self._number <= self._last:
            self._window = Window(self._name, self._log_dir)
        _library.call("step")
        # One name, of which there are totals: ProfilerStep# has the numbers.
        self._scope = scope("step")
        self._scope.__enter__()
        self._begun += 1

    def end_step(self, step=None):
        """The step ends, and with the last one the window."""
        if not self._scope:
            return
        self._scope.__exit__()
        self._scope = None
        if (self._number if step is None else step) >= self._last:
            self.stop()

    def capture_async(self, num_steps=1):
        """Records the next `num_steps` steps, whatever was asked for at first, and
        returns at once.  False, with a warning: one is already active."""
        if num_steps < 1:
            raise ValueError("num_steps must be at least 1")
        is_asked = self._is_asked and _library.is_preloaded()
        if is_asked or (self._window and self._window.is_open):
            Window.refuse(self._name)
            return False
        self._is_asked = True
        self._window = None
        self._first = 0 if self._number is None else self._number + 1
        self._last = self._first + num_steps - 1
        return True

    def stop(self):
        """Ends the window early; waits for the file if it has a folder."""
        if self._window:
            self._window.stop()
            if self._log_dir is not None:
                self._window.result()

    def result(self, timeout=10.0):
        """The path of the file, None if nothing was recorded."""
        return self._window.result(timeout) if self._window else None


class profiler:
    """The totals of the run so far, by name: profiler.report(), reset(),
    get_results()."""

    @staticmethod
    def get_results():
        """A list of dictionaries, largest total first."""
        return _results.results()

    @staticmethod
    def report(rows=20):
        """Prints the largest to the standard error output."""
        if _library.expect_preloaded():
            _library.call("report", int(rows))

    @staticmethod
    def reset():
        """Totals begin anew."""
        if _library.expect_preloaded():
            _library.call("reset")


class Benchmark(dict):
    """Seconds of one call over several, as keys and as attributes: mean, std,
    min, max, median, p50, p95; `times` are all of them."""

    __getattr__ = dict.__getitem__


def _percentile(times, part):
    """As numpy's: linear between the two nearest."""
    at = (len(times) - 1) * part
    low = int(at)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (at - low)


def benchmark_function(function, *arguments, num_iterations=100, warmup=10,
                       repeat=None, name=None, **named):
    """Calls a function `num_iterations` times after `warmup` calls and returns
    what one call takes.  Each is a scope in the trace."""
    count = num_iterations if repeat is None else repeat
    if count < 1:
        raise ValueError("num_iterations must be at least 1")
    label = name or _label(function)
    if _calls_end_early(function):
        _library.say_once(f"{label}() gives its result later: its calls alone "
                          "are measured")
    for _ in range(warmup):
        function(*arguments, **named)
    times = []
    for _ in range(count):
        with scope(label):
            start = time.perf_counter()
            function(*arguments, **named)
            times.append(time.perf_counter() - start)
    ordered = sorted(times)
    return Benchmark(mean=statistics.fmean(times),
                     std=statistics.stdev(times) if count > 1 else 0.0,
                     min=ordered[0], max=ordered[-1],
                     median=statistics.median(times),
                     p50=_percentile(ordered, 0.5),
                     p95=_percentile(ordered, 0.95), times=tuple(times))
