# SPDX-License-Identifier: MIT
"""The rank of a process that hears it from its program, not from its environment."""

import os
import sys

import harness
from harness import command, expect, expect_equal, same
from t_torch import MODULES, library

RANKS = MODULES + '''
import functools


class Group:                                    # its methods are written in C
    rank = staticmethod(functools.partial(int, 1))
    size = staticmethod(functools.partial(int, 2))


class Slow(Group):
    def rank(self):
        return 1                                # an interrupt could come in it


class Operator(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_int64), ("forward", ctypes.c_uint64),
                ("inputs", ctypes.c_uint64), ("scope", ctypes.c_uint8),
                ("is_async", ctypes.c_bool)]


class World:
    _default_pg, looks = None, 0

    def __getattribute__(self, name):
        World.looks += 1
        return object.__getattribute__(self, name)


world = World()
if "never" not in sys.argv:
    make("torch.distributed.distributed_c10d", _world=world)
    wait_for(lambda: world.looks)
    seen = World.looks
    World._default_pg = (Slow if "slow" in sys.argv else Group)()
    if "short" in sys.argv:
        wait_for(torch.torch_double_is_observed)
        torch.torch_double_begin(b"gloo:broadcast", ctypes.byref(Operator(is_async=True)))
        for _ in range(100):
            len("")                             # calls that are pending come here
        World._default_pg = None
    else:
        wait_for(lambda: World.looks > seen)    # on this thread: the look is over
print("done")
'''


def recorded(*words, **env):
    script = os.path.join(harness.folder(), "ranks.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(RANKS)
    return same(sys.executable, script, library(), *words,
                env={"TRACEPROF_MALLOC": "all"} | env)


def test_a_process_of_multiprocessing_tells_its_rank_late():
    done = recorded("--multiprocessing-fork")
    expect_equal(done.trace.top["distributedInfo"],
                 {"backend": "", "rank": 1, "world_size": 2}, "as its group says")
    expect_equal(done.own_lines, [], "of several ranks the first one speaks")
    expect(recorded("--multiprocessing-fork", "never").own_lines, "one that has no group")
    said = command("check", done.files[0])
    expect("good" in said.stdout and "warning" not in said.stdout, said.stdout)
    said = command("merge", "-o", os.path.join(harness.folder(), "merged.json.gz"),
                   done.files[0])
    expect_equal(said.status, 0, said.stdout)


def test_a_group_that_is_gone_soon():
    done = recorded("--multiprocessing-fork", "short")
    expect_equal(done.trace.top["distributedInfo"]["rank"], 1, "its first collective")


def test_lightning_tells_the_local_rank_alone():
    done = recorded(LOCAL_RANK="1")
    expect_equal(done.trace.top["distributedInfo"]["rank"], 1, "rank")


def test_what_the_environment_says_stays():
    done = recorded("--multiprocessing-fork", "never", RANK="3", WORLD_SIZE="4")
    expect_equal(done.trace.top["distributedInfo"]["rank"], 3, "rank")
    expect_equal(list(done.trace.top)[3], "distributedInfo", "in the head")


def test_one_that_has_no_group():
    done = recorded("--multiprocessing-fork", "never")
    expect_equal(done.trace.top["distributedInfo"]["rank"], 0, "rank")


def test_a_rank_in_python_is_not_called():
    done = recorded("--multiprocessing-fork", "slow")
    expect_equal(done.trace.top["distributedInfo"]["rank"], 0, "rank")


def test_others_are_not_asked_and_have_it_in_front():
    done = recorded("never")
    expect_equal(list(done.trace.top)[3], "distributedInfo", "in the head")


if __name__ == "__main__":
    harness.main()
