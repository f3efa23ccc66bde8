# SPDX-License-Identifier: MIT
"""Ends a process in one of many ways right after its last kernel.

    gpu_ends.py WAY [DEVICE]    return, exit, thread, os_exit, sigterm,
                                exception, abort, workers, profiler, killed

The last kernel's name contains "cosh"; the GPU has finished it.  `workers`
loads its data in forked processes first; `profiler` ends after torch.profiler
was used; `killed` says each step that has ended, and ends by kill -9.
"""

import os
import signal
import sys
import threading
import time

import torch


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def last_kernel(device):
    values = torch.ones(1 << 16, device=device)
    (values + 1).cosh_()
    wait(device)


def workers(device):
    data = torch.utils.data.TensorDataset(torch.arange(4096.0).reshape(-1, 16))
    loader = torch.utils.data.DataLoader(data, batch_size=32, num_workers=4,
                                         pin_memory=device == "cuda")
    total = torch.zeros((), device=device)
    for _ in range(2):
        for (batch,) in loader:
            total += batch.to(device, non_blocking=True).sum()
    print("sum", total.item())


def profiled(device):
    """Says how many kernels torch.profiler got."""
    with torch.profiler.profile() as recording:
        last_kernel(device)
    kernels = [event for event in recording.events()
               if event.device_type == torch.autograd.DeviceType.CUDA]
    print("kernels for torch.profiler", len(kernels))


def killed(device, steps):
    for step in range(steps):
        torch.cuda.nvtx.range_push("step") if device == "cuda" else None
        last_kernel(device)
        torch.cuda.nvtx.range_pop() if device == "cuda" else None
        print("step", step, flush=True)
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGKILL)


def main(way, device="cuda", steps="0"):
    torch.ones(8, device=device).sum().item()
    if way == "killed":
        killed(device, int(steps))
    if way == "workers":
        workers(device)
    if way == "profiler":
        profiled(device)
        time.sleep(1)           # until CUPTI is another's again
    last_kernel(device)
    # Without a handover nothing is there yet, as after a kernel at the end.
    if way == "thread":
        thread = threading.Thread(target=sys.exit, args=(5,))
        thread.start()
        thread.join()
    elif way == "exit":
        sys.exit(4)
    elif way == "os_exit":
        os._exit(6)
    elif way == "sigterm":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    elif way == "exception":
        raise RuntimeError("as it should be")
    elif way == "abort":
        os.abort()


if __name__ == "__main__":
    main(*sys.argv[1:])
