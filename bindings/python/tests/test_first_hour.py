"""What people write who come from other runtimes, and what they read when they misspell it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import vellum
from conftest import same


def test_run_takes_the_arguments_of_onnx_runtime(session: vellum.Session, image: np.ndarray, expected: dict[str, np.ndarray]) -> None:
    names = list(expected)
    everything = session.run(None, {"input:0": image})
    assert same(dict(zip(names, everything, strict=True)), expected)
    (last,) = session.run(names[-1:], {"input:0": image})
    assert np.array_equal(last, expected[names[-1]])


def test_the_value_of_the_only_input_needs_no_name(session: vellum.Session, image: np.ndarray, expected: dict[str, np.ndarray]) -> None:
    assert same(session.run(image), expected)
    assert same(session.submit(image).result(), expected)
    with pytest.raises(TypeError, match="mapping of input names to arrays; the model has 'input:0'"):
        session.run(None)


def test_budgets_are_read_as_the_tool_reads_them(face_file: Path, device: vellum.Device) -> None:
    for text, number in (("3MiB", 3 << 20), ("3 mib", 3 << 20), ("2.5MB", 2_500_000), ("4000000", 4_000_000)):
        assert vellum.Session(face_file, device, memory_budget=text).memory().memory_budget == number
    with pytest.raises(ValueError, match="'much' is no number of bytes; write it like 48MiB"):
        vellum.Session(face_file, device, memory_budget="much")


def test_misspelt_names_are_told_beside_the_right_one(session: vellum.Session, face_file: Path, image: np.ndarray) -> None:
    with pytest.raises(TypeError, match="'memory_buget' .did you mean 'memory_budget'"):
        vellum.Session(face_file, memory_buget=1)  # type: ignore[call-arg]
    with pytest.raises(vellum.Error, match="'shared_objects' .did you mean 'shared-objects'"):
        vellum.Session(face_file, memory="shared_objects")  # type: ignore[arg-type]
    with pytest.raises(vellum.Error, match="'input' .did you mean 'input:0'"):
        session.run({"input": image})


def test_arrays_are_made_for_inputs(session: vellum.Session, face: vellum.Model) -> None:
    zeros = session.inputs[0].zeros()
    assert zeros.shape == (1, 128, 128, 3) and zeros.dtype == np.float32 and not zeros.any()
    assert session.inputs[0].known_shape == (1, 128, 128, 3)
    with pytest.raises(vellum.Error, match="open dimensions"):
        vellum.TensorInfo("x", (None, 3), np.dtype("float32")).zeros()


def test_tracebacks_name_the_exception_to_catch() -> None:
    failed = subprocess.run([sys.executable, "-c", "import vellum; vellum.Model('none.onnx')"], capture_output=True, text=True)
    assert failed.stderr.splitlines()[-1].startswith("vellum.Error: none.onnx")


def test_public_names_are_documented(session: vellum.Session, device: vellum.Device) -> None:
    for thing in (session, device, session.model):
        names = {name for name in dir(thing) if not name.startswith("_")}
        assert not {"make", "require_open"} & names


def test_lists_of_devices_are_tables() -> None:
    devices = vellum.devices()
    assert isinstance(devices, list) and len(devices) == 1
    assert repr(devices).startswith("0: ") and len(repr(devices)) < 200
    assert "<table>" in devices._repr_html_() and devices[0].name in devices._repr_html_()


def test_a_memory_report_in_a_notebook_is_no_wall_of_names(session: vellum.Session) -> None:
    page = session.memory()._repr_html_().split("</svg>")[1]
    assert len(page) < 300 * (len(session.memory().objects) + 2), page


def test_the_first_program_frames_the_face(face_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    page = (Path(__file__).parents[3] / "docs" / "first_hour.md").read_text(encoding="utf-8")
    program = page.split("```python\n")[1].split("```")[0]
    photo = Path(os.environ["VELLUM_TEST_DATA"], "photos", "astronaut.png")
    ran = subprocess.run([sys.executable, "-c", program, face_file, photo], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    corners = np.array([float(number) for number in re.findall(r"[\d.]+", ran.stdout.splitlines()[-1])])
    assert np.abs(corners - [179, 82, 271, 175]).max() <= 2, ran.stdout
    assert (tmp_path / "face.png").stat().st_size > 100_000
