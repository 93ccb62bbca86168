#!/usr/bin/python3
"""Which reports of the sanitizers are faults of a plug-in, and that the command fails for these."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import plugin_reports

OF_PLUGIN = """Direct leak of 48 byte(s) in 1 object(s) allocated from:
    #0 (/usr/lib/gcc/libasan.so+0xb4) in malloc
    #1 (/build/bindings/onnxruntime/libvellum_onnxruntime.so+0x12) in vellum::ort::make factory.cpp:7
    #2 (/python/onnxruntime/capi/libonnxruntime.so.1+0x9)"""
OF_PYTHON = """Indirect leak of 9 byte(s) in 2 object(s) allocated from:
    #0 (/usr/lib/gcc/libasan.so+0xb4) in malloc
    #1 (/python/bin/python3.11+0x12) in PyObject_Malloc"""
LEAKS = "=====\n==7==ERROR: LeakSanitizer: detected memory leaks\n\n{}\n\nSUMMARY: AddressSanitizer: 57 byte(s) leaked\n"
ERROR = "=====\n==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60\n    #0 (/python/bin/python3.11+0x1)\n"


class Reports(unittest.TestCase):
    def test_a_leak_with_a_function_of_a_plugin_is_its_fault(self):
        faults, others = plugin_reports.read(LEAKS.format(OF_PLUGIN + "\n\n" + OF_PYTHON))
        self.assertEqual((faults, others), ([OF_PLUGIN], [OF_PYTHON]))

    def test_an_error_is_a_fault_wherever_it_is(self):
        self.assertEqual(plugin_reports.read(ERROR), ([ERROR], []))

    def test_an_error_before_leaks_is_a_fault(self):
        faults, others = plugin_reports.read(ERROR + LEAKS.format(OF_PYTHON))
        self.assertEqual((len(faults), len(others)), (1, 1))

    def test_the_command_fails_for_faults_alone(self):
        for report, status in ((LEAKS.format(OF_PYTHON), 0), (LEAKS.format(OF_PLUGIN), 1), (ERROR, 1)):
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "report.7").write_text(report)
                command = [sys.executable, "-B", plugin_reports.__file__, folder]
                self.assertEqual(subprocess.run(command, capture_output=True).returncode, status)


if __name__ == "__main__":
    unittest.main()
