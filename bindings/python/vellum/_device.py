"""Vulkan devices."""

from __future__ import annotations

import ctypes
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from . import _c_api
from ._html import table
from ._library import Handle, call, defaults, library, made_text, sized, text
from ._option_types import DeviceOptions
from ._options import set_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

LogLevel = Literal["debug", "info", "warning", "error"]
_LOG_LEVELS: tuple[LogLevel, ...] = ("debug", "info", "warning", "error")  # as vellum_log_level


@dataclass(frozen=True)
class DeviceInfo:
    """A Vulkan device that can compute."""

    index: int  # Device(index) opens it
    name: str
    type: str  # "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other"
    driver: str  # name and version
    api_version: str  # "1.3.230"
    uuid: uuid.UUID
    vendor_id: int
    device_id: int
    fp16_arithmetic: bool  # arithmetic="fp16" works
    timestamp_period_ns: float  # 0: no times of layers
    preferred_storage: str  # the meaning of storage="auto"
    subgroup_size: int  # 0: not known, or subgroups may have fewer invocations
    cooperative_matrices: str  # the products of halves that are supported, or "no: ...", also before the device is opened
    luid: bytes | None  # 8 bytes; None: the driver reports none; Windows' do
    max_image_dimension_2d: int  # texels
    max_image_dimension_3d: int
    max_storage_buffer_range: int  # bytes

    def _repr_html_(self) -> str:
        return table(self.name, ["", ""], [[name, str(value)] for name, value in vars(self).items()])


def _info(info: _c_api.vellum_device_info) -> DeviceInfo:
    return DeviceInfo(
        index=info.index,
        name=text(info.name),
        type=text(info.type),
        driver=text(info.driver),
        api_version=text(info.api_version),
        uuid=uuid.UUID(bytes=bytes(info.uuid)),
        vendor_id=info.vendor_id,
        device_id=info.device_id,
        fp16_arithmetic=bool(info.fp16_arithmetic),
        timestamp_period_ns=info.timestamp_period_ns,
        preferred_storage=text(info.preferred_storage),
        subgroup_size=info.subgroup_size,
        cooperative_matrices=text(info.cooperative_matrices),
        luid=bytes(info.luid) if info.luid_known else None,
        max_image_dimension_2d=info.max_image_dimension_2d,
        max_image_dimension_3d=info.max_image_dimension_3d,
        max_storage_buffer_range=info.max_storage_buffer_range,
    )


class DeviceList(list[DeviceInfo]):
    """A list of devices; in a notebook a table."""

    def __repr__(self) -> str:
        return "\n".join(f"{info.index}: {info.name}, {info.type}, {info.driver}, Vulkan {info.api_version}" for info in self)

    def _repr_html_(self) -> str:
        rows = [[str(info.index), info.name, info.type, info.driver, info.api_version, info.preferred_storage] for info in self]
        return table("Vulkan devices", ["device", "name", "type", "driver", "Vulkan", "storage"], rows)


def devices() -> DeviceList:
    """Returns the Vulkan devices of this machine that can compute: a list, which is shown as a table.

    Raises Error(NO_DEVICE) without a Vulkan loader; without a driver the list is empty.
    """
    with Handle(library.vellum_device_list_destroy)._make(library.vellum_device_list_create) as listed:
        found = DeviceList()
        for index in range(library.vellum_device_list_count(listed)):
            info = sized(_c_api.vellum_device_info)
            call(library.vellum_device_list_get, listed, index, ctypes.byref(info))
            found.append(_info(info))
        return found


def default_cache_folder() -> str:
    """The user's folder for Vellum's caches, for Device(cache_folder=...); empty if the environment has none."""
    return made_text(library.vellum_default_cache_folder)


class Device(Handle):
    """An open device, for any number of sessions and threads.

    It lives as long as it is referred to or a session uses it.
    """

    def __init__(
        self,
        device: int | str | uuid.UUID | None = None,
        *,
        log: Callable[[LogLevel, str], object] | None = None,
        **options: Unpack[DeviceOptions],
    ) -> None:
        """Opens a device.

        device: a number as DeviceInfo.index, a UUID, or a part of a name; None: a discrete GPU, else an integrated one,
            else a CPU.
        log: called with a level and one line, from any thread.
        options: see DeviceOptions.
        """
        struct = defaults(_c_api.vellum_device_options)
        set_options(struct, options, DeviceOptions)
        if device is not None:
            struct.device = str(device).encode()
        callback = _c_api.vellum_log_callback(0)
        if log is not None:
            callback = _c_api.vellum_log_callback(lambda level, message, _: log(_LOG_LEVELS[level], text(message)))
        struct.log = callback
        self.wait_limit_ms = struct.wait_limit_ms
        super().__init__(library.vellum_device_destroy, callback)
        self._make(library.vellum_device_open, ctypes.byref(struct))
        self._callback = callback  # for sessions, which may outlive this object

    @property
    def info(self) -> DeviceInfo:
        info = sized(_c_api.vellum_device_info)
        call(library.vellum_device_get_info, self, ctypes.byref(info))
        return _info(info)

    @property
    def name(self) -> str:
        return text(library.vellum_device_name(self))

    @property
    def validation_messages(self) -> int:
        """The number of errors and warnings that the validation layer has reported."""
        count: int = library.vellum_device_validation_messages(self)
        return count

    @property
    def caps(self) -> str:
        """Its limits, features and traits as JSON, for functions that take `caps` instead of a device."""
        return made_text(library.vellum_device_caps, self)

    def crashes(self) -> list[str]:
        """What the driver did when an earlier process ended or lost the device, such as "compiled shader 'conv_window'".

        It is not tried again: other kernels run in its place.
        """
        with Handle(library.vellum_crash_list_destroy) as crashes:
            crashes._make(library.vellum_get_crashes, self)
            count = library.vellum_crash_list_count(crashes)
            return [text(library.vellum_crash_list_get(crashes, index)) for index in range(count)]

    def forget_crashes(self) -> None:
        """Forgets crashes() and all results of first-use checks: sessions that are made afterwards try again."""
        call(library.vellum_forget_crashes, self)

    def forget_tuning(self) -> None:
        """Deletes everything that tune() measured on the device."""
        call(library.vellum_forget_tuning, self)

    def __repr__(self) -> str:
        info = self.info
        return f"<vellum.Device {info.index}: {info.name}, {info.type}>"

    def _repr_html_(self) -> str:
        return self.info._repr_html_()


DeviceLike = Device | int | str | uuid.UUID | None


def as_device(device: DeviceLike) -> Device:
    return device if isinstance(device, Device) else Device(device)
