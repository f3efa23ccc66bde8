# SPDX-License-Identifier: MIT
"""Trains a small language model as people write it down: a Dataset, a DataLoader, a
loop of epochs and batches, and nothing of any profiler.

    gpu_gpt.py [--slow none|collate|item|loop|batch] [--steps N] [--device cpu]
               [--model own|hf|lightning]

--slow plants what the report should name: a collate function that takes 30 ms, an
.item() for each layer, a loop over the parameters in Python, batches of one.
"""

import argparse
import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

VOCABULARY, LENGTH, WIDTH, LAYERS, HEADS = 8192, 256, 512, 6, 8


class Tokens(Dataset):
    def __init__(self, count):
        made = torch.Generator().manual_seed(1)
        self.tokens = torch.randint(VOCABULARY, (count, LENGTH + 1), generator=made)

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return self.tokens[index]


def slow_collate(rows):
    end = time.perf_counter() + 0.03
    while time.perf_counter() < end:
        pass
    return torch.stack(rows)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                  nn.Linear(4 * WIDTH, WIDTH))

    def attend(self, values):
        batch, length, _ = values.shape
        query, key, value = (
            part.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            for part in self.project(values).chunk(3, -1))
        mixed = nn.functional.scaled_dot_product_attention(query, key, value,
                                                           is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, values):
        values = values + self.attend(self.before(values))
        return values + self.wide(self.after(values))


class Model(nn.Module):
    def __init__(self, watched):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.watched = watched

    def forward(self, tokens):
        values = self.embed(tokens)
        for block in self.blocks:
            values = block(values)
            if self.watched and values.abs().max().item() > 1e6:
                raise ValueError("the activations explode")
        return self.head(values)


def from_transformers():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=WIDTH,
                        n_layer=LAYERS, n_head=HEADS)
    model = GPT2LMHeadModel(config)

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, tokens):
            return self.model(tokens).logits
    return Wrapped()


def loss_of(model, tokens):
    logits = model(tokens[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def clip(parameters):
    for parameter in parameters:
        norm = parameter.grad.norm()
        if norm > 1.0:
            parameter.grad.mul_(1.0 / norm)


def train(model, loader, options):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    done = 0
    while done < options.steps:
        for tokens in loader:
            tokens = tokens.to(options.device, non_blocking=True)
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(model, tokens)
            loss.backward()
            if options.slow == "loop":
                clip(model.parameters())
            optimizer.step()
            done += 1
            if done % 20 == 0:
                print(f"step {done} loss {loss.item():.4f}")
            if done == options.steps:
                break


def train_by_lightning(model, loader, options):
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, tokens, index):
            return loss_of(self.model, tokens)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=3e-4)

    lightning.Trainer(max_steps=options.steps, logger=False, devices=1,
                      accelerator="gpu" if options.device == "cuda" else "cpu",
                      enable_checkpointing=False, enable_model_summary=False,
                      enable_progress_bar=False).fit(Module(), loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slow", default="none",
                        choices=["none", "collate", "item", "loop", "batch"])
    parser.add_argument("--model", choices=["own", "hf", "lightning"], default="own")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    torch.manual_seed(0)
    many = 32 if options.device == "cuda" else 2
    loader = DataLoader(Tokens(4096), batch_size=1 if options.slow == "batch" else many,
                        shuffle=True, num_workers=options.workers,
                        pin_memory=options.device == "cuda", drop_last=True,
                        collate_fn=slow_collate if options.slow == "collate" else None)
    model = from_transformers() if options.model == "hf" else \
        Model(options.slow == "item")
    model = model.to(options.device)
    if options.model == "lightning":
        train_by_lightning(model, loader, options)
    else:
        train(model, loader, options)
    print("parameters", sum(one.numel() for one in model.parameters()))


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main())
