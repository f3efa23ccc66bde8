# SPDX-License-Identifier: MIT
"""Random loop nests: what a program's stream of regions may look like, and how
many steps it truly had.

Each function takes a random.Random and returns (sites, steps): the sites in the
order of their regions, and the number of steps that a person would name, 0 for
a program that has none.  A program is drawn with its structure and all of its
numbers, so that no two seeds give the same.
"""


class Sites:
    """Hands out sites that nobody else has."""

    def __init__(self):
        self.last = 0

    def some(self, count):
        self.last += count
        return list(range(self.last - count, self.last))


def noise(rng, sites, count):
    """Regions in no order: loading, preparing."""
    return [rng.choice(sites) for _ in range(count)]


def start_up(rng, new):
    """What most programs do first."""
    return noise(rng, new.some(rng.randint(1, 6)), rng.choice((0, 3, 20, 100)))


class Network:
    """Layers forward and backward.  The matrix product may be one function,
    and so one site, wherever it is called from."""

    def __init__(self, rng, new):
        self.layers = rng.choice((1, 2, 3, 4, 6, 12, 24))
        self.product = new.some(1)
        shared = rng.random() < 0.5
        self.layer = [self.product[0] if shared and rng.random() < 0.6 else site
                      for site in new.some(rng.randint(1, 7))]
        self.embed = new.some(rng.randint(0, 2))
        self.head = self.product * rng.randint(0, 1) + new.some(rng.randint(0, 2))
        self.loss = new.some(rng.randint(0, 2))
        self.back = [rng.choice(self.layer) if rng.random() < 0.2 else site
                     for site in new.some(rng.randint(1, 8))]
        self.update = new.some(rng.randint(1, 3))
        self.tensors = rng.choice((1, 1, self.layers))
        self.now_and_then = new.some(1)

    def forward(self):
        return self.embed + self.layer * self.layers + self.head

    def train(self):
        return (self.forward() + self.loss + self.back * self.layers
                + self.update * self.tensors)


