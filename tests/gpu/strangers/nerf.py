# SPDX-License-Identifier: MIT
"""A radiance field: rays are drawn at random and rendered, Adam; every 50 steps a
picture is rendered in chunks."""
import sys

import torch

STEPS, EVERY, RAYS, SAMPLES = 250, 50, 512, 24


def encode(points):
    return torch.cat([points] + [f(points * 2 ** k) for k in range(4)
                                 for f in (torch.sin, torch.cos)], -1)


def render(model, origins, ways):
    depths = torch.linspace(1, 4, SAMPLES, device=origins.device)
    points = origins[:, None] + ways[:, None] * depths[:, None]
    made = model(encode(points))
    opacity = 1 - torch.exp(-torch.relu(made[..., 3]) * 3 / SAMPLES)
    left = torch.cumprod(torch.cat([torch.ones_like(opacity[:, :1]),
                                    1 - opacity + 1e-9], 1), 1)[:, :-1]
    return ((left * opacity)[..., None] * torch.sigmoid(made[..., :3])).sum(1)


def main(device):
    torch.manual_seed(6)
    model = torch.nn.Sequential(torch.nn.Linear(27, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 4)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 5e-4)
    origins = torch.zeros(64 * 64, 3, device=device)
    ways = torch.nn.functional.normalize(torch.randn(64 * 64, 3), dim=-1).to(device)
    colours = (ways.abs() ** 2).contiguous()
    for step in range(STEPS):
        picked = torch.randint(0, 64 * 64, (RAYS,), device=device)
        loss = ((render(model, origins[picked], ways[picked]) - colours[picked]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % EVERY == EVERY - 1:
            with torch.no_grad():
                whole = torch.cat([render(model, origins[i:i + 512], ways[i:i + 512])
                                   for i in range(0, 64 * 64, 512)])
            print(step, tuple(whole.shape))
    print("steps", STEPS)


main(sys.argv[1])
