# shellcheck shell=bash disable=SC2154 # cache and scratch are setup.sh's
# Debian packages: installed, downloaded, or unpacked for another architecture. Part of setup.sh.

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
