# SPDX-License-Identifier: MIT
"""The figures as a picture: how much of each target is used up."""

import html
import math

BAR, LEFT, WIDTH, RIGHT = 22, 330, 480, 110
MET, MISSED = "#2a7f62", "#c0392b"


def used(row, value):
    """1 is the target itself, less is better."""
    if row.at_least:
        return row.target / max(value, 1e-9)
    return value / row.target


def plot(rows, machine):
    rows = [row for row in rows if row.target]
    top = 44
    height = top + BAR * len(rows) + 40
    low, high = math.log2(1 / 16), math.log2(4)

    def across(value):
        at = math.log2(min(max(value, 1 / 16), 4))
        return LEFT + WIDTH * (at - low) / (high - low)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + RIGHT}" '
             f'height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>',
             '<text x="8" y="20" font-size="15">How much of each target is used '
             '(left of the line: met)</text>']
    for tick in (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4):
        x = across(tick)
        name = f"{tick:g}" if tick >= 1 else f"1/{round(1 / tick)}"
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 8}" '
                     f'y2="{height - 32}" stroke="{"#000" if tick == 1 else "#ddd"}"/>'
                     f'<text x="{x:.1f}" y="{top - 11}" text-anchor="middle" '
                     f'fill="#666">{name}</text>')
    for number, row in enumerate(rows):
        y = top + BAR * number
        colour = MET if row.met else MISSED
        end = across(used(row, row.figure))
        parts.append(f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">'
                     f'{html.escape(row.name)}</text>'
                     f'<rect x="{LEFT}" y="{y + 4}" width="{max(end - LEFT, 1):.1f}" '
                     f'height="{BAR - 9}" fill="{colour}"/>'
                     f'<text x="{LEFT + WIDTH + 8}" y="{y + 14}">'
                     f'{html.escape(row.text(row.figure))}</text>')
        if row.low is not None:
            ends = [across(used(row, value)) for value in (row.low, row.high)]
            parts.append(f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y + 10.5}" '
                         f'y2="{y + 10.5}" stroke="#222" stroke-width="1.5"/>')
    parts.append(f'<text x="8" y="{height - 10}" fill="#666">{html.escape(machine)}</text>')
    parts.append("</svg>\n")
    return "\n".join(parts)
