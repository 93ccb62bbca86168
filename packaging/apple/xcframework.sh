#!/usr/bin/env bash
# Writes Vellum.xcframework for macOS, iOS and its simulator: the runtime that reads packed models, static, with the C and the
# C++ headers and a module map for Swift. For a Mac with Xcode 15 or later; nobody has run it yet (docs/platforms.md).
#   packaging/apple/xcframework.sh [OUTPUT]     OUTPUT: folder for Vellum.xcframework, build/xcframework if left out
#
# Needs CMake, Ninja, flatbuffers, nlohmann-json and Vulkan's headers, all with Homebrew:
#   brew install cmake ninja flatbuffers nlohmann-json vulkan-headers
# An application embeds MoltenVK.framework besides: the runtime opens it when it starts Vulkan.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
output=${1:-$root/build/xcframework}

[[ $(uname) == Darwin ]] || {
  printf 'xcframework.sh: error: this needs a Mac with Xcode; tests/platforms/apple.sh checks what other machines can\n' >&2
  exit 1
}
include=$(brew --prefix)/include

# build_slice NAME SYSTEM SDK ARCHITECTURES OLDEST_VERSION
build_slice() {
  local name=$1 folder=$output/$1
  cmake -S "$root" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DVELLUM_PACKED_ONLY=ON \
    -DCMAKE_SYSTEM_NAME="$2" -DCMAKE_OSX_SYSROOT="$3" "-DCMAKE_OSX_ARCHITECTURES=$4" -DCMAKE_OSX_DEPLOYMENT_TARGET="$5" \
    -DVELLUM_VULKAN_INCLUDE_DIR="$include" -DVELLUM_FLATBUFFERS_INCLUDE="$include" \
    -DVELLUM_FLATC="$(command -v flatc)" "-Dnlohmann_json_DIR=$(brew --prefix)/share/cmake/nlohmann_json"
  cmake --build "$folder/build"
  cmake --install "$folder/build" --prefix "$folder/prefix"
  # One library: an xcframework has one for each platform.
  libtool -static -o "$folder/libvellum.a" "$folder"/prefix/lib/*.a
  cat >"$folder/prefix/include/module.modulemap" <<'TEXT'
module Vellum {
  header "vellum/vellum.h"
  export *
}
TEXT
}

rm -rf "$output"
# The oldest versions that MoltenVK 1.4.2 runs on.
build_slice macos Darwin macosx 'arm64;x86_64' 12.0
build_slice ios iOS iphoneos arm64 15.0
build_slice ios-simulator iOS iphonesimulator 'arm64;x86_64' 15.0

slices=()
for name in macos ios ios-simulator; do
  slices+=(-library "$output/$name/libvellum.a" -headers "$output/$name/prefix/include")
done
xcodebuild -create-xcframework "${slices[@]}" -output "$output/Vellum.xcframework"
