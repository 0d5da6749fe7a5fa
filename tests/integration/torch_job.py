# SPDX-License-Identifier: Apache-2.0
"""A job of PyTorch on CPUs: two pipeline stages, of which the second has more layers, and data parallel over the rest.

torchrun --nproc-per-node=8 torch_job.py STEPS LAYERS-OF-STAGE-1 [leak=RANK] [die=RANK]

A rank that leaks keeps one gradient a step. One that dies is killed after half of the steps, as by the kernel.
"""
import os
import signal
import sys

import leaktide
import torch
import torch.distributed as dist

WIDTH, BATCH, FIRST_LAYERS = 1024, 64, 2
kept = []


def keep_for_later(tensor):
    kept.append(tensor.clone())


def make_stage(layers):
    return torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(layers)])


class Rank:
    def __init__(self, layers_of_last, planted):
        self.rank, world = dist.get_rank(), dist.get_world_size()
        self.width = world // 2
        self.stage, self.planted = self.rank // self.width, planted
        groups = [dist.new_group(range(s * self.width, (s + 1) * self.width)) for s in (0, 1)]
        self.group = groups[self.stage]
        self.model = make_stage((FIRST_LAYERS, layers_of_last)[self.stage])
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def first(self):
        output = self.model(torch.randn(BATCH, WIDTH))
        dist.send(output.detach(), self.rank + self.width)
        gradient = torch.empty(BATCH, WIDTH)
        dist.recv(gradient, self.rank + self.width)
        output.backward(gradient)

    def last(self):
        given = torch.empty(BATCH, WIDTH)
        dist.recv(given, self.rank - self.width)
        given.requires_grad_()
        self.model(given).square().mean().backward()
        dist.send(given.grad, self.rank - self.width)

    def step(self):
        (self.first, self.last)[self.stage]()
        for parameter in self.model.parameters():
            dist.all_reduce(parameter.grad, group=self.group)
        if self.planted.get("leak") == str(self.rank):
            keep_for_later(self.model[0].weight.grad)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)


def main():
    steps, layers = int(sys.argv[1]), int(sys.argv[2])
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rank = Rank(layers, dict(word.split("=") for word in sys.argv[3:]))
    for step in leaktide.steps(range(steps)):
        if step == steps // 2 and rank.planted.get("die") == str(rank.rank):
            os.kill(os.getpid(), signal.SIGKILL)
        rank.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
