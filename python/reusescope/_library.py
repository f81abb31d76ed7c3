"""Finds and loads libreusescope, and declares its functions and structs to ctypes.

The structs mirror include/reusescope/*.h; a test compares them field by field with
the library's description of its binary interface (tests/abi/reusescope.abi).
"""
from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, Iterator, List, Optional, Tuple

from ._errors import BY_CODE, Error, LibraryError

ABI = 0
SONAME = f"libreusescope.so.{ABI}"
UNKNOWN = 2**64 - 1


class ErrorStruct(ctypes.Structure):
    _fields_ = [("code", c_int), ("line", c_uint32), ("offset", c_uint64), ("message", c_char * 496)]


class EngineOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t), ("engine", c_char_p), ("model", c_char_p), ("line_bytes", c_uint32),
        ("phases", c_uint32), ("max_distance", c_uint64), ("bins_per_octave", c_uint32), ("workers", c_uint32),
        ("log", c_void_p), ("attribute", c_uint32), ("no_ri", c_uint32), ("seed", c_uint64), ("error", c_double),
        ("confidence", c_double), ("top_lines", c_uint32), ("reserved", c_uint32),
        ("top_lines_bytes", c_uint64), ("cores", c_char_p),
    ]


class Bin(ctypes.Structure):
    _fields_ = [("lo", c_uint64), ("hi", c_uint64), ("count", c_uint64)]


class MrcPoint(ctypes.Structure):
    _fields_ = [("lines", c_uint64), ("bytes", c_uint64), ("miss_ratio", c_double), ("low", c_double),
                ("high", c_double)]


class ProfileTotals(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in ("line_bytes", "accesses", "references", "cold", "invalidated", "distinct",
                                              "last_touch", "pruned", "censored", "threads")]


class Thread(ctypes.Structure):
    _fields_ = [("pid", c_uint64), ("tid", c_uint64)]


class Event(ctypes.Structure):
    _fields_ = [("at", c_uint32), ("type", c_uint16), ("data_bytes", c_uint16), ("thread", c_uint32),
                ("reserved", c_uint32), ("a", c_uint64), ("b", c_uint64), ("data", c_void_p)]


class Batch(ctypes.Structure):
    _fields_ = [
        ("count", c_uint32), ("event_count", c_uint32), ("addr", c_void_p), ("meta", c_void_p), ("pc", c_void_p),
        ("events", c_void_p), ("threads", c_void_p), ("thread_count", c_uint32), ("reserved", c_uint32),
        ("instructions", c_uint64),
    ]


class TraceOptions(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("format", c_char_p), ("filter", c_void_p), ("log", c_void_p),
                ("salvage", c_int), ("decode_ahead", c_int), ("without_pcs", c_int),
                ("unused", c_int), ("without_events", c_int), ("columns", c_char_p)]


class TraceInfo(ctypes.Structure):
    _fields_ = [
        ("format", c_char_p), ("compression", c_char_p), ("source", c_char_p), ("command", c_char_p), ("filter", c_char_p),
        ("accesses", c_uint64), ("instructions", c_uint64), ("full_accesses", c_uint64), ("full_instructions", c_uint64),
        ("frames", c_uint64), ("file_bytes", c_uint64), ("lost_bytes", c_uint64), ("lost_frames", c_uint64),
        ("version", c_uint32), ("has_pc", c_int),
    ]


class TraceWriterOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t), ("format", c_char_p), ("source", c_char_p), ("command", c_char_p),
        ("filter", c_char_p), ("level", c_int), ("max_bytes", c_uint64), ("pcs", c_int), ("frame_accesses", c_uint32),
        ("keep_partial", c_int),
        ("whole_frames", c_int),
    ]


