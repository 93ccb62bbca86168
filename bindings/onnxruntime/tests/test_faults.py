"""Faults of the device and of memory: one clear error, and what was made before or is made afterwards works.

tests/fault_layer fails calls of Vulkan, in a process of its own for each test.
"""

import os
import subprocess
import sys
import textwrap

import pytest

HEAD = """
    import ctypes, sys
    sys.path.insert(0, {folder!r})
    from conftest import *
    layer = ctypes.CDLL({layer!r})
    layer.vellum_limit_allocations.argtypes = [ctypes.c_uint64]
    UNLIMITED = 2**64 - 1
    onnxruntime.set_default_logger_severity(4)
    make = lambda model, **options: onnxruntime.InferenceSession(
        model, providers=[(onnxruntime_vellum.NAME, {{"cache": "", **options}})], enable_fallback=0)
    model, open_model = conv_model(), conv_model(("n", 3, "h", "w"))
    inputs = random_inputs(on_host(model))
    expected = on_host(model).run(None, inputs)
    right = lambda session: assert_equal(session.run(None, inputs), expected)

    def error_of(work):
        try:
            work()
        except Exception as error:
            assert "Vellum: " in str(error), error
            return str(error)
        raise AssertionError("there was no error")
"""


def in_process(program):
    """Runs a program with the layer. It must print nothing, on either stream."""
    layer = os.environ["VELLUM_FAULT_LAYER"]
    head = HEAD.format(folder=os.path.dirname(__file__), layer=layer)
    environment = {**os.environ, "VK_LAYER_PATH": os.path.dirname(layer), "VK_INSTANCE_LAYERS": "VK_LAYER_VELLUM_faults"}
    result = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(head) + textwrap.dedent(program)], env=environment,
                            capture_output=True, text=True, timeout=200)
    assert result.returncode == 0, result.stderr
    assert result.stdout + result.stderr == ""


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
    import threading
    sessions, faults = [make(model), make(model)], []

    def work(number):
        try:
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
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not faults, faults[0]
    """)


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
