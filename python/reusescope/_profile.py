"""A profile: what every analysis produces, read from the library once and kept as arrays."""
from __future__ import annotations

import ctypes
import json
import os
from ctypes import c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Union, overload

import numpy as np
import numpy.typing as npt

from ._library import ErrorStruct, ProfileTotals, check, library

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PathLike = Union[str, "os.PathLike[str]"]

#: Distances lo to hi, both included; hi is 2**64 - 1 in the open bin of a capped histogram.
BIN = np.dtype([("lo", "<u8"), ("hi", "<u8"), ("count", "<u8")])
#: A point of the miss ratio curve; low and high are its error bar (equal to miss_ratio where it is exact).
POINT = np.dtype([("lines", "<u8"), ("bytes", "<u8"), ("miss_ratio", "<f8"), ("low", "<f8"), ("high", "<f8")])
#: What the references of one instruction did. function and file are "" and line 0 where they are not known.
CODE = np.dtype([("pc", "<u8"), ("function", object), ("file", object), ("line", "<u4"), ("references", "<u8"),
                 ("cold", "<u8"), ("invalidated", "<u8")])

#: Data used at one instruction and used again at another; object is "" where it is not known.
PAIR = np.dtype([("use_pc", "<u8"), ("use_function", object), ("use_file", object), ("use_line", "<u4"),
                 ("reuse_pc", "<u8"), ("reuse_function", object), ("reuse_file", object), ("reuse_line", "<u4"),
                 ("object", object), ("references", "<u8")])
#: A variable, a heap block by where it was allocated, a stack.
OBJECT = np.dtype([("name", object), ("kind", object), ("bytes", "<u8"), ("references", "<u8"), ("cold", "<u8"),
                   ("invalidated", "<u8")])


def _place(row: Mapping[str, Any]) -> Tuple[int, str, str, int]:
    return int(row["pc"], 16), row.get("function") or "", row.get("file") or "", row.get("line") or 0


def _at_least(bins: List[Mapping[str, Any]], lines: int) -> int:
    """References with a distance of that many lines or more; within a bin, a part of it, as the tool counts."""
    count = 0
    for one in bins:
        low, high = one["lo"], one["hi"]
        if low >= lines:
            count += one["count"]
        elif high is not None and high >= lines:
            count += one["count"] * (high - lines + 1) // (high - low + 1)
    return count


