#!/usr/bin/python3
"""Checks that the bindings for Java and Python call every function of the C interface, except those that left_out.txt lists
with a reason.

    coverage_test.py REPOSITORY
"""

from __future__ import annotations

import re
import sys
import unittest
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(sys.argv.pop()).resolve()
BINDINGS = {
    "java": ["bindings/java/native/*.?pp", "bindings/android/native/*.?pp"],
    "python": ["bindings/python/vellum/*.py"],
}


def exported() -> set[str]:
    return set(re.findall(r"^ +(vellum_\w+);$", (ROOT / "runtime/c_api/vellum.map").read_text(), re.MULTILINE))


def called(binding: str) -> set[str]:
    text = "".join(file.read_text() for pattern in BINDINGS[binding] for file in sorted(ROOT.glob(pattern)))
    names = set(re.findall(r"\bvellum_\w+", text))
    # Macros of the headers, and what defaults() of Python makes of a struct's name, call X_init_sized().
    names |= {f"{name}_sized" for name in names if name.endswith("_init")}
    names |= {f"{name}_init_sized" for name in re.findall(r"\bdefaults\(_c_api\.(\w+)\)", text)}
    names |= {name.removesuffix("_sized") for name in names if name.endswith("_init_sized")}
    return names & exported()


def left_out() -> list[tuple[set[str], str, str]]:
    rows = []
    for line in (ROOT / "tests/bindings/left_out.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r"((?:java|python)(?: (?:java|python))*) +(vellum_[\w*]+) {2,}(\S.*)", line)
        if not match:
            raise SystemExit(f"left_out.txt: cannot read: {line}")
        rows.append((set(match[1].split()), match[2], match[3]))
    return rows


class Coverage(unittest.TestCase):
    def test_every_function_is_called_or_left_out_with_a_reason(self) -> None:
        self.assertGreater(len(exported()), 150)
        for binding in BINDINGS:
            listed = [pattern for bindings, pattern, _ in left_out() if binding in bindings]
            missing = {
                name for name in exported() - called(binding) if not any(fnmatchcase(name, pattern) for pattern in listed)
            }
            self.assertEqual(missing, set(), f"{binding}: neither called nor in left_out.txt")

    def test_what_is_left_out_exists_and_is_not_called(self) -> None:
        for bindings, pattern, _ in left_out():
            for binding in bindings:
                named = {name for name in exported() if fnmatchcase(name, pattern)}
                self.assertTrue(named, f"{pattern}: there is no such function")
                # The older functions of the same kind have shorter names, which calls of the newer ones do not contain.
                self.assertEqual(named & called(binding), set(), f"{binding} calls what left_out.txt lists as {pattern}")


if __name__ == "__main__":
    unittest.main()
