"""Sessions and runs, with NumPy in and out."""

from __future__ import annotations

import array
import gc
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import vellum
from conftest import DATA, ONNX_NODES, same, zeros
from vellum import ErrorCode
from vellum._tensor import as_array


def test_results_are_those_of_the_tool_bit_for_bit(
    face_file: Path, image: np.ndarray, expected: dict[str, np.ndarray], tmp_path: Path
) -> None:
    np.save(tmp_path / "image.npy", image)
    tool = [sys.executable, "-m", "vellum", "run", face_file, "-i", f"input:0={tmp_path}/image.npy", "-o", tmp_path / "out"]
    subprocess.run(tool, check=True, stdout=subprocess.DEVNULL)
    written = {name: np.load(tmp_path / "out" / f"{name.replace(':', '_')}.npy") for name in expected}
    assert same(written, expected)


def test_a_session_says_what_it_takes_and_gives(session: vellum.Session) -> None:
    assert session.inputs == (vellum.TensorInfo("input:0", (1, 128, 128, 3), np.dtype("float32")),)
    assert [info.name for info in session.outputs] == ["Identity:0", "Identity_1:0", "Identity_2:0", "Identity_3:0"]
    assert session.outputs[3].shape == (1, 384, 16)
    assert session.warnings == []
    assert "float32[1,128,128,3]" in repr(session) and "Identity_3:0" in session._repr_html_()


def test_a_memory_budget_is_kept_or_refused(face_file: Path, device: vellum.Device, image, expected) -> None:
    with pytest.raises(vellum.Error, match="smallest that suffices") as refusal:
        vellum.Session(face_file, device, memory_budget=1000)
    assert refusal.value.code == ErrorCode.OUT_OF_MEMORY
    least = int(str(refusal.value).split("suffices is ")[1].split()[0])
    session = vellum.Session(face_file, device, memory_budget=least)
    assert same(session.run({"input:0": image}), expected)


def test_a_model_is_read_from_a_path_or_bytes(face_file: Path, device: vellum.Device, image, expected) -> None:
    for source in (str(face_file), face_file.read_bytes(), memoryview(face_file.read_bytes())):
        assert same(vellum.Session(source, device).run({"input:0": image}), expected)


def test_what_is_no_model_or_no_array_is_named(face: vellum.Model, device: vellum.Device) -> None:
    for source in (None, 3):
        with pytest.raises(TypeError, match="a model is a path, or the bytes of a file, not"):
            vellum.Model(source)  # type: ignore[arg-type]
    session = vellum.Session(face, device)
    with pytest.raises(TypeError, match="takes an array, not str; read the file first"):
        session.run("photo.jpg")  # type: ignore[arg-type]


def test_session_opens_a_device_by_itself(face_file: Path, image, expected) -> None:
    session = vellum.Session(face_file)
    assert session.device.name == vellum.devices()[0].name
    assert same(session.run({"input:0": image}), expected)


class WithDlpack:
    """As a tensor of another library."""

    def __init__(self, values: np.ndarray, kind: int = 1) -> None:
        self._values, self._kind = values, kind

    def __dlpack__(self, **options: object) -> object:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._kind, 0


def test_inputs_are_arrays_dlpack_tensors_buffers_and_numbers(session, image, expected) -> None:
    strided = np.zeros((1, 128, 128, 6), np.float32)[..., ::2]
    strided[:] = image
    assert not strided.flags.c_contiguous
    buffer = memoryview(array.array("f", image.ravel())).cast("B").cast("f", image.shape)
    for value in (image, strided, WithDlpack(image), buffer, image.tolist()):
        assert same(session.run({"input:0": value}), expected)


def test_dense_inputs_are_not_copied(session, image) -> None:
    for value in (image, WithDlpack(image), memoryview(image)):
        assert np.shares_memory(as_array(value, session.inputs[0]), image)


def test_scalars_keep_their_rank() -> None:
    info = vellum.TensorInfo("x", (), np.dtype("float32"))
    assert as_array(2.5, info).shape == () and as_array(np.float32(2.5), info).shape == ()


def test_outputs_are_all_or_some_or_written_in_place(session, image, expected) -> None:
    boxes, scores = session.run({"input:0": image}, ["Identity_2:0", "Identity:0"])
    assert np.array_equal(boxes, expected["Identity_2:0"]) and np.array_equal(scores, expected["Identity:0"])
    mine = np.zeros((1, 512, 1), np.float32)
    returned = session.run({"input:0": image}, {"Identity:0": mine})
    assert list(returned) == ["Identity:0"] and returned["Identity:0"] is mine
    assert np.array_equal(mine, expected["Identity:0"])


