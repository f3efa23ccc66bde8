# SPDX-License-Identifier: MIT
"""An LSTM of characters, back through 32 at a time, samples printed between epochs."""
import sys

import torch

EPOCHS, PIECES = 4, 25


def main(device):
    torch.manual_seed(17)
    text = torch.randint(0, 60, (8, 32 * PIECES + 1), device=device)
    embed = torch.nn.Embedding(60, 64).to(device)
    lstm = torch.nn.LSTM(64, 128, 2, batch_first=True).to(device)
    head = torch.nn.Linear(128, 60).to(device)
    everything = [*embed.parameters(), *lstm.parameters(), *head.parameters()]
    optimizer = torch.optim.RMSprop(everything, 1e-3)
    for epoch in range(EPOCHS):
        state = None
        for piece in range(PIECES):
            here = slice(32 * piece, 32 * piece + 32)
            out, state = lstm(embed(text[:, here]), state)
            state = tuple(part.detach() for part in state)
            wanted = text[:, here.start + 1:here.stop + 1]
            loss = torch.nn.functional.cross_entropy(head(out).flatten(0, 1),
                                                     wanted.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            letter, memory = text[:1, :1], None
            for _ in range(20):
                out, memory = lstm(embed(letter), memory)
                letter = head(out[:, -1:]).argmax(-1)
        print("epoch", epoch, letter.shape)
    print("steps", EPOCHS * PIECES)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
