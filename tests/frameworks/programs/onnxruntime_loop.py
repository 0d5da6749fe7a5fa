"""ONNX Runtime: a session that runs in a loop. Every second answer is kept, 128 KiB; with MENDED=1 only the newest two."""
import collections
import os

import numpy
import onnxruntime

SIZE = 512


def number(value):
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes(parts + [value])


def text(field, value):
    return number(field << 3 | 2) + number(len(value)) + value


def scalar(field, value):
    return number(field << 3) + number(value)


def described(name, *sizes):
    shape = b"".join(text(1, scalar(1, size)) for size in sizes)
    return text(1, name) + text(2, text(1, scalar(1, 1) + text(2, shape)))


def model():
    """Y = MatMul(X, W), as the bytes of an ONNX file."""
    weights = numpy.ones((SIZE, SIZE), numpy.float32).tobytes()
    tensor = scalar(1, SIZE) + scalar(1, SIZE) + scalar(2, 1) + text(8, b"W") + text(9, weights)
    node = text(1, b"X") + text(1, b"W") + text(2, b"Y") + text(4, b"MatMul")
    graph = (text(1, node) + text(2, b"g") + text(5, tensor) + text(11, described(b"X", 64, SIZE))
             + text(12, described(b"Y", 64, SIZE)))
    return scalar(1, 8) + text(7, graph) + text(8, text(1, b"") + scalar(2, 13))


kept = collections.deque(maxlen=2 if os.environ.get("MENDED") else None)


def answer(session, question):
    return session.run(None, {"X": question})[0]


def remember(tensor):
    kept.append(tensor)


def main():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model(), options, providers=["CPUExecutionProvider"])
    question = numpy.ones((64, SIZE), numpy.float32)
    for turn in range(400):
        tensor = answer(session, question)
        if turn % 2:
            remember(tensor)


main()
