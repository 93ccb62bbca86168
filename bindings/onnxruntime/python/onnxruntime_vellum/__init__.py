"""Vellum as an execution provider of ONNX Runtime: networks run on any GPU with Vulkan.

    import onnxruntime, onnxruntime_vellum
    onnxruntime_vellum.register()
    session = onnxruntime.InferenceSession("model.onnx", providers=["VellumExecutionProvider"])
"""

import os
import sys
import threading

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
