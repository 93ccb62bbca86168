#!/usr/bin/env bash
# Installs Vellum into a folder of its own, moves that away, and builds and runs applications out of tree against it:
# in C++ through find_package(), in C++ and in C through pkg-config; and with Vellum::runtime, without protobuf and glslang.
#   install_test.sh BUILD_FOLDER PROGRAM.cpp MODEL.onnx
# Environment: CMAKE, CC, CXX.
set -euo pipefail

build=$1 program=$2 model=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

step() { printf '== %s\n' "$*"; }
# check WANTED COMMAND...: the command succeeds and its output has a line that begins with WANTED.
check() {
  local wanted=$1 output
  shift
  output=$("$@")
  if ! grep -q "^$wanted" <<<"$output"; then
    printf 'expected a line "%s..." from %s, got:\n%s\n' "$wanted" "$*" "$output" >&2
    exit 1
  fi
}

step "install"
"$CMAKE" --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix
if grep -rl "$scratch/first" "$prefix"; then
  echo "the files above name the folder that was installed to" >&2
  exit 1
fi

step "find_package"
"$CMAKE" -S "$here/consumer" -B "$scratch/consumer" "-DCMAKE_PREFIX_PATH=$prefix" "-DPROGRAM=$program" \
  "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_CXX_COMPILER=$CXX" -DCMAKE_BUILD_TYPE=Release
"$CMAKE" --build "$scratch/consumer"
check "Identity_3:0: 1x384x16" "$scratch/consumer/consumer" "$model"
check "96 bytes" "$scratch/consumer/planner_consumer"

step "pkg-config"
pc=$(find "$prefix" -name vellum.pc)
export PKG_CONFIG_PATH=${pc%/*}
read -ra cflags <<<"$(pkg-config --cflags vellum)"
read -ra libs <<<"$(pkg-config --libs vellum)"
libdir=$(pkg-config --variable=libdir vellum)
"$CXX" -std=c++20 "${cflags[@]}" "$program" -o "$scratch/from_cxx" "${libs[@]}" "-Wl,-rpath,$libdir"
check "Identity_3:0: 1x384x16" "$scratch/from_cxx" "$model"
"$CC" -std=c99 "${cflags[@]}" "$here/consumer/consumer.c" -o "$scratch/from_c" "${libs[@]}" "-Wl,-rpath,$libdir"
check "loaded" "$scratch/from_c" "$model"

if [[ -e $libdir/libvellum.a ]]; then
  step "a shared library of the static one"
  "$CXX" -shared -o "$scratch/libapplication.so" -Wl,-u,vellum_version -Wl,-u,vellum_frame_letterbox "${libs[@]}"
  check "vellum_version T" nm -D --defined-only -P "$scratch/libapplication.so"
  check "vellum_frame_letterbox T" nm -D --defined-only -P "$scratch/libapplication.so"
  functions=$(grep -oE "^ +vellum_[a-z0-9_]+" "$here/../../runtime/c_api/vellum.map" | sed 's/ */-Wl,-u,/')
  # shellcheck disable=SC2086 # one word for each function
  "$CXX" -shared -o "$scratch/liball.so" $functions "${libs[@]}"
  echo '{ global: vellum_*; app_*; local: *; };' >"$scratch/exports.map"  # as docs/using.md has it
  "$CXX" -shared -o "$scratch/libwhole.so" -Wl,--version-script="$scratch/exports.map" \
    "-L$libdir" -Wl,--whole-archive -lvellum -Wl,--no-whole-archive "${libs[@]}"
  check "vellum_session_run T" nm -D --defined-only -P "$scratch/libwhole.so"
  mkdir "$scratch/plugin_build"
  "$CMAKE" -S "$here/plugin" -B "$scratch/plugin_build" "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_COMPILER=$CC" \
    "-DCMAKE_CXX_COMPILER=$CXX" -DCMAKE_BUILD_TYPE=Release
  "$CMAKE" --build "$scratch/plugin_build"
  for library in "$scratch/liball.so" "$scratch/libwhole.so" "$scratch/plugin_build/libplugin.so"; do
    # Templates of the standard library are weak symbols of every library in C++.
    if nm -D --defined-only -P "$library" | grep -vE "^vellum_|^plugin_| [VWu] "; then
      echo "$library exports the symbols above, which are of what Vellum is made of" >&2
      exit 1
    fi
    if nm -D --defined-only -C "$library" | grep -E "spvtools|glslang|google::protobuf|flatbuffers|nlohmann" | grep -v " std::"; then
      echo "$library exports the symbols above, which are of what Vellum is made of" >&2
      exit 1
    fi
  done
fi

step "packed models alone"
without=(-DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON -DCMAKE_DISABLE_FIND_PACKAGE_glslang=ON)
"$CMAKE" -S "$here/runtime_consumer" -B "$scratch/runtime_consumer" "-DCMAKE_PREFIX_PATH=$prefix" "-DPROGRAM=$program" \
  "-DCMAKE_CXX_COMPILER=$CXX" -DCMAKE_BUILD_TYPE=Release "${without[@]}"
"$CMAKE" --build "$scratch/runtime_consumer"
"$CXX" -std=c++20 "${cflags[@]}" "$program" -o "$scratch/runtime_from_cxx" \
  $(pkg-config --libs vellum_runtime) "-Wl,-rpath,$libdir"
pack() { env LD_LIBRARY_PATH="$libdir" "$prefix/bin/vellum" pack "$model" -o "$@"; }
pack "$scratch/model.vlm"
pack "$scratch/other.vlm" --precision fp16
# refuse WANTED COMMAND...: the command fails, and says so.
refuse() {
  local wanted=$1 output
  shift
  if output=$("$@" 2>&1) || ! grep -q "$wanted" <<<"$output"; then
    printf 'expected a failure with "%s" from %s, got:\n%s\n' "$wanted" "$*" "$output" >&2
    exit 1
  fi
}
for consumer in "$scratch/runtime_consumer/runtime_consumer" "$scratch/runtime_from_cxx"; do
  check "Identity_3:0: 1x384x16" "$consumer" "$scratch/model.vlm"
  refuse "reads no ONNX files" "$consumer" "$model"
  refuse "in a variant that the packed model lacks" "$consumer" "$scratch/other.vlm"
  refuse "no such file" "$consumer" "$scratch/none.vlm"
  if ldd "$consumer" | grep -E "protobuf|glslang"; then
    echo "$consumer links to the libraries above" >&2
    exit 1
  fi
done
"$CMAKE" -S "$here/../.." -B "$scratch/packed_only" -DVELLUM_PACKED_ONLY=ON -DVELLUM_ONNX_PROTO=none "${without[@]}" \
  "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_CXX_COMPILER=$CXX" >/dev/null

step "tool"
check "0\.2\.0" env LD_LIBRARY_PATH="$libdir" "$prefix/bin/vellum" --version
check '.*"planned_bytes"' env LD_LIBRARY_PATH="$libdir" "$prefix/bin/vellum" plan "$model" --compare --json \
  --caps "$prefix/share/vellum/caps/lavapipe.json"
