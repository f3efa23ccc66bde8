# SPDX-License-Identifier: MIT
"""Sentences of any length become vectors, 16 at a time, without a gradient; then each
is compared with all."""
import random
import sys

import torch

BATCHES = 120


def main(device):
    torch.manual_seed(7)
    random.seed(7)
    embed = torch.nn.Embedding(5000, 256)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 512, 0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    embed.to(device)
    model.to(device).eval()
    vectors = []
    with torch.inference_mode():
        for _ in range(BATCHES):
            words = torch.randint(0, 5000, (16, random.randint(8, 64)))
            made = model(embed(words.to(device, non_blocking=True)))
            vectors.append(torch.nn.functional.normalize(made.mean(1), dim=-1).cpu())
        everything = torch.cat(vectors).to(device)
        print(tuple((everything @ everything.T).shape))
    print("steps", BATCHES)


main(sys.argv[1])
