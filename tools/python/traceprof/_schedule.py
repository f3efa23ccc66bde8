# SPDX-License-Identifier: MIT
"""schedule() and profile(), as torch.profiler has them."""

import enum
import gzip
import shutil

from . import _library, _results
from ._window import Window


class ProfilerAction(enum.Enum):
    """What a schedule says of a step."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(*, wait, warmup, active, repeat=0, skip_first=0,
             skip_first_wait=0):
    """After `skip_first` steps, `repeat` times (0: for ever): `wait` steps,
    `warmup` steps, then `active` steps that are recorded.  With
    `skip_first_wait` the first time doesn't wait."""
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError("a schedule has no negative part, and records something")
    cycle = wait + warmup + active

    def action(step):
        step -= skip_first
        if step >= 0 and skip_first_wait:
            step += wait
        if step < 0 or (repeat and step >= repeat * cycle):
            return ProfilerAction.NONE
        step %= cycle
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return (ProfilerAction.RECORD if step + 1 < cycle
                else ProfilerAction.RECORD_AND_SAVE)

    return action


def _always(step):
    return ProfilerAction.RECORD


class profile:
    """Records what a schedule says, a file each time it records.

        with profile(schedule=schedule(wait=1, warmup=1, active=3),
                     on_trace_ready=handler) as prof:
            for batch in batches:
                ...
                prof.step()

    The handler gets this object once a file is whole: prof.path is the file,
    prof.export_chrome_trace(PATH) copies it, and so do the handlers that
    torch.profiler.tensorboard_trace_handler() makes.  What else
    torch.profiler.profile takes is taken and passed over.
    """

    def __init__(self, *, schedule=None, on_trace_ready=None, name="profile",
                 dir=None, **unused):
        self._action = schedule or _always
        self._handler = on_trace_ready
        self._name = name
        self._dir = dir
        self._window = None
        self._finished = None       # the last one
        self.step_num = 0

    @property
    def path(self):
        """The last file, once it is whole; None: nothing was recorded."""
        return self._finished.result() if self._finished else None

    def _begin(self):
        action = self._action(self.step_num)
        records = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if records and self._window is None:
            self._window = Window(self._name, self._dir)

    def _save(self):
        if self._window is None:
            return
        self._window.stop()
        self._finished, self._window = self._window, None
        if self._dir is not None:
            self._finished.result()
        if self._handler:
            self._handler(self)

    def start(self):
        """The first step begins."""
        self._begin()
        _library.call("step")

    def step(self):
        """The next step begins."""
        action = self._action(self.step_num)
        # First: the handler sees torch's number, by which it names its file.
        self.step_num += 1
        if action == ProfilerAction.RECORD_AND_SAVE:
            self._save()
        self._begin()
        _library.call("step")

    def stop(self):
        """The last step ends, and what is recorded is saved."""
        self._save()

    def export_chrome_trace(self, path, **unused):
        """Copies the file that was finished last, unpacked unless the name ends
        with .gz."""
        found = self.path
        if found is None:
            if _library.is_preloaded():
                _library.say_once(f"{path!s} is not written: nothing of its own "
                                  "was recorded")
            return
        packed = [one.endswith(".gz") for one in (found, str(path))]
        if packed[0] == packed[1]:
            shutil.copyfile(found, path)
            return
        source, sink = (gzip.open if one else open for one in packed)
        with source(found, "rb") as file, sink(path, "wb") as copy:
            shutil.copyfileobj(file, copy)

    def key_averages(self, *unused, **unused_too):
        """The totals of the run so far, with a table() that prints as torch's."""
        return _results.Averages()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()
        return False
