"""Vellum as an execution provider of ONNX Runtime: networks run on any GPU with Vulkan.

    import onnxruntime, onnxruntime_vellum
    onnxruntime_vellum.register()
    session = onnxruntime.InferenceSession("model.onnx", providers=["VellumExecutionProvider"])

In an application whose sessions are made elsewhere, prefer() puts the provider before those that each session names.
"""

import functools
import os
import sys
import threading

import numpy
import onnxruntime

NAME = "VellumExecutionProvider"
_REGISTRATION = "vellum"
_lock = threading.Lock()
_registered = False


def library_path() -> str:
    """Returns the path of the plug-in library, for onnxruntime.register_execution_provider_library()."""
    name = {"win32": "vellum_onnxruntime.dll", "darwin": "libvellum_onnxruntime.dylib"}.get(
        sys.platform, "libvellum_onnxruntime.so"
    )
    return os.environ.get("VELLUM_ONNXRUNTIME_LIBRARY") or os.path.join(os.path.dirname(__file__), name)


def register() -> None:
    """Registers the provider with ONNX Runtime. A second call does nothing."""
    global _registered
    with _lock:
        if not _registered:
            onnxruntime.register_execution_provider_library(_REGISTRATION, library_path())
            _registered = True


def unregister() -> None:
    """Removes the provider. All sessions that use it must have been freed."""
    global _registered
    with _lock:
        if _registered:
            onnxruntime.unregister_execution_provider_library(_REGISTRATION)
            _registered = False


def devices() -> "list[onnxruntime.OrtEpDevice]":
    """Returns the devices to choose from, for SessionOptions.add_provider_for_devices()."""
    register()
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]


def empty(shape, dtype="float32") -> "onnxruntime.OrtValue":
    """Returns a tensor in memory that the GPU and the host share, for io_binding(): a session of the provider uses it in place.

    Its values are undefined; OrtValue.numpy() is a view of them. Raises MemoryError, and TypeError where ONNX Runtime is too old
    to allocate in such memory (1.32 is not).
    """
    memory = devices()[0].memory_info(onnxruntime.OrtDeviceMemoryType.HOST_ACCESSIBLE)
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, numpy.dtype(dtype).type, memory_info=memory)
    if value.data_ptr() == 0 and value.tensor_size_in_bytes() > 0:  # the runtime does not look
        raise MemoryError(f"Vellum: a tensor of {value.tensor_size_in_bytes()} bytes cannot be allocated on the device")
    return value


def prefer(**options: object) -> None:
    """Puts the provider, with these options, first in every InferenceSession that is made afterwards.

    Sessions that give the provider options of their own, or devices in their SessionOptions, are left as they are. One that names it
    without options, as those that pass all of onnxruntime.get_available_providers(), gets it first.
    """
    register()
    texts = {name: str(value) for name, value in options.items()}
    original = getattr(onnxruntime.InferenceSession.__init__, "__wrapped__", onnxruntime.InferenceSession.__init__)

    @functools.wraps(original)
    def make(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **more):
        asked = list(providers or ["CPUExecutionProvider"])
        names = [provider if isinstance(provider, str) else provider[0] for provider in asked]
        has_devices = sess_options is not None and sess_options.has_providers()
        if provider_options:
            asked = list(zip(names, provider_options))
        if not has_devices and not any(name == NAME and not isinstance(one, str) and one[1] for name, one in zip(names, asked)):
            providers = [(NAME, texts), *(one for name, one in zip(names, asked) if name != NAME)]
            provider_options = None
        original(self, path_or_bytes, sess_options, providers, provider_options, **more)

    onnxruntime.InferenceSession.__init__ = make


def stop_preferring() -> None:
    """Ends what prefer() began."""
    original = getattr(onnxruntime.InferenceSession.__init__, "__wrapped__", None)
    if original is not None:
        onnxruntime.InferenceSession.__init__ = original
