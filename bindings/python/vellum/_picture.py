"""Outputs of a model as pictures."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from . import _c_api
from ._library import Error, ErrorCode, defaults
from ._options import choice, set_field

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class PictureOutput:
    """How an output of a model becomes a picture on the device: uint8 [height, width, 4], red, green, blue, alpha.

    With t = (value - low) / (high - low), limited to 0..1, `colors` says how values become colours:

    - "ramp": t runs through the palette, whose colours are evenly spaced and linear between.
    - "steps": the colour floor(t * n) of n.
    - "classes": the colour of the channel with the largest value; with one channel the value itself is the class.
    - "rgb": the channels are red, green, blue and perhaps alpha.

    `palette` has colours of red, green, blue and perhaps alpha in 0..255, [n, 3] or [n, 4]; at most 4096. None: from opaque
    black to opaque white. "classes" needs it, "rgb" takes none.
    """

    colors: Literal["ramp", "steps", "classes", "rgb"] = "ramp"
    low: float = 0.0
    high: float = 1.0
    palette: ArrayLike | Sequence[Sequence[int]] | None = None
    filter: Literal["bilinear", "nearest"] = "bilinear"  # of values, before they become colours
    channels: Literal["automatic", "first", "last"] = "automatic"  # of outputs with four dimensions; the fewer of both
    width: int = 0  # pixels, at most 16384; 0: the size of `over`'s frame, else of the output
    height: int = 0
    over: str | None = None  # an input that takes frames: the colours are drawn over its frame
    name: str | None = None  # of the picture as a further output; None: it replaces the output


def c_picture_output(picture: PictureOutput) -> _c_api.vellum_picture_output:
    """The struct, which keeps what it points to alive."""
    struct = defaults(_c_api.vellum_picture_output)
    struct.colors = choice("colors", picture.colors, _c_api.vellum_picture_colors, "PICTURE_")
    struct.filter = choice("filter", picture.filter, _c_api.vellum_picture_filter, "PICTURE_")
    struct.channels = choice("channels", picture.channels, _c_api.vellum_channel_order, "CHANNELS_")
    struct.low, struct.high = picture.low, picture.high
    for name in ("width", "height"):
        set_field(struct, name, getattr(picture, name))
    if picture.palette is not None:
        colors = _rgba(picture.palette)
        struct.palette_colors = len(colors)
        struct.palette = (ctypes.c_uint8 * (4 * len(colors)))(*colors.reshape(-1).tolist())
    if picture.over is not None:
        struct.over = picture.over.encode()
    if picture.name is not None:
        struct.name = picture.name.encode()
    return struct


def _rgba(palette: ArrayLike | Sequence[Sequence[int]]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    colors = np.asarray(palette)
    if colors.ndim != 2 or colors.shape[1] not in (3, 4) or not np.issubdtype(colors.dtype, np.integer):
        raise Error(ErrorCode.INVALID_ARGUMENT, f"a palette has integers [n, 3] or [n, 4], not {colors.dtype} {colors.shape}")
    if colors.size and (colors.min() < 0 or colors.max() > 255):
        raise Error(ErrorCode.INVALID_ARGUMENT, "the colours of a palette are in 0..255")
    alpha = np.full((len(colors), 1), 255)
    return np.hstack([colors, alpha] if colors.shape[1] == 3 else [colors]).astype(np.int64)
