# SPDX-License-Identifier: MIT
"""Makes the wheel that pip installs, as PEP 517 asks.  There is nothing to build,
and setuptools before 70 can't make one without a second package, so that an
installation without a network would fail.  Written for this package alone."""

import base64
import hashlib
import os
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "traceprof"
VERSION = "0.1"
INFO = f"{NAME}-{VERSION}.dist-info"
METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: Steps, scopes and recording windows for the traceprof profiler
License: MIT
Requires-Python: >=3.8
"""
WHEEL = """Wheel-Version: 1.0
Generator: traceprof
Root-Is-Purelib: true
Tag: py3-none-any
"""


def _content():
    """(name in the wheel, bytes)"""
    package = os.path.join(HERE, NAME)
    for name in sorted(os.listdir(package)):
        if name.endswith(".py"):
            with open(os.path.join(package, name), "rb") as file:
                yield f"{NAME}/{name}", file.read()
    yield f"{INFO}/METADATA", METADATA.encode()
    yield f"{INFO}/WHEEL", WHEEL.encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    made = f"{NAME}-{VERSION}-py3-none-any.whl"
    record = ""
    with zipfile.ZipFile(os.path.join(wheel_directory, made), "w",
                         zipfile.ZIP_DEFLATED) as wheel:
        for name, data in _content():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
            record += f"{name},sha256={digest.rstrip(b'=').decode()},{len(data)}\n"
            wheel.writestr(name, data)
        wheel.writestr(f"{INFO}/RECORD", f"{record}{INFO}/RECORD,,\n")
    return made
