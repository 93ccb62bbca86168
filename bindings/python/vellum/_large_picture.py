"""Pictures larger than memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _c_api
from ._callbacks import Callbacks
from ._device import DeviceLike, as_device
from ._library import Error, ErrorCode, Handle, call, defaults, library, sized
from ._model import Model, ModelSource, as_model
from ._options import SessionOptions, c_session_options, set_field
from ._progress import Progress, Reporter
from ._tensor import TensorInfo, as_host_array, find_info, read_infos

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class PictureRegion:
    """Some rows and columns of an input or output."""

    top: int  # of the whole, as `left`
    left: int
    height: int
    width: int
    rows_axis: int  # the tensor's dimension of rows; that of columns follows it

    @property
    def slices(self) -> tuple[slice, ...]:
        """Selects the region: `whole[region.slices]`."""
        before = (slice(None),) * self.rows_axis
        return *before, slice(self.top, self.top + self.height), slice(self.left, self.left + self.width)


@dataclass(frozen=True)
class PictureTiles:
    """How a picture is divided."""

    height: int  # rows of the inputs that each tile reads
    width: int  # columns
    down: int  # tiles
    across: int

    @property
    def count(self) -> int:
        return self.down * self.across


ReadRegion = Callable[[PictureRegion], Any]  # returns an array of the region's shape and the input's dtype
WriteRegion = Callable[[PictureRegion, Array], object]  # takes values that are valid until it returns


class LargePicture(Handle):
    """A network of local operators made ready for pictures of one size, which may be larger than any memory.

    It runs tile by tile over arrays that may be files (numpy.memmap). Tiles overlap by what the layers read beyond them:
    there are no seams, and tiles of every size give the same bits. One thread at a time.
    """

    def __init__(
        self,
        model: Model | ModelSource,
        device: DeviceLike = None,
        *,
        tile: int | tuple[int, int] = 0,
        **options: Unpack[SessionOptions],
    ) -> None:
        """Makes the network ready.

        model, device: as for Session.
        tile: rows and columns of the inputs that one tile reads, or one number for both; 0: as many as fit.
        options: as for Session. input_shapes has the shapes of the whole picture; memory_budget bounds the device memory.

        Raises Error(UNSUPPORTED), naming the layer, for a network that is not local.
        """
        self.model = as_model(model)
        self.device = as_device(device)
        session = c_session_options(options)
        struct = defaults(_c_api.vellum_large_picture_options)
        struct.session = ctypes.pointer(session)
        height, width = tile if isinstance(tile, tuple) else (tile, tile)
        set_field(struct, "tile_height", height)
        set_field(struct, "tile_width", width)
        super().__init__(library.vellum_large_picture_destroy, self.device._callback)
        self._make(library.vellum_large_picture_create, self.device, self.model, ctypes.byref(struct))
        self._inputs = read_infos(library.vellum_large_picture_input_count, library.vellum_large_picture_input, self)
        self._outputs = read_infos(library.vellum_large_picture_output_count, library.vellum_large_picture_output, self)

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        """The inputs, in the shapes of the whole picture."""
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """The outputs, likewise."""
        return self._outputs

    def _info(self) -> _c_api.vellum_large_picture_info:
        info = sized(_c_api.vellum_large_picture_info)
        call(library.vellum_large_picture_get_info, self, ctypes.byref(info))
        return info

    @property
    def tiles(self) -> PictureTiles:
        info = self._info()
        return PictureTiles(info.tile_height, info.tile_width, info.tiles_down, info.tiles_across)

    @property
    def peak_bytes(self) -> int:
        """Bytes of device memory that were allocated at most at a time; 0 without a memory_budget."""
        return self._info().peak_bytes

    def run(
        self,
        inputs: Mapping[str, Array | ReadRegion],
        outputs: Mapping[str, Array | WriteRegion] | None = None,
        *,
        progress: Progress = False,
    ) -> dict[str, Array]:
        """Runs the network over the whole picture and returns the outputs that are arrays.

        inputs: for every input an array of its shape and dtype, such as a numpy.memmap, or a function that returns the
            values of a region. Regions overlap.
        outputs: None: new arrays; or for every output an array to write to, or a function that takes the values of a
            region: each element once, row by row of tiles, each from left to right.
        progress: True: a line on the terminal; a function: called with ("tiles", done, total).

        Ctrl-C, and exceptions in the functions, end it.
        """
        sources = [_source(inputs, info) for info in self._inputs]
        targets = [_target(outputs, info) for info in self._outputs]
        for given, known, kind in ((inputs, self._inputs, "input"), (outputs or {}, self._outputs, "output")):
            for name in given:
                find_info(known, name, kind)
        with Reporter(progress) as report, Callbacks() as callbacks:

            def read(region: Any, values: int, byte_count: int, _: object) -> int:
                found = region.contents
                return callbacks.run(_read, sources[found.tensor], self._inputs[found.tensor], found, values, byte_count)

            def write(region: Any, values: int, byte_count: int, _: object) -> int:
                found = region.contents
                return callbacks.run(_write, targets[found.tensor], self._outputs[found.tensor], found, values, byte_count)

            def on_tile(done: int, total: int, _: object) -> int:
                return callbacks.run(report, "tiles", done, total)

            functions = (
                _c_api.vellum_read_region_callback(read),
                _c_api.vellum_write_region_callback(write),
                _c_api.vellum_tile_callback(on_tile),
            )
            call(library.vellum_large_picture_run, self, *functions, None)
        return {info.name: target for info, target in zip(self._outputs, targets) if isinstance(target, np.ndarray)}


def _given(values: Mapping[str, Any], info: TensorInfo, kind: str) -> Any:
    if info.name not in values:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"the {kind} '{info.name}' was not given")
    return values[info.name]


def _checked(array: Array, shape: tuple[int | None, ...], info: TensorInfo) -> Array:
    if array.dtype != info.dtype or array.shape != shape:
        found = f"{array.dtype} {list(array.shape)}"
        raise Error(ErrorCode.INVALID_ARGUMENT, f"'{info.name}' is {info.dtype} {list(shape)}, but the array is {found}")
    return array


def _source(inputs: Mapping[str, Any], info: TensorInfo) -> Any:
    value = _given(inputs, info, "input")
    return value if callable(value) else _checked(as_host_array(value, info), info.shape, info)


def _target(outputs: Mapping[str, Any] | None, info: TensorInfo) -> Any:
    if outputs is None:
        return np.empty(info.shape, info.dtype)
    value = _given(outputs, info, "output")
    if callable(value):
        return value
    if not isinstance(value, np.ndarray) or not value.flags.writeable:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"output '{info.name}': an array to write to, or a function, is needed")
    return _checked(value, info.shape, info)


def _region(region: _c_api.vellum_picture_region) -> PictureRegion:
    return PictureRegion(region.top, region.left, region.height, region.width, region.rows_axis)


def _memory(info: TensorInfo, region: PictureRegion, address: int, byte_count: int) -> Array:
    """The library's values of a region, as an array."""
    shape = list(info.shape)
    shape[region.rows_axis : region.rows_axis + 2] = region.height, region.width
    values: Array = np.frombuffer(memoryview((ctypes.c_char * byte_count).from_address(address)), info.dtype)
    return values.reshape(shape)


def _read(source: Any, info: TensorInfo, found: Any, address: int, byte_count: int) -> None:
    region = _region(found)
    values = _memory(info, region, address, byte_count)
    if callable(source):
        values[...] = _checked(np.asarray(source(region)), values.shape, info)
    else:
        values[...] = source[region.slices]


def _write(target: Any, info: TensorInfo, found: Any, address: int, byte_count: int) -> None:
    region = _region(found)
    values = _memory(info, region, address, byte_count)
    values.flags.writeable = False
    if callable(target):
        target(region, values)
    else:
        target[region.slices] = values
