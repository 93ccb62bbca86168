#!/usr/bin/python3
"""Checks what a user of the packages misses first: notices, manual pages, a driver, an address.
    check_packages.py FILE...     .deb and .whl; other files are passed over
Prints each fault; the exit status is 1 if there is one.
"""

import re
import subprocess
import sys
import zipfile

DRIVER = "mesa-vulkan-drivers | vulkan-icd"


def deb_faults(file):
    field = lambda name: subprocess.run(["dpkg-deb", "-f", file, name], capture_output=True, text=True).stdout.strip()
    listed = subprocess.run(["dpkg-deb", "-c", file], check=True, capture_output=True, text=True).stdout.splitlines()
    paths = [line.split(None, 5)[5].removeprefix("./").split(" -> ")[0] for line in listed]
    package = field("Package")
    for path in paths:
        if path.endswith("/") and not any(other.startswith(path) and other != path for other in paths):
            yield f"the folder /{path} is empty"
    if f"usr/share/doc/{package}/copyright" not in paths:
        yield "has no copyright file"
    for program in (path.split("/")[-1] for path in paths if re.match(r"usr/bin/[^/]+$", path)):
        if not any(re.match(rf"usr/share/man/man1/{program}\.1(\.gz)?$", path) for path in paths):
            yield f"{program} has no manual page"
    if re.match(r"libvellum(-runtime)?\d", package) and field("Recommends") != DRIVER:
        yield "recommends no Vulkan driver"
    if not re.fullmatch(r"[^<>]+ <[^@ ]+@(?!packages\.debian\.org)[^@ ]+>", field("Maintainer")):
        yield "its maintainer is " + field("Maintainer")


def wheel_faults(file):
    names = zipfile.ZipFile(file).namelist()
    for wanted in ("LICENSE", "NOTICE", "licences/libprotobuf-dev.txt", "licences/libfmt-dev.txt", "licences/glslang-dev.txt"):
        if not any(name.endswith(".dist-info/licenses/" + wanted) for name in names):
            yield f"has no {wanted}"


def shared_synopses(files):
    """Packages whose first line of the description another one has, too."""
    first = {}
    for file in files:
        line = subprocess.run(["dpkg-deb", "-f", file, "Description"], capture_output=True, text=True).stdout.partition("\n")[0]
        if line in first:
            yield f"{file}: its synopsis is that of {first[line]}: {line}"
        first[line] = file


def main():
    wrong = 0
    for fault in shared_synopses([file for file in sys.argv[1:] if file.endswith(".deb")]):
        print(fault)
        wrong += 1
    for file in sys.argv[1:]:
        faults = deb_faults(file) if file.endswith(".deb") else wheel_faults(file) if file.endswith(".whl") else ()
        for fault in faults:
            print(f"{file}: {fault}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