@pytest.mark.parametrize(
    ("inputs", "code", "message"),
    [
        ({"input:0": np.zeros((1, 128, 128, 3))}, ErrorCode.INVALID_ARGUMENT, "is float32, but the array is float64"),
        ({"image": np.zeros(1)}, ErrorCode.NOT_FOUND, "there is no input 'image'; the model has 'input:0'"),
        ({}, ErrorCode.INVALID_ARGUMENT, "the input 'input:0' was not given"),
        ({"input:0": np.zeros((1, 64, 128, 3), np.float32)}, ErrorCode.INVALID_ARGUMENT, "input:0"),
        ({"input:0": WithDlpack(np.zeros(1), kind=2)}, ErrorCode.INVALID_ARGUMENT, "copy it to the host first"),
    ],
)
def test_inputs_that_do_not_fit_are_errors(session, image, expected, inputs, code, message) -> None:
    with pytest.raises(vellum.Error, match=message) as raised:
        session.run(inputs)
    assert raised.value.code == code
    assert same(session.run({"input:0": image}), expected)  # the session is as before


def test_outputs_that_do_not_fit_are_errors(session, image) -> None:
    frozen = np.zeros((1, 512, 1), np.float32)
    frozen.flags.writeable = False
    for outputs in (
        {"Identity:0": np.zeros((1, 512, 1))},
        {"Identity:0": np.zeros((512, 1), np.float32)},
        {"Identity:0": np.zeros((1, 512, 2), np.float32)[..., ::2]},
        {"Identity:0": frozen},
    ):
        with pytest.raises(vellum.Error, match="output 'Identity:0'") as raised:
            session.run({"input:0": image}, outputs)
        assert raised.value.code == ErrorCode.INVALID_ARGUMENT
    with pytest.raises(vellum.Error, match="there is no output 'none'"):
        session.run({"input:0": image}, ["none"])
    with pytest.raises(TypeError):
        session.run({"input:0": image}, "Identity:0")


def test_shapes_may_change_from_run_to_run(device) -> None:
    session = vellum.Session(DATA / "models" / "ch_ppocr_mobile_v2.0_cls_infer.onnx", device)
    assert session.inputs[0].shape == (None, 3, None, None)
    name, output = session.inputs[0].name, session.outputs[0].name
    values = np.random.default_rng(3).random((2, 3, 48, 192), np.float32)
    both = session.run({name: values})[output]
    assert session.inputs[0].shape == (2, 3, 48, 192) and both.shape == (2, 2)
    for i in range(2):
        one = session.run({name: values[i : i + 1]})[output]
        fixed = vellum.Session(session.model, device, input_shapes={name: (1, 3, 48, 192)})
        assert fixed.inputs[0].shape == (1, 3, 48, 192)
        assert np.array_equal(fixed.run({name: values[i : i + 1]})[output], one)
        assert np.allclose(one[0], both[i], atol=1e-5)
    session.prepare({name: (2, 3, 48, 192)})
    assert session.outputs[0].shape == (2, 2)


def test_values_that_decide_shapes(device) -> None:
    model = vellum.Model(ONNX_NODES / "test_expand_dim_changed" / "model.onnx")
    assert [info.decides_shapes for info in model.inputs] == [False, True]
    column = np.arange(3, dtype=np.float32).reshape(3, 1)
    session = vellum.Session(model, device)
    for shape in ((2, 1, 6), (1, 3, 4), (2, 1, 6)):
        expected = np.broadcast_to(column, np.broadcast_shapes((3, 1), shape))
        assert np.array_equal(session.run({"data": column, "new_shape": np.array(shape)})["expanded"], expected)
        fixed = vellum.Session(model, device, input_values={"new_shape": np.array(shape)})
        assert fixed.outputs[0].shape == expected.shape
        assert np.array_equal(fixed.run({"data": column})["expanded"], expected)
    with pytest.raises(vellum.Error, match="decide no shape"):
        vellum.Session(model, device, input_values={"data": column})


def test_outputs_with_shapes_that_depend_on_data(device) -> None:
    session = vellum.Session(ONNX_NODES / "test_nonzero_example" / "model.onnx", device)
    condition = np.array([[True, False], [True, True]])
    name, output = session.inputs[0].name, session.outputs[0].name
    assert session.inputs[0].dtype == bool and None in session.outputs[0].shape
    assert np.array_equal(session.run({name: condition})[output], np.array(np.nonzero(condition)))
    run = session.submit({name: condition}, [output])
    assert session.run({name: ~condition})[output].tolist() == [[0], [1]]
    assert run.result()[0].tolist() == [[0, 1, 1], [0, 0, 1]]
    assert None in session.outputs[0].shape
    with pytest.raises(vellum.Error, match=f"output '{output}'"):
        session.run({name: condition}, {output: np.zeros((2, 3), np.int64)})
    profiled = vellum.Session(session.model, device, profile=True)
    assert profiled.run({name: ~condition})[output].tolist() == [[0], [1]]


