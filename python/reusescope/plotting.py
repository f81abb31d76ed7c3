"""Pictures of profiles, where matplotlib is installed."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._profile import Profile

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def size_text(size: float, _position: Any = None) -> str:
    """1536 as "1.5 KiB"."""
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:g} {_UNITS[unit]}"


def plot(profile: "Profile", ax: Optional["Axes"] = None, *, what: str = "mrc", label: Optional[str] = None,
         caches: Optional[Mapping[str, int]] = None) -> "Axes":
    """Draws a profile into `ax`, or into new axes, and returns them.

    what: "mrc", the miss ratio by cache size, with its error bar where there is
    one; or "rd" or "ri", the share of references by distance or interval.
    label: a name for the legend. caches: sizes in bytes by name, to be marked.
    Raises ImportError without matplotlib.
    """
    if what not in ("mrc", "rd", "ri"):
        raise ValueError(f"plot: {what!r} is not one of mrc, rd, ri")
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot() needs matplotlib (pip install matplotlib, or Debian's python3-matplotlib)") from error
        ax = pyplot.subplots()[1]
    if what == "mrc":
        _curve(profile, ax, label)
    else:
        _histogram(profile, ax, what, label)
    if caches and what != "ri":
        scale = 1 if what == "mrc" else profile.line_bytes
        for name, size in caches.items():
            ax.axvline(size / scale, color="0.6", linestyle=":", linewidth=1)
            ax.annotate(f" {name}", (size / scale, 1), xycoords=("data", "axes fraction"), rotation=90, va="top", ha="right",
                        fontsize="small", color="0.4")
    if label:
        ax.legend()
    return ax


def _curve(profile: "Profile", ax: "Axes", label: Optional[str]) -> None:
    points = profile.mrc
    line = ax.plot(points["bytes"], points["miss_ratio"], drawstyle="steps-post", label=label)[0]
    if (points["high"] > points["low"]).any():
        ax.fill_between(points["bytes"], points["low"], points["high"], step="post", alpha=0.25, color=line.get_color())
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(size_text)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("cache size")
    ax.set_ylabel("miss ratio")


def _histogram(profile: "Profile", ax: "Axes", what: str, label: Optional[str]) -> None:
    bins = getattr(profile, what)
    closed = bins[bins["hi"] != np.uint64(2**64 - 1)]
    # one more than the distance, so that 0 has its place on a logarithmic axis
    left, right = closed["lo"].astype(float) + 1, closed["hi"].astype(float) + 2
    ax.bar(left, closed["count"] / max(profile.references, 1), width=right - left, align="edge", label=label)
    ax.set_xscale("log", base=2)
    ax.set_xlabel("reuse distance + 1, lines" if what == "rd" else "reuse interval + 1, references")
    ax.set_ylabel("share of references")
