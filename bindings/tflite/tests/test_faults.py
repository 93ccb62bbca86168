"""Faults of the device and of memory: one clear error, and what is made afterwards works.

tests/fault_layer fails calls of Vulkan, in a process of its own for each test.
"""

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
    model, open_model = conv_model(), conv_model(is_open=(0, 1, 2))

    def make(model):
        interpreter = interpreter_of(model, experimental_delegates=[load_delegate(LIBRARY, {{"cache": ""}})])
        interpreter.allocate_tensors()
        return interpreter

    host = on_host(model)
    inputs = random_inputs(host)
    expected = run(host, inputs)
    right = lambda interpreter: assert_close(run(interpreter, inputs), expected)

    def error_of(work):
        try:
            work()
        except (RuntimeError, ValueError) as error:
            assert "Vellum: " in str(error), error
            return str(error)
        raise AssertionError("there was no error")
"""


def in_process(program):
    layer = os.environ["VELLUM_FAULT_LAYER"]
    head = HEAD.format(folder=os.path.dirname(__file__), layer=layer)
    environment = {**os.environ, "VK_LAYER_PATH": os.path.dirname(layer), "VK_INSTANCE_LAYERS": "VK_LAYER_VELLUM_faults"}
    result = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(head) + textwrap.dedent(program)], env=environment,
                            capture_output=True, text=True, timeout=200)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "" and "ellum" not in result.stderr  # LiteRT writes lines of its own


def test_a_lost_device_is_an_error_and_the_next_delegate_works():
    in_process("""
    interpreter = make(model)
    right(interpreter)
    layer.vellum_lose_devices(1)
    assert "lost" in error_of(lambda: run(interpreter, inputs)).lower()
    layer.vellum_lose_devices(0)
    right(make(model))  # while the interpreter of the lost device lives
    """)


def test_a_device_that_is_lost_while_another_interpreter_is_made():
    in_process("""
    first = make(model)
    other = conv_model(lambda model: add_conv(model, "d", "e", (4, 6), seed=9), outputs=["e"])
    layer.vellum_lose_devices(1)
    error_of(lambda: make(other))
    layer.vellum_lose_devices(0)
    right(make(model))
    """)


def test_out_of_memory_for_a_new_delegate():
    in_process("""
    first = make(model)
    layer.vellum_limit_allocations(100)
    assert "OutOfDeviceMemory" in error_of(lambda: make(conv_model(is_open=(0,))))
    right(first)
    layer.vellum_limit_allocations(UNLIMITED)
    right(make(model))
    """)


def test_out_of_memory_for_a_new_size():
    in_process("""
    interpreter = make(open_model)
    right(interpreter)

    def resize(size):
        interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], (1, size, size, 3))
        interpreter.allocate_tensors()

    layer.vellum_limit_allocations(1 << 15)
    assert "OutOfDeviceMemory" in error_of(lambda: resize(200))
    layer.vellum_limit_allocations(UNLIMITED)
    resize(200)
    resize(16)
    right(interpreter)
    """)


def test_4_threads_1000_runs():
    in_process("""
    import threading
    faults = []

    def work():
        try:
            interpreter = make(model)
            for _ in range(1000):
                assert np.abs(run(interpreter, inputs)["d"] - expected["d"]).max() < 1e-4
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not faults, faults[0]
    """)


def test_a_delegate_is_freed_after_its_interpreters():
    in_process("""
    import gc
    delegate = load_delegate(LIBRARY, {"cache": ""})
    for _ in range(3):
        interpreter = interpreter_of(model, experimental_delegates=[delegate])
        interpreter.allocate_tensors()
        right(interpreter)
        del interpreter
        gc.collect()
    del delegate
    gc.collect()
    right(make(model))
    """)
