# SPDX-License-Identifier: MIT
"""Reads what libspy.so wrote down: CUPTI's completed buffers, byte by byte.

Records are found by the lengths of the table below, which is written down here
a second time, so that the double and its test cannot be wrong together.
"""

import collections
import ctypes
import glob
import os
import struct

MEMCPY, MEMSET, KERNEL, DRIVER, RUNTIME = 1, 2, 3, 4, 5
DEVICE, CONTEXT, CONCURRENT_KERNEL, OVERHEAD, PEER = 8, 9, 10, 17, 22
EVENT, STREAM, SYNC, EXTERNAL, MEMORY, GRAPH = 36, 37, 38, 39, 49, 51
UNIFIED, POOL, JIT, HOST_NODE, HOST = 25, 50, 52, 56, 58

# Bytes of a record by kind, in CUPTI 13.0 and where older ones differ.
NEWEST = {MEMCPY: 96, MEMSET: 88, KERNEL: 216, DRIVER: 40, RUNTIME: 40,
          DEVICE: 184, CONTEXT: 32, CONCURRENT_KERNEL: 216, OVERHEAD: 56,
          PEER: 96, EVENT: 56, STREAM: 24, SYNC: 56, EXTERNAL: 24, MEMORY: 128,
          GRAPH: 56, UNIFIED: 104, POOL: 80, JIT: 72}
SIZES = {
    130400: NEWEST | {HOST_NODE: 56, HOST: 48},
    130001: NEWEST,
    28: NEWEST | {KERNEL: 208, CONCURRENT_KERNEL: 208},
    24: NEWEST | {KERNEL: 208, CONCURRENT_KERNEL: 208, MEMCPY: 88, SYNC: 40,
                  EVENT: 24, CONTEXT: 24, UNIFIED: 64, POOL: 72},
}
SIZES |= {130100: NEWEST, 130101: NEWEST, 25: SIZES[24]}

# Field: offset and struct format; the same in every version.
GPU = {"start": (16, "Q"), "end": (24, "Q")}
PLACE = {"device": (32, "I"), "context": (36, "I"), "stream": (40, "I")}
API = {"cbid": (4, "I"), "start": (8, "Q"), "end": (16, "Q"), "pid": (24, "I"),
       "thread": (28, "I"), "correlation": (32, "I"), "result": (36, "I")}
LAUNCH = GPU | {"device": (40, "I"), "context": (44, "I"), "stream": (48, "I"),
                "grid": (52, "iii"), "block": (64, "iii"), "shared": (80, "i"),
                "correlation": (92, "I"), "graph_node": (144, "Q"),
                "graph": (156, "I")}
FIELDS = {
    KERNEL: LAUNCH,
    CONCURRENT_KERNEL: LAUNCH,
    MEMCPY: GPU | PLACE | {"copy": (4, "B"), "source": (5, "B"),
                           "target": (6, "B"), "flags": (7, "B"),
                           "bytes": (8, "Q"), "correlation": (44, "I"),
                           "graph_node": (64, "Q")},
    PEER: GPU | PLACE | {"bytes": (8, "Q"), "correlation": (60, "I")},
    MEMSET: GPU | PLACE | {"value": (4, "I"), "bytes": (8, "Q"),
                           "correlation": (44, "I")},
    DRIVER: API,
    RUNTIME: API,
    OVERHEAD: {"overhead": (4, "I"), "start": (24, "Q"), "end": (32, "Q")},
    SYNC: {"type": (4, "I"), "start": (8, "Q"), "end": (16, "Q"),
           "correlation": (24, "I"), "context": (28, "I"),
           "stream": (32, "I"), "event": (36, "I")},
    EXTERNAL: {"external_kind": (4, "I"), "external": (8, "Q"),
               "correlation": (16, "I")},
    MEMORY: {"operation": (4, "I"), "memory": (8, "I"),
             "correlation": (12, "I"), "address": (16, "Q"),
             "bytes": (24, "Q"), "start": (32, "Q")},
    GRAPH: {"correlation": (4, "I"), "start": (8, "Q"), "end": (16, "Q"),
            "graph": (28, "I"), "stream": (36, "I")},
}

