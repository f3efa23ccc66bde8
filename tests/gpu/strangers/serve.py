# SPDX-License-Identifier: MIT
"""Inference: requests of different sizes come, with pauses, and are answered."""
import random
import sys
import time

import torch

REQUESTS = 80


def main(device):
    torch.manual_seed(18)
    random.seed(18)
    model = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 3,
        enable_nested_tensor=False).to(device).eval()
    answered = 0
    with torch.inference_mode():
        for _ in range(REQUESTS):
            time.sleep(random.random() * 0.01)
            x = torch.randn(random.randint(1, 8), random.randint(4, 64), 64)
            out = model(x.to(device)).mean(1).cpu()
            answered += len(out) > 0
    print("answered", answered)
    print("steps", REQUESTS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
