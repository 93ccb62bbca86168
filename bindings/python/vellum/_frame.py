"""Camera frames and pictures as inputs of a model."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _c_api
from ._library import Error, ErrorCode, call, defaults, library
from ._options import choice, set_field
from ._tensor import c_shape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Size = tuple[float, float]  # width, height
Point = tuple[float, float]  # x, y


class FrameTransform:
    """Which part of a frame the network sees: an affine map between pixels of the network's input and of the frame.

    Both begin at the corner of the first pixel, whose centre is (0.5, 0.5); y is down. Sizes are (width, height). The
    functions raise Error(INVALID_ARGUMENT) for sizes that are not positive and values that are not finite.
    """

    def __init__(self, matrix: Sequence[float], network: Size) -> None:
        """(x, y) of the network is at (a x + b y + c, d x + e y + f) of the frame, where `matrix` is a, b, c, d, e, f."""
        if len(matrix) != 6:
            raise Error(ErrorCode.INVALID_ARGUMENT, f"the matrix of a transform has 6 values, not {len(matrix)}")
        self._struct = _c_api.vellum_frame_transform((ctypes.c_double * 6)(*matrix), *network)

    @staticmethod
    def _make(function: Any, *arguments: Any) -> FrameTransform:
        made = FrameTransform((0,) * 6, (0, 0))
        call(function, *arguments, ctypes.byref(made._struct))
        return made

    @staticmethod
    def stretch(frame: Size, network: Size) -> FrameTransform:
        """The whole frame, whatever its proportions."""
        return FrameTransform._make(library.vellum_frame_stretch, *frame, *network)

    @staticmethod
    def letterbox(frame: Size, network: Size) -> FrameTransform:
        """The whole frame without distortion, centred; what is beside it is FrameInput.fill."""
        return FrameTransform._make(library.vellum_frame_letterbox, *frame, *network)

    @staticmethod
    def center_crop(frame: Size, network: Size) -> FrameTransform:
        """The largest part with the network's proportions from the middle of the frame."""
        return FrameTransform._make(library.vellum_frame_center_crop, *frame, *network)

    @staticmethod
    def rotated(center: Point, size: Size, angle: float, network: Size) -> FrameTransform:
        """A rectangle of the frame around a centre, rotated clockwise by `angle` radians; 0: an upright crop."""
        return FrameTransform._make(library.vellum_frame_rotated, *center, *size, angle, *network)

    @staticmethod
    def region(corner: Point, right: Point, down: Point, network: Size) -> FrameTransform:
        """The parallelogram with these corners, in pixels of the frame: where the network's are that are named so."""
        return FrameTransform._make(library.vellum_frame_region, *corner, *right, *down, *network)

    def flipped(self, *, horizontally: bool = True) -> FrameTransform:
        """The same part of the frame, mirrored for the network: horizontally, or else vertically."""
        return FrameTransform._make(library.vellum_frame_flip, ctypes.byref(self._struct), horizontally)

    @property
    def matrix(self) -> tuple[float, ...]:
        return tuple(self._struct.matrix)

    @property
    def network(self) -> Size:
        return self._struct.network_width, self._struct.network_height

    def to_frame(self, points: ArrayLike) -> NDArray[np.float64]:
        """Maps points [..., 2] from pixels of the network's input to pixels of the frame."""
        return self._map(library.vellum_frame_from_network, points)

    def to_network(self, points: ArrayLike) -> NDArray[np.float64]:
        """Maps points [..., 2] from pixels of the frame to pixels of the network's input."""
        return self._map(library.vellum_frame_to_network, points)

    def _map(self, function: Any, points: ArrayLike) -> NDArray[np.float64]:
        source = np.asarray(points, np.float64)
        mapped = np.empty_like(source)
        x, y = ctypes.c_double(), ctypes.c_double()
        for point, result in zip(source.reshape(-1, 2), mapped.reshape(-1, 2)):
            call(function, ctypes.byref(self._struct), *point, ctypes.byref(x), ctypes.byref(y))
            result[:] = x.value, y.value
        return mapped

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The value of the input "NAME.transform": float32[2,3]."""
        values = (ctypes.c_float * 6)()
        library.vellum_frame_transform_values(ctypes.byref(self._struct), values)
        return np.array(values, dtype or np.float32).reshape(2, 3)

    def __repr__(self) -> str:
        return f"FrameTransform({self.matrix}, {self.network})"


@dataclass(frozen=True)
class FrameInput:
    """How the frames of an input are stored, and how the network takes them. Values of pixels are 0..255."""

    format: Literal["rgba8", "bgra8", "rgb8", "grey8", "nv12", "nv21", "i420"]
    width: int  # pixels, at most 16384
    height: int
    row_bytes: int = 0  # from row to row; 0: no padding
    matrix: Literal["bt601", "bt709"] = "bt601"  # of nv12, nv21 and i420
    range: Literal["limited", "full"] = "limited"  # likewise
    filter: Literal["bilinear", "area"] = "bilinear"  # area: averages where the frame is reduced
    fill: tuple[float, float, float] | None = (0.0, 0.0, 0.0)  # beside the frame: red, green, blue; None: its border, repeated
    bgr: bool = False  # the network takes blue, green, red
    mean: float | Sequence[float] = 0.0  # (pixel - mean) * scale, in the order of the network's channels
    scale: float | Sequence[float] = 1.0
    transform: FrameTransform | None = None  # of all frames; None: an input of the model, NAME.transform
    network_shape: Sequence[int] | None = None  # of the input, where the model leaves it open

    @property
    def bytes(self) -> int:
        """The size of a frame in memory."""
        size = ctypes.c_size_t()
        call(library.vellum_frame_input_bytes, ctypes.byref(c_frame_input(self)), ctypes.byref(size))
        return size.value


def c_frame_input(frame: FrameInput) -> _c_api.vellum_frame_input:
    """The struct, which keeps what it points to alive."""
    struct = defaults(_c_api.vellum_frame_input)
    struct.format = choice("format", frame.format, _c_api.vellum_frame_format, "FRAME_")
    struct.matrix = choice("matrix", frame.matrix, _c_api.vellum_color_matrix, "COLOR_")
    struct.range = choice("range", frame.range, _c_api.vellum_color_range, "COLOR_")
    struct.filter = choice("filter", frame.filter, _c_api.vellum_frame_filter, "FILTER_")
    for name in ("width", "height", "row_bytes", "bgr"):
        set_field(struct, name, getattr(frame, name))
    struct.repeat_border = frame.fill is None
    if frame.fill is not None:
        struct.fill[:] = frame.fill
    for name in ("mean", "scale"):
        values = getattr(frame, name)
        values = tuple(values) if isinstance(values, Sequence) else (values,) * 4
        if len(values) > 4:
            raise Error(ErrorCode.INVALID_ARGUMENT, f"{name} has {len(values)} values; a frame has at most 4 channels")
        getattr(struct, name)[: len(values)] = values
    if frame.transform is not None:
        struct.transform = ctypes.pointer(frame.transform._struct)
    if frame.network_shape is not None:
        struct.network_shape, struct.network_rank = c_shape(tuple(frame.network_shape)), len(frame.network_shape)
    return struct


def frame_array(frame: FrameInput, name: str, value: Any) -> NDArray[np.uint8]:
    """The bytes of a frame: an array [H, W, C], [H, W] or of bytes, or a sequence of the planes of nv12, nv21 or i420.

    No copy is made of one dense array.
    """
    planes = value if isinstance(value, (tuple, list)) else (value,)
    arrays = [np.ascontiguousarray(plane) for plane in planes]
    for array in arrays:
        if array.dtype != np.uint8:
            raise Error(ErrorCode.INVALID_ARGUMENT, f"input '{name}' takes frames of uint8, but the array is {array.dtype}")
    if frame.row_bytes == 0 and arrays[0].ndim == 3 and arrays[0].shape[:2] != (frame.height, frame.width):
        shape = arrays[0].shape
        raise Error(
            ErrorCode.INVALID_ARGUMENT,
            f"input '{name}' takes frames of {frame.width}x{frame.height} pixels, but the array is {shape[1]}x{shape[0]}",
        )
    flat = arrays[0].reshape(-1) if len(arrays) == 1 else np.concatenate([array.reshape(-1) for array in arrays])
    if flat.size != frame.bytes:
        raise Error(
            ErrorCode.INVALID_ARGUMENT,
            f"input '{name}' takes frames of {frame.bytes} bytes ({frame.format}, {frame.width}x{frame.height}), but "
            f"{flat.size} were given",
        )
    return flat
