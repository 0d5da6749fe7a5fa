"""TensorFlow on the host: a training loop. Each turn keeps a gradient, 1 MiB; with MENDED=1 only the newest two."""
import collections
import os

import tensorflow

kept = collections.deque(maxlen=2 if os.environ.get("MENDED") else None)
weights = tensorflow.Variable(tensorflow.ones((512, 512)))
data = tensorflow.ones((256, 512))


@tensorflow.function
def gradient_of(data):
    with tensorflow.GradientTape() as tape:
        loss = tensorflow.reduce_mean(tensorflow.tanh(data @ weights) ** 2)
    return tape.gradient(loss, weights)


def remember(gradient):
    kept.append(gradient + 0)  # the leak


for _ in range(120):
    gradient = gradient_of(data)
    weights.assign_sub(0.1 * gradient)
    remember(gradient)
print(float(tensorflow.reduce_sum(weights)))
