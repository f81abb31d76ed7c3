"""Arrays of numpy as batches of the library.

A batch is columns: addresses, meta (size, kind and thread packed in 64 bits) and,
where known, program counters. Arrays of 64-bit integers that are contiguous are
handed over as they lie in memory, CHUNK accesses at a time; everything else is
converted a chunk at a time, so that no second copy of a long array exists.
"""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterator, List, Optional, Union

import numpy as np
import numpy.typing as npt

from ._library import UNKNOWN, Batch, Thread

Integers = Union[int, npt.ArrayLike]
Kinds = Union[str, int, npt.ArrayLike]

CHUNK = 1 << 16  # accesses in a batch: what the library's own readers hand out at most
_THREADS_MAX = 1 << 20
_KIND_LETTERS = {"R": 0, "W": 1, "I": 2}


def integers(values: Any, name: str, count: Optional[int] = None) -> npt.NDArray[Any]:
    """A one-dimensional array of integers; the array itself where it is one."""
    array = np.asarray(values)
    if array.dtype.kind in "fO" and array is not values and all(isinstance(value, (int, np.integer)) for value in values):
        try:
            array = np.array(values, np.uint64)  # an empty list, or whole numbers of which some need all 64 bits
        except OverflowError:
            raise ValueError(f"{name}: not all from 0 to {UNKNOWN}") from None
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{name}: needs a one-dimensional array of integers, not {array.ndim} dimensions of {array.dtype}")
    if count is not None and len(array) != count:
        raise ValueError(f"{name}: {len(array)} values for {count} addresses")
    return array


def _column(values: Optional[Any], name: str, count: int, top: int) -> Union[int, npt.NDArray[Any]]:
    """One number for all accesses, or an array of them, none above `top`."""
    column: Union[int, npt.NDArray[Any]]
    if values is None or isinstance(values, (int, np.integer)):
        column = int(values or 0)
        low, high = column, column
    else:
        column = integers(values, name, count)
        low, high = (int(column.min()), int(column.max())) if count else (0, 0)
    if low < 0 or high > top:
        raise ValueError(f"{name}: {low if low < 0 else high} is not from 0 to {top}")
    return column


def _kind_codes(kinds: Optional[Kinds]) -> Optional[Any]:
    """Letters R, W, I (one, a string of them, or an array) as the library's numbers."""
    if isinstance(kinds, str):
        if len(kinds) != 1:
            kinds = list(kinds)
        elif kinds in _KIND_LETTERS:
            return _KIND_LETTERS[kinds]
    array = np.asarray(kinds) if kinds is not None else None
    if array is None or array.dtype.kind not in "US":
        return kinds
    codes = np.full(array.shape, 255, np.uint64)
    for letter, code in _KIND_LETTERS.items():
        codes[array == (letter if array.dtype.kind == "U" else letter.encode())] = code
    if (codes == 255).any():
        raise ValueError(f"kinds: {array[codes == 255].flat[0]!r} is not one of R, W, I")
    return codes


class Threads:
    """Numbers threads densely in the order of their first appearance, as the library wants them."""

    def __init__(self) -> None:
        self._numbers: Dict[int, int] = {}
        self._table: Any = None

    def number(self, tids: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
        distinct, first, inverse = np.unique(tids, return_index=True, return_inverse=True)
        for at in np.argsort(first):
            self._numbers.setdefault(int(distinct[at]), len(self._numbers))
        if len(self._numbers) > _THREADS_MAX:
            raise ValueError(f"threads: more than {_THREADS_MAX} different ones")
        numbers = np.array([self._numbers[int(tid)] for tid in distinct], np.uint64)
        return np.asarray(numbers[inverse], np.uint64)

    def attach(self, batch: Batch) -> None:
        if not self._numbers:
            return
        if self._table is None or len(self._table) != len(self._numbers):
            self._table = (Thread * len(self._numbers))(*[Thread(0, tid) for tid in self._numbers])
        batch.threads = ctypes.addressof(self._table)
        batch.thread_count = len(self._table)


def _words(array: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """64-bit words; the memory of the array itself where it is made of such."""
    if array.dtype in (np.dtype(np.int64), np.dtype(np.uint64)) and array.flags.c_contiguous:
        return array.view(np.uint64)
    return np.ascontiguousarray(array.astype(np.int64 if array.dtype.kind == "i" else np.uint64)).view(np.uint64)


def batches(addresses: Any, sizes: Optional[Integers], kinds: Optional[Kinds], threads: Optional[Integers],
            pcs: Optional[Integers], seen: Threads) -> Iterator[Batch]:
    """Cuts columns into batches. Each is valid until the next is asked for."""
    addr = integers(addresses, "addresses")
    count = len(addr)
    size = _column(1 if sizes is None else sizes, "sizes", count, 2**32 - 1)
    kind = _column(_kind_codes(kinds), "kinds", count, 2)
    thread = _column(threads, "threads", count, 2**64 - 1)
    if isinstance(pcs, (int, np.integer)):
        pcs = np.full(count, pcs, np.uint64)
    pc = None if pcs is None else integers(pcs, "pcs", count)
    constant = not any(isinstance(column, np.ndarray) for column in (size, kind, thread))
    meta: Optional[npt.NDArray[np.uint64]] = None
    for start in range(0, count, CHUNK):
        part = slice(start, min(start + CHUNK, count))
        length = part.stop - part.start
        if meta is None or not constant:
            meta = _meta(size, kind, thread, part, length, seen)
        keep: List[npt.NDArray[np.uint64]] = [_words(addr[part]), meta]
        batch = Batch(count=length, addr=keep[0].ctypes.data, meta=keep[1].ctypes.data, instructions=UNKNOWN)
        if pc is not None:
            keep.append(_words(pc[part]))
            batch.pc = keep[2].ctypes.data
        seen.attach(batch)
        yield batch


def _meta(size: Union[int, npt.NDArray[Any]], kind: Union[int, npt.NDArray[Any]], thread: Union[int, npt.NDArray[Any]],
          part: slice, length: int, seen: Threads) -> npt.NDArray[np.uint64]:
    """Bits 0-31 size, 32-39 kind, 40-63 number of the thread."""
    meta = np.empty(length, np.uint64)
    meta[:] = size[part] if isinstance(size, np.ndarray) else size
    if isinstance(kind, np.ndarray):
        meta |= kind[part].astype(np.uint64) << np.uint64(32)
    elif kind:
        meta |= np.uint64(kind << 32)
    tids = thread[part] if isinstance(thread, np.ndarray) else np.array([thread], np.uint64)
    numbers = seen.number(tids)
    meta |= numbers << np.uint64(40)
    return meta
