"""Memory that sessions share."""

from __future__ import annotations

import ctypes
from typing import Literal

from . import _c_api
from ._device import Device
from ._library import Handle, call, library
from ._options import choice


class MemoryPool(Handle):
    """Device memory that sessions share for their intermediate tensors: for networks that follow one another.

    Give it to sessions of its device: Session(..., memory_pool=pool). It lives as long as a session has it.
    """

    def __init__(self, device: Device, *, overlap: Literal["serialise", "refuse"] = "serialise") -> None:
        """Makes an empty pool.

        overlap: what happens when a run begins while another run of the pool is under way: "serialise": the device does
            them one after the other; "refuse": Error(INVALID_ARGUMENT).
        """
        super().__init__(library.vellum_memory_pool_destroy)
        self._make(library.vellum_memory_pool_create, device, choice("overlap", overlap, _c_api.vellum_pool_overlap, "POOL_"))

    @property
    def bytes(self) -> int:
        """The device memory that it has now."""
        count = ctypes.c_uint64()
        call(library.vellum_memory_pool_bytes, self, ctypes.byref(count))
        return count.value

    def trim(self) -> None:
        """Frees the memory, except what runs under way use. It comes back with the next run of a session."""
        call(library.vellum_memory_pool_trim, self)
