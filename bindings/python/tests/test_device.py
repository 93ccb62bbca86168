"""Devices, models and errors."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import vellum
from vellum import ErrorCode


def test_devices_are_listed_and_opened_by_each_of_their_names() -> None:
    (info,) = vellum.devices()
    for name in (info.index, info.uuid, info.name[:4]):
        opened = vellum.Device(name).info
        # Listing asks no driver for its cooperative matrices: one ends the process.
        assert dataclasses.replace(opened, cooperative_matrices=info.cooperative_matrices) == info
    assert vellum.Device().name == info.name
    assert info.max_image_dimension_2d >= 4096 and info.max_image_dimension_3d >= 256 and info.max_storage_buffer_range > 0
    assert info.luid is None or len(info.luid) == 8
    assert info.preferred_storage in ("image2d", "image3d", "buffer")
    assert json.loads(vellum.Device().caps)
    assert vellum.default_cache_folder().endswith("vellum")
    assert info.name in repr(vellum.Device()) and info.name in info._repr_html_()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: vellum.Device("no such device"), ErrorCode.NO_DEVICE),
        (lambda: vellum.Device(queue_priority=2), ErrorCode.INVALID_ARGUMENT),
        (lambda: vellum.Device(global_priority="highest"), ErrorCode.INVALID_ARGUMENT),
        (lambda: vellum.Device(self_check="sometimes"), ErrorCode.INVALID_ARGUMENT),
        (lambda: vellum.Device(wait_limit_ms=2**32), ErrorCode.INVALID_ARGUMENT),
        (lambda: vellum.Model("/no/such/file.onnx"), ErrorCode.NOT_FOUND),
        (lambda: vellum.Model(b""), ErrorCode.CORRUPT_MODEL),
    ],
)
def test_errors_have_a_code_and_name_the_cause(make, code) -> None:
    with pytest.raises(vellum.Error) as raised:
        make()
    assert raised.value.code == code
    assert str(raised.value)
    assert pickle.loads(pickle.dumps(raised.value)).code == code
    assert str(copy.copy(raised.value)) == str(raised.value)


def test_options_are_those_of_the_library() -> None:
    with pytest.raises(TypeError, match="no option 'colour'"):
        vellum.Device(colour="red")  # type: ignore[call-arg]
    assert vellum.Device(cache_folder=None, wait_limit_ms=None, self_check="off").wait_limit_ms == 60_000


def test_models_say_what_they_take_and_limits_are_kept(face: vellum.Model, face_file: Path) -> None:
    assert face.inputs[0].shape == (1, 128, 128, 3) and len(face.outputs) == 4
    assert repr(face).startswith("<vellum.Model: input:0 float32[1,128,128,3] -> Identity:0")
    first = face.nodes()[0]
    assert first.outputs and len(first.output_shapes) == len(first.outputs)
    assert sum(node.macs for node in face.nodes()) > 1e6 and "Conv" in {node.op for node in face.nodes()}
    with pytest.raises(vellum.Error, match="nodes") as raised:
        vellum.Model(face_file, limits=vellum.LoadLimits(nodes=10))
    assert raised.value.code == ErrorCode.UNSUPPORTED
    assert vellum.Model(face_file, limits=vellum.LoadLimits(links_within=face_file.parent)).inputs  # it has no links


def test_the_command_line_is_the_tool(face_file: Path) -> None:
    def tool(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "vellum", *arguments], capture_output=True, text=True)

    assert tool("--version").stdout.strip() == vellum.__version__
    assert "Conv" in tool("inspect", face_file).stdout
    missing = tool("inspect", "none.onnx")
    assert missing.returncode == 1 and "none.onnx" in missing.stderr
