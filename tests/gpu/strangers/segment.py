# SPDX-License-Identifier: MIT
"""torchvision's LR-ASPP on noise: SGD, a schedule by batch, a checkpoint each 20."""
import io
import sys

import torch
import torchvision

STEPS = 40


def main(device):
    torch.manual_seed(16)
    model = torchvision.models.segmentation.lraspp_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=5).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=STEPS)
    for step in range(STEPS):
        images = torch.randn(4, 3, 96, 96, device=device)
        labels = torch.randint(0, 5, (4, 96, 96), device=device)
        loss = torch.nn.functional.cross_entropy(model(images)["out"], labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 19:
            torch.save({"model": model.state_dict()}, io.BytesIO())
            print("step", step, "saved")
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
