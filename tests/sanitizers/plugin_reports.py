#!/usr/bin/python3
"""Reads reports of AddressSanitizer and LeakSanitizer: plugin_reports.py FOLDER

Prints errors, and leaks with a function of a plug-in in their stack, and exits with 1 if there are any. Leaks of the programs
that load the plug-ins are counted. plugins.sh writes the reports, with the module in each line of a stack.
"""
import pathlib
import re
import sys

PLUGIN = re.compile(r"libvellum_\w+\.(so|dll|dylib)")
LEAK = re.compile(r"^(?:Direct|Indirect) leak of ")


def leaks_of(report):
    """Returns the leaks of a report, each as its lines."""
    blocks = re.split(r"\n\s*\n", report)
    return [block.strip() for block in blocks if LEAK.match(block.strip())]


def read(report):
    """Returns (faults of the plug-in, leaks of others): texts of a report."""
    is_of_leaks = "ERROR: LeakSanitizer" in report and "ERROR: AddressSanitizer" not in report
    faults = [] if is_of_leaks else [report]
    others = []
    for leak in leaks_of(report):
        (faults if PLUGIN.search(leak) else others).append(leak)
    return faults, others


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    faults, others = [], 0
    reports = sorted(pathlib.Path(sys.argv[1]).iterdir())
    for path in reports:
        found, more = read(path.read_text(errors="replace"))
        faults += found
        others += len(more)
    print(*faults, sep="\n\n", end="\n" if faults else "")
    print(f"{len(faults)} errors and leaks of the plug-ins; {others} leaks of others, in {len(reports)} reports")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
