#!/usr/bin/env bash
# macOS on Apple's processors, as far as a machine without Apple's tools can go: compiles planner and runtime (packed models
# alone) with Clang, libc++ and the macOS headers that the PyPI package ziglang carries, links them to a dynamic library, and
# translates the shaders of a few models to Metal's language with SPIRV-Cross, as MoltenVK does. Nothing runs. Records the
# result.
#   tests/platforms/apple.sh [BUILD]     BUILD: folder of the build, build/apple if left out
#
# Needs what `./setup.sh build models` installs, Debian's python3-pip and spirv-cross, and a build of the tool in
# build/release or TOOL=path/to/vellum. There are no headers for iOS: packaging/apple/xcframework.sh builds for it on a Mac.
set -euo pipefail

# The wheel of the PyPI package ziglang for x86-64 Linux, 80 MB.
zig_version=0.13.0
zig_sha256=3ce0c9f16547e5d61b32e0d226926e9a2552ef4b91fccf7ab5ea1a623a77824b

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath -m "${1:-$root/build/apple}")
tool=${TOOL:-$root/build/release/tools/vellum/vellum}
cache=$("$root/setup.sh" where)
folder=$cache/ziglang-$zig_version

die() {
  printf 'apple.sh: error: %s\n' "$*" >&2
  exit 1
}
[[ -x $tool ]] || die "$tool is not there; run cmake --preset release && cmake --build --preset release"
command -v spirv-cross >/dev/null || die "spirv-cross is not installed (Debian: spirv-cross)"

if [[ ! -x $folder/ziglang/zig ]]; then
  mkdir -p "$folder"
  printf 'ziglang==%s --hash=sha256:%s\n' "$zig_version" "$zig_sha256" >"$folder/requirements.txt"
  /usr/bin/python3 -m pip install --quiet --no-deps --only-binary :all: --require-hashes --target "$folder" \
    -r "$folder/requirements.txt"
fi

# ---- Planner and runtime -------------------------------------------------------------------------------------------

# CMake takes a compiler, not a command.
mkdir -p "$build/tools" "$build/include"
write_tool() {
  printf '#!/bin/sh\nexec %q %s "$@"\n' "$folder/ziglang/zig" "$2" >"$build/tools/$1"
  chmod +x "$build/tools/$1"
}
write_tool cc "cc -target aarch64-macos.13.0"
write_tool c++ "c++ -target aarch64-macos.13.0"
write_tool ar ar
write_tool ranlib ranlib
# Headers that are the same everywhere, away from Linux's own in /usr/include.
for header in vulkan vk_video flatbuffers nlohmann; do ln -sfn "/usr/include/$header" "$build/include/$header"; done

# Not optimised: nothing runs. Without optimisation zig would add a sanitizer.
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -fno-sanitize=undefined" -DCMAKE_UNITY_BUILD=ON -DVELLUM_PACKED_ONLY=ON -DBUILD_SHARED_LIBS=ON \
  -DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR=arm64 -DCMAKE_OSX_SYSROOT= \
  -DCMAKE_C_COMPILER="$build/tools/cc" -DCMAKE_CXX_COMPILER="$build/tools/c++" -DCMAKE_AR="$build/tools/ar" \
  -DCMAKE_RANLIB="$build/tools/ranlib" -DCMAKE_INSTALL_NAME_TOOL=/bin/true -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DVELLUM_VULKAN_INCLUDE_DIR="$build/include" -DVELLUM_FLATBUFFERS_INCLUDE="$build/include"
linked=yes
cmake --build "$build" -- -k0 "-j${JOBS:-2}" || linked=no

# Sources, each of a unity build's too: all, and those whose object is there.
read -r sources compiled < <(/usr/bin/python3 - "$build/compile_commands.json" <<'PYTHON'
import json, pathlib, re, sys
sources = compiled = 0
for entry in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    source = pathlib.Path(entry["file"])
    if "cmake_pch" in source.name or "precompiled" in source.name:
        continue
    unity = re.findall(r'^#include "', source.read_text(), re.MULTILINE) if "/Unity/" in entry["file"] else [source]
    target = pathlib.Path(entry["directory"]) / re.search(r" -o (\S+)", entry["command"]).group(1)
    sources += len(unity)
    compiled += len(unity) if target.exists() else 0
print(sources, compiled)
PYTHON
)
printf '%s of %s sources compiled; library linked: %s\n' "$compiled" "$sources" "$linked"

# ---- Shaders -------------------------------------------------------------------------------------------------------

# A bundle for an Apple M1 has the SPIR-V of the model's kernels.
rm -rf "$build/shaders"
mkdir -p "$build/shaders"
for model in mlsd_320x320_tiny.onnx face_detection_front_128x128_barracuda.onnx face_landmark_with_attention.tflite \
  selfie_segmentation.tflite; do
  for precision in fp32 fp16; do
    "$tool" bundle "$cache/models/$model" --output "$build/shaders/$model.$precision.vellum" --precision "$precision" \
      --caps "$root/caps/moltenvk_apple_m1.json"
  done
done
translated=$(/usr/bin/python3 "$root/tests/platforms/translate_shaders.py" "$build/shaders"/*.vellum)
printf '%s\n' "$translated"

"$root/tests/platforms/record.py" macos --platform "macOS 13, arm64" --compiler "Clang of zig $zig_version" \
  --command tests/platforms/apple.sh --compiled "$compiled" --sources "$sources" \
  --note "planner and runtime, packed models alone; dynamic library linked: $linked; $translated"
[[ $compiled == "$sources" && $linked == yes ]]
