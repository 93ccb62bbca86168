"""How the package finds its library and its tool."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import vellum

PACKAGE = Path(vellum.__file__).parent


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The package as a distribution installs it: without library and tool."""
    for source in [*PACKAGE.glob("*.py"), PACKAGE / "py.typed"]:
        (tmp_path / "vellum").mkdir(exist_ok=True)
        shutil.copy(source, tmp_path / "vellum")
    (tmp_path / "lib").mkdir()
    return tmp_path


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(installed),
        # What auditwheel put beside the package of a wheel is beside no library of a distribution.
        "LD_LIBRARY_PATH": f"{installed / 'lib'}:{PACKAGE.parent / 'vellum.libs'}",
        "PATH": str(installed / "bin"),
    }
    return subprocess.run([sys.executable, "-B", *arguments], env=environment, cwd=installed, capture_output=True, text=True)


def test_the_systems_library_and_tool_are_used_where_the_package_has_none(installed: Path) -> None:
    version = vellum.__version__.rpartition(".")[0]
    (installed / "lib" / f"libvellum.so.{version}").symlink_to(PACKAGE / "libvellum.so")
    (installed / "bin").mkdir()
    (installed / "bin" / "vellum").symlink_to(PACKAGE / "bin" / "vellum")
    assert run(installed, "-c", "import vellum; print(len(vellum.devices()))").stdout == "1\n"
    assert run(installed, "-m", "vellum", "--version").stdout.strip() == vellum.__version__
    (installed / "bin" / "vellum").unlink()
    assert "neither in the package nor on the PATH" in run(installed, "-m", "vellum", "--version").stderr


def test_a_library_of_another_version_is_refused(installed: Path) -> None:
    source = installed / "other.c"
    source.write_text("unsigned vellum_version(void) { return 300; }\n")
    library = installed / "vellum" / "libvellum.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", source, "-o", library], check=True)
    assert "is 300" in run(installed, "-c", "import vellum").stderr
