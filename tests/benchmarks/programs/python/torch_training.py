# SPDX-License-Identifier: Apache-2.0
"""torch_training.py BATCHES: a small transformer trained on the CPU, three epochs, a DataLoader with two workers.

Ends with status 77 where there is no torch.
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
        words = torch.randint(0, 512, (16,), generator=torch.Generator().manual_seed(i))
        return {"words": words, "next": words.roll(-1), "meta": [str(i)] * 4}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(512, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.out = nn.Linear(128, 512)

    def forward(self, words):
        return self.out(self.encoder(self.embedding(words)))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    loss_of = nn.CrossEntropyLoss()
    for _ in range(3):
        for batch in DataLoader(Sentences(), batch_size=8, num_workers=2, shuffle=True):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = loss_of(net(batch["words"]).flatten(0, 1).float(), batch["next"].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item())


main()