def training(rng, evaluated=False, validated=False, generates=False):
    """A trainer; with evaluations after each epoch, a validation before the
    first step and every so often, and a phase that only generates."""
    new = Sites()
    stream = start_up(rng, new)
    net = Network(rng, new)
    metric = new.some(rng.randint(0, 2))
    shuffle = new.some(1) if rng.random() < 0.3 else []
    pick = new.some(rng.randint(0, 2))
    per_epoch = rng.randint(15, 60) if evaluated or shuffle else 10 ** 6
    every = rng.randint(8, 20)
    batches = rng.randint(3, 40)
    logged = rng.choice((0, 0, 5, 10))
    steps = rng.randint(20, 200)
    for step in range(steps):
        if validated and step % every == 0:
            stream += (net.forward() + net.loss) * batches
        if generates and step % (2 * every) == every:
            for _ in range(rng.randint(8, 64)):
                stream += net.forward() + pick
        stream += net.train()
        if logged and step % logged == 0:
            stream += net.now_and_then
        if (step + 1) % per_epoch == 0:
            stream += shuffle
            if evaluated:
                stream += (net.forward() + metric) * rng.randint(1, max(1, per_epoch // 4))
    if generates:
        for _ in range(rng.randint(8, 64)):
            stream += net.forward() + pick
    return stream, steps


def plain_training(rng):
    return training(rng)


def evaluated_training(rng):
    return training(rng, evaluated=True)


def validated_training(rng):
    return training(rng, validated=True)


def generating_training(rng):
    return training(rng, validated=rng.random() < 0.5, generates=True)


def time_steps(rng):
    """A simulation: many regions in a row, some every so often."""
    new = Sites()
    stream = start_up(rng, new)
    body = new.some(rng.randint(4, 60))
    inner = new.some(rng.randint(1, 4))
    turns = rng.choice((0, 0, 1, 2, 3))
    seldom = new.some(rng.randint(1, 3))
    every = rng.choice((0, 20, 25, 50, 100))
    steps = rng.randint(30, 400)
    for step in range(steps):
        if every and step % every == 0:
            stream += seldom
        half = len(body) // 2
        stream += body[:half] + inner * turns + body[half:]
    return stream, steps


def solver(rng):
    """Time steps of a solver that takes as many iterations as it needs."""
    new = Sites()
    stream = start_up(rng, new)
    before = new.some(rng.randint(2, 8))
    iteration = new.some(rng.randint(2, 6))
    after = new.some(rng.randint(1, 6))
    least = rng.randint(4, 30)
    steps = rng.randint(15, 120)
    for _ in range(steps):
        stream += before + iteration * rng.randint(least, least * 3 // 2) + after
    return stream, steps


def one_solve(rng):
    """A solver whose iterations are all that there is."""
    new = Sites()
    stream = start_up(rng, new)
    iteration = new.some(rng.randint(2, 7))
    norm = iteration[-1:]
    steps = rng.randint(20, 400)
    return stream + norm * rng.randint(0, 1) + iteration * steps, steps


def multigrid(rng):
    """V-cycles: the same few functions on each level."""
    new = Sites()
    stream = start_up(rng, new)
    smooth, residual, restrict, prolong, norm = new.some(5)
    levels = rng.randint(3, 9)
    sweeps = rng.randint(1, 3)
    steps = rng.randint(12, 100)
    for _ in range(steps):
        for _ in range(levels - 1):
            stream += [smooth] * sweeps + [residual, restrict]
        stream += [smooth] * sweeps * 4
        for _ in range(levels - 1):
            stream += [prolong] + [smooth] * sweeps
        stream += [residual, norm]
    return stream, steps


def boosting(rng, classes=1):
    """Trees: each some splits deep, as many as there are classes."""
    new = Sites()
    stream = start_up(rng, new)
    gradients = new.some(rng.randint(1, 2))
    root = new.some(rng.randint(1, 3))
    split = new.some(rng.randint(2, 5))
    after = new.some(rng.randint(1, 2))
    metric = new.some(rng.randint(0, 1))
    most = rng.choice((6, 14, 30))
    least = rng.choice((most, most * 2 // 3))
    steps = rng.randint(20, 120)
    for _ in range(steps):
        stream += gradients
        for _ in range(classes):
            stream += root + split * rng.randint(least, most) + after
        stream += metric
    return stream, steps


def one_tree_boosting(rng):
    return boosting(rng)


def multiclass_boosting(rng):
    return boosting(rng, rng.randint(3, 10))


def two_regions(rng):
    new = Sites()
    stream = start_up(rng, new)
    steps = rng.randint(30, 1000)
    return stream + new.some(2) * steps, steps


def attention(rng):
    """A kernel that is called many times in a batch, products around it."""
    new = Sites()
    stream = start_up(rng, new)
    product, kernel, norm, update = new.some(4)
    layers = rng.choice((4, 8, 12, 32))
    heads = rng.choice((1, 4, 8))
    steps = rng.randint(15, 80)
    for _ in range(steps):
        for _ in range(layers):
            stream += [product] * 3 + [kernel] * heads + [product, norm]
        stream += [product]
        stream += [product] * rng.choice((2, 3)) * layers + [update]
    return stream, steps


def two_phases(rng):
    """Data is prepared in a loop, then a training follows."""
    first, _ = time_steps(rng)
    second, steps = training(rng)
    first = first[:max(10, len(second) * rng.randint(5, 40) // 100)]
    return [site + 1000 for site in first] + second, steps


def jittered(rng):
    """A training of which some regions fall out or come twice."""
    stream, steps = training(rng, evaluated=rng.random() < 0.5)
    counts = {site: stream.count(site) for site in set(stream)}
    made = []
    for site in stream:
        chance = rng.random()
        often = counts[site] > 3 * steps        # of layers, not of steps
        if often and chance < 0.01:
            continue
        made.append(site)
        if often and chance > 0.99:
            made.append(site)
    return made, steps


def conditional(rng):
    """A loop with branches."""
    new = Sites()
    stream = start_up(rng, new)
    body = new.some(rng.randint(3, 10))
    branches = [new.some(rng.randint(1, 4)) for _ in range(3)]
    steps = rng.randint(30, 300)
    for _ in range(steps):
        half = len(body) // 2
        stream += body[:half] + rng.choice(branches) + body[half:]
    return stream, steps


def no_loop(rng):
    """Regions in no order."""
    new = Sites()
    return noise(rng, new.some(rng.randint(3, 20)), rng.randint(100, 3000)), 0


def few_calls(rng):
    """A kernel that is called a few times, with inner iterations."""
    new = Sites()
    stream = start_up(rng, new)
    for _ in range(rng.randint(1, 3)):
        inner = new.some(rng.randint(2, 3))
        for _ in range(rng.randint(10, 60)):
            stream += noise(rng, inner, rng.randint(1, 9))
    return stream, 0


KINDS = (plain_training, evaluated_training, validated_training,
         generating_training, time_steps, solver, one_solve, multigrid,
         one_tree_boosting, multiclass_boosting, two_regions, attention,
         two_phases, jittered, conditional, no_loop, few_calls)
