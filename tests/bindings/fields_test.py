#!/usr/bin/python3
"""Compares the fields of options and results, not only the functions that take them: each member of a struct of C++ that
applications fill in is a member of the struct of C, and each member of a struct of C that may grow is read or written by the
bindings for Java and Python, unless fields_left_out.txt gives the reason.

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
    "FrontierOptions": "vellum_frontier_options",
    "KernelCheckOptions": "vellum_kernel_check_options",
    "KernelReportOptions": "vellum_kernel_report_options",
    "LargePictureOptions": "vellum_large_picture_options",
    "FrameInput": "vellum_frame_input",
    "PictureOutput": "vellum_picture_output",
}
NESTED = {"planning", "debug"}  # structs whose members are rows of SAME_OPTIONS


def generator() -> ModuleType:
    """The module that reads the headers of C for the Python package."""
    spec = importlib.util.spec_from_file_location("generate_c_api", ROOT / "bindings/python/generate_c_api.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def c_structs() -> dict[str, list[str]]:
    """The members of each struct of the C interface, by its name."""
    module = generator()
    header = module.Header()
    # The headers of VkBuffer and VkImage are for applications with a Vulkan device of their own.
    headers = [path for path in sorted(HEADERS.glob("vellum*.h")) if path.name not in ("vellum_vulkan.h", "vellum_external.h")]
    for text in module.with_includes(headers, {}).values():
        module.read_header(header, text)
    return {name: [field for field, _ in fields] for name, fields in header.structs.items()}


def cpp_members(struct: str) -> list[str]:
    """The members of a struct of C++, without its functions."""
    for file in sorted(HEADERS.glob("*.hpp")):
        text = re.sub(r"//[^\n]*", "", file.read_text())
        found = re.search(rf"^struct {struct} \{{\n(.*?)^\}};", text, re.DOTALL | re.MULTILINE)
        if found:
            break
    else:
        raise SystemExit(f"fields_test.py: no header has struct {struct}")
    # Values may have commas and braces of their own.
    body = re.sub(r"\{[^{}]*\}", "{}", found[1])
    statements = [" ".join(statement.split()) for statement in body.split(";")]
    members = []
    for statement in statements:
        if not statement or statement.startswith(("using ", "static ", "friend ", "bool operator")):
            continue
        declared = re.sub(r"<[^<>]*(<[^<>]*>)?[^<>]*>", "", statement)  # the types of templates
        if "(" in declared.split("=")[0] and "function" not in declared:
            continue  # a function
        members += [re.sub(r"[{=].*", "", name).split()[-1].split("[")[0] for name in declared.split(",")]
    return members


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

    def missing(self) -> set[tuple[str, str]]:
        found = set()
        for struct, fields in self.structs.items():
            if "size" not in fields:
                continue  # it does not grow
            for field in fields:
                if field == "size" or field.endswith("_user"):
                    continue  # what a callback of the binding is given is the binding's own
                if not reaches_java(field):
                    found.add(("java", f"{struct}.{field}"))
                if not reaches_python(field):
                    found.add(("python", f"{struct}.{field}"))
        for cpp, c in SAME_OPTIONS.items():
            for member in cpp_members(cpp):
                if member not in NESTED and member not in self.structs[c]:
                    found.add(("c", f"{cpp}.{member}"))
        return found

    def test_the_sources_are_understood(self) -> None:
        self.assertGreater(sum("size" in fields for fields in self.structs.values()), 30)
        self.assertIn("self_check", self.structs["vellum_device_options"])
        self.assertEqual(cpp_members("PlanningOptions"), ["strategy", "search_ms", "in_place", "views", "reorder"])
        self.assertLess({"mean", "scale", "network_shape"}, set(cpp_members("FrameInput")))

    def test_every_field_is_there_or_left_out_with_a_reason(self) -> None:
        self.assertEqual(self.missing() - set(self.left_out), set(), "neither there nor in fields_left_out.txt")

    def test_what_is_left_out_is_missing(self) -> None:
        self.assertEqual(set(self.left_out) - self.missing(), set(), "fields_left_out.txt lists what is there")

    def test_options_of_java_have_setters(self) -> None:
        """A field that the native part reads is one that applications can set."""
        for struct in ("vellum_device_options", "vellum_session_options", "vellum_load_limits", "vellum_tune_options"):
            for field in self.structs[struct]:
                name = camel_case(field)
                if field == "size" or ("java", f"{struct}.{field}") in self.left_out or f'"{name}"' not in NATIVE:
                    continue
                self.assertRegex(JAVA, rf"\b{name}\b", f"{struct}.{field}: the class has no '{name}'")


if __name__ == "__main__":
    unittest.main()
