"""From arrays or trace files to a profile."""
from __future__ import annotations

import ctypes
import os
from ctypes import c_void_p
from types import TracebackType
from typing import Iterator, NamedTuple, Optional, Type, Union

import numpy as np
import numpy.typing as npt

from ._columns import Integers, Kinds, Threads, batches
from ._errors import InvalidArgumentError, UnsupportedError
from ._library import (Batch, EngineOptions, ErrorStruct, Thread, TraceInfo, TraceOptions, TraceWriterOptions, check,
                       library)
from ._profile import PathLike, Profile


class Engine:
    """Takes in accesses piece by piece and ends in a profile.

        with reusescope.Engine(line=64) as engine:
            for part in parts:
                engine.push(part)
            profile = engine.finish()

    The parameters are those of the tool's `analyze`, and of struct rsc_engine_options:

    engine: "auto", "exact", "parallel", "shards:0.01", ... (`reusescope help analyze` lists them); model: "single",
    "shared" or "private"; cores: of "private", threads that share a stack, as "0-1,2-3"; line: bytes in a line, a power of two up to 4096 (64); workers: threads of the analysis; phases: cut the run
    into so many; max_distance: distances from here on fall into one open bin; bins: keep a second pair of histograms,
    binned so many per octave; intervals: False leaves reuse intervals out; attribute: to code, True, False or, None, where
    program counters are given; seed: of engines that draw at random; error: for "auto", the mean absolute error of the curve
    that is good enough (0: exact); confidence: of error bars, in percent; top_lines: tell the lines that miss most in a
    cache of top_lines_bytes.

    An engine belongs to one thread at a time. While it works, other threads of Python run.
    """

    def __init__(self, *, engine: str = "auto", model: Optional[str] = None, line: Optional[int] = None, workers: int = 1,
                 phases: int = 0, max_distance: int = 0, bins: int = 0, intervals: bool = True,
                 attribute: Optional[bool] = None, seed: int = 0, error: float = 0.0, confidence: float = 90.0,
                 top_lines: int = 0, top_lines_bytes: int = 0, cores: Optional[str] = None) -> None:
        self._handle: Optional[int] = None
        self._library = library()
        self._threads = Threads()
        if line == 0:
            raise InvalidArgumentError("line size 0: not a power of two from 1 to 4096")
        options = EngineOptions(
            struct_bytes=ctypes.sizeof(EngineOptions), engine=engine.encode(), model=model.encode() if model else None,
            line_bytes=_within(line or 0, "line", 32), phases=_within(phases, "phases", 32),
            max_distance=_within(max_distance, "max_distance", 64), bins_per_octave=_within(bins, "bins", 32),
            workers=_within(workers, "workers", 32), attribute={None: 0, True: 1, False: 2}[attribute],
            no_ri=0 if intervals else 1, seed=_within(seed, "seed", 64), error=error, confidence=confidence,
            top_lines=_within(top_lines, "top_lines", 32), top_lines_bytes=_within(top_lines_bytes, "top_lines_bytes", 64),
            cores=cores.encode() if cores else None)
        handle, failure = c_void_p(), ErrorStruct()
        check(self._library.rsc_engine_new(ctypes.byref(handle), ctypes.byref(options), ctypes.byref(failure)), failure)
        self._handle = handle.value

    def push(self, addresses: npt.ArrayLike, sizes: Optional[Integers] = None, kinds: Optional[Kinds] = None,
             threads: Optional[Integers] = None, pcs: Optional[npt.ArrayLike] = None) -> None:
        """Takes in accesses, in order; analyze() says what the columns are."""
        for batch in batches(addresses, sizes, kinds, threads, pcs, self._threads):
            self._push(batch)

    def _push(self, batch: Batch) -> None:
        error = ErrorStruct()
        check(self._library.rsc_engine_push(self._alive(), ctypes.byref(batch), ctypes.byref(error)), error)

    def finish(self) -> Profile:
        """Ends the analysis; the engine is used up."""
        profile, error = c_void_p(), ErrorStruct()
        status = self._library.rsc_engine_finish(self._alive(), ctypes.byref(profile), ctypes.byref(error))
        self.close()
        check(status, error)
        assert profile.value is not None
        return Profile(profile.value)

    def close(self) -> None:
        """Drops the accesses pushed so far. Does nothing if the engine is already finished or closed."""
        handle, self._handle = self._handle, None
        if handle:
            self._library.rsc_engine_free(handle)

    def _alive(self) -> int:
        if not self._handle:
            raise InvalidArgumentError("this engine was finished or closed")
        return self._handle

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def _within(value: int, name: str, bits: int) -> int:
    """ctypes would silently truncate it."""
    if not 0 <= value < 2**bits:
        raise InvalidArgumentError(f"{name} {value}: not from 0 to {2**bits - 1}")
    return int(value)


class Accesses(NamedTuple):
    """Columns of accesses, as analyze() takes them: analyze(*accesses)."""

    addresses: npt.NDArray[np.uint64]
    sizes: npt.NDArray[np.uint32]
    kinds: npt.NDArray[np.uint8]  # 0 read, 1 write, 2 instruction fetch
    threads: npt.NDArray[np.uint64]  # operating system thread ids
    pcs: Optional[npt.NDArray[np.uint64]]


