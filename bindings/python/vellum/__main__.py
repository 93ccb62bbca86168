"""The command line: the `vellum` tool of the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def main() -> None:
    name = "vellum.exe" if sys.platform == "win32" else "vellum"
    tool = str(Path(__file__).parent / "bin" / name)
    if sys.platform == "win32":
        sys.exit(subprocess.run([tool, *sys.argv[1:]]).returncode)
    os.execv(tool, [tool, *sys.argv[1:]])


if __name__ == "__main__":
    main()
