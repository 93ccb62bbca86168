"""Options of sessions, and their C struct."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np

from . import _c_api
from ._library import Error, ErrorCode, Handle, defaults
from ._tensor import DTYPES, c_shape


class SessionOptions(TypedDict, total=False):
    """Keyword arguments of Session, estimate_memory(), write_bundle() and tune(). What is left out has the library's default."""

    precision: Literal["fp32", "fp16"]
    """Of stored intermediates and weights; fp32."""
    arithmetic: Literal["fp32", "fp16", "auto"]
    """How operators with constant weights multiply halves; fp32. "auto": as tune() measured it to be faster."""
    storage: Literal["auto", "image2d", "image3d", "buffer"]
    """Of intermediate tensors."""
    memory: Literal["shared-objects", "naive", "offsets"]
    """Whether tensors share memory."""
    strategy: str
    """Of sharing, a name from docs/planner.md; "best"."""
    input_shapes: Mapping[str, Sequence[int]]
    """For dimensions that the model leaves open, or another batch."""
    input_values: Mapping[str, Any]
    """Arrays for inputs that decide shapes (TensorInfo.decides_shapes). Estimates and bundles need all of them; a session takes
    those that are missing from its first run."""
    tasks_per_submit: int
    """0: no limit; N: a submit ends after N tasks."""
    max_submit_ms: int
    """Milliseconds of predicted work that a run gives the device at a time; 0: no limit. The default depends on the device."""
    profile: bool
    """GPU timestamps, for Session.layer_times()."""
    cached_shapes: int
    """For how many combinations of input shapes a session stays ready; 4."""
    search_ms: int
    """Milliseconds to search for a smaller memory plan."""
    in_place: bool
    """Elementwise operators write over an input that dies there; True."""
    views: bool
    """Concatenations and splits without copies; True."""
    reorder: bool
    """Tasks in another order than the model's, where that needs less memory; True."""
    weights_budget: int
    """Bytes of device memory for weights, which then come layer by layer; 0: all at once."""
    memory_budget: int
    """Bytes of device memory for everything that the session allocates, never exceeded; 0: no budget. The session finds the
    quickest way that fits, or raises Error(OUT_OF_MEMORY)."""
    budget_allows_fp16: bool
    """With a memory_budget, fp16 is one more way to fit; False."""
    memory_pool: Handle
    """A MemoryPool for intermediate tensors, which other sessions may use too; without it the session has its own."""
    winograd: Literal["auto", "off", "f2", "f4"]
    """How 3x3 convolutions are computed."""
    in_flight: int
    """Runs of Session.submit() under way at once, each with tensors of its own; 1."""
    tuned: bool
    """Use what tune() measured on the device; True."""
    check_finite: bool
    """NaN and infinities in inputs and outputs are errors; False."""
    disabled_passes: Sequence[str]
    """Names of graph passes to leave out (docs/models.md), to find faults."""


_CHOICES: dict[str, tuple[Any, str]] = {
    "precision": (_c_api.vellum_precision, ""),
    "arithmetic": (_c_api.vellum_arithmetic, "ARITHMETIC_"),
    "storage": (_c_api.vellum_storage, "STORAGE_"),
    "memory": (_c_api.vellum_memory, "MEMORY_"),
    "winograd": (_c_api.vellum_winograd, "WINOGRAD_"),
}


def choice(option: str, value: str, enum: Any, prefix: str) -> int:
    """The value of an enumeration by its name in Python: "shared-objects" is MEMORY_SHARED_OBJECTS."""
    known = {name[len(prefix) :].lower().replace("_", "-"): member for name, member in enum.__members__.items()}
    if value not in known:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"{option} has no value {value!r}; it has {', '.join(known)}")
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
    """The struct, which keeps what it points to alive. Raises Error(INVALID_ARGUMENT) for unknown options."""
    struct = defaults(_c_api.vellum_session_options)
    for name, value in options.items():
        if name not in SessionOptions.__annotations__:
            raise TypeError(f"there is no session option {name!r}")
        if name in _CHOICES:
            value = choice(name, str(value), *_CHOICES[name])
        elif name == "input_shapes":
            array = c_input_shapes(options["input_shapes"])
            struct.input_shape_count, value = len(array), array
        elif name == "input_values":
            values = c_shape_values(options["input_values"])
            struct.input_value_count, value = len(values), values
        elif name == "disabled_passes":
            passes = [item.encode() for item in options["disabled_passes"]]
            struct.disabled_pass_count, value = len(passes), (ctypes.c_char_p * len(passes))(*passes)
        elif name == "memory_pool":
            options["memory_pool"].require_open()
            value = options["memory_pool"]._as_parameter_
        elif name == "strategy":
            value = options["strategy"].encode()
        set_field(struct, name, value)
    return struct


def set_field(struct: ctypes.Structure, name: str, value: Any) -> None:
    """Sets a member of a C struct; ctypes itself would cut off numbers that are too large for it."""
    setattr(struct, name, value)
    if isinstance(value, int) and getattr(struct, name) != value:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"{name} cannot be {value}")
