#!/usr/bin/env bash
# Builds both plug-ins for 64-bit Windows with MinGW-w64. Each DLL must export its entry points alone and need no DLL of MinGW's.
#   bindings/plugins/check_windows.sh
# Needs `./setup.sh build windows onnxruntime tflite`. Builds in build/windows-plugins, or BUILD_DIR. ONNXRUNTIME_JAR may be the
# jar of com.microsoft.onnxruntime:onnxruntime:1.29.0 (Maven Central): then tests/onnxruntime/c_interface_test.cpp runs under
# Wine with the jar's onnxruntime.dll and the provider, on this machine's lavapipe.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD_DIR:-$root/build/windows-plugins}
cache=$("$root/setup.sh" where)
command -v x86_64-w64-mingw32-g++-posix >/dev/null || { echo "check_windows.sh: run ./setup.sh windows" >&2; exit 2; }

options=(-DVELLUM_BUILD_TESTS=OFF -DVELLUM_BUILD_SAMPLES=OFF -DVELLUM_INSTALL=OFF -DVELLUM_BUILD_ONNXRUNTIME=ON
  -DVELLUM_BUILD_TFLITE=ON "-DVELLUM_ONNXRUNTIME_INCLUDE=$cache/onnxruntime" "-DVELLUM_TFLITE_INCLUDE=$cache/tflite")
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
(cd "$root" && cmake --preset windows -B "$build" "${options[@]}" >/dev/null)
cmake --build "$build" -j "${JOBS:-2}" --target vellum_onnxruntime vellum_tflite_delegate

failed=0
exports_of() { # the names in the last of the tables of exports
  x86_64-w64-mingw32-objdump -p "$1" | sed '1,/^\[Ordinal\/Name Pointer\] Table/d' |
    sed -nE 's/^\s*\[ *[0-9]+\].* ([A-Za-z_]\w*)$/\1/p' | sort -u
}
entry_points_of() { grep -oE '\w+;' "$1" | grep -v '\*' | tr -d ';' | sort; }
# check FOLDER NAME
check() {
  local dll=$build/bindings/$1/$2.dll found
  if ! diff <(exports_of "$dll") <(entry_points_of "$root/bindings/$1/exports.map"); then
    printf '%s.dll does not export its entry points alone\n' "$2" >&2
    failed=1
  fi
  if found=$(x86_64-w64-mingw32-objdump -p "$dll" | grep -iE 'DLL Name: lib'); then
    printf '%s.dll needs DLLs of MinGW:\n%s\n' "$2" "$found" >&2
    failed=1
  fi
  printf '%s.dll: %d bytes, exports %s\n' "$2" "$(stat -c %s "$dll")" "$(exports_of "$dll" | tr '\n' ' ')"
}
check onnxruntime vellum_onnxruntime
check tflite vellum_tflite_delegate

if [[ -n ${ONNXRUNTIME_JAR-} ]]; then
  runtime=$build/onnxruntime
  mkdir -p "$runtime"
  python3 -m zipfile -e "$ONNXRUNTIME_JAR" "$runtime"
  x86_64-w64-mingw32-g++-posix -std=c++20 -O1 -static -isystem "$cache/onnxruntime" \
    "$root/tests/onnxruntime/c_interface_test.cpp" -o "$runtime/c_interface_test.exe"
  # Wine's Vulkan belongs to a display, though nothing is shown.
  exec {number}<> <(:)
  Xvfb -displayfd "$number" -screen 0 640x480x24 >/dev/null 2>&1 &
  display=$!
  export WINEPREFIX=$build/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml,winedbg.exe=
  trap 'wineserver --kill 2>/dev/null || true; kill "$display"' EXIT
  read -r -u "$number" DISPLAY
  icds=(/usr/share/vulkan/icd.d/lvp_icd*.json)
  export DISPLAY=:$DISPLAY VK_ICD_FILENAMES=${icds[0]} VK_DRIVER_FILES=${icds[0]}
  mkdir -p "$WINEPREFIX"
  wine wineboot --init >/dev/null 2>&1
  if wine "$runtime/c_interface_test.exe" "$runtime/ai/onnxruntime/native/win-x64/onnxruntime.dll" \
    "$build/bindings/onnxruntime/vellum_onnxruntime.dll" "$cache/models/face_detection_front_128x128_barracuda.onnx"; then
    echo "the provider runs under Wine"
  else
    echo "the provider fails under Wine" >&2
    failed=1
  fi
fi
exit "$failed"
