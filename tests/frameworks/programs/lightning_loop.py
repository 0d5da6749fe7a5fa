"""Training as Lightning's Trainer runs it, nothing marked. SHAPE says what else the loop does; MENDED=1 keeps nothing."""
import os
import tempfile

import lightning
import torch

SHAPE = os.environ.get("SHAPE", "plain")
EPOCHS, BATCHES, BATCH, WIDTH = 3, 24, 16, 256

torch.set_num_threads(1)
torch.manual_seed(1)
kept = []


def remember(tensor):
    if os.environ.get("MENDED") != "1":
        kept.append(tensor.clone())  # the leak


def net(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 512), torch.nn.ReLU(), torch.nn.Linear(512, outputs))


def loader():
    return torch.utils.data.DataLoader(torch.randn(BATCHES * BATCH, WIDTH), batch_size=BATCH)


class One(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = net(WIDTH, WIDTH)

    def loss(self, batch):
        return (self.net(batch) - batch).square().mean()

    def training_step(self, batch):
        remember(batch)
        loss = self.loss(batch)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch):
        self.log("held_out", self.loss(batch))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        if SHAPE != "scheduled":
            return optimizer
        return [optimizer], [{"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 10), "interval": "step"}]


class Two(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.maker, self.judge = net(WIDTH, WIDTH), net(WIDTH, 1)

    def turn(self, optimizer, loss):
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()

    def training_step(self, batch):
        remember(batch)
        maker, judge = self.optimizers()
        self.turn(judge, self.judge(self.maker(batch).detach()).mean() - self.judge(batch).mean())
        self.turn(maker, -self.judge(self.maker(batch)).mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.maker.parameters()), torch.optim.SGD(self.judge.parameters(), lr=0.01)


with tempfile.TemporaryDirectory() as folder:
    trainer = lightning.Trainer(max_epochs=EPOCHS, accelerator="cuda" if os.environ.get("DEVICE") else "cpu", devices=1, logger=False,
                                enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                                default_root_dir=folder, accumulate_grad_batches=4 if SHAPE == "accumulated" else 1,
                                num_sanity_val_steps=0)
    if SHAPE == "two":
        trainer.fit(Two(), loader())
    else:
        trainer.fit(One(), loader(), loader() if SHAPE == "evaluated" else None)
