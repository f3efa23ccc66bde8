# SPDX-License-Identifier: MIT
"""Soft actor and critic on a pendulum in NumPy: a step of the world, then one of the
critics, of the actor, and of the temperature."""
import sys

import numpy as np
import torch

STEPS, START = 260, 60


def net(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 128), torch.nn.ReLU(),
                               torch.nn.Linear(128, 128), torch.nn.ReLU(),
                               torch.nn.Linear(128, outputs))


def world(state, action):
    angle, speed = state
    speed = np.clip(speed + 0.05 * (15 * np.sin(angle) + 3 * action), -8, 8)
    angle += 0.05 * speed
    return np.array([angle, speed]), -(angle ** 2 + 0.1 * speed ** 2)


def main(device):
    torch.manual_seed(0)
    np.random.seed(0)
    actor, critic, target = net(2, 2), net(3, 1), net(3, 1)
    for one in (actor, critic, target):
        one.to(device)
    target.load_state_dict(critic.state_dict())
    heat = torch.zeros(1, requires_grad=True, device=device)
    of_actor = torch.optim.Adam(actor.parameters(), 3e-4)
    of_critic = torch.optim.Adam(critic.parameters(), 3e-4)
    of_heat = torch.optim.Adam([heat], 3e-4)

    def act(states):
        mean, spread = actor(states).chunk(2, -1)
        noise = torch.randn_like(mean)
        action = torch.tanh(mean + noise * spread.clamp(-5, 2).exp())
        return action, -(noise ** 2) / 2 - spread - torch.log(1 - action ** 2 + 1e-6)

    memory, state = [], np.array([3.0, 0.0])
    for step in range(STEPS):
        with torch.no_grad():
            action = act(torch.tensor(state, dtype=torch.float32, device=device)[None])[0]
        after, reward = world(state, float(action))
        memory.append((state, float(action), reward / 10, after))
        state = after if step % 100 != 99 else np.array([3.0, 0.0])
        if step < START:
            continue
        picked = [memory[i] for i in np.random.randint(0, len(memory), 64)]
        old, actions, rewards, new = (torch.tensor(np.array(part), dtype=torch.float32,
                                                   device=device) for part in zip(*picked))
        with torch.no_grad():
            chosen, log = act(new)
            value = rewards[:, None] + 0.99 * (target(torch.cat([new, chosen], 1))
                                               - heat.exp() * log)
        loss = ((critic(torch.cat([old, actions[:, None]], 1)) - value) ** 2).mean()
        of_critic.zero_grad()
        loss.backward()
        of_critic.step()
        chosen, log = act(old)
        loss = (heat.exp().detach() * log - critic(torch.cat([old, chosen], 1))).mean()
        of_actor.zero_grad()
        loss.backward()
        of_actor.step()
        loss = -(heat.exp() * (log.detach() - 1)).mean()
        of_heat.zero_grad()
        loss.backward()
        of_heat.step()
        with torch.no_grad():
            for slow, now in zip(target.parameters(), critic.parameters()):
                slow.mul_(0.995).add_(now, alpha=0.005)
    print("heat", round(float(heat), 3))
    print("steps", STEPS - START, STEPS)


main(sys.argv[1])