# name: (result, arguments). Handles are void pointers; the last argument of what can fail is the error.
_ERROR = POINTER(ErrorStruct)
_SIZE = POINTER(c_size_t)
_HANDLE = POINTER(c_void_p)
FUNCTIONS: List[Tuple[str, Any, List[Any]]] = [
    ("rsc_version", c_char_p, []),
    ("rsc_engine_new", c_int, [_HANDLE, POINTER(EngineOptions), _ERROR]),
    ("rsc_engine_push", c_int, [c_void_p, POINTER(Batch), _ERROR]),
    ("rsc_engine_finish", c_int, [c_void_p, _HANDLE, _ERROR]),
    ("rsc_engine_free", None, [c_void_p]),
    ("rsc_profile_get_totals", None, [c_void_p, POINTER(ProfileTotals)]),
    ("rsc_profile_rd", c_void_p, [c_void_p, _SIZE]),
    ("rsc_profile_ri", c_void_p, [c_void_p, _SIZE]),
    ("rsc_profile_mrc", c_void_p, [c_void_p, _SIZE]),
    ("rsc_profile_byte_miss_ratio", c_void_p, [c_void_p, _SIZE]),
    ("rsc_profile_miss_ratio", c_double, [c_void_p, c_uint64]),
    ("rsc_profile_rd_quantile", c_uint64, [c_void_p, c_double]),
    ("rsc_profile_write_json", c_int, [c_void_p, c_char_p, _ERROR]),
    ("rsc_profile_save", c_int, [c_void_p, c_char_p, _ERROR]),
    ("rsc_profile_json", c_int, [c_void_p, _HANDLE, _SIZE, _ERROR]),
    ("rsc_text_free", None, [c_void_p]),
    ("rsc_profile_parse", c_int, [_HANDLE, c_char_p, c_size_t, c_char_p, _ERROR]),
    ("rsc_profiles_load", c_int, [c_char_p, POINTER(_HANDLE), _SIZE, _ERROR]),
    ("rsc_profiles_free", None, [_HANDLE, c_size_t]),
    ("rsc_profile_free", None, [c_void_p]),
    ("rsc_trace_open", c_int, [_HANDLE, c_char_p, POINTER(TraceOptions), _ERROR]),
    ("rsc_trace_next", c_int, [c_void_p, POINTER(POINTER(Batch)), _ERROR]),
    ("rsc_trace_get_info", None, [c_void_p, POINTER(TraceInfo)]),
    ("rsc_trace_close", None, [c_void_p]),
    ("rsc_trace_writer_open", c_int, [_HANDLE, c_char_p, POINTER(TraceWriterOptions), _ERROR]),
    ("rsc_trace_writer_push", c_int, [c_void_p, POINTER(Batch), _ERROR]),
    ("rsc_trace_writer_finish", c_int, [c_void_p, _ERROR]),
    ("rsc_trace_writer_close", None, [c_void_p]),
]


def _lib_folders(prefix: str) -> Iterator[str]:
    """Where libraries are below a prefix, Debian's folder of this machine first."""
    multiarch = sysconfig.get_config_var("MULTIARCH")
    for name in ([f"lib/{multiarch}"] if multiarch else []) + ["lib", "lib64"]:
        yield os.path.join(prefix, name)


def _candidates() -> Iterator[Tuple[str, str]]:
    """(why, what to hand to dlopen), in the order in which they are tried."""
    yield "the dynamic loader", SONAME
    own = os.path.abspath(__file__).rpartition("/lib/")[0]
    prefixes = [("Python's prefix", sys.prefix), ("the prefix of this package", own)]
    if os.path.basename(own) == "local":  # Debian's pip installs there below the prefix it is given
        prefixes.append(("the prefix of this package", os.path.dirname(own)))
    tool = shutil.which("reusescope")
    if tool:
        prefixes.append(("the prefix of the tool reusescope", os.path.dirname(os.path.dirname(os.path.realpath(tool)))))
    prefixes.append(("/usr/local", "/usr/local"))
    for why, prefix in prefixes:
        if not prefix:
            continue
        for folder in _lib_folders(prefix):
            if os.path.exists(os.path.join(folder, SONAME)):
                yield why, os.path.join(folder, SONAME)
    if shutil.which("pkg-config"):
        asked = subprocess.run(["pkg-config", "--variable=libdir", "reusescope"], capture_output=True, text=True, check=False)
        if asked.returncode == 0 and asked.stdout.strip():
            yield "pkg-config", os.path.join(asked.stdout.strip(), SONAME)


def _open(path: str) -> ctypes.CDLL:
    """Loads one library and checks that it is the right one. Raises LibraryError."""
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise LibraryError(str(error)) from None
    try:
        abi = int(library.rsc_abi())
    except AttributeError:
        raise LibraryError(f"{path}: no libreusescope, or one from before these bindings (it has no rsc_abi)") from None
    if abi != ABI:
        raise LibraryError(f"{path}: its binary interface is number {abi}, but these bindings need {ABI}")
    for name, result, arguments in FUNCTIONS:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise LibraryError(f"{path}: older than these bindings (it has no {name})") from None
        function.restype = result
        function.argtypes = arguments
    return library


def _find() -> ctypes.CDLL:
    wanted = os.environ.get("REUSESCOPE_LIBRARY")
    if wanted:
        path = os.path.join(wanted, SONAME) if os.path.isdir(wanted) else wanted
        try:
            return _open(path)
        except LibraryError as error:
            raise LibraryError(f"REUSESCOPE_LIBRARY: {error}") from None
    refusals = []
    for why, path in _candidates():
        try:
            return _open(path)
        except LibraryError as error:
            refusals.append(f"{why}: {error}")
    raise LibraryError(f"{SONAME} was not found ({'; '.join(refusals)}). Install reusescope (make install, then ldconfig), "
                       "or set REUSESCOPE_LIBRARY to the library or its folder.")


_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


def library() -> Any:
    """The library, loaded at the first call. Raises LibraryError."""
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _find()
        return _loaded


def check(status: int, error: ErrorStruct) -> int:
    """Turns a negative status into its exception; others are passed on."""
    if status >= 0:
        return status
    kind = BY_CODE.get(status, Error)
    raise kind(error.message.decode("utf-8", "replace"), None if error.offset == UNKNOWN else int(error.offset),
               int(error.line) or None)


def version() -> str:
    """The version of the library that is loaded, as "0.1.0"."""
    return str(library().rsc_version().decode())
