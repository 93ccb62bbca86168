"""What a session is prepared for: the shapes of its inputs and outputs, and the work of one run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _c_api
from ._library import call, library, sized, text
from ._options import c_input_shapes
from ._state import Stateful
from ._tensor import TensorInfo, c_shape, read_infos

Array = np.ndarray[Any, Any]


class Prepared(Stateful):
    """What a Session does with shapes."""

    def __init__(self, destroy: Callable[[ctypes.c_void_p], None], keep: object = None) -> None:
        super().__init__(destroy, keep)
        # Outputs whose shapes are known only after a run, for the combination of shapes that the session is prepared for.
        self._data_dependent: dict[str, TensorInfo] = {}
        self._combination: Any = None
        # The values of inputs that decide shapes, for which the session is prepared.
        self._shape_values: dict[str, Array] = {}

    def _read_infos(self) -> None:
        self._states = self._read_states()
        self._inputs = read_infos(library.vellum_session_input_count, library.vellum_session_input, self)
        outputs = self._read_outputs()
        shape_values = {name: (array.shape, array.tobytes()) for name, array in self._shape_values.items()}
        combination = tuple(info.shape for info in self._inputs), shape_values
        if combination != self._combination:  # until the next run, the library's shapes are those of no run
            self._combination, self._data_dependent = combination, {}
        if all(info.is_known and (not info.decides_shapes or info.name in self._shape_values) for info in self._inputs):
            for info in outputs:
                if not info.is_known:
                    self._data_dependent.setdefault(info.name, info)
        self._outputs = tuple(self._data_dependent.get(info.name, info) for info in outputs)

    def _read_outputs(self) -> tuple[TensorInfo, ...]:
        return read_infos(library.vellum_session_output_count, library.vellum_session_output, self)

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        """The inputs, in the shapes of the last run or prepare(); before either, open dimensions are None."""
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """The outputs, likewise; data-dependent dimensions are None."""
        return self._outputs

    def _counts(self) -> _c_api.vellum_session_counts:
        counts = sized(_c_api.vellum_session_counts)
        with self._lock:
            call(library.vellum_session_get_counts, self, ctypes.byref(counts))
        return counts

    @property
    def dispatch_count(self) -> int:
        """The dispatches of one run; 0 before the session is prepared, as the two below."""
        return self._counts().dispatches

    @property
    def pipeline_count(self) -> int:
        """The pipelines of one run that differ."""
        return self._counts().pipelines

    @property
    def barrier_count(self) -> int:
        """The pipeline barriers of one run."""
        return self._counts().barriers

    @property
    def warnings(self) -> list[str]:
        """For example about operators that run on the host."""
        with self._lock:
            count = library.vellum_session_warning_count(self)
            return [text(library.vellum_session_warning(self, index)) for index in range(count)]

    def prepare(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Prepares the session for these input shapes now instead of at the next run. Omitted inputs keep their shape.

        Ctrl-C waits for it, unlike for a session whose shapes are known when it is made.
        """
        with self._lock:
            array = c_input_shapes(shapes)
            call(library.vellum_session_prepare, self, array, len(array))
            self._read_infos()

    def _prepare_for(self, arrays: Mapping[str, Array]) -> None:
        given = [info for info in self._inputs if info.name in arrays]
        deciding = {info.name: arrays[info.name] for info in given if info.decides_shapes}
        known = self._shape_values
        values = {name: array for name, array in deciding.items() if name not in known or not np.array_equal(known[name], array)}
        changed = {
            info.name: arrays[info.name].shape
            for info in given
            if info.name not in deciding and info.shape != arrays[info.name].shape
        }
        for name, array in values.items():
            shape, data = c_shape(array.shape), array.ctypes.data
            call(library.vellum_session_set_input_shaped, self, name.encode(), shape, array.ndim, data, array.nbytes)
        if values or changed:
            self._shape_values = {**known, **{name: array.copy() for name, array in values.items()}}
            try:
                self.prepare(changed)
            except BaseException:
                self._shape_values = {}  # the next run sets them again
                raise
