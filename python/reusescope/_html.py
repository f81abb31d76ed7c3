"""A profile as a notebook shows it: totals, the miss ratio curve as a picture, and the worst lines."""
from __future__ import annotations

import html
import math
import os
from typing import TYPE_CHECKING, List, Tuple

if TYPE_CHECKING:
    from ._profile import Profile

WIDTH, HEIGHT, LEFT, BOTTOM = 560, 180, 44, 22
LINES_SHOWN = 5
SIZES = (32 << 10, 1 << 20, 32 << 20)


def size_text(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.3g} {unit}"
        size /= 1024
    raise AssertionError


def points_of(profile: "Profile") -> Tuple[List[Tuple[float, float]], float]:
    """The curve in units of the picture, and its largest size."""
    mrc = profile.mrc
    first, last = math.log2(float(mrc["bytes"][0])), math.log2(float(mrc["bytes"][-1]))
    top = max(float(mrc["miss_ratio"].max()), 1e-9)
    step = max(1, len(mrc) // 400)
    return [(LEFT + (WIDTH - LEFT) * (math.log2(float(one["bytes"])) - first) / max(last - first, 1e-9),
             (HEIGHT - BOTTOM) * (1 - float(one["miss_ratio"]) / top)) for one in mrc[::step]], top


def curve(profile: "Profile") -> str:
    if len(profile.mrc) < 2:
        return ""
    points, top = points_of(profile)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    first, last = (size_text(float(profile.mrc["bytes"][i])) for i in (0, -1))
    return (f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="Miss ratio by cache size" '
            f'style="font: 11px sans-serif; overflow: visible">'
            f'<polyline points="{path}" fill="none" stroke="#2a6fb0" stroke-width="2"/>'
            f'<line x1="{LEFT}" y1="{HEIGHT - BOTTOM}" x2="{WIDTH}" y2="{HEIGHT - BOTTOM}" stroke="currentColor"/>'
            f'<text x="0" y="10" fill="currentColor">{100 * top:.3g} %</text>'
            f'<text x="0" y="{HEIGHT - BOTTOM}" fill="currentColor">0 %</text>'
            f'<text x="{LEFT}" y="{HEIGHT - 6}" fill="currentColor">{first}</text>'
            f'<text x="{WIDTH}" y="{HEIGHT - 6}" text-anchor="end" fill="currentColor">{last}</text></svg>')


def row(*cells: str, tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def worst(profile: "Profile") -> str:
    code = profile.code
    if not len(code):
        return ""
    misses = {size: profile.misses(bytes=size) for size in SIZES}
    lines: dict[Tuple[str, str, int], List[int]] = {}
    for i, one in enumerate(code):
        counts = lines.setdefault((one["file"], one["function"], int(one["line"])), [0] * len(SIZES))
        for k, size in enumerate(SIZES):
            counts[k] += int(misses[size][i])
    ranked = sorted(lines.items(), key=lambda item: item[1], reverse=True)[:LINES_SHOWN]
    text = row("where", *(f"misses in {size_text(size)}" for size in SIZES), tag="th")
    for (file, function, line), counts in ranked:
        place = f"{os.path.basename(file)}:{line} {function}" if file else function or "?"
        text += row(place, *(f"{count:,}" for count in counts))
    return f"<table>{text}</table>"


def page(profile: "Profile") -> str:
    about = (f"{profile.references:,} references to {profile.distinct:,} lines of {profile.line_bytes} bytes, "
             f"{profile.threads} thread{'' if profile.threads == 1 else 's'}, by {profile.made['by']}")
    return f"<div><p>{html.escape(about)}</p>{curve(profile)}{worst(profile)}</div>"
