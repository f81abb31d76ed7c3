"""The library's errors as exceptions: one class for each enum rsc_error_code."""
from __future__ import annotations

from typing import Dict, Optional, Type


class Error(Exception):
    """Anything the library refused or failed to do.

    code: the library's number (enum rsc_error_code). offset: the byte in the
    input that the message speaks of, line: its text line; None where neither
    is known.
    """

    code: int = 0

    def __init__(self, message: str, offset: Optional[int] = None, line: Optional[int] = None) -> None:
        super().__init__(message)
        self.offset = offset
        self.line = line


class InvalidArgumentError(Error, ValueError):
    """An argument or option makes no sense."""

    code = -1


class OutOfMemoryError(Error, MemoryError):
    """Out of memory."""

    code = -2


class FileError(Error, OSError):
    """The operating system refused to read or write."""

    code = -3


class FormatError(Error, ValueError):
    """The input is cut, damaged or not what it claims."""

    code = -4


class VersionError(Error, ValueError):
    """The input was written by a newer reusescope."""

    code = -5


class UnsupportedError(Error, NotImplementedError):
    """This build or machine cannot do that."""

    code = -6


class LimitError(Error, ValueError):
    """A stated limit was reached (size, count)."""

    code = -7


class LibraryError(ImportError):
    """libreusescope is missing, or is not one that these bindings can use."""


BY_CODE: Dict[int, Type[Error]] = {
    error.code: error
    for error in (InvalidArgumentError, OutOfMemoryError, FileError, FormatError, VersionError, UnsupportedError,
                  LimitError)
}
