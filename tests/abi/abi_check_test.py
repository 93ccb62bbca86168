#!/usr/bin/python3
"""Checks that abi_check.py finds what breaks programs, and lets the interface grow."""
import pathlib
import shutil
import tempfile
import unittest

import abi_check


class Changes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.unchanged = abi_check.build_library(abi_check.CURRENT, pathlib.Path(cls.scratch.name) / "unchanged")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.include = pathlib.Path(self.folder.name) / "include"
        shutil.copytree(abi_check.CURRENT, self.include)

    def tearDown(self):
        self.folder.cleanup()

    def edit(self, header, old, new):
        path = self.include / "vellum" / header
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))

    def problems(self):
        return abi_check.compare(abi_check.CURRENT, self.include, self.unchanged)

    def test_nothing_changed(self):
        self.assertEqual(self.problems(), "")

    def test_function_removed(self):
        self.edit("vellum_device.h", "VELLUM_C_API uint64_t vellum_device_validation_messages(const vellum_device* device);", "")
        self.assertIn("vellum_device_validation_messages", self.problems())

    def test_parameter_of_another_type(self):
        self.edit("vellum_run.h", "uint32_t milliseconds", "uint64_t milliseconds")
        self.assertIn("vellum_run_wait_for", self.problems())

    def test_parameter_added(self):
        self.edit("vellum_base.h", "vellum_status_text(vellum_status status)",
                  "vellum_status_text(vellum_status status, int more)")
        self.assertIn("vellum_status_text", self.problems())

    def test_another_result(self):
        self.edit("vellum_model.h", "size_t vellum_model_input_count", "uint32_t vellum_model_input_count")
        self.assertIn("vellum_model_input_count", self.problems())

    def test_member_inserted(self):
        self.edit("vellum_session.h", "  int32_t check_finite;", "  int32_t more;\n  int32_t check_finite;")
        self.assertIn("vellum_session_options", self.problems())

    def test_member_of_another_type(self):
        self.edit("vellum_report.h", "uint64_t planned_bytes;", "double planned_bytes;")
        self.assertIn("vellum_memory_report", self.problems())

    def test_last_member_removed(self):
        self.edit("vellum_bundle.h", "uint64_t file_bytes;", "")
        self.assertIn("vellum_bundle_summary", self.problems())

    def test_struct_without_size_grew(self):
        self.edit("vellum_run.h", "  size_t byte_count;\n} vellum_output_values;",
                  "  size_t byte_count, more;\n} vellum_output_values;")
        self.assertIn("vellum_output_values", self.problems())

    def test_enumerator_of_another_value(self):
        self.edit("vellum_model.h", "VELLUM_U8 = 10", "VELLUM_U8 = 12")
        self.assertIn("VELLUM_U8", self.problems())

    def test_growth_is_allowed(self):
        self.edit("vellum_device.h", "\n} vellum_device_info;", "\n  double more;\n} vellum_device_info;")
        self.edit("vellum_session.h", "\n} vellum_session_options;",
                  "\n  int32_t more;\n  double yet_more;\n} vellum_session_options;")
        self.edit("vellum_base.h", "VELLUM_CANCELLED = 10 ", "VELLUM_TIRED = 11, VELLUM_CANCELLED = 10 ")
        self.edit("vellum_base.h", "VELLUM_C_API uint32_t vellum_version(void);",
                  "VELLUM_C_API uint32_t vellum_version(void);\nVELLUM_C_API int vellum_more(void);")
        self.assertEqual(self.problems(), "")

    def test_structs_that_may_grow_begin_with_their_size(self):
        """The library cannot know how far a struct without a size reaches: growth.abignore lists these."""
        fixed = set(abi_check.GROWTH.read_text().split("^vellum_(", 1)[1].split(")", 1)[0].split("|"))
        seen = set()
        for header in abi_check.c_headers(abi_check.CURRENT):
            text = abi_check.without_comments(header.read_text())
            for body, name in abi_check.STRUCT.findall(text):
                seen.add(name)
                self.assertEqual(body.split()[:2] == ["size_t", "size;"], name.removeprefix("vellum_") not in fixed, name)
        self.assertEqual({f"vellum_{name}" for name in fixed} - seen, set())


class Exports(unittest.TestCase):
    def test_version_script(self):
        text = ("/* a { } comment */\nVELLUM_0.2 {\n  global:\n    vellum_a;\n};\n"
                "VELLUM_0.3 {\n  global:\n    vellum_b;\n} VELLUM_0.2;\n")
        self.assertEqual(abi_check.versions(text), {"vellum_a": "VELLUM_0.2", "vellum_b": "VELLUM_0.3"})

    def test_missing_functions_are_named(self):
        with tempfile.TemporaryDirectory() as scratch:
            library = abi_check.build_library(abi_check.CURRENT, pathlib.Path(scratch) / "library")
            text = "VELLUM_0.2 {\n  global:\n    vellum_gone;\n};\n"
            problems = abi_check.check_exports(library, text, {"vellum_version"})
        self.assertIn("vellum_version is declared, but vellum.map does not list it", problems)
        self.assertIn("vellum_gone is in vellum.map, but no header declares it", problems)
        self.assertTrue(any("does not export vellum_gone as VELLUM_0.2" in problem for problem in problems))
        self.assertTrue(any("which is not of the interface" in problem for problem in problems))


if __name__ == "__main__":
    unittest.main()
