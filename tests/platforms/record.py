#!/usr/bin/python3
"""Writes down what a run of the tests on another platform showed, and renews the table of docs/platforms.md.

After tests, from ctest's own reports (ctest --output-junit FILE), several for a run in parts:
    record.py NAME --platform "Debian 12, aarch64" --compiler "GCC 12.2" --under "qemu-user 7.2, lavapipe 22.3.6" \\
        --command tests/platforms/arm64.sh --junit FILE...
After a compile that could not be linked or run:
    record.py NAME --platform ... --compiler ... --command ... --compiled 310 --sources 310
--note adds what a reader has to know. The record is tests/platforms/results/NAME.json; a second run replaces it.
"""
import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import table


def outcome_of(case):
    """Of a test in a ctest report. One that ctest disabled, or that skipped itself, is skipped."""
    status = case.get("status", "run")
    if case.find("failure") is not None or status == "fail":
        return "failed"
    return "skipped" if case.find("skipped") is not None or status in ("notrun", "disabled") else "passed"


def counts(reports):
    """Tests of ctest reports by outcome. One that is in several counts as in the last."""
    outcomes = {case.get("name"): outcome_of(case)
                for report in reports for case in ElementTree.parse(report).getroot().iter("testcase")}
    return {outcome: list(outcomes.values()).count(outcome) for outcome in ("passed", "skipped", "failed")}


def revision():
    """The commit that was tested, with a + behind it where files differed from it."""
    answer = subprocess.run(["git", "-C", table.ROOT, "describe", "--always", "--abbrev=8", "--dirty=+", "--exclude=*"],
                            capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the record: arm64, windows, ...")
    parser.add_argument("--platform", required=True, help="operating system and processor")
    parser.add_argument("--compiler", required=True, help="name and version")
    parser.add_argument("--under", default="", help="what stood for machine and driver, with versions")
    parser.add_argument("--command", required=True, help="what a reader runs for the same")
    parser.add_argument("--junit", type=pathlib.Path, nargs="+", help="ctest's reports")
    parser.add_argument("--compiled", type=int, help="source files that compiled, where nothing could run")
    parser.add_argument("--sources", type=int, help="source files that were tried")
    parser.add_argument("--note", default="")
    parser.add_argument("--revision", help="that was tested, if it is not the one that is checked out")
    given = parser.parse_args()
    if not re.fullmatch(r"[a-z0-9_]+", given.name):
        parser.error("the name of a record has small letters, digits and _ alone")
    if (given.junit is None) == (given.compiled is None) or (given.compiled is None) != (given.sources is None):
        parser.error("give either --junit, or --compiled with --sources")

    result = counts(given.junit) if given.junit else {"compiled": given.compiled, "sources": given.sources}
    if not sum(result.values()):
        sys.exit(f"record.py: {'the reports have' if given.junit else 'the compile has'} no result")
    record = {"platform": given.platform, "compiler": given.compiler, "under": given.under, "command": given.command,
              "note": given.note, "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
              "revision": given.revision or revision(), **result}
    table.RESULTS.mkdir(exist_ok=True)
    (table.RESULTS / f"{given.name}.json").write_text(json.dumps(record, indent=2) + "\n")
    table.renew()
    print(f"{given.name}: {table.outcome(record)}")


if __name__ == "__main__":
    main()
