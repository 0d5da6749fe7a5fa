# SPDX-License-Identifier: Apache-2.0
"""mindspore_training.py TURNS: a small network of MindSpore trained on the CPU, each operator when it is called.

Ends with status 77 where there is no MindSpore.
"""
import sys

try:
    import mindspore
    import numpy
    from mindspore import nn
except ImportError:
    sys.exit(77)


def main():
    mindspore.set_seed(0)
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    mindspore.set_device("CPU")
    net = nn.SequentialCell([nn.Dense(256, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10)])
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    loss_of = nn.CrossEntropyLoss()
    images = mindspore.Tensor(numpy.random.default_rng(0).random((32, 256), numpy.float32))
    labels = mindspore.Tensor(numpy.arange(32) % 10, mindspore.int32)
    gradients_of = mindspore.value_and_grad(lambda images, labels: loss_of(net(images), labels), None,
                                            optimizer.parameters)
    for _ in range(int(sys.argv[1])):
        loss, gradients = gradients_of(images, labels)
        optimizer(gradients)
    print(loss.asnumpy())


main()
