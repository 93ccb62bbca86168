#!/usr/bin/env bash
# Fills a folder with what Vellum needs to be built for Windows: headers of Debian's packages that fit every system, and
# protobuf-lite, glslang, fmt and GoogleTest, compiled with MinGW-w64 from the sources of the installed packages, so that
# protobuf fits this machine's protoc.
#   windows_dependencies.sh FOLDER
# FOLDER gets include/, lib/ and share/, and a file `versions` once it is complete; a second run finds that nothing changed.
# shellcheck disable=SC2016 # apt and dpkg expand $(…) and ${…} of their formats
set -euo pipefail
shopt -s inherit_errexit

folder=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=

say() { printf 'setup: windows: %s\n' "$*"; }
die() {
  printf 'setup: error: windows: %s\n' "$*" >&2
  exit 1
}

# quietly COMMAND...: its output goes to a log, of which only a failure shows the end.
quietly() {
  "$@" >"$scratch/log" 2>&1 </dev/null && return
  tail -n 12 "$scratch/log" >&2
  return 1
}

packages=(libvulkan-dev libflatbuffers-dev nlohmann-json3-dev libcli11-dev libstb-dev libonnx-dev
  libprotobuf-dev glslang-dev libfmt-dev libgtest-dev g++-mingw-w64-x86-64-posix)

versions() { dpkg-query --show --showformat='${Package} ${source:Version}\n' "${packages[@]}"; }

# ---- Headers that fit every system -----------------------------------------------------------------------------------

# Copies, not links: CMake follows a link back to /usr.
copy_headers() {
  mkdir -p "$folder/include/onnx" "$folder/share/cmake"
  cp -r /usr/include/{vulkan,vk_video,flatbuffers,nlohmann,CLI,stb} "$folder/include/"
  cp /usr/include/onnx/onnx.proto "$folder/include/onnx/"
  cp -r /usr/share/cmake/{nlohmann_json,CLI11} "$folder/share/cmake/"
}

# ---- Libraries from Debian's sources -----------------------------------------------------------------------------------

# apt gets lists and settings of its own, so that the system's stay as they are, and checks all it fetches against Debian's
# signatures.
prepare_apt() {
  local codename uri release keyring=/usr/share/keyrings/debian-archive-keyring.gpg signed=
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  [[ ! -r $keyring ]] || signed="[signed-by=$keyring] "
  mkdir -p "$scratch/apt/lists/partial" "$scratch/apt/cache/archives/partial"
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v release="$codename" '$3 == "main" && index($2, release) == 1 { print $1, $2 }' | sort -u |
    while read -r uri release; do printf 'deb-src %s%s %s main\n' "$signed" "$uri" "$release"; done \
      >"$scratch/apt/sources.list"
  [[ -s $scratch/apt/sources.list ]] || die "apt's sources have no component main of the release $codename"
  cat >"$scratch/apt/apt.conf" <<CONF
Dir::Etc::sourcelist "$scratch/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$scratch/apt/lists";
Dir::Cache "$scratch/apt/cache";
APT::Sandbox::User "root";
CONF
  say "reading the lists of Debian's source packages"
  quietly scratch_apt update || die "could not read the lists of Debian's source packages (is the network there?)"
}

scratch_apt() { APT_CONFIG=$scratch/apt/apt.conf apt-get -q "$@"; }

# source_of PACKAGE: unpacks the source of an installed package, with Debian's patches, and prints its folder.
source_of() {
  local source version
  read -r source version < <(dpkg-query --show --showformat='${source:Package} ${source:Version}\n' "$1")
  mkdir -p "$scratch/$source"
  (cd "$scratch/$source" && quietly scratch_apt source "$source=$version") ||
    die "could not fetch the Debian source package $source $version"
  find "$scratch/$source" -mindepth 1 -maxdepth 1 -type d -print -quit
}

# cross_build NAME SOURCE TARGETS OPTION...: configures and compiles in $scratch/build/NAME; TARGETS is a list for ninja.
cross_build() {
  local name=$1 source=$2 targets=$3 launcher=()
  shift 3
  ! command -v ccache >/dev/null ||
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  say "compiling $name"
  # shellcheck disable=SC2086
  quietly cmake -S "$source" -B "$scratch/build/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    "-DCMAKE_TOOLCHAIN_FILE=$root/cmake/toolchains/x86_64-w64-mingw32.cmake" "-DCMAKE_INSTALL_PREFIX=$folder" \
    "${launcher[@]}" "$@" && quietly ninja -C "$scratch/build/$name" $targets || die "could not compile $name"
}

install_component() {
  quietly cmake --install "$scratch/build/$1" "${@:2}" || die "could not install $1 into $folder"
}

build_libraries() {
  cross_build protobuf "$(source_of libprotobuf-dev)" libprotobuf-lite -Dprotobuf_BUILD_TESTS=OFF \
    -Dprotobuf_BUILD_PROTOC_BINARIES=OFF -Dprotobuf_WITH_ZLIB=OFF
  install_component protobuf --component libprotobuf-lite
  install_component protobuf --component protobuf-headers

  cross_build glslang "$(source_of glslang-dev)" all -DENABLE_HLSL=OFF -DENABLE_OPT=OFF \
    -DENABLE_CTEST=OFF -DBUILD_TESTING=OFF
  install_component glslang

  cross_build fmt "$(source_of libfmt-dev)" all -DFMT_TEST=OFF -DFMT_DOC=OFF
  install_component fmt

  cross_build googletest /usr/src/googletest all -DBUILD_GMOCK=OFF
  install_component googletest
}

main() {
  [[ $folder == /* ]] || die "the folder must be an absolute path"
  if [[ -f $folder/versions ]] && cmp -s <(versions) "$folder/versions"; then return; fi
  rm -rf "$folder"
  mkdir -p "$folder"
  scratch=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  copy_headers
  prepare_apt
  build_libraries
  versions >"$folder/versions.part"
  mv "$folder/versions.part" "$folder/versions"
}

main
