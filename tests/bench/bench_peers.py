# SPDX-License-Identifier: MIT
"""The other tracers of a Debian machine, where they are installed."""

import glob
import os
import shutil
import subprocess
import tempfile
import time

from bench_rounds import Variant

PACKAGES = ("lttng-tools", "liblttng-ust1", "heaptrack", "uftrace", "sqlite3")
WRAPPER = "/usr/lib/*/liblttng-ust-libc-wrapper.so.1"


def install():
    """As root on Debian; says what it does.  Elsewhere nothing."""
    missing = [name for name in PACKAGES if subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status}", name],
        capture_output=True, text=True).stdout != "installed"] \
        if shutil.which("dpkg-query") else []
    if not missing:
        return
    if os.geteuid() != 0:
        print("not root: going on without", ", ".join(missing))
        return
    print("installing", ", ".join(missing), flush=True)
    subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
    done = subprocess.run(["apt-get", "install", "-y", "-q",
                           "--no-install-recommends", *missing],
                          capture_output=True, text=True,
                          env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
    if done.returncode != 0:
        print("this failed:", done.stderr[-500:])


class Lttng:
    """A live session with the libc wrapper's events, 8 buffers of 1 MiB for
    each processor; events that find them full are discarded."""

    def __init__(self):
        self.daemon = None
        self.home = tempfile.mkdtemp(prefix="traceprof-lttng-")
        self.env = os.environ | {"LTTNG_HOME": self.home, "HOME": self.home}
        self.wrapper = (glob.glob(WRAPPER) or [None])[0]

    def say(self, *words):
        return subprocess.run(["lttng", "--no-sessiond", *words], env=self.env,
                              capture_output=True, text=True, timeout=60)

    def __enter__(self):
        if not self.wrapper or not shutil.which("lttng-sessiond"):
            return self
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"],
                                       env=self.env, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        until = time.monotonic() + 10
        while self.say("list").returncode != 0 and time.monotonic() < until:
            time.sleep(0.1)
        for words in (("create", "bench", "--output", self.home + "/trace"),
                      ("enable-channel", "-u", "-s", "bench", "--subbuf-size=1M",
                       "--num-subbuf=8", "heap"),
                      ("enable-event", "-u", "-s", "bench", "-c", "heap",
                       "lttng_ust_libc:*"),
                      ("start", "bench")):
            done = self.say(*words)
            if done.returncode != 0:
                print("LTTng is left out:", (done.stderr or done.stdout).strip()[-200:])
                self.stop()
                break
        return self

    def variants(self):
        """{} where it can't be had."""
        if not self.daemon:
            return {}
        return {"lttng": Variant(self.wrapper, LTTNG_HOME=self.home,
                                 HOME=self.home, LTTNG_UST_REGISTER_TIMEOUT="-1")}

    def empty(self):
        """What was traced so far takes disk space and is of no use."""
        if self.daemon:
            self.say("rotate", "bench")
            for path in glob.glob(self.home + "/trace/archives/*"):
                shutil.rmtree(path, ignore_errors=True)

    def stop(self):
        if self.daemon:
            self.say("destroy", "bench", "--no-wait")
            self.daemon.terminate()
            try:
                self.daemon.wait(20)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
            self.daemon = None

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)


def heap_variants():
    """Those that start the program themselves."""
    found = {}
    if shutil.which("heaptrack"):
        found["heaptrack"] = Variant(prefix=("heaptrack", "-o", "{}/heap"))
    if shutil.which("uftrace"):
        found["uftrace"] = Variant(prefix=("uftrace", "record", "-l", "--force",
                                           "-d", "{}/uftrace"))
    return found
