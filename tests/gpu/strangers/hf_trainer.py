# SPDX-License-Identifier: MIT
"""Transformers' Trainer on a small GPT-2, with an evaluation in between."""
import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

STEPS = 40


class Tokens(torch.utils.data.Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        made = torch.Generator().manual_seed(index)
        ids = torch.randint(0, 1000, (64,), generator=made)
        return {"input_ids": ids, "labels": ids}


def main(device):
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=64, n_embd=128,
                                       n_layer=4, n_head=4))
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model, train_dataset=Tokens(),
            eval_dataset=torch.utils.data.Subset(Tokens(), range(64)),
            args=TrainingArguments(
                folder, max_steps=STEPS, per_device_train_batch_size=8,
                eval_strategy="steps", eval_steps=20, save_strategy="no",
                report_to=[], disable_tqdm=True, logging_steps=20, seed=1,
                use_cpu=device == "cpu"))
        result = trainer.train()
    print("loss", round(result.training_loss, 3))
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
