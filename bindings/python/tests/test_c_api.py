"""The declarations for ctypes are those of the C headers."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from enum import IntEnum
from pathlib import Path

import pytest
from vellum import _c_api

PACKAGE = Path(__file__).parent.parent
INCLUDE = PACKAGE.parent.parent / "runtime" / "include"


def classes(base: type) -> dict[str, type]:
    return {
        name: value
        for name, value in vars(_c_api).items()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == _c_api.__name__
    }


def test_layouts_and_values_are_those_of_the_c_compiler(tmp_path: Path) -> None:
    lines, expected = [], {}

    def expect(expression: str, value: int) -> None:
        lines.append(f'  printf("%s %llu\\n", "{expression.replace(" ", "")}", (unsigned long long)({expression}));')
        expected[expression.replace(" ", "")] = value

    for name, struct in classes(ctypes.Structure).items():
        expect(f"sizeof({name})", ctypes.sizeof(struct))
        for member, _ in struct._fields_:
            expect(f"offsetof({name}, {member})", getattr(struct, member).offset)
            expect(f"sizeof((({name}*)0)->{member})", getattr(struct, member).size)
    for enum in classes(IntEnum).values():
        for value in enum:
            expect(f"VELLUM_{value.name}", int(value))
    expect("VELLUM_VERSION", _c_api.VELLUM_VERSION)
    expect("VELLUM_SUBMIT_MS_AUTO", _c_api.VELLUM_SUBMIT_MS_AUTO)
    assert len(expected) > 200

    source = tmp_path / "layout.c"
    headers = ["stdio.h", "stddef.h", "vellum/vellum.h", "vellum/vellum_frame.h", "vellum/vellum_picture.h"]
    includes = "".join(f"#include <{header}>\n" for header in headers)
    source.write_text(includes + "int main(void) {\n" + "\n".join(lines) + "\n  return 0;\n}\n")
    program = tmp_path / "layout"
    subprocess.run([os.environ.get("CC", "cc"), f"-I{INCLUDE}", source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert {key: int(value) for key, value in (line.split() for line in printed.splitlines())} == expected


def test_every_exported_function_is_declared() -> None:
    from vellum._library import library

    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=just-symbols", library._name], check=True, capture_output=True, text=True
    ).stdout.split()
    exported = {symbol.split("@")[0] for symbol in symbols if symbol.startswith("vellum_")}
    # Applications with a Vulkan device of their own are not written in Python.
    headers = [INCLUDE / "vellum" / name for name in ("vellum_vulkan.h", "vellum_external.h")]
    left_out = {name for header in headers for name in re.findall(r"\b(vellum_\w+)\(", header.read_text())}
    assert exported - left_out == set(_c_api.FUNCTIONS) - left_out


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("typedef union vellum_value { int a; } vellum_value;", "cannot read the declaration"),
        ("VELLUM_C_API void vellum_do(vellum_unknown value);", "unknown type: vellum_unknown"),
        ("typedef struct vellum_bits { unsigned flags : 3; } vellum_bits;", "cannot read the member"),
        ("typedef enum vellum_odd { VELLUM_ODD = 1 << 3 } vellum_odd;", "cannot read the enumerator"),
    ],
)
def test_a_declaration_that_the_generator_does_not_understand_is_an_error(tmp_path: Path, declaration: str, message: str) -> None:
    header = tmp_path / "header.h"
    header.write_text(declaration)
    generator = PACKAGE / "generate_c_api.py"
    process = subprocess.run([sys.executable, generator, header, "-o", tmp_path / "out.py"], capture_output=True, text=True)
    assert process.returncode == 1 and message in process.stderr
