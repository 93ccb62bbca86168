"""Faults of the device and of memory: one clear error, and what was made before or is made afterwards works.

tests/fault_layer fails calls of Vulkan, in a process of its own for each test.
"""

import os
import sys

import pytest

sys.path.append(os.path.join(os.path.dirname(__file__), "../../../tests/fault_layer"))
import fault_process

HEAD = """
    onnxruntime.set_default_logger_severity(4)
    make = lambda model, **options: onnxruntime.InferenceSession(
        model, providers=[(onnxruntime_vellum.NAME, {"cache": "", **options})], enable_fallback=0)
    model, open_model = conv_model(), conv_model(("n", 3, "h", "w"))
    inputs = random_inputs(on_host(model))
    expected = on_host(model).run(None, inputs)
    right = lambda session: assert_equal(session.run(None, inputs), expected)
"""


def in_process(*parts):
    """Runs a program with the layer. It must print nothing, on either stream."""
    assert fault_process.in_process(os.path.dirname(__file__), HEAD, *parts) == ("", "")


def test_a_lost_device_is_an_error_and_the_next_session_works():
    in_process("""
    session = make(model)
    right(session)
    layer.vellum_lose_devices(1)
    assert "lost" in error_of(lambda: session.run(None, inputs)).lower()
    layer.vellum_lose_devices(0)
    right(make(model))  # while the session of the lost device lives
    del session
    right(make(model))
    """)


def test_a_device_that_is_lost_while_a_session_is_made():
    in_process("""
    layer.vellum_lose_devices(1)
    error_of(lambda: make(model))
    layer.vellum_lose_devices(0)
    right(make(model))
    """)


def test_a_device_that_is_lost_while_another_session_is_made():
    in_process("""
    first = make(model)
    tail = [helper.make_node("Conv", ["y", "own"], ["z"])]  # weights that the first session has not uploaded
    own = {"own": np.ones((2, 4, 3, 3), np.float32)}
    other = conv_model(tail=tail, outputs={"z": (TensorProto.FLOAT, None)}, initializers=own)
    layer.vellum_lose_devices(1)
    error_of(lambda: make(other))
    layer.vellum_lose_devices(0)
    right(make(model))
    """)


def test_out_of_memory_for_a_new_session():
    in_process("""
    first = make(model)
    layer.vellum_limit_allocations(100)
    assert "OutOfDeviceMemory" in error_of(lambda: make(conv_model((1, 3, 64, 64))))
    right(first)
    layer.vellum_limit_allocations(UNLIMITED)
    right(make(model))
    """)


def test_out_of_memory_for_new_shapes():
    in_process("""
    session, host = make(open_model), on_host(open_model)
    large = {"x": np.random.default_rng(2).random((1, 3, 200, 200), np.float32)}
    right(session)
    layer.vellum_limit_allocations(1 << 16)
    for _ in range(3):
        assert "OutOfDeviceMemory" in error_of(lambda: session.run(None, large))
    right(session)
    layer.vellum_limit_allocations(UNLIMITED)
    assert_equal(session.run(None, large), host.run(None, large))
    """)


def test_out_of_memory_for_a_device_tensor():
    in_process("""
    session = make(model)
    layer.vellum_limit_allocations(100)
    try:
        onnxruntime_vellum.empty((1, 3, 32, 32))
        raise AssertionError("there was no error")
    except MemoryError:
        pass
    layer.vellum_limit_allocations(UNLIMITED)
    x = onnxruntime_vellum.empty((1, 3, 32, 32))
    x.numpy()[...] = inputs["x"]
    right(session)
    """)


@pytest.mark.parametrize("device", [False, True], ids=["host", "device"])
def test_4_threads_2_sessions_1000_runs(device):
    in_process(f"""
    sessions = [make(model), make(model)]

    def work(number):
        x, y = onnxruntime_vellum.empty((1, 3, 32, 32)), onnxruntime_vellum.empty((1, 4, 32, 32))
        x.numpy()[...] = inputs["x"]
        bindings = [session.io_binding() for session in sessions]
        for binding in bindings:
            binding.bind_ortvalue_input("x", x)
            binding.bind_ortvalue_output("y", y)
        for i in range(1000):
            if {device}:
                y.numpy()[...] = 0
                sessions[(i + number) % 2].run_with_iobinding(bindings[(i + number) % 2])
                result = y.numpy()
            else:
                result = sessions[(i + number) % 2].run(None, inputs)[0]
            assert np.abs(result - expected[0]).max() < 1e-5
    """, fault_process.IN_FOUR_THREADS)


def test_objects_may_be_freed_in_any_order():
    in_process("""
    import gc
    x = onnxruntime_vellum.empty((1, 3, 32, 32))  # opens the device
    x.numpy()[...] = inputs["x"]
    y = onnxruntime_vellum.empty((1, 4, 32, 32))
    session = make(model)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", x)
    binding.bind_ortvalue_output("y", y)
    session.run_with_iobinding(binding)
    del session, x
    gc.collect()
    assert_equal([y.numpy()], expected)
    del binding
    gc.collect()
    assert_equal([y.numpy()], expected)
    session = make(model)
    del y
    right(session)
    """)
