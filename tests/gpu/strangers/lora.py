# SPDX-License-Identifier: MIT
"""PEFT's LoRA on a small Llama with Accelerate: four batches to an optimizer step."""
import sys

import torch
from accelerate import Accelerator
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

BATCHES, GATHER = 120, 4


def main(device):
    torch.manual_seed(2)
    accelerator = Accelerator(gradient_accumulation_steps=GATHER, cpu=device == "cpu")
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=500, hidden_size=128, intermediate_size=256, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2))
    model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj", "v_proj"]))
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], lr=1e-3)
    data = torch.randint(0, 500, (BATCHES * 4, 48))
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    total = 0.0
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(input_ids=batch, labels=batch).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        total += loss.item()
    print("loss", round(total / BATCHES, 2))
    print("steps", BATCHES // GATHER, BATCHES)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
