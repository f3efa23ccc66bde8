# SPDX-License-Identifier: MIT
"""The totals of the run so far, by name."""

from . import _library


def results():
    """A list of dictionaries, largest total first."""
    found = []

    def take(total, unused):
        one = total.contents
        found.append({"name": one.name.decode("utf-8", "replace"),
                      "category": one.category.decode("utf-8", "replace"),
                      "calls": one.calls, "total_ns": one.total_ns,
                      "mean_ns": one.total_ns / one.calls if one.calls else 0,
                      "min_ns": one.min_ns, "max_ns": one.max_ns})

    if _library.expect_preloaded():
        _library.call("totals", _library.Each(take), None)
    return found


class Averages(list):
    """The same, and table() as torch.profiler's key_averages() has it."""

    def __init__(self):
        super().__init__(results())

    def table(self, sort_by=None, row_limit=100, **unused):
        """One line for each name; those with "count" in `sort_by` by calls,
        all others by their total time, of which nothing is left out."""
        key = "calls" if sort_by and "count" in sort_by else "total_ns"
        if sort_by and sort_by.startswith("self_"):
            _library.say_once(f"{sort_by}: a total has what was called inside; `traceprof "
                              "report` has its own time")
        rows = sorted(self, key=lambda one: one[key], reverse=True)
        lines = [f"{'total ms':>12} {'avg us':>12} {'calls':>10}  name"]
        for one in rows[:row_limit] if row_limit >= 0 else rows:
            lines.append(f"{one['total_ns'] / 1e6:12.3f} {one['mean_ns'] / 1e3:12.3f} "
                         f"{one['calls']:10}  {one['name']}")
        return "\n".join(lines)
