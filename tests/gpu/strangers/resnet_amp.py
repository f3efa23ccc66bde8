# SPDX-License-Identifier: MIT
"""timm's ResNet with AMP, a scaler, channels last, four workers and pinned memory;
a validation after each epoch."""
import sys

import timm
import torch

EPOCHS, BATCHES = 2, 24


class Images(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        made = torch.Generator().manual_seed(index)
        return torch.randn(3, 64, 64, generator=made), index % 10


def main(device):
    torch.manual_seed(3)
    model = timm.create_model("resnet18", num_classes=10).to(
        device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler(device, enabled=device == "cuda")
    loader = torch.utils.data.DataLoader(Images(BATCHES * 16), 16, num_workers=4,
                                         pin_memory=device == "cuda")
    valid = torch.utils.data.DataLoader(Images(64), 16)
    for epoch in range(EPOCHS):
        model.train()
        for images, labels in loader:
            images = images.to(device, non_blocking=True,
                               memory_format=torch.channels_last)
            labels = labels.to(device, non_blocking=True)
            with torch.autocast(device, dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        model.eval()
        with torch.no_grad():
            seen = sum(len(labels) for images, labels in valid
                       if model(images.to(device)).shape[1] == 10)
        print("epoch", epoch, "validated", seen)
    print("steps", EPOCHS * BATCHES)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
