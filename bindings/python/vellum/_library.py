"""The shared library, found and loaded, and the translation of its statuses to exceptions."""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from . import _c_api
from ._c_api import vellum_error
from ._c_api import vellum_status as ErrorCode

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Error", "ErrorCode", "Handle", "call", "defaults", "library", "made_text", "sized", "text"]

Struct = TypeVar("Struct", bound=ctypes.Structure)


class Error(Exception):
    """A function of Vellum failed. The message names the file, operator or tensor; ``code`` is an ``ErrorCode``."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code

    __module__ = "vellum"  # the name in tracebacks is the one to catch

    def __reduce__(self) -> tuple[Any, ...]:
        return Error, (self.code, str(self))


def _load() -> ctypes.CDLL:
    major, minor = _c_api.VELLUM_VERSION // 10000, _c_api.VELLUM_VERSION // 100 % 100
    name, system_name = {
        "win32": ("vellum.dll", "vellum.dll"),
        "darwin": ("libvellum.dylib", f"libvellum.{major}.{minor}.dylib"),
    }.get(sys.platform, ("libvellum.so", f"libvellum.so.{major}.{minor}"))
    # Wheels have the library beside this file; packages of a distribution leave it to the system's loader.
    beside = Path(__file__).with_name(name)
    loaded = ctypes.CDLL(str(beside) if beside.exists() else system_name)
    loaded.vellum_version.restype = ctypes.c_uint32
    version = loaded.vellum_version()
    if version // 100 != _c_api.VELLUM_VERSION // 100 or version < _c_api.VELLUM_VERSION:
        raise ImportError(f"vellum was made for version {_c_api.VELLUM_VERSION} of its library, but {loaded._name} is {version}")
    _c_api.declare(loaded)
    return loaded


library: Any = _load()


def text(value: bytes | None) -> str:
    """A string that the library returned."""
    return value.decode("utf-8", "replace") if value else ""


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last parameter is a vellum_error. Raises Error if it fails."""
    for argument in arguments:
        if isinstance(argument, Handle):
            argument._require_open()
    error = vellum_error()
    if function(*arguments, ctypes.byref(error)):
        raise Error(ErrorCode(error.status), text(error.message))


def defaults(struct: type[Struct]) -> Struct:
    """Options with the library's defaults."""
    options = struct()
    getattr(library, f"{struct.__name__}_init_sized")(ctypes.byref(options), ctypes.sizeof(options))
    return options


def sized(struct: type[Struct]) -> Struct:
    """A struct for results, which says its size."""
    return struct(size=ctypes.sizeof(struct))


def made_text(function: Callable[..., int], *arguments: Any) -> str:
    """Calls a function that makes a vellum_text."""
    with Handle(library.vellum_text_destroy)._make(function, *arguments) as made:
        return text(library.vellum_text_data(made))


def _destroy(function: Callable[[ctypes.c_void_p], None], pointer: ctypes.c_void_p, keep: object) -> None:
    function(pointer)


class Handle:
    """An object of the library, destroyed by close(), with the last reference, or when Python ends."""

    def __init__(self, destroy: Callable[[ctypes.c_void_p], None], keep: object = None) -> None:
        """Holds nothing before _make(). `keep` lives as long as the object: callbacks, memory that it writes to."""
        # The library writes the pointer to where it is destroyed from: Ctrl-C cannot come between making and owning it.
        self._pointer = ctypes.c_void_p()
        self._finalizer = weakref.finalize(self, _destroy, destroy, self._pointer, keep)

    def _make(self, function: Callable[..., int], *arguments: Any) -> Self:
        """Calls a function that makes the object: a parameter for the handle comes after the arguments."""
        call(function, *arguments, ctypes.byref(self._pointer))
        return self

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:  # what ctypes passes to functions: NULL once it is closed
        return self._pointer if self._finalizer.alive else ctypes.c_void_p()

    def _require_open(self) -> None:
        if not self._finalizer.alive:
            raise Error(ErrorCode.INVALID_ARGUMENT, f"the {type(self).__name__} is closed")

    def close(self) -> None:
        """Frees what it holds, now rather than with the last reference. It cannot be used afterwards."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
