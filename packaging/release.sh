#!/usr/bin/env bash
# Builds what a release consists of, from the last commit: the source archive, Debian packages, the wheels and the AAR where
# their tools are there, SHA256SUMS, and an SPDX list of what is in them. The last lines name what was left out, and why.
#   packaging/release.sh [FOLDER]        dist without FOLDER
# Environment: VELLUM_MAINTAINER, "NAME <ADDRESS>" of who publishes it (who made the commit); BUILD_DIR (build/packages);
# SOURCE_DATE_EPOCH (the commit's date), which all dates in the files are; WHEEL=0 and AAR=0 leave these out; ANDROID_NDK, else
# the newest NDK of ANDROID_HOME. The wheel's tools come from PyPI.
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
left_out=()
leave_out() {
  left_out+=("$*")
  say "left out: $*"
}
# Whether the package index that pip uses has a tool of the wheel.
pypi_answers() {
  /usr/bin/python3 -m venv "$scratch/probe" &&
    "$scratch/probe/bin/pip" download --quiet --no-deps --dest "$scratch/probe" wheel >/dev/null 2>&1
}
newest_ndk() {
  if [[ -n ${ANDROID_NDK-} ]]; then
    printf '%s\n' "$ANDROID_NDK"
  else
    { compgen -G "${ANDROID_HOME-/nowhere}/ndk/*/build/cmake/android.toolchain.cmake" || true; } | sort -V | tail -n 1 |
      sed 's|/build/cmake/android.toolchain.cmake$||'
  fi
}
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
  "-DVELLUM_MAINTAINER=${VELLUM_MAINTAINER:-$(git -C "$root" log -1 --format='%cn <%ce>')}"
  -DVELLUM_PACKAGES=ON -DVELLUM_BUILD_PYTHON=ON -DVELLUM_BUILD_JAVA=OFF -DVELLUM_BUILD_TESTS=OFF -DVELLUM_BUILD_SAMPLES=ON)
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -S "$root" -B "$build" -G Ninja "${options[@]}"
cmake --build "$build" --target vellum vellum_runtime vellum-cli vellum-plan vellum_python vellum_manual
/usr/bin/python3 "$root/tests/abi/abi_check.py" exports "$build/runtime/libvellum.so"
/usr/bin/python3 "$root/tests/abi/abi_check.py" exports "$build/runtime/libvellum_runtime.so"

say "Debian packages"
(cd "$scratch" && cpack --config "$build/CPackConfig.cmake" -B "$scratch/cpack" >"$scratch/cpack.log") ||
  { cat "$scratch/cpack.log" >&2; exit 1; }
# cpack keeps the dates of the build; dpkg-deb sets those that are later to SOURCE_DATE_EPOCH.
for package in "$scratch"/cpack/*.deb; do
  dpkg-deb --raw-extract "$package" "$scratch/package"
  # cpack's scripts for libraries call ldconfig, which the trigger does.
  [[ ! -e $scratch/package/DEBIAN/triggers ]] || rm -f "$scratch/package/DEBIAN/postinst" "$scratch/package/DEBIAN/postrm"
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
  leave_out "the check by lintian, which is not installed"
fi

if [[ ${WHEEL-1} == 0 ]]; then
  leave_out "the wheel: WHEEL=0"
elif ! /usr/bin/python3 -c 'import ensurepip' 2>/dev/null; then
  leave_out "the wheel, which needs python3-venv"
elif ! pypi_answers; then
  leave_out "the wheel, whose tools come from PyPI, which does not answer"
else
  say "wheel"
  WHEEL_DIR=$out "$root/bindings/python/test_wheel.sh" --build
  if [[ -d $("$root/setup.sh" where)/onnxruntime ]]; then
    say "wheel of the plug-in for ONNX Runtime"
    WHEEL_DIR=$out "$root/bindings/onnxruntime/test_wheel.sh" --build
  else
    leave_out "the wheel of the plug-in for ONNX Runtime, which needs ./setup.sh onnxruntime"
  fi
fi

ndk=$(newest_ndk)
if [[ ${AAR-1} == 0 ]]; then
  leave_out "the AAR: AAR=0"
elif [[ -z $ndk ]]; then
  leave_out "the AAR, which needs an NDK: neither ANDROID_NDK is set, nor is one in ANDROID_HOME/ndk"
elif ! compgen -G '/usr/lib/jvm/java-17-openjdk-*/bin/javac' >/dev/null && [[ -z ${VELLUM_JDK-} ]]; then
  leave_out "the AAR, which needs a JDK 17 (openjdk-17-jdk-headless, or VELLUM_JDK)"
else
  say "AAR"
  cmake -S "$root/bindings/android" -B "$build-android" -G Ninja "-DANDROID_NDK=$ndk" ${VELLUM_JDK:+"-DVELLUM_JDK=$VELLUM_JDK"}
  cmake --build "$build-android"
  cp "$build-android/vellum.aar" "$out/$name.aar"
fi

say "checksums and SPDX list"
cd "$out"
shopt -s nullglob
files=("$name.tar.gz" *"$version"*.deb *"$version"*.whl *"$version"*.aar)
third_party spdx "${files[@]}" >"$name.spdx.json"
/usr/bin/python3 "$root/packaging/check_packages.py" "${files[@]}"
sha256sum "${files[@]}" "$name.spdx.json" >SHA256SUMS
ls -l "${files[@]}" "$name.spdx.json"
for reason in "${left_out[@]}"; do say "left out: $reason"; done
