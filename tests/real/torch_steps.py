# SPDX-License-Identifier: MIT
"""Trainings in PyTorch as people write them: torch_steps.py [NAME [TRACE]].

With a trace that was made of it the steps that stand there are compared with those
that it makes; without a name all names are printed."""

import gzip
import json
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

STEPS = {"digits": 60, "validated": 60, "accumulated": 40, "scheduled": 80, "checked": 45,
         "newton": 20, "generated": 50, "halves": 50, "words": 70, "rounded": 40,
         "delayed": 60, "distilled": 45, "momentum": 64, "adversaries": 60, "same_line": 45,
         "by_hand": 60, "by_hand_added_up": 20, "by_hand_in_turn": 50, "computed_again": 30,
         "entered_again": 30}
# What is computed again for it lies in backward.
PHASES = ("computed_again", "entered_again")
NONE_FOUND = ("generated", "delayed")  # in doubt


def rows(count, width, classes=10):
    return torch.randn(count, width), torch.randint(0, classes, (count,))


def network(width=64, hidden=512, out=10):
    return nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden),
                         nn.ReLU(), nn.Linear(hidden, out))


def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def digits():
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    data = DataLoader(TensorDataset(*rows(2560, 64)), batch_size=128, shuffle=True)
    for _ in range(3):
        for x, y in data:
            update(optimizer, functional.cross_entropy(model(x), y))


def validated():
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                          nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train = DataLoader(TensorDataset(torch.randn(480, 3, 32, 32),
                                     torch.randint(0, 10, (480,))), batch_size=32)
    test = DataLoader(TensorDataset(torch.randn(160, 3, 32, 32)), batch_size=32)
    for _ in range(4):
        model.train()
        for x, y in train:
            update(optimizer, functional.cross_entropy(model(x), y))
        model.eval()
        with torch.no_grad():
            for (x,) in test:
                model(x).argmax(1)


def accumulated():
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    x, y = rows(160 * 64, 64)
    for i in range(160):
        part = slice(i * 64, i * 64 + 64)
        (functional.cross_entropy(model(x[part]), y[part]) / 4).backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(64, 100)

    def forward(self, tokens):
        return self.out(self.layers(self.embed(tokens)))


def scheduled():
    model = Coder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, s / 10))
    tokens = torch.randint(0, 100, (16, 33))

    def loss():
        return functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1),
                                        tokens[:, 1:].flatten())
    for i in range(80):
        optimizer.zero_grad()
        loss().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if i % 10 == 9:
            model.eval()
            with torch.no_grad():
                for _ in range(3):
                    loss()
            model.train()


def checked():
    """Validated before the first epoch, too, as Lightning does."""
    layer, head = nn.LSTM(32, 128, batch_first=True), nn.Linear(128, 5)
    optimizer = torch.optim.RMSprop([*layer.parameters(), *head.parameters()])
    x, y = torch.randn(15, 32, 20, 32), torch.randint(0, 5, (15, 32))

    def loss(i):
        return functional.cross_entropy(head(layer(x[i])[0][:, -1]), y[i])

    def validate(count):
        with torch.no_grad():
            for i in range(count):
                loss(i)
    validate(2)
    for _ in range(3):
        for i in range(15):
            update(optimizer, loss(i))
        validate(6)


def newton():
    x, y = torch.randn(2000, 200), torch.randn(2000, 1)
    model = nn.Sequential(nn.Linear(200, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=6, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = functional.mse_loss(model(x), y)
        loss.backward()
        return loss
    for _ in range(20):
        optimizer.step(closure)


def generated():
    model = Coder().eval()
    tokens = torch.zeros(8, 1, dtype=torch.int64)
    with torch.no_grad():
        for _ in range(50):
            following = model(tokens)[:, -1].argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, following], 1)


def halves():
    body, head = network(64, 512, 128), nn.Linear(128, 10)
    slow = torch.optim.SGD(body.parameters(), lr=0.01)
    fast = torch.optim.Adam(head.parameters(), lr=1e-3)
    x, y = rows(128, 64)
    for _ in range(50):
        slow.zero_grad()
        fast.zero_grad()
        functional.cross_entropy(head(body(x)), y).backward()
        slow.step()
        fast.step()


def words():
    table, out = nn.Embedding(5000, 128, sparse=True), nn.Linear(128, 5000)
    sparse = torch.optim.SparseAdam(list(table.parameters()))
    dense = torch.optim.Adagrad(out.parameters())
    for _ in range(70):
        context, word = torch.randint(0, 5000, (64, 4)), torch.randint(0, 5000, (64,))
        sparse.zero_grad()
        dense.zero_grad()
        functional.cross_entropy(out(table(context).mean(1)), word).backward()
        sparse.step()
        dense.step()


def rounded():
    model = network(128, 768)
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    x, y = rows(256, 128)
    for _ in range(40):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = functional.cross_entropy(model(x), y)
        update(optimizer, loss)


def delayed():
    """TD3: the actor steps after every second step of the critic."""
    actor, critic = network(16, 256, 4), network(20, 256, 1)
    of_actor = torch.optim.Adam(actor.parameters(), lr=1e-4)
    of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
    for i in range(60):
        state, reward = torch.randn(256, 16), torch.randn(256, 1)
        with torch.no_grad():
            action = actor(state) + 0.1 * torch.randn(256, 4)
        loss = functional.mse_loss(critic(torch.cat([state, action], 1)), reward)
        of_critic.zero_grad()
        loss.backward()
        of_critic.step()
        if i % 2:
            loss = -critic(torch.cat([state, actor(state)], 1)).mean()
            of_actor.zero_grad()
            loss.backward()
            of_actor.step()


