#!/usr/bin/env bash
# Checks that every source of a build for Windows (planner, runtime, tool, samples) compiles in the dialect of Microsoft's compiler
# with its standard library, without either at hand: Clang's driver clang-cl parses them with the headers of Microsoft's library,
# which are public, and MinGW-w64's for Windows and the C library. Nothing becomes code, is linked or run. Records the result.
#
#   VELLUM_MSVC_STL=FOLDER tests/platforms/msvc_dialect.sh [--each] [BUILD]
#
# FOLDER is a copy of microsoft/STL at the tag vs-2022-17.14, of which stl/inc is used; tests/platforms/msvc has what that library
# takes from the compiler's own headers. BUILD (default: build) is a tree on this machine in which everything was built, for what
# flatc, protoc and CMake generate. Sources are parsed as for a DLL, whose classes have more requirements than a static library's.
#
# Besides what the dialect refuses, errors are: extensions of GNU and of C99, attributes, builtins and names that only other
# compilers know, string literals beyond the limit of Microsoft's compiler, and public headers that do not parse in C, or after
# <windows.h> with its macros min and max.
#
# Needs Debian's clang-19, mingw-w64-x86-64-dev, and what the build needs. The files of a folder are parsed together, as in a unity
# build; where that fails, and with --each, each is parsed alone, and each that fails is printed with its first error.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
each=
if [[ ${1-} == --each ]]; then each=yes; shift; fi
build=$(cd "${1-$root/build}" && pwd)
library=${VELLUM_MSVC_STL:?names a folder with the standard library of Microsoft; see the begin of this script}
clang=${CLANG:-clang++-19}
die() { printf 'msvc_dialect.sh: %s\n' "$*" >&2; exit 2; }
command -v "$clang" >/dev/null || die "$clang is not installed (Debian: clang-19)"
[[ -f $library/stl/inc/yvals_core.h ]] || die "$library/stl/inc has no yvals_core.h"
[[ -f /usr/share/mingw-w64/include/windows.h ]] || die "MinGW's headers are not installed (Debian: mingw-w64-x86-64-dev)"
generated=("$build/shaders/shader_files.cpp" "$build/runtime/report_page.cpp" "$build/onnx_schema/include/vellum_onnx.pb.cc")
for file in "$build/flatbuffers_schemas/vellum_pack_generated.h" "${generated[@]}"; do
  [[ -f $file ]] || die "$file is missing; build everything there"
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Only those headers of Debian's /usr/include that do not depend on the C library.
mkdir "$scratch/include"
for headers in vulkan vk_video flatbuffers nlohmann glslang spirv-tools google CLI fmt stb zlib.h zconf.h; do
  [[ ! -e /usr/include/$headers ]] || ln -s "/usr/include/$headers" "$scratch/include/$headers"
done

cd "$root"
# The sample that has a window is for Unix; the other sources that Windows does not build are empty there.
mapfile -t sources < <(find planner runtime tools samples -name '*.cpp' | grep -v '^samples/live/' | sort)

# parse OPTION... FILE. The compiler's version decides which library it may use; the C library is the Universal CRT.
parse() {
  "$clang" --driver-mode=cl --target=x86_64-pc-windows-msvc -fms-compatibility-version=19.44 /Zs /X /nologo \
    /permissive- /EHsc /utf-8 /Zc:preprocessor /Zc:__cplusplus -Wno-everything -Wno-unused-command-line-argument \
    -Werror=pedantic -Werror=gnu -Werror=vla -Werror=c99-designator -Werror=reorder-init-list \
    /D_UCRT /D__MSVCRT_VERSION__=0xE00 /D_MT /D_DLL /D_WIN32_WINNT=0x0A00 /D_CRT_SECURE_NO_WARNINGS /FIprelude.h \
    "/DVELLUM_VERSION_TEXT=\"0\"" /DVELLUM_SHARED \
    /imsvc "$root/tests/platforms/msvc" /imsvc "$library/stl/inc" /imsvc "$("$clang" -print-resource-dir)/include" \
    /imsvc /usr/share/mingw-w64/include /imsvc "$scratch/include" /imsvc "$build/flatbuffers_schemas" \
    /imsvc "$build/onnx_schema/include" \
    -I runtime -I runtime/include -I planner/include -I planner/src -I tools/vellum -I samples -I . "${@:1:$# - 1}" -- "${@: -1}" 2>&1
}

