#!/usr/bin/env python3
"""Writes what Java and Python declare of the options, from the rows of vellum/*_options.def and vellum/load_limits.def.

    generate_options.py                    renews the generated parts of the Java sources, which are in the repository
                                           because Gradle and IDEs read them there; bindings_fields_test compares them
    generate_options.py --python FILE.py   writes the Python module, as the build does

A row names the members of C and C++: the C header has an option's type, the initialiser in the C++ header its default.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADERS = ROOT / "runtime/include/vellum"
JAVA = ROOT / "bindings/java/src/main/java/io/vellum"
sys.path.insert(0, str(ROOT / "bindings/python"))
import generate_c_api  # noqa: E402

# The table of options, the structs of C and C++ whose members its rows name, and the class of Java and Python. The tables have
# the names of the structs of C without vellum_.
TABLES = {
    "device_options": (("DeviceOptions",), "DeviceOptions"),
    "session_options": (("SessionOptions", "PlanningOptions"), "SessionOptions"),
    "load_limits": (("LoadLimits",), "LoadLimits"),
    "tune_options": (("TuneOptions",), "TuneOptions"),
    "quantize_options": (("QuantizeOptions",), "QuantizeOptions"),
}
WITHOUT_JAVA = {"quantize_options"}  # models are quantised where they are made, not in applications
# The classes of Python; None for a value stands for the library's default.
PYTHON_CLASSES = {
    "device_options": ["class DeviceOptions(TypedDict, total=False):", "How a device is opened: keyword arguments of Device()."],
    "session_options": ["class SessionTable(TypedDict, total=False):", "The members of SessionOptions that are plain values."],
    "load_limits": ["class LoadLimits:", "What a model file may ask of the machine that loads it (SECURITY.md)."],
    "tune_options": ["class TuneOptions(TypedDict, total=False):", "How tune() measures: keyword arguments of it."],
    "quantize_options": ["class QuantizeTable(TypedDict, total=False):", "The members of QuantizeOptions that are plain values."],
}
C_TYPES = {
    "flag": {"c_int32", "c_uint32"},
    "count": {"c_uint32", "c_uint64"},
    "bytes": {"c_uint64"},
    "number": {"c_float", "c_double"},
    "choice": {"c_int"},
    "text": {"c_char_p"},
    "folder": {"c_char_p"},
}
JAVA_CHOICES = {"vellum_memory": "MemoryMode"}  # others have the name of C
# Setters with a line of their own: -1 stands for the default that depends on the device.
HAND_WRITTEN_SETTERS = {"max_submit_ms"}
COLUMNS = 130


@dataclass(frozen=True)
class Option:
    kind: str
    name: str  # of C
    c_type: str  # the type of ctypes
    choices: str  # kind "choice": the enumeration of C
    values: tuple[str, ...]  # its choices, as Python and the tool call them
    default: str  # the initialiser in C++; empty without one
    what: str

    @property
    def java_name(self) -> str:
        first, *rest = self.name.split("_")
        return first + "".join(word.capitalize() for word in rest)

    @property
    def java_type(self) -> str:
        if self.kind == "choice":
            words = self.choices.removeprefix("vellum_").split("_")
            return JAVA_CHOICES.get(self.choices, "".join(word.capitalize() for word in words))
        number = {"c_uint32": "int", "c_uint64": "long", "c_float": "float", "c_double": "double"}
        return {"flag": "boolean", "text": "String", "folder": "String"}.get(self.kind) or number[self.c_type]

    @property
    def default_choice(self) -> str:
        """The choice of Python that the initialiser `MemoryMode::shared_objects` names."""
        word = self.default.split("::")[-1].replace("_", "-")
        return word if word in self.values else "auto"


def fail(problem: str) -> SystemExit:
    return SystemExit(f"generate_options.py: {problem}")


@functools.cache
def read_headers(*files: Path) -> generate_c_api.Header:
    """The declarations of headers of C, and of those that they include."""
    header = generate_c_api.Header()
    for text in generate_c_api.with_includes(list(files), {}).values():
        generate_c_api.read_header(header, text)
    return header


@functools.cache
def cpp_members(struct: str) -> dict[str, str]:
    """The members of a struct of C++ without its functions, each with its initialiser."""
    for file in sorted(HEADERS.glob("*.hpp")):
        text = re.sub(r"//[^\n]*", "", file.read_text())
        found = re.search(rf"^struct {struct} \{{\n(.*?)^\}};", text, re.DOTALL | re.MULTILINE)
        if found:
            break
    else:
        raise fail(f"no header has struct {struct}")
    members = {}
    # Initialisers may have commas and braces of their own.
    for statement in re.sub(r"\{[^{}]*\}", "{}", found[1]).split(";"):
        statement = " ".join(statement.split())
        if not statement or statement.startswith(("using ", "static ", "friend ", "bool operator")):
            continue
        declared = re.sub(r"<[^<>]*(<[^<>]*>)?[^<>]*>", "", statement)  # the types of templates
        if "(" in declared.split("=")[0] and "function" not in declared:
            continue  # a function
        for part in declared.split(","):
            member, _, value = part.partition("=")
            members[re.sub(r"\{.*", "", member).split()[-1].split("[")[0]] = value.strip()
    return members


@functools.cache
def read_table(table: str) -> list[Option]:
    """The rows of a table, in its order."""
    c_struct, cpp_structs = f"vellum_{table}", TABLES[table][0]
    header = read_headers(HEADERS / "vellum.h")
    c_members = dict(header.structs[c_struct])
    defaults = {name: value for struct in cpp_structs for name, value in cpp_members(struct).items()}
    text = re.sub(r"//[^\n]*", "", (HEADERS / f"{table}.def").read_text())
    options = []
    for kind, name, member, strings in re.findall(r"VELLUM_OPTION\((\w+), (\w+), ([\w.]+),\s*((?:\"[^\"]*\"\s*)+)\)", text):
        if c_members.get(name) not in C_TYPES.get(kind, set()):
            raise fail(f"{table}.def: {c_struct} has no member {name} that is a {kind}")
        if member.split(".")[-1] not in defaults:
            raise fail(f"{table}.def: {' and '.join(cpp_structs)} have no member {member}")
        enum = header.enum_members.get((c_struct, name), "")
        values = tuple(generate_c_api.choice_names(header.enums[enum])) if enum else ()
        what = "".join(re.findall(r'"([^"]*)"', strings))
        options.append(Option(kind, name, c_members[name], enum, values, defaults[member.split(".")[-1]], what))
    if len(options) != text.count("VELLUM_OPTION(") or not options:
        raise fail(f"{table}.def: cannot read every row")
    return options


def sentence(option: Option, default: str) -> str:
    """What an option does and its default, for readers: "Tasks of a submit; 0: no limit. 0 by default." """
    text = option.what[0].upper() + option.what[1:] + "."
    return f"{text} {default} by default." if default and "by default" not in text else text


def wrapped(text: str, first: str, indent: str, room: int) -> list[str]:
    """Lines of at most COLUMNS - `room` columns."""
    return textwrap.wrap(text, COLUMNS - room, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)


# ---- Java ------------------------------------------------------------------------------------------------------


def java_default(option: Option) -> str:
    if option.kind == "choice":
        return f"{{@link {option.java_type}#{option.default_choice.upper().replace('-', '_')}}}"
    if option.kind == "flag":
        return "True" if option.default == "true" else ""
    return option.default.replace("'", "") if re.fullmatch(r"\"\w+\"|[1-9][\d']*", option.default) else ""


def java_fields(options: list[Option], _: str) -> list[str]:
    types = {"choice": "int"}
    return [f"  private {types.get(option.kind, option.java_type)} {option.java_name};" for option in options]


def java_setters(options: list[Option], java_class: str) -> list[str]:
    lines: list[str] = []
    links = {option.name: f"{{@link #{option.java_name}}}" for option in options if "_" in option.name}
    for option in options:
        if option.name in HAND_WRITTEN_SETTERS:
            continue
        text = sentence(option, java_default(option))
        text = re.sub(r"\b[a-z]+_\w+\b", lambda match: links.get(match[0], match[0]), text)
        doc = f"  /** {text} */"
        lines += [doc] if len(doc) <= COLUMNS else ["  /**", *wrapped(text, "   * ", "   * ", 0), "   */"]
        name, type_name = option.java_name, option.java_type
        value = {
            "choice": f'Check.notNull({name}, "{name}").ordinal()',
            "count": f'Check.notNegative({name}, "{name}")',
            "bytes": f'Check.notNegative({name}, "{name}")',
        }.get(option.kind, name)
        note = {"choice": "@NotNull ", "text": "@Nullable ", "folder": "@Nullable "}.get(option.kind, "")
        lines += [
            f"  public @NotNull {java_class} {name}({note}{type_name} {name}) {{",
            f"    this.{name} = {value};",
            "    return this;",
            "  }",
            "",
        ]
    return lines[:-1]


def renewed_java(table: str) -> tuple[Path, str]:
    """The Java file of a table, with its generated parts as they should be."""
    java_class = TABLES[table][1]
    file = JAVA / f"{java_class}.java"
    text = file.read_text()
    for part, write in ("fields", java_fields), ("setters", java_setters):
        begin, end = f"  // Generated from vellum/{table}.def: {part}.\n", f"  // End of generated {part}.\n"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise fail(f"{file.name} has no lines that enclose the generated {part}:\n{begin}{end}")
        before, rest = text.split(begin)
        lines = write(read_table(table), java_class)
        text = before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]
    return file, text


# ---- Python ----------------------------------------------------------------------------------------------------


def python_type(option: Option) -> str:
    if option.kind == "choice":
        return f"Literal[{', '.join(f'{chr(34)}{value}{chr(34)}' for value in option.values)}]"
    return {"flag": "bool", "number": "float", "text": "str", "folder": "str | os.PathLike[str]", "bytes": "int | str"}.get(option.kind, "int")


def python_default(option: Option) -> str:
    if option.kind == "choice":
        return f'"{option.default_choice}"'
    return {"true": "True", "false": "False"}.get(option.default) or java_default(option)


def python_module() -> str:
    lines = [
        '"""The options of the library. Generated by generate_options.py from the tables vellum/*.def."""',
        "",
        "from __future__ import annotations",
        "",
        "import os",
        "from dataclasses import dataclass",
        "from typing import Literal, TypedDict",
    ]
    for table, (declaration, what) in PYTHON_CLASSES.items():
        is_dictionary = "TypedDict" in declaration
        lines += ["", "", *([] if is_dictionary else ["@dataclass(frozen=True)"]), declaration]
        lines += [f'    """{what} None, or left out: the library\'s default."""', ""]
        for option in read_table(table):
            if (table, option.name) == ("device_options", "device"):
                continue  # Device() has it as a parameter of its own
            name = f"    {option.name}: {python_type(option)} | None"
            lines += [name if is_dictionary else name + " = None"]
            lines += wrapped(sentence(option, python_default(option)) + '"""', '    """', "    ", 0)
    return "\n".join(lines) + "\n"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--python", type=Path, metavar="FILE.py", help="write the Python module and leave Java alone")
    given = arguments.parse_args()
    if given.python:
        given.python.write_text(python_module(), encoding="utf-8")
        return
    for table in TABLES.keys() - WITHOUT_JAVA:
        file, text = renewed_java(table)
        if file.read_text() != text:
            file.write_text(text)
            print(f"renewed {file.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
