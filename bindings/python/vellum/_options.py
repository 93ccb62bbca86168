"""Options of sessions, and their C struct."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from . import _c_api
from ._bytes import byte_count
from ._library import Error, ErrorCode, Handle, defaults
from ._names import did_you_mean
from ._option_types import SessionTable
from ._tensor import DTYPES, c_shape


class SessionOptions(SessionTable, total=False):
    """Keyword arguments of Session, estimate_memory(), write_bundle() and tune(). What is left out has the library's default."""

    input_shapes: Mapping[str, Sequence[int]]
    """For dimensions that the model leaves open, or another batch."""
    input_values: Mapping[str, Any]
    """Arrays for inputs that decide shapes (TensorInfo.decides_shapes). Estimates and bundles need all of them; a session takes
    those that are missing from its first run."""
    memory_pool: Handle
    """A MemoryPool for intermediate tensors, which other sessions may use too; without it the session has its own."""
    disabled_passes: Sequence[str]
    """Names of graph passes to leave out (docs/models.md), to find faults."""


_OF_SEVERAL_MEMBERS = set(SessionOptions.__annotations__) - set(SessionTable.__annotations__)


def choice(option: str, value: str, enum: Any, prefix: str) -> int:
    """The value of an enumeration by its name in Python: "shared-objects" is MEMORY_SHARED_OBJECTS."""
    known = {name[len(prefix) :].lower().replace("_", "-"): member for name, member in enum.__members__.items()}
    if value not in known:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"{option} has no value {value!r}{did_you_mean(value, known)}; it has {', '.join(known)}")
    return int(known[value])


def c_input_shapes(shapes: Mapping[str, Sequence[int]]) -> Any:
    """An array of vellum_input_shape, which keeps what it points to alive."""
    array = (_c_api.vellum_input_shape * len(shapes))()
    for entry, (name, shape) in zip(array, shapes.items()):
        entry.name, entry.dims, entry.rank = name.encode(), c_shape(tuple(shape)), len(shape)
    return array


def c_shape_values(values: Mapping[str, Any]) -> Any:
    """An array of vellum_shape_values, which keeps what it points to alive."""
    array: Any = (_c_api.vellum_shape_values * len(values))()
    array.arrays = [np.ascontiguousarray(value).reshape(np.shape(value)) for value in values.values()]
    for entry, name, value in zip(array, values, array.arrays):
        dtypes = [number for number, dtype in DTYPES.items() if dtype == value.dtype]
        if not dtypes:
            raise Error(ErrorCode.INVALID_ARGUMENT, f"the values of input '{name}' are {value.dtype}, which is no type of inputs")
        entry.name, entry.dtype = name.encode(), dtypes[0]
        entry.dims, entry.rank = c_shape(value.shape), value.ndim
        entry.values, entry.byte_count = value.ctypes.data, value.nbytes
    return array


def c_session_options(options: SessionOptions) -> _c_api.vellum_session_options:
    """The struct, which keeps what it points to alive. Raises TypeError for unknown options."""
    struct = defaults(_c_api.vellum_session_options)
    set_options(struct, {name: value for name, value in options.items() if name not in _OF_SEVERAL_MEMBERS}, SessionOptions)
    if "input_shapes" in options:
        shapes = c_input_shapes(options["input_shapes"])
        struct.input_shape_count, struct.input_shapes = len(shapes), shapes
    if "input_values" in options:
        values = c_shape_values(options["input_values"])
        struct.input_value_count, struct.input_values = len(values), values
    if "disabled_passes" in options:
        passes = [item.encode() for item in options["disabled_passes"]]
        struct.disabled_pass_count, struct.disabled_passes = len(passes), (ctypes.c_char_p * len(passes))(*passes)
    if "memory_pool" in options:
        options["memory_pool"]._require_open()
        set_field(struct, "memory_pool", options["memory_pool"]._as_parameter_)
    return struct


def set_options(struct: ctypes.Structure, options: Mapping[str, Any], known: type) -> None:
    """Sets members of a C struct by name. None leaves the default. Raises TypeError for a name that `known` has not."""
    enums = _c_api.CHOICES.get(type(struct).__name__, {})
    members = {member[0]: member[1] for member in struct._fields_}
    for name, value in options.items():
        if name not in known.__annotations__:
            raise TypeError(f"there is no option {name!r}{did_you_mean(name, known.__annotations__)}")
        if value is None:
            continue
        enum = enums.get(name)
        if isinstance(value, str) and members.get(name) is ctypes.c_uint64:
            value = byte_count(value)
        elif enum is not None:
            value = choice(name, str(value), enum, prefix_of(enum))
        elif isinstance(value, (str, os.PathLike)):
            value = os.fspath(value).encode()
        set_field(struct, name, value)


def prefix_of(enum: type[IntEnum]) -> str:
    """The words that all names of an enumeration begin with: "SELF_CHECK_"."""
    common = os.path.commonprefix(list(enum.__members__))
    return common[: common.rfind("_") + 1]


def set_field(struct: ctypes.Structure, name: str, value: Any) -> None:
    """Sets a member of a C struct; ctypes itself would cut off numbers that are too large for it."""
    setattr(struct, name, value)
    if isinstance(value, int) and getattr(struct, name) != value:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"{name} cannot be {value}")