def analyze(addresses: Union[npt.ArrayLike, "os.PathLike[str]"], sizes: Optional[Integers] = None,
            kinds: Optional[Kinds] = None, threads: Optional[Integers] = None, pcs: Optional[npt.ArrayLike] = None, *,
            format: Optional[str] = None, columns: Optional[str] = None, engine: str = "auto", model: Optional[str] = None, line: Optional[int] = None,
            workers: int = 1, phases: int = 0, max_distance: int = 0, bins: int = 0, intervals: bool = True,
            attribute: Optional[bool] = None, seed: int = 0, error: float = 0.0, confidence: float = 90.0, top_lines: int = 0,
            top_lines_bytes: int = 0, cores: Optional[str] = None) -> Profile:
    """Reuse distances, reuse intervals and the miss ratio curve of accesses to memory.

    addresses: of each access, in order: an array of integers (one of 64-bit integers that lie one after the other is not
    copied), or the path of a trace file in any format that reusescope reads (`format` names those that have no magic number,
    `columns` says what the columns of a table are, as "addr=3,size=4").
    With an array, each of these may be one value for all or one for each:
    sizes: in bytes (1); kinds: "R", "W", "I" or 0, 1, 2 (reads); threads: operating system thread ids (0);
    pcs: addresses of the instructions.
    The others are the parameters of Engine.

    >>> import numpy as np, reusescope
    >>> sweeps = np.tile(np.arange(0, 8192, 64, dtype=np.uint64), 100)
    >>> reusescope.analyze(sweeps).miss_ratio(bytes=8192)
    0.01
    """
    from_file = isinstance(addresses, (str, os.PathLike))
    if from_file and any(column is not None for column in (sizes, kinds, threads, pcs)):
        raise TypeError("analyze: a trace file has its own sizes, kinds, threads and pcs")
    if (format is not None or columns is not None) and not from_file:
        raise TypeError("analyze: format and columns are for trace files")
    with Engine(engine=engine, model=model, line=line, workers=workers, phases=phases, max_distance=max_distance, bins=bins,
                intervals=intervals, attribute=attribute, seed=seed, error=error, confidence=confidence, top_lines=top_lines,
                top_lines_bytes=top_lines_bytes, cores=cores) as taker:
        if isinstance(addresses, (str, os.PathLike)):
            for batch in _trace_batches(addresses, format, columns, engine.startswith("requests")):
                taker._push(batch)
        else:
            taker.push(addresses, sizes, kinds, threads, pcs)
        return taker.finish()


def _trace_batches(path: PathLike, format: Optional[str], columns: Optional[str], objects: bool) -> Iterator[Batch]:
    """Of a trace file. `objects`: whether addresses may be the names of objects."""
    lib, handle, error, info = library(), c_void_p(), ErrorStruct(), TraceInfo()
    options = TraceOptions(struct_bytes=ctypes.sizeof(TraceOptions), format=format.encode() if format else None,
                           columns=columns.encode() if columns else None)
    check(lib.rsc_trace_open(ctypes.byref(handle), os.fsencode(os.fspath(path)), ctypes.byref(options), ctypes.byref(error)),
          error)
    try:
        lib.rsc_trace_get_info(handle, ctypes.byref(info))
        if info.source == b"libCacheSim" and not objects:
            raise UnsupportedError(f'{os.fspath(path)}: requests for objects, not accesses to addresses: use engine="requests"')
        batch = ctypes.POINTER(Batch)()
        while check(lib.rsc_trace_next(handle, ctypes.byref(batch), ctypes.byref(error)), error):
            yield batch.contents
    finally:
        lib.rsc_trace_close(handle)


def _copy(at: Optional[int], count: int) -> npt.NDArray[np.uint64]:
    column = np.empty(count, np.uint64)
    if count:
        assert at is not None
        ctypes.memmove(column.ctypes.data, at, count * 8)
    return column


def read_trace(path: PathLike, *, format: Optional[str] = None, columns: Optional[str] = None) -> Iterator[Accesses]:
    """The accesses of a trace file, a few ten thousand at a time. The arrays are the caller's."""
    for batch in _trace_batches(path, format, columns, True):
        if not batch.count:
            continue  # events only
        meta = _copy(batch.meta, batch.count)
        threads = meta >> np.uint64(40)
        if batch.threads:
            table = (Thread * batch.thread_count).from_address(batch.threads)
            threads = np.array([thread.tid for thread in table], np.uint64)[threads.astype(np.intp)]
        yield Accesses(_copy(batch.addr, batch.count), (meta & np.uint64(0xffffffff)).astype(np.uint32),
                       (meta >> np.uint64(32) & np.uint64(0xff)).astype(np.uint8), threads,
                       _copy(batch.pc, batch.count) if batch.pc else None)


def write_trace(path: PathLike, addresses: npt.ArrayLike, sizes: Optional[Integers] = None, kinds: Optional[Kinds] = None,
                threads: Optional[Integers] = None, pcs: Optional[npt.ArrayLike] = None, *,
                format: Optional[str] = None) -> None:
    """Writes accesses as a trace file, native ("rsct") unless `format` says otherwise. Columns as in analyze()."""
    lib, handle, error = library(), c_void_p(), ErrorStruct()
    options = TraceWriterOptions(struct_bytes=ctypes.sizeof(TraceWriterOptions), format=format.encode() if format else None,
                                 source=b"python", pcs=1)
    check(lib.rsc_trace_writer_open(ctypes.byref(handle), os.fsencode(os.fspath(path)), ctypes.byref(options),
                                    ctypes.byref(error)), error)
    try:
        for batch in batches(addresses, sizes, kinds, threads, pcs, Threads()):
            check(lib.rsc_trace_writer_push(handle, ctypes.byref(batch), ctypes.byref(error)), error)
        check(lib.rsc_trace_writer_finish(handle, ctypes.byref(error)), error)
    finally:
        lib.rsc_trace_writer_close(handle)
