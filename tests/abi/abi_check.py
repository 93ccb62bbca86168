#!/usr/bin/python3
"""Checks that the C interface only grows: programs that were compiled against the release before must run.

  abi_check.py compare                 the declarations of tests/abi/previous against those of runtime/include
  abi_check.py exports LIBRARY         the library (.so, .dll) exports each declared function under its version, which a DLL
                                       has not, and no other
  abi_check.py renew                   after a release: its declarations become tests/abi/previous

The release before is kept as its declarations alone (the headers without comments), not as a dump of a library: they are the
same on every architecture, a review can read them, and tests/abi/old_program.c is compiled against them. Both sides are compiled
to libraries of empty functions with debug information, which abidiff compares in a second. That the library defines what its
headers declare is checked by the compiler.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CURRENT = ROOT / "runtime/include"
PREVIOUS = ROOT / "tests/abi/previous"
MAP = ROOT / "runtime/c_api/vellum.map"
# Structs with a `size` may grow at their end. abidiff cannot tell that from other changes of a struct, so that it leaves these
# structs out, and grown_otherwise() compares them.
GROWTH = ROOT / "tests/abi/growth.abignore"
STRUCT = re.compile(r"typedef struct vellum_\w+ {(.*?)} (vellum_\w+);", re.S)
FUNCTION = re.compile(r"^VELLUM_(?:C_)?API\s+([^;{}]*?)\(?\b(vellum_\w+)\)?\s*\(([^;]*)\)\s*;", re.M | re.S)


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def c_headers(include):
    return sorted(path for path in (include / "vellum").glob("vellum*.h"))


def functions(include):
    """Returns the functions that the headers declare, name to (return type, parameters)."""
    found = {}
    for header in c_headers(include):
        for match in FUNCTION.finditer(without_comments(header.read_text())):
            found[match[2]] = (match[1].strip(), " ".join(match[3].split()))
    return found


def definition(name, returned, parameters):
    body = "" if returned == "void" else f"static {returned.replace('const ', '')} none; return none;"
    if returned.endswith("*"):
        body = "return 0;"
    return f"{returned} ({name})({parameters}) {{ {body} }}\n"


def build_library(include, folder):
    """Compiles a library of empty functions with these headers, debug information included."""
    folder.mkdir(parents=True)
    source = folder / "functions.c"
    text = "".join(f'#include "vellum/{header.name}"\n' for header in c_headers(include))
    text += "".join(definition(name, *rest) for name, rest in functions(include).items())
    source.write_text(text)
    library = folder / "libvellum.so"
    command = ["cc", "-std=c99", "-g", "-fno-eliminate-unused-debug-types", "-shared", "-fPIC", "-w", "-I", include,
               source, "-o", library]
    subprocess.run(command, check=True)
    return library


def structs(include):
    """Returns the members of each struct, in order."""
    text = "".join(without_comments(header.read_text()) for header in c_headers(include))
    return {name: [" ".join(member.split()) for member in body.split(";") if member.strip()]
            for body, name in STRUCT.findall(text)}


def grown_otherwise(previous, current):
    """Returns messages about structs whose members of before are not the first ones now."""
    now = structs(current)
    return "".join(f"{name} had the members {members}, and has {now.get(name)}\n"
                   for name, members in structs(previous).items() if now.get(name, [])[: len(members)] != members)


def compare(previous, current, old=None):
    """Returns what breaks programs of `previous`; empty: nothing. `old`: its library, if there is one."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        old, new = old or build_library(previous, folder / "old"), build_library(current, folder / "new")
        command = ["abidiff", "--leaf-changes-only", "--no-added-syms", "--suppressions", GROWTH, old, new]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode & 3:
            raise SystemExit(f"abidiff failed:\n{result.stdout}{result.stderr}")
        return grown_otherwise(previous, current) + (result.stdout if result.returncode else "")


def versions(text):
    """Returns the version of each symbol that a version script lists by name."""
    found = {}
    for node, body in re.findall(r"^(VELLUM_[\w.]+)\s*{(.*?)^}", without_comments(text), re.M | re.S):
        found.update({name: node for name in re.findall(r"\b(vellum_\w+);", body)})
    return found


def exports_of_dll(library):
    """Returns the names that a DLL exports."""
    output = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
    table = output.partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    return {line.split()[-1] for line in table.splitlines()[1:]}


def check_dll(library, listed):
    """Returns messages about what a DLL exports."""
    exported = exports_of_dll(library)
    problems = [f"{library} does not export {name}" for name in sorted(listed - exported)]
    # The C++ interface, where Vellum was built as a shared library.
    others = sorted(name for name in exported - listed if not re.match(r"_Z\w*6vellum", name))
    return problems + [f"{library} exports {name}, which is not of the interface" for name in others]


def check_exports(library, map_text, declared):
    """Returns messages about what the library exports."""
    listed = versions(map_text)
    problems = [f"{name} is declared, but {MAP.name} does not list it" for name in sorted(declared - set(listed))]
    problems += [f"{name} is in {MAP.name}, but no header declares it" for name in sorted(set(listed) - declared)]
    if str(library).endswith(".dll"):
        return problems + check_dll(library, set(listed))
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in output.splitlines()}
    for name, node in sorted(listed.items()):
        if f"{name}@@{node}" not in exported:
            problems.append(f"{library} does not export {name} as {node}")
    for symbol in sorted(exported):
        name, _, version = symbol.partition("@@")
        if name.startswith("VELLUM_"):  # a version itself
            continue
        if name not in listed and not version.startswith("VELLUM_CXX_"):
            problems.append(f"{library} exports {symbol}, which is not of the interface")
    return problems


def renew():
    for old in PREVIOUS.glob("vellum/*.h"):
        old.unlink()
    for header in [*c_headers(CURRENT), CURRENT / "vellum/export.h"]:
        text = re.sub(r"[ \t]+\n", "\n", without_comments(header.read_text()))
        title = f"/* Declarations of {header.name} of the release before: see tests/abi/abi_check.py. */\n"
        (PREVIOUS / "vellum" / header.name).write_text(title + re.sub(r"\n{2,}", "\n", text).lstrip("\n"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["compare", "exports", "renew"])
    parser.add_argument("library", nargs="?")
    arguments = parser.parse_args()
    if arguments.what == "renew":
        renew()
    elif arguments.what == "compare":
        problems = compare(PREVIOUS, CURRENT)
        if problems:
            sys.exit(problems + "Programs in C of the release before would not run with this library.")
    else:
        problems = check_exports(arguments.library, MAP.read_text(), set(functions(CURRENT)))
        if problems:
            sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
