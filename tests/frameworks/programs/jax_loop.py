"""JAX on the host: a loop that nobody marked. Each turn keeps a gradient, 1 MiB; with MENDED=1 only the newest two."""
import collections
import os

import jax
import jax.numpy as jnp

kept = collections.deque(maxlen=2 if os.environ.get("MENDED") else None)


def loss(weights, data):
    return jnp.mean(jnp.tanh(data @ weights) ** 2)


def remember(gradient):
    kept.append(gradient + 0)  # the leak


step = jax.jit(jax.value_and_grad(loss))
weights, data = jnp.ones((512, 512)), jnp.ones((256, 512))
for _ in range(60):
    value, gradient = step(weights, data)
    weights = weights - 0.1 * gradient
    remember(gradient)
print(float(value))
