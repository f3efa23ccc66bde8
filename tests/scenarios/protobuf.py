# SPDX-License-Identifier: MIT
"""Reads messages of protobuf, as far as profiles have them."""

import gzip

from harness import expect_equal


def varints(data):
    at = 0
    while at < len(data):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                break
        yield value, at


def message(data):
    """(field, number or bytes) of one protobuf message."""
    at = 0
    while at < len(data):
        tag, step = next(varints(data[at:]))
        number, more = next(varints(data[at + step:]))
        at += step + more
        if tag & 7 == 2:
            yield tag >> 3, data[at:at + number]
            at += number
        else:
            expect_equal(tag & 7, 0, "wire type")
            yield tag >> 3, number


def profile(path):
    """Of pprof: kinds of values, and [([(function, file, line), ...], values)], each stack
    innermost first."""
    with gzip.open(path) as file:
        fields = list(message(file.read()))
    texts = [value.decode() for field, value in fields if field == 6]
    expect_equal(texts[0], "")
    kinds = [texts[dict(message(value))[1]] for field, value in fields if field == 1]
    functions = {dict(message(value))[1]: dict(message(value))
                 for field, value in fields if field == 5}
    places = {}
    for field, value in fields:
        if field == 4:
            one = dict(message(value))
            line = dict(message(one[4]))
            made = functions[line[1]]
            places[one[1]] = (texts[made[2]], texts[made[4]], line[2])
    samples = [dict(message(value)) for field, value in fields if field == 2]
    return kinds, [([places[number] for number, _ in varints(one[1])],
                    [number for number, _ in varints(one[2])]) for one in samples]
