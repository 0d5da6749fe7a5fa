"""Training as Hugging Face's accelerate runs it, nothing marked. SHAPE says what else the loop does; MENDED=1 keeps nothing."""
import os

import torch
from accelerate import Accelerator

SHAPE = os.environ.get("SHAPE", "plain")
EPOCHS, BATCHES, BATCH, WIDTH = 3, 24, 16, 256

torch.set_num_threads(1)
torch.manual_seed(1)
accelerator = Accelerator(cpu=not os.environ.get("DEVICE"), gradient_accumulation_steps=4 if SHAPE == "accumulated" else 1)
kept = []


def remember(tensor):
    if os.environ.get("MENDED") != "1":
        kept.append(tensor.clone())  # the leak


def net(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 512), torch.nn.ReLU(), torch.nn.Linear(512, outputs))


def loader():
    rows = torch.utils.data.TensorDataset(torch.randn(BATCHES * BATCH, WIDTH))
    return torch.utils.data.DataLoader(rows, batch_size=BATCH, shuffle=True)


model, other = net(WIDTH, WIDTH), net(WIDTH, 1)
optimizer, other_optimizer = torch.optim.AdamW(model.parameters()), torch.optim.SGD(other.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda turn: 1 / (turn + 1))
model, other, optimizer, other_optimizer, scheduler, batches, held_out = accelerator.prepare(
    model, other, optimizer, other_optimizer, scheduler, loader(), loader())


def train(batch):
    with accelerator.accumulate(model):
        accelerator.backward((model(batch) - batch).square().mean())
        if SHAPE == "scheduled":
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if SHAPE == "scheduled":
            scheduler.step()
        optimizer.zero_grad()


def train_two(batch):
    accelerator.backward(other(model(batch).detach()).mean() - other(batch).mean())
    other_optimizer.step()
    other_optimizer.zero_grad()
    accelerator.backward(-other(model(batch)).mean())
    optimizer.step()
    optimizer.zero_grad()


def evaluate():
    model.eval()
    with torch.no_grad():
        losses = [accelerator.gather((model(batch) - batch).square().mean()) for batch, in held_out]
    model.train()
    return float(torch.stack(losses).mean())


for epoch in range(EPOCHS):
    for batch, in batches:
        (train_two if SHAPE == "two" else train)(batch)
        remember(batch)
    if SHAPE == "evaluated":
        evaluate()
