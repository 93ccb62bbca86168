"""Inputs and outputs: what they are, and arrays of them."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _c_api
from ._library import Error, ErrorCode, Handle, call, library, sized, text
from ._names import did_you_mean

DTYPES: dict[int, np.dtype[Any]] = {
    _c_api.vellum_dtype[name]: np.dtype(numpy_name)
    for name, numpy_name in {
        "F32": "float32", "F16": "float16", "F64": "float64",
        "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8",
        "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8",
        "BOOL": "bool",
    }.items()
}  # fmt: skip

_DLPACK_HOST = (1, 3)  # kDLCPU, kDLCUDAHost


@dataclass(frozen=True)
class TensorInfo:
    """An input or output with the model's own name."""

    name: str
    shape: tuple[int | None, ...]  # None: a dimension that is open, or known only after a run
    dtype: np.dtype[Any]
    decides_shapes: bool = False  # of inputs: whether shapes depend on its values, such as the sizes of a Resize
    signature_name: str = ""  # what the signature of a TFLite file calls it, such as "output_0"; accepted as well as name
    initial_value: np.ndarray[Any, Any] | None = field(default=None, compare=False)
    """Of an input that is a variable of the network: what it begins with. The output "NAME.next" is its value for the next run."""

    @property
    def is_known(self) -> bool:
        """Whether no dimension is open."""
        return None not in self.shape

    @property
    def known_shape(self) -> tuple[int, ...]:
        """The shape, for what takes no None. Raises Error(INVALID_ARGUMENT) if a dimension is open."""
        dims = tuple(dim for dim in self.shape if dim is not None)
        if len(dims) < len(self.shape):
            raise Error(ErrorCode.INVALID_ARGUMENT, f"'{self.name}' of shape {self.shape} has open dimensions")
        return dims

    def zeros(self) -> np.ndarray[Any, Any]:
        """An array of zeros, to fill. Raises Error(INVALID_ARGUMENT) if a dimension is open."""
        return np.zeros(self.known_shape, self.dtype)


def read_infos(count: Callable[[Any], int], get: Callable[..., int], handle: Any) -> tuple[TensorInfo, ...]:
    """The inputs or outputs of a model or session."""
    infos = []
    for index in range(count(handle)):
        info = sized(_c_api.vellum_tensor_info)
        call(get, handle, index, ctypes.byref(info))
        dtype, decides_shapes = DTYPES[info.dtype], bool(info.decides_shapes)
        initial: np.ndarray[Any, Any] | None = None
        if info.initial_value:
            initial = np.empty(tuple(info.dims[: info.rank]), dtype)
            ctypes.memmove(initial.ctypes.data, info.initial_value, info.byte_size)
        infos.append(TensorInfo(text(info.name), read_shape(info), dtype, decides_shapes, text(info.signature_name), initial))
    return tuple(infos)


def read_shape(struct: Any) -> tuple[int | None, ...]:
    """The shape in a struct with `dims` and `rank`."""
    return tuple(None if dim < 0 else dim for dim in struct.dims[: struct.rank])


def find_info(infos: tuple[TensorInfo, ...], name: str, kind: str) -> TensorInfo:
    for info in infos:
        if name in (info.name, info.signature_name):
            return info
    names = [info.name for info in infos]
    known = ", ".join(f"'{each}'" for each in names)
    raise Error(ErrorCode.NOT_FOUND, f"there is no {kind} '{name}'{did_you_mean(name, names)}; the model has {known}")


def as_host_array(value: Any, info: TensorInfo) -> np.ndarray[Any, Any]:
    """The values of an input as an array in host memory, without a copy where they are one already.

    value: an array, a tensor with DLPack in host memory, an object with the buffer protocol or __array__, or numbers.
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"input '{info.name}' takes an array, not {type(value).__name__}; read the file first")
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value, info.name)
    if isinstance(value, (int, float, list, tuple)):
        return np.asarray(value, info.dtype)
    return np.asarray(value)


def as_array(value: Any, info: TensorInfo) -> np.ndarray[Any, Any]:
    """The same as a dense array of the input's dtype; one that is not dense is copied."""
    array = as_host_array(value, info)
    if array.dtype != info.dtype:
        raise Error(
            ErrorCode.INVALID_ARGUMENT,
            f"input '{info.name}' is {info.dtype}, but the array is {array.dtype}; convert it with astype()",
        )
    return np.ascontiguousarray(array).reshape(array.shape)  # ascontiguousarray makes scalars 1-D


def _from_dlpack(value: Any, name: str) -> np.ndarray[Any, Any]:
    if value.__dlpack_device__()[0] not in _DLPACK_HOST:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"input '{name}' is a tensor of a device; copy it to the host first")
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError) as reason:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"input '{name}' cannot be read through DLPack: {reason}") from reason


def read_tensor(function: Callable[..., int], *arguments: Any) -> np.ndarray[Any, Any]:
    """Calls a function that makes a vellum_tensor, and returns its values."""
    with Handle(library.vellum_tensor_destroy)._make(function, *arguments) as tensor:
        info = sized(_c_api.vellum_tensor_info)
        call(library.vellum_tensor_get_info, tensor, ctypes.byref(info))
        array = np.empty(info.dims[: info.rank], DTYPES[info.dtype])
        ctypes.memmove(array.ctypes.data, library.vellum_tensor_values(tensor), info.byte_size)
        return array


def c_shape(shape: tuple[int, ...]) -> Any:
    return (ctypes.c_int64 * len(shape))(*shape)
