# SPDX-License-Identifier: MIT
"""Q-learning: four steps of a world on the host, one small step of the net, a
target net each fiftieth."""
import copy
import random
import sys

import torch

STEPS = 200


def main(device):
    torch.manual_seed(8)
    random.seed(8)
    net = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.ReLU(),
                              torch.nn.Linear(64, 2)).to(device)
    target = copy.deepcopy(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    memory, state = [], [0.0] * 4
    for step in range(STEPS):
        for _ in range(4):
            with torch.no_grad():
                action = net(torch.tensor([state], device=device)).argmax().item()
            if random.random() < 0.1:
                action = random.randrange(2)
            following = [0.9 * value + random.gauss(0, 0.1) + 0.1 * action
                         for value in state]
            memory.append((state, action, -abs(following[0]), following))
            state = following
        batch = random.sample(memory, min(len(memory), 32))
        states, actions, rewards, nexts = (torch.tensor(part, device=device)
                                           for part in zip(*batch))
        with torch.no_grad():
            wanted = rewards + 0.99 * target(nexts).max(1).values
        loss = torch.nn.functional.smooth_l1_loss(
            net(states).gather(1, actions[:, None])[:, 0], wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            target.load_state_dict(net.state_dict())
    print("remembered", len(memory))
    print("steps", STEPS)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
