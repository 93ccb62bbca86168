#!/usr/bin/env python3
"""Every struct of the C interface that begins with its size is made by VELLUM_SIZED, in C and C++ of several standards,
without a warning.

    sized_structs_test.py INCLUDE_FOLDER VULKAN_INCLUDE_FOLDER C_COMPILER CXX_COMPILER
"""
import re
import subprocess
import sys
from pathlib import Path

include, vulkan, cc, cxx = sys.argv[1:]
headers = sorted(path.name for path in Path(include, "vellum").glob("vellum*.h"))
text = "\n".join(Path(include, "vellum", name).read_text(encoding="utf-8") for name in headers)
structs = re.findall(r"typedef struct (vellum_\w+) \{\s*size_t size;", text)
assert len(structs) > 30, structs

lines = [f"#include <vellum/{name}>" for name in headers]
lines += ["int check(void);", "int check(void) {", "  int wrong = 0;"]
for number, struct in enumerate(structs):
    lines += [f"  {struct} made{number} = VELLUM_SIZED({struct});"]
    lines += [f"  wrong |= made{number}.size != sizeof made{number};"]
# The documents' example, and the other initialiser that they name.
lines += ["  vellum_error error = {VELLUM_OK, \"\"};", "  return wrong || error.status != VELLUM_OK;", "}"]
source = "\n".join(lines) + "\n"

warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wmissing-field-initializers", "-Werror"]
dialects = [(cc, "c", standard) for standard in ("c99", "c11", "c17")]
dialects += [(cxx, "c++", standard) for standard in ("c++11", "c++17", "c++20")]
for compiler, language, standard in dialects:
    command = [compiler, "-x", language, f"-std={standard}", *warnings, "-I", include, "-isystem", vulkan, "-fsyntax-only", "-"]
    compiled = subprocess.run(command, input=source, text=True, capture_output=True)
    assert compiled.returncode == 0, f"{standard}: {compiled.stderr}"
print(f"{len(structs)} structs in {len(dialects)} dialects")
