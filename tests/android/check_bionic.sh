#!/usr/bin/env bash
# Checks that every source of an Android build (planner, runtime, JNI) compiles against Android's own C library headers, without
# the NDK: clang --target=ABI-linux-android26 -fsyntax-only with bionic's headers and those of libc++. Nothing is linked or run.
#
#   VELLUM_AOSP=FOLDER tests/android/check_bionic.sh [--full | --plugins] [BUILD]
#
# FOLDER is laid out as Android's source tree and holds of it:
#   bionic/libc/include, bionic/libc/kernel               (platform/bionic)
#   frameworks/native/include/android, frameworks/native/libs/{nativewindow,arect}/include   (platform/frameworks/native)
#   libnativehelper/include_jni/jni.h                     (platform/libnativehelper)
# BUILD (default: build) is a tree on this machine in which the runtime was built, for the headers that flatc generates.
# --full: the sources of the full library, which include glslang's headers and not those of runtime/packed_only; without
# import/onnx, for Debian's protobuf has no headers for Android. --plugins: those of both plug-ins alone, with the headers of
# `./setup.sh onnxruntime tflite`; of FOLDER bionic suffices. VELLUM_ANDROID_ABIS: "aarch64 x86_64" or one.
#
# Needs Debian's clang and libc++-16-dev (the NDK has a newer one). The files of a folder are compiled together, as in a unity
# build; where that fails each is compiled alone, and each that fails is printed with its first error. The result for both ABIs,
# without these options, is recorded.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
full= plugins=
case ${1-} in
  --full) full=yes; shift ;;
  --plugins) plugins=yes; shift ;;
esac
build=$(cd "${1-$root/build}" && pwd)
aosp=${VELLUM_AOSP:?names a folder with the headers of bionic; see the begin of this script}
libcxx=${VELLUM_LIBCXX:-/usr/lib/llvm-16/include/c++/v1}
die() { printf 'check_bionic.sh: %s\n' "$*" >&2; exit 2; }
command -v clang++ >/dev/null || die "clang++ is not installed (Debian: clang)"
[[ -f $aosp/bionic/libc/include/stdio.h ]] || die "$aosp/bionic/libc/include has no stdio.h"
[[ -f $libcxx/__config ]] || die "$libcxx is no libc++; install libc++-16-dev or set VELLUM_LIBCXX"
[[ -d $build/flatbuffers_schemas ]] || die "$build/flatbuffers_schemas is missing; build the runtime there"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Only those headers of Debian's /usr/include that do not depend on the C library.
mkdir -p "$scratch/include/android"
for headers in vulkan vk_video flatbuffers nlohmann glslang; do
  [[ ! -d /usr/include/$headers ]] || ln -s "/usr/include/$headers" "$scratch/include/$headers"
done
# The NDK adds this header to bionic's.
printf '#define __NDK_MAJOR__ 26\n#define __NDK_MINOR__ 0\n' >"$scratch/include/android/ndk-version.h"

cd "$root"
left_out=/packed_only/
[[ -n $full ]] || left_out=/glslang_compiler.cpp$
folders=(planner/src runtime bindings/java/native bindings/android/native)
[[ -z $plugins ]] || folders=(bindings/plugins bindings/onnxruntime/src bindings/tflite/src)
mapfile -t sources < <(find "${folders[@]}" -name '*.cpp' | grep -v -e '^runtime/import/onnx/' -e "$left_out" | sort)
cache=$("$root/setup.sh" where)

# compile ABI FILE: prints the compiler's messages.
compile() {
  local kernel=asm-arm64
  [[ $1 == aarch64 ]] || kernel=asm-x86
  clang++ "--target=$1-linux-android26" -fsyntax-only -std=c++20 -w -nostdinc -nostdinc++ \
    -isystem "$libcxx" -isystem "$(clang++ -print-resource-dir)/include" \
    -isystem "$aosp/bionic/libc/include" -isystem "$aosp/bionic/libc/kernel/uapi" \
    -isystem "$aosp/bionic/libc/kernel/uapi/$kernel" -isystem "$aosp/bionic/libc/kernel/android/uapi" \
    -isystem "$aosp/frameworks/native/include" -isystem "$aosp/frameworks/native/libs/nativewindow/include" \
    -isystem "$aosp/frameworks/native/libs/arect/include" -isystem "$aosp/libnativehelper/include_jni" \
    -isystem "$scratch/include" -isystem "$build/flatbuffers_schemas" -isystem "$cache/onnxruntime" -isystem "$cache/tflite" \
    -DVELLUM_ONNXRUNTIME_VERSION='"0"' \
    -I runtime -I runtime/include -I planner/include -I planner/src -I . -I bindings/java/native "$2" 2>&1
}

# check_unit ABI SOURCE...: all as one translation unit, or else each; adds those that fail to $scratch/ABI.failed.
check_unit() {
  local abi=$1 unit source messages
  shift
  unit=$(mktemp "$scratch/unit_XXXXXX.cpp")
  printf '#include "%s"\n' "${@/#/$root/}" >"$unit"
  compile "$abi" "$unit" >/dev/null && return
  for source in "$@"; do
    messages=$(compile "$abi" "$source") ||
      printf '%s: %s\n' "$source" "$(grep -m1 error: <<<"$messages")" >>"$scratch/$abi.failed"
  done
}

# The version that __config has as 160006.
libcxx_version() {
  sed -nE 's/^# *define _LIBCPP_VERSION ([0-9]+)([0-9]{2})([0-9]{2})$/\1 \2 \3/p' "$libcxx/__config" |
    { read -r major minor patch && printf '%d.%d.%d\n' "$major" "$((10#$minor))" "$((10#$patch))"; }
}

status=0
compiled=${#sources[@]}
for abi in ${VELLUM_ANDROID_ABIS:-aarch64 x86_64}; do
  : >"$scratch/$abi.failed"
  while read -r folder; do
    mapfile -t unit < <(printf '%s\n' "${sources[@]}" | grep -E "^$folder/[^/]+$")
    check_unit "$abi" "${unit[@]}"
  done < <(printf '%s\n' "${sources[@]%/*}" | sort -u)
  bad=$(wc -l <"$scratch/$abi.failed")
  printf '%s-linux-android26: %d of %d sources compile\n' "$abi" "$((${#sources[@]} - bad))" "${#sources[@]}"
  cat "$scratch/$abi.failed"
  ((bad == 0)) || status=1
  ((compiled <= ${#sources[@]} - bad)) || compiled=$((${#sources[@]} - bad))
done
[[ -n $full || -n $plugins || -n ${VELLUM_ANDROID_ABIS-} ]] || tests/platforms/record.py android \
  --platform "Android 8.0 (API 26), aarch64 and x86_64" \
  --compiler "Clang $(clang++ -dumpversion), libc++ $(libcxx_version)" --command tests/android/check_bionic.sh \
  --compiled "$compiled" --sources "${#sources[@]}" --note "for each; against bionic's headers; not linked, not run"
exit $status
