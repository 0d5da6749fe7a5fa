# SPDX-License-Identifier: Apache-2.0
"""Messages of protobuf read without their classes: varints, and bytes as they are."""

import collections


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def fields(data):
    """Field number and value of a message; bytes are left as they are."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def message(data):
    made = collections.defaultdict(list)
    for number, value in fields(data):
        made[number].append(value)
    return made


def packed(data):
    numbers, at = [], 0
    while at < len(data):
        number, at = varint(data, at)
        numbers.append(number)
    return numbers