# parse_cpp FILE: the library's own sources export what others import.
parse_cpp() {
  local building=()
  [[ $1 != runtime/* && $(head -n 1 "$1") != "#include \"$root/runtime/"* ]] || building=(/DVELLUM_BUILDING)
  parse /std:c++20 /DNOMINMAX "${building[@]}" "$1"
}

# parse_alone FILE...: adds those that fail to $scratch/failed.
parse_alone() {
  local source messages
  for source in "$@"; do
    messages=$(parse_cpp "$source") || printf '%s: %s\n' "$source" "$(grep -m1 error: <<<"$messages")" >>"$scratch/failed"
  done
}

# parse_unit SOURCE...: all as one translation unit, or else each.
parse_unit() {
  local unit
  unit=$(mktemp "$scratch/unit_XXXXXX.cpp")
  printf '#include "%s"\n' "${@/#/$root/}" >"$unit"
  [[ -z $each ]] && parse_cpp "$unit" >/dev/null || parse_alone "$@"
}

: >"$scratch/failed"
while read -r folder; do
  mapfile -t unit < <(printf '%s\n' "${sources[@]}" | grep -E "^$folder/[^/]+$")
  parse_unit "${unit[@]}"
done < <(printf '%s\n' "${sources[@]%/*}" | sort -u)
parse_alone "${generated[@]}"
sources+=("${generated[@]}")
failed=$(wc -l <"$scratch/failed")
compiled=$((${#sources[@]} - failed))
printf '%d of %d sources parse\n' "$compiled" "${#sources[@]}"
cat "$scratch/failed"
status=0
((failed == 0)) || status=1

# ---- Public headers ------------------------------------------------------------------------------------------------

# MinGW's <windows.h> has min and max in C alone.
{
  printf '#include <windows.h>\n#define max(a, b) (((a) > (b)) ? (a) : (b))\n#define min(a, b) (((a) < (b)) ? (a) : (b))\n'
  (cd runtime/include && printf '#include "%s"\n' vellum/*.h*)
  (cd planner/include && printf '#include "%s"\n' vellum/planner/*.hpp)
} >"$scratch/headers.cpp"
(cd runtime/include && printf '#include "%s"\n' vellum/*.h) >"$scratch/headers.c"
if ! messages=$(parse /std:c++20 "$scratch/headers.cpp" && parse /std:c11 /TC "$scratch/headers.c"); then
  printf 'public headers: %s\n' "$(grep -m1 error: <<<"$messages")"
  status=1
fi

# ---- What Clang accepts in this dialect, too -----------------------------------------------------------------------

# The two headers ask for the compiler before they use an attribute.
names='__attribute__|__builtin_|__PRETTY_FUNCTION__|__extension__|__int128|\bssize_t\b|\bM_PI\b|#pragma (GCC|clang)'
if grep -rnE "$names" planner runtime tools samples --include='*.cpp' --include='*.hpp' --include='*.h' |
  grep -vE '^(runtime/include/vellum/(export|vellum_base)\.h|samples/(live|android)/)'; then
  printf 'the lines above use what only other compilers or their libraries have\n'
  status=1
fi
# Error C2026: one literal has at most 16380 bytes. Lines are short, so that only a raw literal can have more.
/usr/bin/python3 - "${sources[@]}" <<'PYTHON' || status=1
import pathlib, re, sys
long = [name for name in sys.argv[1:]
        for text in re.findall(r'R"(\w*)\((.*?)\)\1"', pathlib.Path(name).read_text(), re.DOTALL) if len(text[1].encode()) > 16380]
sys.exit(f"string literals of more than 16380 bytes: {', '.join(long)}" if long else 0)
PYTHON

((status == 0)) || exit "$status"
"$root/tests/platforms/record.py" msvc --platform "Windows, x86-64" \
  --compiler "Clang $("$clang" -dumpversion) as clang-cl" --under "" --command tests/platforms/msvc_dialect.sh \
  --compiled "$compiled" --sources "${#sources[@]}" \
  --note "parsed in the dialect of Microsoft's compiler with its library's headers (VS 2022 17.14), not compiled to code"
