"""MindSpore on the host: a training loop. Each turn keeps a gradient, 2 MiB; with MENDED=1 only the newest two."""
import collections
import os

import mindspore
import numpy
from mindspore import nn

mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
mindspore.set_device("CPU")
kept = collections.deque(maxlen=2 if os.environ.get("MENDED") else None)
net = nn.SequentialCell([nn.Dense(512, 1024), nn.ReLU(), nn.Dense(1024, 512)])
optimizer = nn.Adam(net.trainable_params(), 1e-3)
criterion = nn.MSELoss()
data = mindspore.Tensor(numpy.ones((64, 512), numpy.float32))
target = mindspore.Tensor(numpy.zeros((64, 512), numpy.float32))


def forward(data, target):
    return criterion(net(data), target)


def remember(gradient):
    kept.append(gradient + 0)  # the leak


gradients_of = mindspore.value_and_grad(forward, None, optimizer.parameters)
for _ in range(40):
    loss, gradients = gradients_of(data, target)
    optimizer(gradients)
    remember(gradients[0])
print(float(loss.asnumpy()))
