"""Checks the programs of docs/python.md and docs/first_hour.md as type checkers do that editors have: mypy --strict, and pyright
where it is installed. What other packages leave without types is passed over."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for page in ("python", "first_hour"):
            programs = re.findall(r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
            assert programs, page
            file = Path(folder, f"{page}_page.py")
            file.write_text("\n".join(programs), encoding="utf-8")
            Path(folder, "pyrightconfig.json").write_text('{"reportMissingImports": false, "reportMissingModuleSource": false}')
            checks = [["mypy", "--strict", "--ignore-missing-imports", str(file)]]
            if importlib.util.find_spec("pyright"):
                checks.append(["pyright", "--project", folder, "--pythonpath", sys.executable, str(file)])
            for check in checks:
                failed |= subprocess.run([sys.executable, "-m", *check], cwd=folder).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
