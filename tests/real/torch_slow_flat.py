# SPDX-License-Identifier: MIT
"""A training without functions, steps or an optimizer: pictures that come by rows of
pixels are copied to planes, batch by batch."""

import torch

torch.manual_seed(9)
pictures = torch.randn(320, 96, 96, 12)
marks = torch.randint(0, 3, (320,))
weight = torch.randn(3, 12, requires_grad=True)
for epoch in range(2):
    for begin in range(0, 320, 16):
        chosen = pictures[begin:begin + 16]
        planes = chosen.permute(0, 3, 1, 2).contiguous()
        features = planes.mean((2, 3))
        guess = features @ weight.t()
        loss = torch.nn.functional.cross_entropy(guess, marks[begin:begin + 16])
        loss.backward()
        with torch.no_grad():
            weight -= 0.1 * weight.grad
            weight.grad = None
print("%.5f" % loss.item())
