#!/usr/bin/python3
"""Counts of ctest's reports, and the rows that they become."""
import pathlib
import tempfile
import unittest

import record
import table

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="Linux-c++" tests="5" failures="2" disabled="1" skipped="1">
  <testcase name="a" classname="a" time="0.1" status="run"/>
  <testcase name="b" classname="b" time="0.1" status="fail"><failure message=""/></testcase>
  <testcase name="c" classname="c" time="0.1" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
  <testcase name="d" classname="d" time="0.1" status="disabled"/>
  <testcase name="e" classname="e" time="0.1" status="fail"/>
</testsuite>
"""


class Counts(unittest.TestCase):
    def test_each_outcome_is_counted_once(self):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.xml"
            report.write_text(REPORT)
            self.assertEqual(record.counts([report]), {"passed": 1, "skipped": 2, "failed": 2})

    def test_the_last_report_of_a_test_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            first, again = pathlib.Path(folder) / "first.xml", pathlib.Path(folder) / "again.xml"
            first.write_text(REPORT)
            again.write_text(REPORT.replace('<testcase name="a"', '<testcase name="f"').replace('"fail"', '"run"'))
            self.assertEqual(record.counts([first, again]), {"passed": 3, "skipped": 2, "failed": 1})


class Outcomes(unittest.TestCase):
    def test_tests_and_compiles_have_words_of_their_own(self):
        self.assertEqual(table.outcome({"passed": 7, "skipped": 1, "failed": 0}), "ran: 7 passed, 1 skipped, 0 failed")
        self.assertEqual(table.outcome({"compiled": 3, "sources": 4}), "compiles: 3 of 4 files")


class Page(unittest.TestCase):
    def test_the_text_around_the_table_stays(self):
        page = table.renewed("before\n" + table.BEGIN + "old\n" + table.END + "after\n")
        self.assertTrue(page.startswith("before\n" + table.BEGIN + "\n| platform |"))
        self.assertTrue(page.endswith("|\n\n" + table.END + "after\n"))
        self.assertNotIn("old", page)
        self.assertEqual(page, table.renewed(page))

    def test_a_page_without_the_comments_is_refused(self):
        with self.assertRaises(SystemExit):
            table.renewed("no table\n")


if __name__ == "__main__":
    unittest.main()
