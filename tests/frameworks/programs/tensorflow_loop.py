"""TensorFlow on the host: a training loop. Each turn keeps a gradient, 1 MiB; with MENDED=1 only the newest two."""
import collections
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_NUM_INTEROP_THREADS"] = os.environ["TF_NUM_INTRAOP_THREADS"] = "1"
import tensorflow  # noqa: E402

kept = collections.deque(maxlen=2 if os.environ.get("MENDED") else None)
weights = tensorflow.Variable(tensorflow.random.normal((512, 512)))
data = tensorflow.random.normal((64, 512))


@tensorflow.function
def step():
    with tensorflow.GradientTape() as tape:
        loss = tensorflow.reduce_mean(tensorflow.square(data @ weights))
    gradient = tape.gradient(loss, weights)
    weights.assign_sub(0.01 * gradient)
    return gradient


def remember(gradient):
    kept.append(gradient)


for _ in range(200):
    remember(step())  # the leak