def test_a_run_that_cannot_begin_at_once_is_dropped(slow) -> None:
    inputs = zeros(slow)
    expected = slow.run(inputs)
    first, second = slow.try_submit(inputs), slow.try_submit(inputs)
    assert first is not None and second is not None
    assert slow.try_submit(inputs) is None  # the two take longer than Python between the calls
    assert same(first.result(), expected) and same(second.result(), expected)
    again = slow.try_submit(inputs, list(expected))
    assert again is not None and [array.shape for array in again.result()] == [array.shape for array in expected.values()]


def test_runs_in_flight_give_the_same_results(face, device) -> None:
    session = vellum.Session(face, device, in_flight=3)
    images = [np.random.default_rng(seed).random((1, 128, 128, 3), np.float32) for seed in range(6)]
    runs = [session.submit({"input:0": image}) for image in images]
    for image, run in zip(images, runs):
        assert same(run.result(), session.run({"input:0": image}))
        assert run.done() and same(run.result(), run.result())
    partial = session.submit({"input:0": images[0]}, ["Identity:0"])
    session.close()
    assert np.array_equal(partial.result()[0], runs[0].result()["Identity:0"])


def test_threads_share_a_session(session, image, expected) -> None:
    results: list[bool] = []

    def work() -> None:
        for _ in range(5):
            results.append(same(session.run({"input:0": image}), expected))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 20


def test_python_runs_while_the_library_does(device) -> None:
    # profile: the whole run is one call of the library
    session = vellum.Session(DATA / "models" / "mlsd_320x320_tiny.onnx", device, profile=True)
    thread = threading.Thread(target=session.run, args=(zeros(session),))
    thread.start()
    loops = 0
    while thread.is_alive():
        time.sleep(0.001)
        loops += 1
    assert loops > 5


def test_a_run_can_be_awaited_for_a_time_and_cancelled(slow) -> None:
    run = slow.submit(zeros(slow))
    with pytest.raises(TimeoutError):
        run.result(timeout=0.001)
    assert not run.done()
    run.cancel()
    with pytest.raises(vellum.Error) as raised:
        run.result()
    assert raised.value.code == ErrorCode.CANCELLED


def test_ctrl_c_ends_a_run(slow) -> None:
    import _thread

    inputs = zeros(slow)
    before = slow.run(inputs)
    threading.Timer(0.1, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            slow.run(inputs)
    assert same(slow.run(inputs), before)


def test_ctrl_c_or_the_callback_ends_the_making_of_a_session(face, device) -> None:
    class Enough(Exception):
        pass

    for reason in (KeyboardInterrupt, Enough):

        def progress(step: str, done: int, total: int) -> None:
            raise reason

        with pytest.raises(reason):
            vellum.Session(face, device, progress=progress)


def test_progress_ends_with_all_pipelines(face, device) -> None:
    calls: list[tuple[str, int, int]] = []
    vellum.Session(face, device, progress=lambda *call: calls.append(call))
    step, done, total = calls[-1]
    assert step == "pipelines" and done == total > 10


def test_a_closed_session_says_so(face, device, image) -> None:
    with vellum.Session(face, device) as session:
        pass
    with pytest.raises(vellum.Error, match="the Session is closed"):
        session.run({"input:0": image})
    session.close()


def test_sessions_outlive_their_device_and_model(face_file, image, expected) -> None:
    lines: list[str] = []
    device = vellum.Device(log=lambda level, line: lines.append(level))
    session = vellum.Session(face_file, device)
    device.close()
    session.model.close()
    del device
    gc.collect()
    assert same(session.run({"input:0": image}), expected)
    assert set(lines) <= {"debug", "info", "warning", "error"}


def test_options_reach_the_library(face, device, image, expected) -> None:
    half = vellum.Session(face, device, precision="fp16", storage="buffer", memory="offsets")
    assert {entry.kind for entry in half.memory().objects} == {"buffer"}
    assert half.memory().weights_bytes < vellum.Session(face, device, winograd="off").memory().weights_bytes
    result = half.run({"input:0": image})
    assert not same(result, expected)
    assert np.allclose(result["Identity:0"], expected["Identity:0"], atol=0.2)
    with pytest.raises(vellum.Error, match="there is no pass"):
        vellum.Session(face, device, disabled_passes=["none"])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"precision": "int4"}, vellum.Error),
        ({"in_flight": -1}, vellum.Error),
        ({"in_flight": 1000}, vellum.Error),
        ({"memory_limit": 1}, TypeError),
        ({"in_flight": "two"}, TypeError),
    ],
)
def test_options_that_do_not_exist_are_errors(face, device, options, error) -> None:
    with pytest.raises(error):
        vellum.Session(face, device, **options)
