# SPDX-License-Identifier: MIT
"""The traces of torch_ddp.py: two ranks that say so, each with all collectives."""

import sys

import traces

BATCHES = 20

ranks = {}
for name in sys.argv[1:]:
    top = traces.load(name)
    reduced = [event for event in top["traceEvents"]
               if event.get("name") == "c10d::allreduce_"]
    if reduced:
        ranks[top["distributedInfo"]["rank"]] = (
            top["distributedInfo"]["world_size"], len(reduced))
print(ranks)
# One bucket each step, and the script's own.
sys.exit(ranks != {rank: (2, BATCHES + 1) for rank in range(2)})
