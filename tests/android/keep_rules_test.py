#!/usr/bin/python3
"""Checks that the AAR's rules for shrinking name what native code looks up, and nothing as a whole.

    keep_rules_test.py PROGUARD.txt FOLDER_OF_NATIVE_SOURCES...
"""
import pathlib
import re
import sys


def main():
    rules = re.sub(r"#.*", "", pathlib.Path(sys.argv[1]).read_text())
    kept = {}  # class: what its braces hold
    for names, members in re.findall(r"-keep(?:,\w+)*\s+class\s+([^{]+?)\s*\{([^}]*)\}", rules):
        for name in names.split(","):
            kept[name.strip()] = members
    faults = [f"{name} is kept as a whole" for name, members in kept.items() if "*;" in members.replace(" ", "")]
    faults += [f"{name} is a pattern: it keeps what nobody uses" for name in kept if "*" in name]

    found = set()
    for folder in sys.argv[2:]:
        for source in sorted(pathlib.Path(folder).glob("*.?pp")):
            found |= {name.replace("/", ".") for name in re.findall(r'"(io/vellum/\w+)"', source.read_text())}
    if len(found) < 20:
        faults.append(f"found only {len(found)} classes in the native sources")
    faults += [f"{name}, which native code looks up, has no rule" for name in sorted(found - set(kept))]
    faults += [f"{name} has a rule, and native code does not look it up" for name in sorted(set(kept) - found)]
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{len(found)} classes are looked up by native code, and have rules")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
