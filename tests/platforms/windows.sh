#!/usr/bin/env bash
# Builds Vellum for 64-bit Windows with MinGW-w64, runs the quick tier of the tests and the face sample under Wine, whose Vulkan
# is this machine's lavapipe, and records the result (docs/platforms.md).
#   tests/platforms/windows.sh           everything
#   tests/platforms/windows.sh -R NAME   builds all, runs the tests of that name alone; other arguments of ctest too. No record
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD_DIR:-$root/build/windows}

"$root/setup.sh" build tests windows
cache=$("$root/setup.sh" where)

# Wine's Vulkan belongs to a display, though nothing is shown.
exec {number}<> <(:)
Xvfb -displayfd "$number" -screen 0 640x480x24 >/dev/null 2>&1 &
display=$!
trap 'wineserver --kill 2>/dev/null || true; kill "$display"' EXIT
read -r -u "$number" DISPLAY
export DISPLAY=:$DISPLAY WINEPREFIX=$build/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml,winedbg.exe= VELLUM_TEST_WINE=1
mkdir -p "$WINEPREFIX"
# Else each test would start a server. Before the first program, which starts one that refuses a second.
wineserver --persistent
wine wineboot --init >/dev/null 2>&1

options=("-DVELLUM_TEST_DATA=$cache")
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
(cd "$root" && cmake --preset windows -B "$build" "${options[@]}")
targets=(quick_tests face_detection)
(($# == 0)) || targets=(all)
cmake --build "$build" --target "${targets[@]}"

tests() { ctest --test-dir "$build" --output-on-failure -j2 "$@"; }
if (($#)); then
  tests "$@"
  exit
fi

failed=0
tests -L '^(cpu|quick)$' --output-junit "$build/results.xml" || failed=1

# In German the messages of Windows have letters that its code page writes in other bytes than UTF-8. Under this locale, which the
# machine need not have, Wine opens no files with such names, so that it is not for all tests.
LC_ALL=de_DE.UTF-8 wine "$build/tests/vulkan/platform.exe" --gtest_filter='SystemMessages.*' || failed=1

icds=(/usr/share/vulkan/icd.d/lvp_icd*.json)
faces=$(VK_ICD_FILENAMES=${icds[0]} VK_DRIVER_FILES=${icds[0]} wine "$build/samples/face_detection/face_detection.exe" \
  "$cache/models/face_detection_front_128x128_barracuda.onnx" "$cache/photos/astronaut.png" --output "$build/faces.png" |
  tr -d '\r')
printf '%s\n' "$faces"
score=$(sed -n 's/^  score \([0-9.]*\),.*/\1/p' <<<"$faces")
[[ $score == 0.9224 ]] || { printf 'windows.sh: the face has score %s, expected 0.9224\n' "${score:-none}" >&2; failed=1; }

version() { dpkg-query --show --showformat='${source:Upstream-Version}' "$1"; } # shellcheck disable=SC2016
"$root/tests/platforms/record.py" windows --platform "Windows, x86-64" \
  --compiler "GCC $(x86_64-w64-mingw32-g++-posix -dumpfullversion), MinGW-w64 $(version mingw-w64-x86-64-dev)" \
  --under "Wine $(version wine64), lavapipe $(version mesa-vulkan-drivers)" \
  --command tests/platforms/windows.sh --junit "$build/results.xml" \
  --note "the quick tier, without validation layers, which Wine does not show; face sample: score $score"
exit "$failed"
