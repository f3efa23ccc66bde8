# SPDX-License-Identifier: MIT
"""DistributedDataParallel over gloo: two ranks on this machine."""
import gc
import os
import socket

import torch
import torch.distributed
import torch.multiprocessing


def run(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
                      RANK=str(rank), WORLD_SIZE="2")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(256, 256))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(20):
        loss = model(torch.randn(64, 256) + rank).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.distributed.all_reduce(loss.detach())
    if rank == 0:
        print("weights", repr(model.module.weight.sum().item()))
    # PyTorch 2.15 by itself aborts in one run of five where one rank ends first,
    # or the model is taken apart as the interpreter ends.
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    del model, optimizer, loss
    gc.collect()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    torch.multiprocessing.spawn(run, args=(number,), nprocs=2)
