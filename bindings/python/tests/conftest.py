"""What the tests share. The package is the one on PYTHONPATH; VELLUM_TEST_DATA is the folder that `setup.sh tests` fetched."""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import vellum
from docs_programs import ONNX_NODES as ONNX_NODES

DATA = Path(os.environ["VELLUM_TEST_DATA"])

# Ctrl-C is ignored in what a shell starts in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def device() -> Iterator[vellum.Device]:
    """The only visible device, with validation, which must find nothing in all tests."""
    messages: list[str] = []
    opened = vellum.Device(validation=True, log=lambda level, message: messages.append(f"{level}: {message}"))
    yield opened
    assert opened.validation_messages == 0, messages


@pytest.fixture(scope="session")
def face_file() -> Path:
    """One input [1,128,128,3], four outputs of known shapes."""
    return DATA / "models" / "face_detection_front_128x128_barracuda.onnx"


@pytest.fixture(scope="session")
def face(face_file: Path) -> vellum.Model:
    return vellum.Model(face_file)


@pytest.fixture(scope="session")
def image() -> np.ndarray:
    return np.random.default_rng(7).random((1, 128, 128, 3), np.float32)


@pytest.fixture(scope="session")
def session(face: vellum.Model, device: vellum.Device) -> vellum.Session:
    return vellum.Session(face, device)


@pytest.fixture(scope="session")
def expected(session: vellum.Session, image: np.ndarray) -> dict[str, np.ndarray]:
    return session.run({"input:0": image})


@pytest.fixture(scope="session")
def slow(device: vellum.Device) -> vellum.Session:
    """A network that is divided into many submits."""
    return vellum.Session(DATA / "models" / "mlsd_320x320_tiny.onnx", device, max_submit_ms=1, in_flight=2)


class CtrlC:
    """Progress that presses Ctrl-C once, a moment after its first call, when the library computes."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def _press(self) -> None:
        time.sleep(0.02)
        _thread.interrupt_main()

    def __call__(self, *_: object) -> None:
        if not self._thread:
            self._thread = threading.Thread(target=self._press)
            self._thread.start()


def zeros(session: vellum.Session) -> dict[str, np.ndarray]:
    return {info.name: np.zeros(info.shape, info.dtype) for info in session.inputs}


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    """Equal bit for bit."""
    return left.keys() == right.keys() and all(left[name].tobytes() == right[name].tobytes() for name in left)
