"""Faults of the device and of memory: one clear error, and what is made afterwards works.

tests/fault_layer fails calls of Vulkan, in a process of its own for each test.
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../../tests/fault_layer"))
import fault_process

HEAD = """
    import functools
    error_of = functools.partial(error_of, kinds=(RuntimeError, ValueError))
    model, open_model = conv_model(), conv_model(is_open=(0, 1, 2))

    def make(model):
        interpreter = interpreter_of(model, experimental_delegates=[load_delegate(LIBRARY, {"cache": ""})])
        interpreter.allocate_tensors()
        return interpreter

    host = on_host(model)
    inputs = random_inputs(host)
    expected = run(host, inputs)
    right = lambda interpreter: assert_close(run(interpreter, inputs), expected)
"""


def in_process(*parts):
    output, errors = fault_process.in_process(os.path.dirname(__file__), HEAD, *parts)
    assert output == "" and "ellum" not in errors  # LiteRT writes lines of its own


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
    def work(number):
        interpreter = make(model)
        for _ in range(1000):
            assert np.abs(run(interpreter, inputs)["d"] - expected["d"]).max() < 1e-4
    """, fault_process.IN_FOUR_THREADS)


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
