"""Runs a program in a process of its own with the layer of this folder, which fails calls of Vulkan."""

import os
import subprocess
import sys
import textwrap

HEAD = """
    import ctypes, sys
    sys.path.insert(0, {folder!r})
    from conftest import *
    layer = ctypes.CDLL({layer!r})
    layer.vellum_limit_allocations.argtypes = [ctypes.c_uint64]
    UNLIMITED = 2**64 - 1

    def error_of(work, kinds=Exception):
        try:
            work()
        except kinds as error:
            assert "Vellum: " in str(error), error
            return str(error)
        raise AssertionError("there was no error")
"""

# Programs call work(number) in four threads.
IN_FOUR_THREADS = """
    import threading
    faults = []

    def run_and_keep_fault(number):
        try:
            work(number)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=run_and_keep_fault, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not faults, faults[0]
"""


def in_process(folder, *parts):
    """Runs the parts of a program, one after the other, with the names of conftest.py of that folder. They may be indented, each
    part by its own amount. Returns its output and its errors."""
    layer = os.environ["VELLUM_FAULT_LAYER"]
    environment = {**os.environ, "VK_LAYER_PATH": os.path.dirname(layer), "VK_INSTANCE_LAYERS": "VK_LAYER_VELLUM_faults"}
    program = "".join(map(textwrap.dedent, (HEAD.format(folder=folder, layer=layer), *parts)))
    result = subprocess.run([sys.executable, "-B", "-c", program], env=environment, capture_output=True, text=True, timeout=200)
    assert result.returncode == 0, result.stderr
    return result.stdout, result.stderr
