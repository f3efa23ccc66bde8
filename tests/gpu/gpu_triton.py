# SPDX-License-Identifier: MIT
"""A Triton kernel that is unloaded and loaded again: its name must be found by
its text, not by where that lies.

    gpu_triton.py COUNT [DEVICE]
"""

import gc
import sys

import torch
import triton
import triton.language as tl

SIZE = 1 << 16


def make():
    @triton.jit
    def step_kernel(data, size, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(data + at, tl.load(data + at, mask=at < size) + 1, mask=at < size)

    return step_kernel


def main(count, device="cuda"):
    data = torch.zeros(SIZE, device=device)
    for _ in range(2):
        kernel = make()
        for _ in range(count):
            kernel[(SIZE // 1024,)](data, SIZE, block=1024)
        if device == "cuda":
            torch.cuda.synchronize()
        for name in ("device_caches", "cache"):
            found = getattr(kernel, name, None)
            if found is not None:
                found.clear()
        del kernel
        gc.collect()
    print("sum", data.sum().item() / SIZE)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
