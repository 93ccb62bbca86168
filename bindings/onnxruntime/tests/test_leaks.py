"""Nothing is left when sessions end: no device memory, and no growth of the process."""

import os
import subprocess
import sys
import textwrap

PROGRAM = """
    import ctypes, gc, os, sys
    sys.path.insert(0, {folder!r})
    from conftest import *
    layer = ctypes.CDLL({layer!r})
    layer.vellum_live_allocations.restype = ctypes.c_uint64
    onnxruntime.set_default_logger_severity(4)
    model = conv_model(("n", 3, "h", "w"))

    def once(turn):
        session = onnxruntime.InferenceSession(model, providers=[(onnxruntime_vellum.NAME, {{"cache": ""}})], enable_fallback=0)
        x, y = onnxruntime_vellum.empty((1, 3, 16, 16)), onnxruntime_vellum.empty((1, 4, 16, 16))
        x.numpy()[...] = 1
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", x)
        binding.bind_ortvalue_output("y", y)
        session.run_with_iobinding(binding)
        session.run(None, {{"x": np.ones((1 + turn % 3, 3, 16, 16), np.float32)}})
        try:
            session.run(None, {{"x": np.ones((1, 4, 16, 16), np.float32)}})
        except Exception:
            pass

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    keep = onnxruntime_vellum.empty((4,))  # the device stays open: drivers keep memory of their own for each
    once(0), once(1), once(2)
    alive, before = layer.vellum_live_allocations(), resident()
    for turn in range(60):
        once(turn)
    assert layer.vellum_live_allocations() == alive, (layer.vellum_live_allocations(), alive)
    assert resident() - before < 24 << 20, (resident() - before) / 2**20
    del keep
    gc.collect()
    assert layer.vellum_live_allocations() == 0, layer.vellum_live_allocations()
"""


def test_sessions_leave_nothing():
    layer = os.environ["VELLUM_FAULT_LAYER"]
    program = textwrap.dedent(PROGRAM).format(folder=os.path.dirname(__file__), layer=layer)
    environment = {**os.environ, "VK_LAYER_PATH": os.path.dirname(layer), "VK_INSTANCE_LAYERS": "VK_LAYER_VELLUM_faults"}
    result = subprocess.run([sys.executable, "-B", "-c", program], env=environment, capture_output=True, text=True, timeout=250)
    assert result.returncode == 0, result.stderr
