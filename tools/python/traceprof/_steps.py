# SPDX-License-Identifier: MIT
"""Steps, and those who wait for so many of them."""

from . import _library

_waiting = []                   # [steps left, what to call]


def follow_steps(count, call):
    """Calls once when the step after `count` of them begins."""
    _waiting.append([count, call])


def step():
    """A step begins here."""
    for one in list(_waiting):
        if not one[0]:
            _waiting.remove(one)
            one[1]()
        one[0] -= 1
    _library.call("step")
