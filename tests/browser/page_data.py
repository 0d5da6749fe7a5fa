# SPDX-License-Identifier: Apache-2.0
"""The data inside of a page, read without a browser: docs/html-report.md, "The payload"."""

import base64
import json
import re
import zlib


def varints(data, count):
    at = 0
    for _ in range(count):
        number = shift = 0
        while True:
            number |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                break
        yield number
    if at != len(data):
        raise AssertionError("%d bytes after the last number" % (len(data) - at))


def column_of(column, data):
    if column["kind"] == "text":
        texts = data.decode().split("\0")
        assert texts.pop() == ""
        return texts
    numbers = list(varints(data, column["rows"]))
    if column["kind"] == "delta":
        before = 0
        for i, zigzag in enumerate(numbers):
            before = (before + (zigzag >> 1 ^ -(zigzag & 1))) % 2**64
            numbers[i] = before
    return numbers


def datasets_of(page):
    """{name: {key: column}}, and the JSON report under "report"."""
    found = {}
    for name, text in re.findall(r'<script type="application/octet-stream" id="data-([^"]*)">([^<]*)</script>', page):
        data = zlib.decompress(base64.b64decode(text, validate=True))
        if name == "report":
            found[name] = json.loads(data)
            continue
        header, body = data.split(b"\n", 1)
        found[name], at = {}, 0
        for column in json.loads(header)["columns"]:
            found[name][column["key"]] = column_of(column, body[at:at + column["bytes"]])
            assert len(found[name][column["key"]]) == column["rows"]
            at += column["bytes"]
        assert at == len(body)
    return found
