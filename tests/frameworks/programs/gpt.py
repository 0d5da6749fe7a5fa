"""Training of a small GPT on a device, nothing marked; the twin with LEAK=1 keeps what it should not.

DEVICE is npu or cuda; STATS a file for its own statistics. VARIANT: words that say what is different: sgd, amp, checkpoint,
batch (four times as large), random (lengths), growing (lengths), evaluate (between stretches of training), generate (no
training: requests with a KV cache), direct (the leak asks the runtime itself, not the framework).
"""
import contextlib
import ctypes
import json
import os
import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

DEVICE = os.environ["DEVICE"]
if DEVICE == "npu":
    import torch_npu  # noqa: F401
VARIANT = os.environ.get("VARIANT", "").split(",")
LEAK = os.environ.get("LEAK") == "1"
STEPS = int(os.environ.get("STEPS", "24"))
DIRECT_BYTES = 256 << 10
VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 2048, 128, 4, 4, 64, 4
kept = []


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x, cache):
        size, length, _ = x.shape
        q, k, v = self.project(x).view(size, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        if cache is not None:
            if cache:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            cache[:] = [k, v]
        weights = (q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(size, length, WIDTH))

    def forward(self, x, cache=None):
        x = x + self.attend(self.before(x), cache)
        return x + self.down(F.gelu(self.up(self.after(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(4 * LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, caches=None):
        start = caches[0][0].shape[2] if caches and caches[0] else 0
        x = self.words(tokens) + self.places(torch.arange(start, start + tokens.shape[1], device=tokens.device))
        for index, block in enumerate(self.blocks):
            if "checkpoint" in VARIANT:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x, caches[index] if caches else None)
        return self.head(self.norm(x))


def remember(tensor):
    """The leak."""
    kept.append(tensor)


def remember_direct():
    """The leak, of memory that the framework knows nothing of."""
    pointer = ctypes.c_void_p()
    if DEVICE == "npu":
        ctypes.CDLL("libascendcl.so").aclrtMalloc(ctypes.byref(pointer), ctypes.c_size_t(DIRECT_BYTES), 0)
    else:
        ctypes.CDLL("libcudart.so.13").cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(DIRECT_BYTES))
    kept.append(pointer)


def pool_blocks():
    """{address: bytes}, as the pool handed them out: more than was asked for, where it does not split a piece."""
    sizes = {}
    for segment in getattr(torch, DEVICE).memory_snapshot():
        at = segment["address"]
        for block in segment["blocks"]:
            sizes[block.get("address", at)] = block["size"]
            at += block["size"]
    return sizes


def bytes_of(thing, sizes):
    if isinstance(thing, (list, tuple)):
        return sum(bytes_of(part, sizes) for part in thing)
    return sizes[thing.untyped_storage().data_ptr()] if isinstance(thing, torch.Tensor) else DIRECT_BYTES


def length_of(step):
    if "random" in VARIANT:
        return random.randrange(LENGTH // 2, 2 * LENGTH)
    return LENGTH // 2 + 4 * step if "growing" in VARIANT else LENGTH


def batch_of(step):
    size = 4 * BATCH if "batch" in VARIANT else BATCH
    return torch.randint(VOCABULARY, (size, length_of(step) + 1)).to(DEVICE)


def loss_of(model, tokens, keeps):
    with torch.autocast(DEVICE, torch.bfloat16) if "amp" in VARIANT else contextlib.nullcontext():
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
    if keeps:
        remember(logits.detach())
    return loss


def train_step(model, optimizer, step):
    optimizer.zero_grad()
    loss_of(model, batch_of(step), LEAK and "direct" not in VARIANT).backward()
    optimizer.step()
    if LEAK and "direct" in VARIANT:
        remember_direct()


def evaluate(model):
    with torch.no_grad():
        for step in range(4):
            loss_of(model, batch_of(step), False)


def train(model):
    optimizer = torch.optim.SGD(model.parameters(), 1e-3) if "sgd" in VARIANT else torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(STEPS):
        train_step(model, optimizer, step)
        if "evaluate" in VARIANT and step % 6 == 5:
            evaluate(model)


def serve(model, tokens):
    caches = [[] for _ in range(LAYERS)]
    with torch.no_grad():
        for _ in range(12):
            tokens = model(tokens, caches)[:, -1:].argmax(-1)
    if LEAK:
        remember(caches)


def weights_by_layer(model, sizes):
    """{path of a module, three names: bytes}, as the pool handed them out."""
    layers = {}
    for name, weight in model.named_parameters():
        path = ".".join(("Gpt." + name).split(".")[:-1][:3])
        layers[path] = layers.get(path, 0) + sizes[weight.data_ptr()]
    return layers


random.seed(1)
torch.manual_seed(1)
model = Gpt().to(DEVICE)
if "generate" in VARIANT:
    for request in range(STEPS):
        serve(model, batch_of(request)[:, :16])
else:
    train(model)
device = getattr(torch, DEVICE)
device.synchronize()
with open(os.environ["STATS"], "w") as file:
    json.dump({"kept_per_turn": bytes_of(kept[:-1], pool_blocks()) // (STEPS - 1), "memory": device.memory_stats(0),
               "weights": weights_by_layer(model, pool_blocks())}, file)
