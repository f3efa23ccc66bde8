# SPDX-License-Identifier: MIT
"""Two encoders with a loss between them, compiled, in bf16, weights of one averaged;
evaluated by nearest neighbours in the middle."""
import sys

import torch

STEPS = 60


def main(device):
    torch.manual_seed(19)
    one, two = (torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.GELU(),
                                    torch.nn.Linear(256, 64)).to(device) for _ in range(2))
    fast = torch.compile(one) if device == "cuda" else one
    optimizer = torch.optim.AdamW(one.parameters(), 1e-3, fused=device == "cuda")
    for step in range(STEPS):
        x = torch.randn(256, 128, device=device)
        with torch.autocast(device, dtype=torch.bfloat16):
            a = torch.nn.functional.normalize(fast(x), dim=1)
            with torch.no_grad():
                b = torch.nn.functional.normalize(two(x + 0.1 * torch.randn_like(x)), dim=1)
            loss = torch.nn.functional.cross_entropy(
                a @ b.T * 10, torch.arange(256, device=device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(two.parameters()), list(one.parameters()), 0.01)
        if step == STEPS // 2:
            near = (a.float() @ a.float().T).topk(5).indices.cpu()
            print("neighbours", near.shape[1])
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
