#!/usr/bin/env bash
# Builds what a release consists of, from the last commit: the source archive, Debian packages, wheel and AAR where their tools
# are there, SHA256SUMS, and an SPDX list of what is in them.
#   packaging/release.sh [FOLDER]        dist without FOLDER
# Environment: BUILD_DIR (build/packages); SOURCE_DATE_EPOCH (the commit's date), which all dates in the files are;
# WHEEL=1 for the wheel, with packages from PyPI; ANDROID_NDK for the AAR.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(mkdir -p "${1:-$root/dist}" && cd "${1:-$root/dist}" && pwd)
build=${BUILD_DIR:-$root/build/packages}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC PYTHONDONTWRITEBYTECODE=1
umask 022
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say() { printf '== %s\n' "$*"; }
third_party() { /usr/bin/python3 "$root/packaging/third_party.py" "$@"; }
version=$(sed -n 's/^project(Vellum VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
if [[ -n $(git -C "$root" status --porcelain --untracked-files=no) ]]; then
  say "warning: there are changes that are not committed; the source archive lacks them"
fi

say "source archive"
name=vellum-$version
git -C "$root" archive --prefix="$name/" HEAD | tar -x -C "$scratch"
third_party notice >"$scratch/$name/NOTICE"
third_party licences "$scratch/$name/licences"
tar -c --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$scratch" "$name" |
  gzip -9n >"$out/$name.tar.gz"

say "build"
options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_PREFIX=/usr
  -DVELLUM_PACKAGES=ON -DVELLUM_BUILD_PYTHON=ON -DVELLUM_BUILD_JAVA=OFF -DVELLUM_BUILD_TESTS=OFF -DVELLUM_BUILD_SAMPLES=ON)
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -S "$root" -B "$build" -G Ninja "${options[@]}"
cmake --build "$build" --target vellum vellum_runtime vellum-cli vellum-plan vellum_python
/usr/bin/python3 "$root/tests/abi/abi_check.py" exports "$build/runtime/libvellum.so"
/usr/bin/python3 "$root/tests/abi/abi_check.py" exports "$build/runtime/libvellum_runtime.so"

say "Debian packages"
(cd "$scratch" && cpack --config "$build/CPackConfig.cmake" -B "$scratch/cpack" >"$scratch/cpack.log") ||
  { cat "$scratch/cpack.log" >&2; exit 1; }
# cpack keeps the dates of the build; dpkg-deb sets those that are later to SOURCE_DATE_EPOCH.
for package in "$scratch"/cpack/*.deb; do
  dpkg-deb --raw-extract "$package" "$scratch/package"
  rm -f "$scratch/package/DEBIAN/postinst" "$scratch/package/DEBIAN/postrm"  # cpack's call ldconfig, which the trigger does
  find "$scratch/package" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  if grep -rl -e "$root" -e "$build" "$scratch/package"; then
    say "the files above name this machine's folders"
    exit 1
  fi
  dpkg-deb --root-owner-group -Zxz --build "$scratch/package" "$out/$(basename "$package")" >/dev/null
  rm -rf "$scratch/package"
done
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error --tag-display-limit 0 "$out"/*.deb || { say "lintian reports errors"; exit 1; }
else
  say "skipped: lintian is not installed"
fi

if [[ -n ${WHEEL-} ]]; then
  say "wheel"
  WHEEL_DIR=$out "$root/bindings/python/test_wheel.sh" --no-torch
else
  say "skipped: the wheel, whose tools come from PyPI; WHEEL=1 builds it"
fi
if [[ -n ${ANDROID_NDK-} ]]; then
  say "AAR"
  cmake -S "$root/bindings/android" -B "$build-android" -G Ninja "-DANDROID_NDK=$ANDROID_NDK"
  cmake --build "$build-android"
  cp "$build-android/vellum.aar" "$out/$name.aar"
else
  say "skipped: the AAR, which needs ANDROID_NDK"
fi

say "checksums and SPDX list"
cd "$out"
shopt -s nullglob
files=("$name.tar.gz" *"$version"*.deb *"$version"*.whl *"$version"*.aar)
third_party spdx "${files[@]}" >"$name.spdx.json"
sha256sum "${files[@]}" "$name.spdx.json" >SHA256SUMS
ls -l "${files[@]}" "$name.spdx.json"