CHUNK = struct.Struct("=IIQQQ")
BUFFER, TEXT = 1, 2
Buffer = collections.namedtuple("Buffer", "thread time data names")


class Record(dict):
    """A record's fields; also `kind`, `at` in its buffer, and `name`."""

    __getattr__ = dict.__getitem__


class Dump:
    """All of a file: buffers in the order in which they came, and lines."""

    def __init__(self, path, version=130001):
        self.sizes = SIZES[version]
        self.buffers = []
        self.lines = []
        with open(path, "rb") as file:
            data = file.read()
        at = 0
        while at < len(data):
            kind, thread, size, names, time = CHUNK.unpack_from(data, at)
            at += CHUNK.size
            body = data[at:at + size]
            at += size
            if kind == TEXT:
                self.lines.append(body.decode())
                continue
            listed = data[at:at + names].split(b"\0")[:-1]
            at += names
            self.buffers.append(Buffer(thread, time, body, listed))
        self.records = [record for buffer in self.buffers
                        for record in self.walk(buffer)]

    def walk(self, buffer):
        names = iter(buffer.names)
        found = []
        at = 0
        while at < len(buffer.data):
            kind, = struct.unpack_from("=I", buffer.data, at)
            if kind not in self.sizes:
                raise AssertionError(f"kind {kind} at {at} of {len(buffer.data)}")
            record = Record(kind=kind, at=at)
            for field, (offset, form) in FIELDS.get(kind, {}).items():
                values = struct.unpack_from("=" + form, buffer.data, at + offset)
                record[field] = values if len(values) > 1 else values[0]
            if kind in (KERNEL, CONCURRENT_KERNEL, DEVICE):
                record["name"] = next(names).decode()
            found.append(record)
            at += self.sizes[kind]
        if at != len(buffer.data):
            raise AssertionError("the last record is cut off")
        return found

    def of(self, *kinds):
        return [record for record in self.records if record.kind in kinds]

    @property
    def kernels(self):
        return self.of(KERNEL, CONCURRENT_KERNEL)

    @property
    def launches(self):
        """The runtime's record of each correlation id."""
        return {record.correlation: record for record in self.of(RUNTIME)}

    def said(self, start):
        """The rest of the line that begins so."""
        for line in self.lines:
            if line.startswith(start):
                return line[len(start):].strip()
        raise AssertionError(f"no line {start!r} among {self.lines}")


def real_library():
    """The real libcupti of CUDA 13.0, or None."""
    for path in sorted(glob.glob("/usr/local/cuda*/lib64/libcupti.so.13")
                       + glob.glob("/usr/local/cuda*/extras/CUPTI/lib64/"
                                   "libcupti.so.13")):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        version = ctypes.c_uint32()
        library.cuptiGetVersion(ctypes.byref(version))
        if version.value in (130000, 130001):
            return library
    return None


def real_walk(library, data):
    """[(kind, offset)] as the real cuptiActivityGetNextRecord() sees them,
    and the result that ended the walk."""
    copy = ctypes.create_string_buffer(data, len(data))
    start = ctypes.addressof(copy)
    record = ctypes.c_void_p()
    found = []
    while True:
        result = library.cuptiActivityGetNextRecord(
            ctypes.c_void_p(start), ctypes.c_size_t(len(data)),
            ctypes.byref(record))
        if result:
            return found, result
        kind = ctypes.cast(record, ctypes.POINTER(ctypes.c_uint32))[0]
        found.append((kind, record.value - start))


def environment(build, output):
    """For a program on the double with the spy in it."""
    double = os.path.join(build, "fake-gpu")
    return {"LD_LIBRARY_PATH": double, "SPY_OUT": output,
            "CUDA_INJECTION64_PATH": os.path.join(double, "libspy.so")}
