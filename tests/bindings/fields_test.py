#!/usr/bin/python3
"""Compares the fields of options and results, not only the functions that take them: each member of a struct of C++ that
applications fill in is a member of the struct of C, and each member of a struct of C that may grow is read or written by the
bindings for Java and Python, unless fields_left_out.txt gives the reason. Options with a row in a table vellum/*.def reach
these languages by bindings/generate_options.py, whose output in the Java sources is compared here.

    fields_test.py REPOSITORY
"""

from __future__ import annotations

import importlib.util
import re
import sys
import unittest
from pathlib import Path
from types import ModuleType

ROOT = Path(sys.argv.pop()).resolve()
HEADERS = ROOT / "runtime/include/vellum"
# The structs of C++ that applications fill in, and that of C which has their members.
SAME_OPTIONS = {
    "DeviceOptions": "vellum_device_options",
    "SessionOptions": "vellum_session_options",
    "PlanningOptions": "vellum_session_options",
    "DebugOptions": "vellum_session_options",
    "LoadLimits": "vellum_load_limits",
    "TuneOptions": "vellum_tune_options",
    "QuantizeOptions": "vellum_quantize_options",
    "FrontierOptions": "vellum_frontier_options",
    "KernelCheckOptions": "vellum_kernel_check_options",
    "KernelReportOptions": "vellum_kernel_report_options",
    "LargePictureOptions": "vellum_large_picture_options",
    "FrameInput": "vellum_frame_input",
    "PictureOutput": "vellum_picture_output",
}
NESTED = {"planning", "debug"}  # structs whose members are rows of SAME_OPTIONS


def generator() -> ModuleType:
    """The module that reads the tables and the headers."""
    spec = importlib.util.spec_from_file_location("generate_options", ROOT / "bindings/generate_options.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


GENERATOR = generator()


def c_structs() -> dict[str, list[str]]:
    """The members of each struct of the C interface, by its name."""
    # The headers of VkBuffer and VkImage are for applications with a Vulkan device of their own.
    headers = [path for path in sorted(HEADERS.glob("vellum*.h")) if path.name not in ("vellum_vulkan.h", "vellum_external.h")]
    structs = GENERATOR.read_headers(*headers).structs
    return {name: [field for field, _ in fields] for name, fields in structs.items()}


def rows() -> set[tuple[str, str]]:
    """The struct of C and its member of each row of a table."""
    return {(f"vellum_{table}", option.name) for table in GENERATOR.TABLES for option in GENERATOR.read_table(table)}


def camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def text_of(*patterns: str) -> str:
    text = "".join(file.read_text() for pattern in patterns for file in sorted(ROOT.glob(pattern)))
    if not text:
        raise SystemExit(f"fields_test.py: no file matches {patterns}")
    return text


NATIVE = text_of("bindings/java/native/*.?pp", "bindings/android/native/*.?pp")
JAVA = text_of("bindings/java/src/**/*.java", "bindings/android/java/**/*.java")
PYTHON = text_of("bindings/python/vellum/*.py")


def reaches_java(field: str) -> bool:
    return re.search(rf"(\.|->){field}\b|\"{camel_case(field)}\"", NATIVE) is not None


def reaches_python(field: str) -> bool:
    return re.search(rf"\.{field}\b|\b{field}:|\"{field}\"", PYTHON) is not None


def left_out() -> dict[tuple[str, str], str]:
    """The reason, by language and STRUCT.FIELD."""
    rows = {}
    for line in (ROOT / "tests/bindings/fields_left_out.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r"((?:c|java|python)(?: (?:c|java|python))*) +(\w+\.\w+) {2,}(\S.*)", line)
        if not match:
            raise SystemExit(f"fields_left_out.txt: cannot read: {line}")
        for language in match[1].split():
            rows[language, match[2]] = match[3]
    return rows


class Fields(unittest.TestCase):
    def setUp(self) -> None:
        self.structs = c_structs()
        self.left_out = left_out()
        self.rows = rows()

    def missing(self) -> set[tuple[str, str]]:
        found = set()
        for struct, fields in self.structs.items():
            if "size" not in fields:
                continue  # it does not grow
            for field in fields:
                if field == "size" or field.endswith("_user"):
                    continue  # what a callback of the binding is given is the binding's own
                if (struct, field) in self.rows:
                    continue
                if not reaches_java(field):
                    found.add(("java", f"{struct}.{field}"))
                if not reaches_python(field):
                    found.add(("python", f"{struct}.{field}"))
        for cpp, c in SAME_OPTIONS.items():
            for member in GENERATOR.cpp_members(cpp):
                if member not in NESTED and member not in self.structs[c]:
                    found.add(("c", f"{cpp}.{member}"))
        return found

    def test_the_sources_are_understood(self) -> None:
        self.assertGreater(sum("size" in fields for fields in self.structs.values()), 30)
        self.assertIn("self_check", self.structs["vellum_device_options"])
        self.assertEqual(list(GENERATOR.cpp_members("PlanningOptions")), ["strategy", "search_ms", "in_place", "views", "reorder"])
        self.assertLess({"mean", "scale", "network_shape"}, set(GENERATOR.cpp_members("FrameInput")))

    def test_every_field_is_there_or_left_out_with_a_reason(self) -> None:
        self.assertEqual(self.missing() - set(self.left_out), set(), "neither there nor in fields_left_out.txt")

    def test_what_is_left_out_is_missing(self) -> None:
        self.assertEqual(set(self.left_out) - self.missing(), set(), "fields_left_out.txt lists what is there")

    def test_generated_java_is_what_the_tables_say(self) -> None:
        for table in GENERATOR.TABLES.keys() - GENERATOR.WITHOUT_JAVA:
            file, text = GENERATOR.renewed_java(table)
            self.assertEqual(file.read_text(), text, f"run bindings/generate_options.py, which renews {file.name}")

    def test_a_plain_option_has_a_row(self) -> None:
        """An option that every language could take from a row is not converted by hand."""
        plain = {"c_int32", "c_uint32", "c_uint64", "c_float", "c_double", "c_int", "c_char_p"}
        headers = GENERATOR.read_headers(HEADERS / "vellum.h")
        for table in GENERATOR.TABLES:
            struct = f"vellum_{table}"
            without = {field for field, c_type in headers.structs[struct] if c_type in plain} - {row[1] for row in self.rows if row[0] == struct}
            self.assertEqual(without, set(), f"no rows in {table}.def")


if __name__ == "__main__":
    unittest.main()
