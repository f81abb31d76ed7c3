"""How programs, traces and loops reuse memory: bindings to libreusescope.

    profile = reusescope.analyze(addresses)     # a numpy array, or a trace file
    profile.mrc["miss_ratio"], profile.rd, profile.miss_ratio(bytes=32 << 10)
    profile.plot()
    profile.save("run.data")                    # reusescope report run.data

The library is loaded when it is first needed: LibraryError says where it was looked for.
"""
from ._engine import Accesses, Engine, analyze, read_trace, write_trace
from ._errors import (Error, FileError, FormatError, InvalidArgumentError, LibraryError, LimitError, OutOfMemoryError,
                      UnsupportedError, VersionError)
from ._library import version as library_version
from ._profile import BIN, CODE, POINT, Profile, load, load_all

__version__ = "0.1.0"

__all__ = [
    "Accesses", "BIN", "CODE", "Engine", "Error", "FileError", "FormatError", "InvalidArgumentError", "LibraryError",
    "LimitError", "OutOfMemoryError", "POINT", "Profile", "UnsupportedError", "VersionError", "analyze", "library_version",
    "load", "load_all", "read_trace", "write_trace",
]
