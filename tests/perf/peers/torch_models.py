"""Training steps of four models under PyTorch on the CPU, from data in memory to the loss read back.

  python torch_models.py --model mlp|block|cnn|lstm [--fused] [--compile] [--threads 1] [--steps 200]
                         [--memory]

mlp    784-256-10, gelu, cross entropy, batch 64
block  one transformer block (d 128, 4 heads, 128 tokens, batch 8; pre-norm, causal, gelu), mean square error
cnn    three 3x3 convolutions (32, 64, 64; relu, pooled by 2 twice, then over all places), 10 classes, 32x32, batch 32
lstm   one layer (64 -> 128), 64 tokens, batch 32, 64 classes at each token
All use AdamW (lr 3e-4, weight decay 1e-2).  With --memory the most bytes are counted that a step holds at a time
besides batches, parameters and moments, as PyTorch's profiler reports them.  Prints one JSON line; the median leaves out the first tenth of the steps.
"""
import argparse, json, os, statistics, time

ap = argparse.ArgumentParser()
ap.add_argument("--model", default="mlp", choices=["mlp", "block", "cnn", "lstm"])
ap.add_argument("--steps", type=int, default=200)
ap.add_argument("--threads", type=int, default=1)
ap.add_argument("--fused", action="store_true")
ap.add_argument("--compile", action="store_true")
ap.add_argument("--memory", action="store_true")
A = ap.parse_args()
os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(A.threads)
import torch, torch.nn as nn, torch.nn.functional as F

torch.set_num_threads(A.threads)
torch.manual_seed(0)


def weight(*shape):
    return nn.Parameter(torch.randn(*shape) * 0.02)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w2 = weight(256, 784), weight(10, 256)

    def forward(self, x, y):
        return F.cross_entropy(F.linear(F.gelu(F.linear(x, self.w1)), self.w2), y)

    @staticmethod
    def batch():
        x = torch.rand(64, 784)
        return x, x[:, :10].argmax(1)


class Block(nn.Module):
    def __init__(self, d=128, heads=4):
        super().__init__()
        self.d, self.heads = d, heads
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x, y):
        b, t, d = x.shape
        split = lambda z: z.view(b, t, self.heads, d // self.heads).transpose(1, 2)
        n = self.norm1(x)
        a = F.scaled_dot_product_attention(split(self.q(n)), split(self.k(n)), split(self.v(n)), is_causal=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, t, d))
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return F.mse_loss(x, y)

    @staticmethod
    def batch():
        return torch.randn(8, 128, 128), torch.randn(8, 128, 128)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2, self.c3 = (nn.Conv2d(i, o, 3, padding=1) for i, o in ((3, 32), (32, 64), (64, 64)))
        self.head = nn.Linear(64, 10)

    def forward(self, x, y):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return F.cross_entropy(self.head(F.relu(self.c3(x)).mean((2, 3))), y)

    @staticmethod
    def batch():
        return torch.rand(32, 3, 32, 32), torch.randint(0, 10, (32,))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(64, 128, batch_first=True), nn.Linear(128, 64)

    def forward(self, x, y):
        return F.cross_entropy(self.head(self.lstm(x)[0]).reshape(-1, 64), y.reshape(-1))

    @staticmethod
    def batch():
        return torch.randn(32, 64, 64), torch.randint(0, 64, (32, 64))


net = {"mlp": Mlp, "block": Block, "cnn": Cnn, "lstm": Lstm}[A.model]()
batches = [net.batch() for _ in range(8)]
opt = torch.optim.AdamW(net.parameters(), lr=3e-4, weight_decay=1e-2, fused=True if A.fused else None)
loss_of = torch.compile(net) if A.compile else net
times, losses = [], []


def step(i):
    x, y = batches[i % 8]
    t = time.perf_counter()
    loss = loss_of(x, y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    losses.append(loss.item())
    times.append((time.perf_counter() - t) * 1e6)


def most_held():
    """Bytes; gradients of the step before are not there yet when it begins."""
    for i in range(3):
        step(i)
    opt.zero_grad(set_to_none=True)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as seen:
        step(3)
    changes = [(e.start_ns(), e.nbytes()) for e in seen.profiler.kineto_results.events() if e.name() == "[memory]"]
    held = most = 0
    for _, change in sorted(changes, key=lambda c: c[0]):
        held += change
        most = max(most, held)
    return most


if A.memory:
    print(json.dumps(dict(model=A.model, fused=A.fused, memory_bytes=most_held(), torch=torch.__version__)))
    raise SystemExit
for i in range(A.steps):
    step(i)
s = sorted(times[len(times) // 10:])
print(json.dumps(dict(model=A.model, threads=A.threads, fused=A.fused, compile=A.compile, steps=A.steps,
                      min_us=round(s[0], 1), median_us=round(statistics.median(s), 1),
                      p90_us=round(s[len(s) * 9 // 10], 1), first=round(losses[0], 6), last=round(losses[-1], 6),
                      torch=torch.__version__)))
