# SPDX-License-Identifier: MIT
"""Decoding: Transformers' generate() with its cache, three prompts of 60 tokens."""
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel

PROMPTS, TOKENS = 3, 60


def main(device):
    torch.manual_seed(11)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=128, n_embd=128,
                                       n_layer=4, n_head=4, bos_token_id=0,
                                       eos_token_id=None, pad_token_id=0)).to(device).eval()
    for prompt in range(PROMPTS):
        ids = torch.randint(0, 1000, (1, 8), device=device)
        out = model.generate(ids, max_new_tokens=TOKENS, min_new_tokens=TOKENS,
                             do_sample=False)
        print("prompt", prompt, out.shape[1])
    print("steps", PROMPTS * TOKENS, PROMPTS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