class Profile:
    """Histograms of reuse distance and reuse interval, the miss ratio curve, totals, and how they were obtained.

    Made by analyze(), Engine.finish() and load(). Arrays are read-only; a
    profile does not change and may be used from several threads.
    """

    def __init__(self, handle: int) -> None:
        """Takes over a handle of the library; not for callers."""
        self._handle: Optional[int] = handle
        self._library = library()
        self._kept: Dict[str, Any] = {}
        totals = ProfileTotals()
        self._library.rsc_profile_get_totals(handle, ctypes.byref(totals))
        self._totals = {name: int(getattr(totals, name)) for name, _ in ProfileTotals._fields_}

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            self._library.rsc_profile_free(handle)

    # Totals

    @property
    def line_bytes(self) -> int:
        """Bytes in a line."""
        return self._totals["line_bytes"]

    @property
    def accesses(self) -> int:
        return self._totals["accesses"]

    @property
    def references(self) -> int:
        """Lines touched, summed over accesses: an access that crosses a line is one for each."""
        return self._totals["references"]

    @property
    def cold(self) -> int:
        """First touches."""
        return self._totals["cold"]

    @property
    def invalidated(self) -> int:
        return self._totals["invalidated"]

    @property
    def distinct(self) -> int:
        """Different lines."""
        return self._totals["distinct"]

    @property
    def threads(self) -> int:
        return self._totals["threads"]

    @property
    def totals(self) -> Mapping[str, int]:
        """All totals by name, those of sampled results (last_touch, pruned, censored) too."""
        return dict(self._totals)

    # Arrays

    def _array(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        if name not in self._kept:
            count = c_size_t()
            at = getattr(self._library, "rsc_profile_" + name)(self._handle, ctypes.byref(count))
            kind = np.dtype(dtype)
            array = np.empty(count.value, kind)
            if count.value:
                ctypes.memmove(array.ctypes.data, at, count.value * kind.itemsize)
            array.flags.writeable = False
            self._kept[name] = array
        kept: npt.NDArray[Any] = self._kept[name]
        return kept

    @property
    def rd(self) -> npt.NDArray[np.void]:
        """Reuse distances: an array of BIN (fields lo, hi, count), non-empty bins in ascending order."""
        return self._array("rd", BIN)

    @property
    def ri(self) -> npt.NDArray[np.void]:
        """Reuse intervals: an array of BIN. Empty where they were left out."""
        return self._array("ri", BIN)

    @property
    def mrc(self) -> npt.NDArray[np.void]:
        """The miss ratio curve: an array of POINT (fields lines, bytes, miss_ratio, low, high), sizes ascending."""
        return self._array("mrc", POINT)

    @property
    def byte_miss_ratio(self) -> Optional[npt.NDArray[np.float64]]:
        """For a profile of requests: bytes missed / bytes requested at each point of mrc. None for other profiles."""
        ratios = self._array("byte_miss_ratio", np.float64)
        return ratios if len(ratios) or self.made["model"] == "requests" else None

    @property
    def code(self) -> npt.NDArray[np.void]:
        """An array of CODE, most references first; empty where program counters were not known.

        The distances of each row are in json["code"], in the same order.
        """
        return self._rows("code", CODE, lambda row: (*_place(row), row["references"], row["cold"],
                                                     row.get("invalidated", 0)))

    @property
    def pairs(self) -> npt.NDArray[np.void]:
        """An array of PAIR, in the order of json["pairs"]."""
        return self._rows("pairs", PAIR, lambda row: (*_place(row["use"]), *_place(row["reuse"]), row.get("object") or "",
                                                      row["references"]))

    @property
    def objects(self) -> npt.NDArray[np.void]:
        """An array of OBJECT, in the order of json["objects"]."""
        return self._rows("objects", OBJECT, lambda row: (row.get("name") or "", row["kind"], row.get("bytes") or 0,
                                                          row["references"], row["cold"], row.get("invalidated", 0)))

    def _rows(self, name: str, dtype: npt.DTypeLike,
              values: Callable[[Mapping[str, Any]], Tuple[Any, ...]]) -> npt.NDArray[np.void]:
        if name not in self._kept:
            rows = self.json[name]
            table = np.empty(len(rows), dtype)
            for i, row in enumerate(rows):
                table[i] = values(row)
            table.flags.writeable = False
            self._kept[name] = table
        kept: npt.NDArray[np.void] = self._kept[name]
        return kept

    def misses(self, rows: str = "code", *, bytes: int) -> npt.NDArray[np.uint64]:
        """Misses of each row of code, pairs or objects in a cache of this size, in the order of that array.

        First touches and invalidated lines miss at every size; distances are known to a quarter of an octave.
        """
        if rows not in ("code", "pairs", "objects"):
            raise ValueError(f"misses: {rows!r} is not one of code, pairs, objects")
        lines = max(1, int(bytes) // self.line_bytes)
        return np.array([row.get("cold", 0) + row.get("invalidated", 0) + _at_least(row["rd"], lines)
                         for row in self.json[rows]], np.uint64)

    # Single numbers

    @overload
    def miss_ratio(self, lines: int) -> float: ...
    @overload
    def miss_ratio(self, *, bytes: int) -> float: ...
    @overload
    def miss_ratio(self, lines: npt.ArrayLike) -> Union[float, npt.NDArray[np.float64]]: ...
    @overload
    def miss_ratio(self, *, bytes: npt.ArrayLike) -> Union[float, npt.NDArray[np.float64]]: ...

    def miss_ratio(self, lines: Optional[npt.ArrayLike] = None, *,
                   bytes: Optional[npt.ArrayLike] = None) -> Union[float, npt.NDArray[np.float64]]:
        """Miss ratio of a fully associative LRU cache of this many lines or bytes; an array for an array of sizes."""
        if (lines is None) == (bytes is None):
            raise TypeError("miss_ratio: takes either lines or bytes")
        sizes = np.asarray(lines if bytes is None else bytes)
        if sizes.dtype.kind not in "iu" or (sizes.size and sizes.min() < 0):
            raise ValueError("miss_ratio: sizes are whole numbers from 0 on")
        if bytes is not None:
            sizes = sizes // self.line_bytes
        ask: Callable[[int, int], float] = self._library.rsc_profile_miss_ratio
        assert self._handle is not None
        if sizes.ndim == 0:
            return float(ask(self._handle, int(sizes)))
        ratios = np.array([ask(self._handle, int(size)) for size in sizes.flat], np.float64)
        return ratios.reshape(sizes.shape)

    def rd_quantile(self, fraction: float) -> Optional[int]:
        """Smallest distance that at least this fraction of the reuses do not exceed, as its bin's upper end.

        None where there are no reuses, or where it falls into the open bin of a capped histogram.
        """
        distance = int(self._library.rsc_profile_rd_quantile(self._handle, float(fraction)))
        return None if distance == 2**64 - 1 else distance

    # All of it

    def json_text(self) -> str:
        """The profile as the tool writes it with --format json (docs/schema/profile.schema.json)."""
        text, size, error = c_void_p(), c_size_t(), ErrorStruct()
        check(self._library.rsc_profile_json(self._handle, ctypes.byref(text), ctypes.byref(size), ctypes.byref(error)), error)
        try:
            assert text.value is not None
            return ctypes.string_at(text.value, size.value).decode("utf-8")
        finally:
            self._library.rsc_text_free(text)

    @property
    def json(self) -> Dict[str, Any]:
        """json_text(), parsed: everything there is, phases, threads, pairs and objects too. Parsed once; not to be changed."""
        if "json" not in self._kept:
            self._kept["json"] = json.loads(self.json_text())
        kept: Dict[str, Any] = self._kept["json"]
        return kept

    @property
    def made(self) -> Mapping[str, Any]:
        """How the profile was obtained: engine, model, sampling, seconds, ..."""
        made: Mapping[str, Any] = self.json["made"]
        return made

    def save(self, path: PathLike) -> None:
        """Writes a file that load() and `reusescope report` read: JSON if its name ends in .json, else the container."""
        name, error = os.fspath(path), ErrorStruct()
        write = self._library.rsc_profile_write_json if name.endswith(".json") else self._library.rsc_profile_save
        check(write(self._handle, os.fsencode(name), ctypes.byref(error)), error)

    @classmethod
    def from_json(cls, text: Union[str, bytes]) -> "Profile":
        """The profile that json_text() wrote."""
        data = text.encode("utf-8") if isinstance(text, str) else text
        handle, error = c_void_p(), ErrorStruct()
        check(library().rsc_profile_parse(ctypes.byref(handle), data, len(data), None, ctypes.byref(error)), error)
        assert handle.value is not None
        return cls(handle.value)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Profile.from_json, (self.json_text(),)

    def __repr__(self) -> str:
        return (f"<reusescope.Profile by {self.made['by']}: {self.references:,} references to {self.distinct:,} lines "
                f"of {self.line_bytes} bytes>")

    def _repr_html_(self) -> str:
        """For notebooks: the totals, the curve and the worst lines."""
        from ._html import page
        return page(self)

    def plot(self, ax: Optional["Axes"] = None, *, what: str = "mrc", label: Optional[str] = None,
             caches: Optional[Mapping[str, int]] = None) -> "Axes":
        """Draws the curve ("mrc") or a histogram ("rd", "ri") with matplotlib; see reusescope.plotting.plot()."""
        from .plotting import plot
        return plot(self, ax, what=what, label=label, caches=caches)


def load(path: PathLike) -> Profile:
    """Reads a profile that the tool or save() wrote; of a file with several, the first."""
    return load_all(path)[0]


def load_all(path: PathLike) -> List[Profile]:
    """Reads every profile of a file, at least one."""
    lib, error, count = library(), ErrorStruct(), c_size_t()
    handles = ctypes.POINTER(c_void_p)()
    check(lib.rsc_profiles_load(os.fsencode(os.fspath(path)), ctypes.byref(handles), ctypes.byref(count), ctypes.byref(error)),
          error)
    try:
        profiles = []
        for i in range(count.value):
            handle = handles[i]
            assert handle is not None
            profiles.append(Profile(handle))
            handles[i] = None  # taken over
        return profiles
    finally:
        lib.rsc_profiles_free(handles, count)
