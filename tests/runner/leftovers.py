# SPDX-License-Identifier: MIT
"""What a run of the tests leaves behind: processes, sessions, files.

Processes are known by a variable in their environment, sessions by the folder
that they write to, files by lying in the run's own TMPDIR.  These are ended and
removed, after they were told.  A whole session that names no test's folder
counts as ours, and stays, if it is new, its process is gone, and nobody else
runs tests at the time: each run holds a shared lock on /dev/shm itself.
"""

import fcntl
import glob
import os
import re
import shutil
import signal
import time

MARK = "TEST_RUN_FOLDER"
SESSIONS = "/dev/shm/traceprof-*"
GRACE_SECONDS = 5


def is_alive(pid):
    """Neither gone nor only waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def processes(folder):
    """{pid: command} of those whose environment says that they are ours."""
    mark = f"{MARK}={folder}".encode()
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if mark not in file.read().split(b"\0"):
                    continue
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:         # gone, or somebody else's
            continue
        if is_alive(entry):
            found[int(entry)] = command.strip()
    return found


class Before:
    """How it looked when the run began."""

    def __init__(self, folder):
        self.folder = folder
        self.seen = set(glob.glob(SESSIONS))
        self.lock = None
        try:
            self.lock = os.open("/dev/shm", os.O_RDONLY)
            fcntl.flock(self.lock, fcntl.LOCK_SH)
        except OSError:
            pass

    def others_run_tests(self):
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (OSError, TypeError):
            return True
        return False

    @staticmethod
    def names(path, what):
        """Whether this stands in the head of a session."""
        try:
            with open(path, "rb") as file:
                return what.encode() in file.read(1 << 16)
        except OSError:
            return False

    def sessions(self):
        """(those of this run, those that may well be)"""
        new = set(glob.glob(SESSIONS)) - self.seen
        ours = {path for path in new if self.names(path, self.folder)}
        if self.others_run_tests():
            return sorted(ours), []
        owners = {path: re.search(r"traceprof-\d+-(\d+)-", path)
                  for path in new - ours if self.names(path, "traceprf")
                  and not self.names(path, "/traceprof-")}
        return sorted(ours), sorted(path for path, owner in owners.items()
                                    if not (owner and is_alive(owner.group(1))))

    def left(self):
        """Lines that say what is left; none of it is there any more."""
        told = []
        end = time.monotonic() + GRACE_SECONDS
        while processes(self.folder) and time.monotonic() < end:
            time.sleep(0.1)     # what was killed is still going
        for pid, command in processes(self.folder).items():
            told.append(f"process {pid}: {command[:160]}")
            os.kill(pid, signal.SIGKILL)
        ours, likely = self.sessions()
        told += likely
        for path in ours + sorted(glob.glob(os.path.join(self.folder, "*"))):
            inside = sorted(os.listdir(path))[:5] if os.path.isdir(path) else ""
            told.append(f"{path} {inside or ''}".strip())
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        return told