def distilled():
    teacher, pupil = network(64, 1024), network(64, 256)
    optimizer = torch.optim.NAdam(pupil.parameters())
    mean = [p.detach().clone() for p in pupil.parameters()]
    x, _ = rows(256, 64)
    for _ in range(45):
        with torch.no_grad():
            soft = functional.softmax(teacher(x) / 3, 1)
        update(optimizer, functional.kl_div(functional.log_softmax(pupil(x) / 3, 1), soft,
                                            reduction="batchmean"))
        with torch.no_grad():
            for old, new in zip(mean, pupil.parameters()):
                old.lerp_(new, 0.01)


def momentum():
    """4 epochs of 16 batches, of which the last is smaller; a test each second one."""
    model = network(256, 512)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    data = DataLoader(TensorDataset(*rows(16 * 96 - 40, 256)), batch_size=96, shuffle=True)
    for epoch in range(4):
        for x, y in data:
            update(optimizer, functional.cross_entropy(model(x), y))
        schedule.step()
        if epoch % 2:
            with torch.no_grad():
                for x, y in data:
                    functional.cross_entropy(model(x), y).item()


def adversaries():
    maker, judge = network(32, 256, 64), network(64, 256, 1)
    of_maker = torch.optim.Adam(maker.parameters(), lr=2e-4)
    of_judge = torch.optim.Adam(judge.parameters(), lr=2e-4)
    one, zero = torch.ones(128, 1), torch.zeros(128, 1)
    tell = functional.binary_cross_entropy_with_logits
    for _ in range(60):
        made = maker(torch.randn(128, 32))
        of_judge.zero_grad()
        (tell(judge(torch.randn(128, 64)), one) + tell(judge(made.detach()), zero)).backward()
        of_judge.step()
        of_maker.zero_grad()
        tell(judge(made), one).backward()
        of_maker.step()


def same_line():
    """Two optimizers of one class in a loop of their own."""
    body, head = network(64, 512, 128), nn.Linear(128, 10)
    both = [torch.optim.Adam(body.parameters()), torch.optim.Adam(head.parameters())]
    x, y = rows(128, 64)
    for _ in range(45):
        for optimizer in both:
            optimizer.zero_grad()
        functional.cross_entropy(head(body(x)), y).backward()
        for optimizer in both:
            optimizer.step()


@torch.no_grad()
def move(model):
    """Without an optimizer; and gradients begin anew."""
    for weights in model.parameters():
        weights -= 0.01 * weights.grad
        weights.grad = None


def by_hand():
    model = network(16, 24)
    rows_of, labels = rows(320, 16)
    for _ in range(6):
        for x, y in zip(rows_of.split(32), labels.split(32)):
            functional.cross_entropy(model(x), y).backward()
            move(model)
        with torch.no_grad():
            functional.cross_entropy(model(rows_of), labels).item()


def by_hand_added_up():
    """Through a layer that keeps a mean in place, of batches that are changed so."""
    model = nn.Sequential(nn.BatchNorm1d(16), network(16, 24))
    for number in range(80):
        x, y = rows(32, 16)
        x.sub_(x.mean())
        (functional.cross_entropy(model(x), y) / 4).backward()
        if number % 4 == 3:
            move(model)


def by_hand_in_turn():
    maker, judge = network(8, 24, 16), network(16, 24, 1)
    for _ in range(50):
        made = maker(torch.randn(32, 8))
        (judge(made.detach()).mean() - judge(torch.randn(32, 16)).mean()).backward()
        move(judge)
        (-judge(made).mean()).backward()
        move(maker)
        judge.zero_grad()


def end_of(event):
    return event["ts"] + event["dur"]


def computed_again(reentrant=False):
    blocks = nn.ModuleList(network(128, 256, 128) for _ in range(4))
    head = nn.Linear(128, 10)
    optimizer = torch.optim.SGD([*blocks.parameters(), *head.parameters()], lr=0.1)
    for _ in range(30):
        x = torch.randn(256, 128, requires_grad=reentrant)
        for block in blocks:
            x = checkpoint(block, x, use_reentrant=reentrant)
        head(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def entered_again():
    computed_again(True)


def compare(name, path):
    """Why the steps in the trace are wrong; None: they aren't."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        slices = [one for one in json.load(file)["traceEvents"] if one["ph"] == "X"]
    steps = [one for one in slices if one["name"].startswith("ProfilerStep#")]
    ends = sorted(end_of(one) for one in slices if one["name"].startswith("Optimizer.step#"))
    wanted = 0 if name in NONE_FOUND else STEPS[name]
    if len(steps) != wanted:
        return f"{len(steps)} steps, not {wanted}"
    each = len(ends) // max(1, wanted)
    for step, end in zip(sorted(steps, key=end_of), ends[each - 1::each] if each else ()):
        if abs(end_of(step) - end) > 0.01:
            return f"{step} doesn't end at {end}"
    for phase in ("forward", "backward") if name in PHASES else ():
        count = sum(one["name"] == "phase: " + phase for one in slices)
        if count != wanted:
            return f"{count} times {phase}, not {wanted}"
    return None


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(*STEPS)
    elif len(sys.argv) > 2:
        sys.exit(compare(*sys.argv[1:]))
    else:
        torch.manual_seed(0)
        torch.set_num_threads(2)
        globals()[sys.argv[1]]()
        print("done")
