# SPDX-License-Identifier: Apache-2.0
"""A small transformer that is trained on the processor, with a DataLoader of one worker, and keeps the graph of each loss:
a real recording for the page's tests.

Run as torch_leaking.py BATCHES. Ends with 77 where there is no torch.
"""

import sys

try:
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset
except ImportError:
    sys.exit(77)


class Sentences(Dataset):
    def __len__(self):
        return 8 * int(sys.argv[1])

    def __getitem__(self, i):
        words = torch.randint(0, 256, (16,), generator=torch.Generator().manual_seed(i))
        return {"words": words, "next": words.roll(-1)}


class Trainer:
    def __init__(self):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.net = nn.Sequential(nn.Embedding(256, 64), nn.TransformerEncoder(layer, 2), nn.Linear(64, 256))
        self.optimizer = torch.optim.AdamW(self.net.parameters())
        self.history = []

    def remember(self, loss):
        self.history.append(loss)

    def step(self, batch):
        loss = nn.functional.cross_entropy(self.net(batch["words"]).flatten(0, 1), batch["next"].flatten())
        self.optimizer.zero_grad()
        loss.backward(retain_graph=True)
        self.optimizer.step()
        self.remember(loss)


def main():
    torch.set_num_threads(1)
    trainer = Trainer()
    for batch in DataLoader(Sentences(), batch_size=8, num_workers=1, shuffle=True):
        trainer.step(batch)


main()
