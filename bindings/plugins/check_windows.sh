#!/usr/bin/env bash
# Checks that the sources of both plug-ins compile for 64-bit Windows: MinGW-w64 with -fsyntax-only. Nothing is linked or run.
#   bindings/plugins/check_windows.sh [BUILD]
# BUILD (default: build) is a tree on this machine in which the runtime was built, for the headers that flatc generates. Needs
# g++-mingw-w64-x86-64-posix, and the headers of `./setup.sh onnxruntime tflite`.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1-$root/build}" && pwd)
cache=$("$root/setup.sh" where)
compiler=x86_64-w64-mingw32-g++-posix
command -v "$compiler" >/dev/null || { echo "check_windows.sh: $compiler is not installed" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Only those headers of Debian's /usr/include that do not depend on the C library.
mkdir "$scratch/include"
for headers in vulkan vk_video flatbuffers nlohmann; do
  [[ ! -d /usr/include/$headers ]] || ln -s "/usr/include/$headers" "$scratch/include/$headers"
done
failed=0
for plugin in onnxruntime tflite; do
  for source in "$root"/bindings/{plugins,$plugin/src}/*.cpp; do printf '#include "%s"\n' "$source"; done >"$scratch/$plugin.cpp"
  if "$compiler" -fsyntax-only -std=c++20 -Wall -Werror -D_WIN32_WINNT=0x0A00 -DVELLUM_ONNXRUNTIME_VERSION='"0"' \
    -I "$root/bindings/$plugin/src" -I "$root/runtime" -I "$root/runtime/include" -I "$root/planner/include" -I "$root" \
    -isystem "$build/flatbuffers_schemas" -isystem "$cache/$plugin" -isystem "$scratch/include" "$scratch/$plugin.cpp"; then
    echo "$plugin compiles for Windows"
  else
    failed=1
  fi
done
exit "$failed"
