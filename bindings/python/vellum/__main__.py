"""The command line: the `vellum` tool of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def main() -> None:
    name = "vellum.exe" if sys.platform == "win32" else "vellum"
    inside = Path(__file__).parent / "bin" / name
    # Packages of a distribution have the tool where all programs are.
    tool = str(inside) if inside.exists() else shutil.which(name)
    if not tool:
        sys.exit("vellum: the tool is neither in the package nor on the PATH")
    if sys.platform == "win32":
        sys.exit(subprocess.run([tool, *sys.argv[1:]]).returncode)
    os.execv(tool, [tool, *sys.argv[1:]])


if __name__ == "__main__":
    main()
