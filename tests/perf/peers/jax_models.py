"""The models of torch_models.py in JAX on the CPU, the whole step under jit, its state given back to it.

  python jax_models.py --model mlp|block|cnn|lstm [--threads 1] [--steps 200]

Prints one JSON line; the median leaves out the first tenth of the steps.
"""
import argparse, json, os, statistics, time

ap = argparse.ArgumentParser()
ap.add_argument("--model", default="mlp", choices=["mlp", "block", "cnn", "lstm"])
ap.add_argument("--steps", type=int, default=200)
ap.add_argument("--threads", type=int, default=1)
A = ap.parse_args()
# XLA's thread pools are as large as the processors it may use, and no flag bounds all of them.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:A.threads])
import jax, jax.numpy as jnp, numpy as np

rng = np.random.default_rng(0)


def weight(*shape):
    return jnp.asarray(rng.normal(0, 0.02, shape), jnp.float32)


def dense(o, i):
    return {"w": weight(o, i), "b": jnp.zeros(o)}


def linear(p, x):
    return x @ p["w"].T + p["b"]


def layer_norm(p, x):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return (x - m) * jax.lax.rsqrt(v + 1e-5) * p["w"] + p["b"]


def cross_entropy(logits, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[..., None], -1).mean()


def mlp():
    def loss(p, x, y):
        return cross_entropy(jax.nn.gelu(x @ p["w1"].T, approximate=False) @ p["w2"].T, y)

    def batch():
        x = rng.random((64, 784), np.float32)
        return x, x[:, :10].argmax(1)

    return {"w1": weight(256, 784), "w2": weight(10, 256)}, loss, batch


def block(d=128, heads=4):
    norm = lambda: {"w": jnp.ones(d), "b": jnp.zeros(d)}
    p = dict(norm1=norm(), norm2=norm(), q=dense(d, d), k=dense(d, d), v=dense(d, d), o=dense(d, d),
             up=dense(4 * d, d), down=dense(d, 4 * d))

    def loss(p, x, y):
        b, t, _ = x.shape
        split = lambda z: z.reshape(b, t, heads, d // heads)
        n = layer_norm(p["norm1"], x)
        a = jax.nn.dot_product_attention(split(linear(p["q"], n)), split(linear(p["k"], n)), split(linear(p["v"], n)),
                                         is_causal=True)
        x = x + linear(p["o"], a.reshape(b, t, d))
        x = x + linear(p["down"], jax.nn.gelu(linear(p["up"], layer_norm(p["norm2"], x)), approximate=False))
        return ((x - y) ** 2).mean()

    return p, loss, lambda: [rng.normal(size=(8, 128, 128)).astype(np.float32) for _ in range(2)]


def cnn():
    def conv(p, x):
        y = jax.lax.conv_general_dilated(x, p["w"], (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        return jax.nn.relu(y + p["b"][:, None, None])

    def pool(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def loss(p, x, y):
        x = pool(conv(p["c2"], pool(conv(p["c1"], x))))
        return cross_entropy(linear(p["head"], conv(p["c3"], x).mean((2, 3))), y)

    c = lambda o, i: {"w": weight(o, i, 3, 3), "b": jnp.zeros(o)}
    p = dict(c1=c(32, 3), c2=c(64, 32), c3=c(64, 64), head=dense(10, 64))
    return p, loss, lambda: [rng.random((32, 3, 32, 32), np.float32), rng.integers(0, 10, 32)]


def lstm(i=64, h=128, classes=64):
    p = dict(ih=dense(4 * h, i), hh=dense(4 * h, h), head=dense(classes, h))

    def loss(p, x, y):
        gates = linear(p["ih"], x).swapaxes(0, 1)

        def step(s, g):
            h, c = s
            a, f, g, o = jnp.split(g + linear(p["hh"], h), 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(a) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[0], h))
        out = jax.lax.scan(step, (zero, zero), gates)[1].swapaxes(0, 1)
        return cross_entropy(linear(p["head"], out), y)

    return p, loss, lambda: [rng.normal(size=(32, 64, i)).astype(np.float32), rng.integers(0, classes, (32, 64))]


params, loss_of, batch = dict(mlp=mlp, block=block, cnn=cnn, lstm=lstm)[A.model]()
batches = [[jnp.asarray(part) for part in batch()] for _ in range(8)]
tree = jax.tree_util.tree_map


def step(p, m, v, n, x, y):
    loss, g = jax.value_and_grad(loss_of)(p, x, y)
    n = n + 1
    m = tree(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = tree(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    c1, c2 = 1 - 0.9 ** n, 1 - 0.999 ** n
    p = tree(lambda p, m, v: p * (1 - 3e-4 * 1e-2) - 3e-4 * (m / c1) / (jnp.sqrt(v / c2) + 1e-8), p, m, v)
    return p, m, v, n, loss


step = jax.jit(step, donate_argnums=(0, 1, 2))
p, m, v, n = params, tree(jnp.zeros_like, params), tree(jnp.zeros_like, params), jnp.float32(0)
times, losses = [], []
for i in range(A.steps):
    x, y = batches[i % 8]
    t = time.perf_counter()
    p, m, v, n, loss = step(p, m, v, n, x, y)
    losses.append(float(loss))
    times.append((time.perf_counter() - t) * 1e6)
s = sorted(times[len(times) // 10:])
print(json.dumps(dict(model=A.model, threads=A.threads, steps=A.steps, min_us=round(s[0], 1),
                      median_us=round(statistics.median(s), 1), p90_us=round(s[len(s) * 9 // 10], 1),
                      first=round(losses[0], 6), last=round(losses[-1], 6), jax=jax.__version__)))
