# SPDX-License-Identifier: MIT
"""Two ranks by spawn on one GPU, gradients averaged through Gloo."""
import os
import sys

import torch
import torch.distributed as dist

STEPS = 30


def rank_main(rank, device, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(12)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(128, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).to(device))
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for _ in range(STEPS):
        x = torch.randn(64, 128, device=device)
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


def main(device):
    torch.multiprocessing.spawn(rank_main, (device, 29000 + os.getpid() % 900), nprocs=2)
    print("steps", STEPS)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
