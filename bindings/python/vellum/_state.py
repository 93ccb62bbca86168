"""The states of a session: inputs that hold what the last run left in an output."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _c_api
from ._library import Error, ErrorCode, Handle, call, library, sized, text
from ._tensor import DTYPES, TensorInfo, as_array, read_shape

Array = np.ndarray[Any, Any]


class SavedState(Handle):
    """A copy of the states of a session, from Session.save_state()."""


class Stateful(Handle):
    """What a Session does with its states."""

    def __init__(self, destroy: Callable[[ctypes.c_void_p], None], keep: object = None) -> None:
        super().__init__(destroy, keep)
        self._lock = threading.RLock()  # the library takes one thread at a time, except to submit
        self._states: dict[str, str] = {}  # names of inputs, and of the outputs that a run leaves in them

    @property
    def states(self) -> dict[str, str]:
        """The inputs that are state, and for each the output that a run leaves in it (SessionOptions.state)."""
        return dict(self._states)

    def reset_state(self) -> None:
        """All states return to the model's initial values, else to zeros."""
        with self._lock:
            call(library.vellum_session_reset_state, self)

    def state(self, name: str) -> Array:
        """A copy of one state, by the name of its input or output."""
        with self._lock:
            info = self._state_info(name)
            # Every size is known once the session has its state.
            values = np.empty(tuple(size or 0 for size in info.shape), info.dtype)
            call(library.vellum_session_get_state, self, name.encode(), values.ctypes.data, values.nbytes)
            return values

    def set_state(self, name: str, values: Any) -> None:
        """Sets one state to an array of its dtype and shape."""
        with self._lock:
            info = self._state_info(name)
            array = as_array(values, info)
            if array.shape != info.shape:
                raise Error(ErrorCode.INVALID_ARGUMENT, f"state '{name}' has the shape {info.shape}, the array {array.shape}")
            call(library.vellum_session_set_state, self, name.encode(), array.ctypes.data, array.nbytes)

    def save_state(self) -> SavedState:
        """A copy of all states in device memory of its own."""
        with self._lock:
            return SavedState(library.vellum_saved_state_destroy)._make(library.vellum_session_save_state, self)

    def restore_state(self, saved: SavedState) -> None:
        """Copies the states back on the device, also to another session whose states have the same types and shapes."""
        with self._lock:
            call(library.vellum_session_restore_state, self, saved)

    def _state_info(self, name: str) -> TensorInfo:
        for index in range(library.vellum_session_state_count(self)):
            info = sized(_c_api.vellum_state_info)
            call(library.vellum_session_state, self, index, ctypes.byref(info))
            if name in (text(info.input), text(info.output)):
                return TensorInfo(name, read_shape(info), DTYPES[info.dtype])
        raise Error(ErrorCode.NOT_FOUND, f"'{name}' is no state of the session")

    def _read_states(self) -> dict[str, str]:
        states = {}
        for index in range(library.vellum_session_state_count(self)):
            info = sized(_c_api.vellum_state_info)
            call(library.vellum_session_state, self, index, ctypes.byref(info))
            states[text(info.input)] = text(info.output)
        return states
