# SPDX-License-Identifier: MIT
"""schedule() and profile(), as torch.profiler has them."""

import enum

from . import _library
from ._window import Window


class ProfilerAction(enum.Enum):
    """What a schedule says of a step."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    """After `skip_first` steps, `repeat` times (0: for ever): `wait` steps,
    `warmup` steps, then `active` steps that are recorded."""
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError("a schedule has no negative part, and records something")
    cycle = wait + warmup + active

    def action(step):
        step -= skip_first
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

    The handler gets this object once a file is whole; prof.path is the file.
    What else torch.profiler.profile takes is taken and passed over.
    """

    def __init__(self, *, schedule=None, on_trace_ready=None, name="profile",
                 dir=None, **unused):
        self._action = schedule or _always
        self._handler = on_trace_ready
        self._name = name
        self._dir = dir
        self._window = None
        self.step_num = 0
        self.path = None

    def _begin(self):
        action = self._action(self.step_num)
        records = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if records and self._window is None:
            self._window = Window(self._name, self._dir)

    def _save(self):
        if self._window is None:
            return
        self._window.stop()
        if self._handler or self._dir is not None:
            self.path = self._window.result()
        self._window = None
        if self._handler:
            self._handler(self)

    def start(self):
        """The first step begins."""
        self._begin()
        _library.call("step")

    def step(self):
        """The next step begins."""
        if self._action(self.step_num) == ProfilerAction.RECORD_AND_SAVE:
            self._save()
        self.step_num += 1
        self._begin()
        _library.call("step")

    def stop(self):
        """The last step ends, and what is recorded is saved."""
        self._save()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()
        return False
