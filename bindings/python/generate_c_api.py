#!/usr/bin/env python3
"""Writes the Python module that declares the C interface for ctypes, from the C headers themselves.

    generate_c_api.py HEADER.h... -o _c_api.py

Headers that these include from the same folder are read, too.
The headers are written in a small part of C: enumerations, structs, opaque handles, typedefs of callbacks, functions and
numeric macros. Anything else is an error, so that nothing of a new header is left out unnoticed. The layout of the structs
is left to ctypes, which follows the platform's C compiler; tests/test_c_api.py compares both.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

SCALARS = {
    "char": "c_char",
    "int": "c_int",
    "float": "c_float",
    "double": "c_double",
    "size_t": "c_size_t",
    **{f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
PYTHON_TYPES = {"c_float": "float", "c_double": "float", "c_char_p": "bytes | None", "c_void_p": "int | None"}


@dataclass
class Header:
    """What the headers declare, in their order."""

    constants: dict[str, str] = field(default_factory=dict)
    enums: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    handles: set[str] = field(default_factory=set)
    callbacks: dict[str, str] = field(default_factory=dict)
    structs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    enum_members: dict[tuple[str, str], str] = field(default_factory=dict)  # the enumeration of a struct's member
    types: list[str] = field(default_factory=list)  # callbacks and structs, which use earlier ones of both
    functions: dict[str, tuple[str, list[str]]] = field(default_factory=dict)


def fail(what: str, declaration: str) -> SystemExit:
    return SystemExit(f"generate_c_api.py: {what}: {' '.join(declaration.split())}")


def ctype(header: Header, base: str, pointers: int) -> str:
    """The ctypes expression of a C type: its name and the number of `*` behind it."""
    if pointers and base in ("char", "void") or pointers and base in header.handles:
        expression = "c_char_p" if base == "char" else "c_void_p"
        pointers -= 1
    elif base in SCALARS:
        expression = SCALARS[base]
    elif base in header.enums:
        expression = "c_int"
    elif base in header.structs or base in header.callbacks:
        expression = base
    elif base == "void" and not pointers:
        return "None"
    else:
        raise fail("unknown type", base)
    for _ in range(pointers):
        expression = f"POINTER({expression})"
    return expression


def split_declaration(text: str) -> tuple[str, str]:
    """`const char* const* tensors` to its base type and what declares the names: `char`, `** tensors`."""
    words = re.sub(r"\b(const|struct)\b", " ", text).strip()
    match = re.fullmatch(r"(\w+)\b\s*(.*)", words, re.DOTALL)
    if not match:
        raise fail("cannot read the declaration", text)
    return match.group(1), match.group(2)


def callback_type(header: Header, result: str, parameters: str) -> str:
    types = [parameter_type(header, parameter) for parameter in parameters.split(",")]
    return f"CFUNCTYPE({', '.join([ctype(header, *type_and_stars(result)), *types])})"


def type_and_stars(text: str) -> tuple[str, int]:
    base, rest = split_declaration(text)
    return base, rest.count("*")


def parameter_type(header: Header, text: str) -> str:
    base, rest = split_declaration(text)
    match = re.fullmatch(r"([*\s]*)\w*\s*(\[\w*\])?", rest)
    if not match:
        raise fail("cannot read the parameter", text)
    # A parameter that is declared as an array is a pointer.
    return ctype(header, base, match.group(1).count("*") + bool(match.group(2)))


def read_enum(header: Header, name: str, body: str) -> None:
    members = []
    for member in filter(None, (part.strip() for part in body.split(","))):
        match = re.fullmatch(r"VELLUM_(\w+)\s*=\s*(\d+)", member)
        if not match:
            raise fail("cannot read the enumerator", member)
        members.append((match.group(1), match.group(2)))
    header.enums[name] = members


def read_struct(header: Header, name: str, body: str) -> None:
    fields: list[tuple[str, str]] = []
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        pointer = re.fullmatch(r"(.+?)\(\*(\w+)\)\s*\((.*)\)", declaration, re.DOTALL)
        if pointer:
            fields.append((pointer.group(2), callback_type(header, pointer.group(1), pointer.group(3))))
            continue
        base, rest = split_declaration(declaration)
        for declarator in rest.split(","):
            match = re.fullmatch(r"\s*([*\s]*)(\w+)\s*(?:\[(\w+)\])?\s*", declarator)
            if not match:
                raise fail("cannot read the member", declaration)
            expression = ctype(header, base, match.group(1).count("*"))
            if match.group(3):
                expression += f" * {header.constants.get(match.group(3), match.group(3))}"
            fields.append((match.group(2), expression))
            if base in header.enums and expression == "c_int":
                header.enum_members[name, match.group(2)] = base
    header.structs[name] = fields
    header.types.append(name)


def read_function(header: Header, declaration: str) -> None:
    match = re.fullmatch(r"(.+?)\b(\w+)\s*\((.*)\)", declaration, re.DOTALL)
    if not match:
        raise fail("cannot read the function", declaration)
    parameters = [] if match.group(3).strip() == "void" else match.group(3).split(",")
    result = ctype(header, *type_and_stars(match.group(1)))
    header.functions[match.group(2)] = (result, [parameter_type(header, parameter) for parameter in parameters])


def read_header(header: Header, text: str) -> None:
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    text = re.sub(r"\\\n", " ", text)
    # Preprocessor lines, and what only C++ sees of `extern "C"`.
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.DOTALL)
    for name, value in re.findall(r"^#define (VELLUM_\w+)\s+(\d+|UINT32_MAX)\s*$", text, re.MULTILINE):
        header.constants[name] = str(2**32 - 1) if value == "UINT32_MAX" else value
    text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.MULTILINE)

    position = 0
    pattern = re.compile(
        r"\s*(?:typedef\s+enum\s+\w+\s*\{(?P<enum>[^}]*)\}\s*(?P<enum_name>\w+)"
        r"|typedef\s+struct\s+(?P<handle>\w+)\s+(?P=handle)"
        r"|typedef\s+struct\s+\w+\s*\{(?P<struct>[^}]*)\}\s*(?P<struct_name>\w+)"
        r"|typedef\s+(?P<result>[^;(]+)\(\*(?P<callback>\w+)\)\s*\((?P<parameters>[^;]*)\)"
        r"|VELLUM_(?:C_)?API\s+(?P<function>[^;]+)"
        r")\s*;",
    )
    while text[position:].strip():
        match = pattern.match(text, position)
        if not match:
            raise fail("cannot read the declaration", text[position:].split(";")[0])
        position = match.end()
        if match["enum_name"]:
            read_enum(header, match["enum_name"], match["enum"])
        elif match["handle"]:
            header.handles.add(match["handle"])
        elif match["struct_name"]:
            read_struct(header, match["struct_name"], match["struct"])
        elif match["callback"]:
            header.callbacks[match["callback"]] = callback_type(header, match["result"], match["parameters"])
            header.types.append(match["callback"])
        else:
            read_function(header, match["function"])


def choice_names(members: list[tuple[str, str]]) -> list[str]:
    """The choices of an enumeration as Python calls them: of MEMORY_NAIVE and MEMORY_SHARED_OBJECTS "naive", "shared-objects"."""
    names = [name for name, _ in members]
    prefix = len(os.path.commonprefix(names).rpartition("_")[0])
    return [name[prefix:].strip("_").lower().replace("_", "-") for name in names]


def python_type(expression: str) -> str:
    if expression in PYTHON_TYPES:
        return PYTHON_TYPES[expression]
    return "Any" if re.search(r"[(*]|^vellum", expression) else "int"


def write_module(header: Header, names: list[str]) -> str:
    lines = [f"{name} = {value}" for name, value in header.constants.items()]
    for name, members in header.enums.items():
        lines += ["", "", f"class {name}(IntEnum):"]
        lines += [f"    {member} = {value}" for member, value in members]
    for name in header.types:
        if name in header.callbacks:
            lines += ["", "", f"{name} = {header.callbacks[name]}"]
            continue
        fields = header.structs[name]
        lines += ["", "", f"class {name}(Structure):"]
        lines += [f"    {member}: {python_type(expression)}" for member, expression in fields]
        lines += ["    _fields_ = ["]
        lines += [f'        ("{member}", {expression}),' for member, expression in fields]
        lines += ["    ]"]
    lines += ["", "", "# The enumerations of members, which ctypes takes for integers.", "CHOICES: dict[str, dict[str, type[IntEnum]]] = {"]
    for name in dict.fromkeys(struct for struct, _ in header.enum_members):
        members = [f'"{member}": {enum}' for (struct, member), enum in header.enum_members.items() if struct == name]
        lines += [f'    "{name}": {{{", ".join(members)}}},']
    lines += ["}"]
    lines += ["", "", "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"]
    for name, (result, parameters) in header.functions.items():
        lines += [f'    "{name}": ({result}, [{", ".join(parameters)}]),']
    lines += [
        "}",
        "",
        "",
        "def declare(library: CDLL) -> None:",
        '    """Sets the types of every function of the library."""',
        "    for name, (result, parameters) in FUNCTIONS.items():",
        "        function = getattr(library, name)",
        "        function.restype = result",
        "        function.argtypes = parameters",
    ]
    types = sorted({"CDLL", "CFUNCTYPE", "POINTER", "Structure", *re.findall(r"\bc_\w+", "\n".join(lines))})
    head = [
        f'"""The C interface for ctypes. Generated by generate_c_api.py from {" and ".join(names)}."""',
        "",
        "from __future__ import annotations",
        "",
        f"from ctypes import {', '.join(types)}",
        "from enum import IntEnum",
        "from typing import Any",
        "",
    ]
    return "\n".join(head + lines) + "\n"


def with_includes(paths: list[Path], found: dict[Path, str]) -> dict[Path, str]:
    """The headers after those of Vellum that they include, with their text."""
    for path in paths:
        if path not in found and path.name != "export.h":
            text = path.read_text(encoding="utf-8")
            included = re.findall(r'^#include "vellum/(\w+\.h)"', text, re.MULTILINE)
            with_includes([path.with_name(name) for name in included], found)
            found[path] = text
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("headers", nargs="+", type=Path, metavar="HEADER.h")
    arguments.add_argument("-o", dest="output", type=Path, required=True, metavar="_c_api.py")
    given = arguments.parse_args()
    header = Header()
    for text in with_includes(given.headers, {}).values():
        read_header(header, text)
    given.output.write_text(write_module(header, [path.name for path in given.headers]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
