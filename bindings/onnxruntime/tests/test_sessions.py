"""Options, threads, faults and the registration of the library."""

import json
import subprocess
import sys
import textwrap
import threading

import numpy as np
import onnxruntime
import onnxruntime_vellum
import pytest
from conftest import MODELS, assert_equal, conv_model, on_host, random_inputs

Failure = Exception  # the runtime's statuses are several types


@pytest.mark.parametrize("options", [
    {"precision": "fp16"}, {"storage": "buffer"}, {"storage": "image3d"}, {"memory": "offsets"}, {"memory_budget": "8MiB"},
    {"weights_budget": "64KiB"}, {"max_submit_ms": 1}, {"tuned": 0}, {"self_check": "on"}, {"cached_shapes": 1}, {"cache": ""},
    {"winograd": "f2"}])
def test_options(claimed, options):
    model = conv_model(("n", 3, 32, 32))
    session, host = claimed(model, **options), on_host(model)
    for batch in (1, 2, 1):
        inputs = {"x": np.random.default_rng(batch).random((batch, 3, 32, 32), np.float32)}
        assert_equal(session.run(None, inputs), host.run(None, inputs), 5e-3 if "precision" in options else 1e-5)


@pytest.mark.parametrize("options, words", [
    ({"precison": "fp16"}, "there is no option 'precison'"), ({"precision": "fp8"}, "must be one of fp32, fp16"),
    ({"memory_budget": "many"}, "memory_budget=many"), ({"device": "no such device"}, "no such device"),
    ({"memory_budget": "1KiB"}, "budget")])
def test_faulty_options_are_one_clear_error(claimed, options, words):
    with pytest.raises(Failure) as error:
        claimed(conv_model(), **options)
    assert words in str(error.value) and "Vellum: " in str(error.value)


def test_threads(claimed):
    model = conv_model(("n", 3, 32, 32))
    sessions, host = [claimed(model), claimed(model)], on_host(model)
    inputs = [{"x": np.random.default_rng(n).random((1 + n % 3, 3, 32, 32), np.float32)} for n in range(6)]
    expected = [host.run(None, each) for each in inputs]
    faults = []

    def work(first):
        try:
            for i in range(first, first + 60):
                n = i % len(inputs)
                assert_equal(sessions[i % 2].run(None, inputs[n]), expected[n])
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not faults, faults[0]


def test_terminated_run_is_an_error_and_the_session_stays_usable(claimed):
    model = conv_model()
    session = claimed(model)
    options = onnxruntime.RunOptions()
    options.terminate = True
    with pytest.raises(Failure, match="terminate"):
        session.run(None, random_inputs(session), options)
    assert_equal(session.run(None, random_inputs(session)), on_host(model).run(None, random_inputs(session)))


def test_profile_page(claimed, tmp_path):
    session = claimed(conv_model(), profile_html=tmp_path / "page.html")
    for _ in range(3):
        session.run(None, random_inputs(session))
    page = (tmp_path / "page.html").read_text()
    assert "first" in page and "llvmpipe" in page


def test_preferred_provider_comes_first():
    model = conv_model()
    onnxruntime_vellum.prefer(precision="fp16")
    try:
        plain = onnxruntime.InferenceSession(model)
        named = onnxruntime.InferenceSession(model, None, ["CPUExecutionProvider"], [{}])
        last = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider", onnxruntime_vellum.NAME])
        own = onnxruntime.InferenceSession(model, providers=[(onnxruntime_vellum.NAME, {"precision": "fp32"})])
    finally:
        onnxruntime_vellum.stop_preferring()
    assert own.get_provider_options()[onnxruntime_vellum.NAME]["precision"] == "fp32"
    for session in (plain, named, last):
        assert session.get_providers() == [onnxruntime_vellum.NAME, "CPUExecutionProvider"]
        assert session.get_provider_options()[onnxruntime_vellum.NAME]["precision"] == "fp16"
    assert on_host(model).get_providers() == ["CPUExecutionProvider"]


def test_profile_of_the_runtime_has_the_layers(tmp_path):
    settings = onnxruntime.SessionOptions()
    settings.enable_profiling = True
    settings.profile_file_prefix = str(tmp_path / "profile")
    session = onnxruntime.InferenceSession(conv_model(), settings, providers=[onnxruntime_vellum.NAME], enable_fallback=0)
    for _ in range(2):
        session.run(None, random_inputs(session))
    with open(session.end_profiling()) as file:
        events = json.load(file)
    layers = [event for event in events if event.get("args", {}).get("provider") == onnxruntime_vellum.NAME and "shader" in event["args"]]
    assert sum(event["args"]["op_name"] == "Conv" for event in layers) == 4
    runs = [event for event in events if event["name"] == "model_run"]
    end = runs[-1]["ts"] + runs[-1]["dur"]
    assert all(runs[0]["ts"] <= event["ts"] and event["ts"] + event["dur"] <= end + 1000 for event in layers)


def in_process(program):
    """Runs a program, which must print nothing but what it says."""
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


HEAD = f"""
    import sys, numpy, onnxruntime, onnxruntime_vellum
    model = {str(MODELS / 'face_detection_front_128x128_barracuda.onnx')!r}
    onnxruntime.set_default_logger_severity(4)
    make = lambda: onnxruntime.InferenceSession(model, providers=["VellumExecutionProvider"])
    run = lambda session: session.run(None, {{session.get_inputs()[0].name: numpy.zeros(session.get_inputs()[0].shape, "f4")}})
"""


def test_prints_nothing():
    assert in_process(HEAD + """
    onnxruntime_vellum.register()
    run(make())
    """) == ""


def test_library_may_be_registered_twice():
    assert in_process(HEAD + """
    onnxruntime_vellum.register()
    onnxruntime_vellum.register()
    onnxruntime.register_execution_provider_library("again", onnxruntime_vellum.library_path())
    devices = [d for d in onnxruntime.get_ep_devices() if d.ep_name == "VellumExecutionProvider"]
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices(devices[-1:], {})
    run(onnxruntime.InferenceSession(model, options))
    """) == ""


def test_library_may_be_unregistered_after_its_sessions():
    assert in_process(HEAD + """
    onnxruntime_vellum.register()
    session = make()
    run(session)
    del session
    onnxruntime_vellum.unregister()
    onnxruntime_vellum.register()
    run(make())
    """) == ""


def test_session_outlives_its_registration():
    assert in_process(HEAD + """
    onnxruntime_vellum.register()
    session = make()
    try:
        onnxruntime_vellum.unregister()
    except Exception:
        pass  # the runtime may refuse it
    run(session)
    del session
    """) == ""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_forked_process_gets_an_error_and_may_make_the_first_session():
    fork = HEAD + """
    import os
    def in_child(work):
        child = os.fork()
        if child == 0:
            try:
                work()
                os._exit(0)
            except Exception as error:
                os._exit(7 if "forked" in str(error) else 8)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    onnxruntime_vellum.register()
    """
    assert in_process(fork + "assert in_child(lambda: run(make())) == 0") == ""
    assert in_process(fork + """session = make()
    run(session)
    assert in_child(lambda: run(session)) == 7
    assert in_child(lambda: onnxruntime.InferenceSession(model, providers=["VellumExecutionProvider"], enable_fallback=0)) == 7
    run(session)
    """) == ""


def test_devices():
    assert all(device.ep_name == onnxruntime_vellum.NAME for device in onnxruntime_vellum.devices())
    assert onnxruntime_vellum.devices()
