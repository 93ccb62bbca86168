#!/usr/bin/env bash
# Checks C++ with Debian's clang-tidy. .clang-tidy names the checks, and says why some are left out.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/tidy.sh [--since COMMIT | --all | PATH...]
  without arguments   the C++ files that differ from the branch main, committed or not
  --since COMMIT      the C++ files that differ from COMMIT, committed or not
  --all               all sources of the library, the tools, the samples and the tests with their headers, folder by folder
  PATH...             these files, and the sources in these folders

JOBS is the number of files that are checked at once (default: one for each core), BUILD_DIR the folder for the compile
commands (default: build/tidy). Exits with 1 if there are findings.
TEXT
}

say() { printf 'tidy: %s\n' "$*"; }
die() {
  printf 'tidy: error: %s\n' "$*" >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export root tidy=/usr/bin/clang-tidy-14 # another version has other checks
export -f say

# ---- Compile commands and the generated headers: no objects are built ----

# configure files: one translation unit for each source. configure folders: a unity build, one for each folder; its headers
# are read once, which takes a fraction of the time. Sets `build` and `sources`.
configure() {
  [[ -x $tidy ]] || die "there is no $tidy; apt-get install clang-tidy-14"
  local log unity=OFF
  [[ $1 == folders ]] && unity=ON
  export build=${BUILD_DIR:-$root/build/tidy}/$1
  log=$(cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=g++ \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_UNITY_BUILD=$unity \
    -DCMAKE_OPTIMIZE_DEPENDENCIES=ON \
    -DVELLUM_BUILD_TESTS=ON -DVELLUM_BUILD_SAMPLES=ON -DVELLUM_BUILD_BENCHMARKS=ON 2>&1) ||
    die "CMake failed; ./setup.sh build tests installs what it needs
$log"
  ninja -C "$build" -t targets all | sed -nE 's/^([^/].*\.h): CUSTOM_COMMAND$/\1/p' |
    xargs ninja -C "$build" >/dev/null || die "the generated headers could not be made: ninja -C $build shows why"
  # Other generated sources are left out.
  mapfile -t sources < <(sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$build/compile_commands.json" | sort -u |
    awk -v build="$build/" 'index($0, build) != 1 || /\/unity_[^\/]*$/')
}

# ---- The files to check ----

# Adds a source of the build, a header, or a folder's sources to `files`.
add_path() {
  local path source found=
  path=$(realpath -- "$1")
  [[ $path == *.hpp && -f $path ]] && { files+=("$path"); return; }
  for source in "${sources[@]}"; do
    [[ $source == "$path" || $source == "$path"/* ]] && { files+=("$source"); found=yes; }
  done
  [[ $found ]]
}

add_changed_since() {
  local path
  while IFS= read -r path; do
    # Sources that are not part of the build (of a test that installs Vellum, for example) have no compile command.
    case $path in *.cpp | *.hpp) add_path "$root/$path" || say "not part of the build: $path" ;; esac
  done < <(git -C "$root" diff --name-only --relative --diff-filter=d "$1" && git -C "$root" ls-files --others --exclude-standard)
}

files=()
case ${1-} in
  -h | --help) usage; exit ;;
  --all) configure folders; files=("${sources[@]}") ;;
  '' | --since)
    since=$(git -C "$root" merge-base HEAD "${2-main}") || die "${2-main} is no commit here; --since names another"
    configure files
    add_changed_since "$since"
    ;;
  -*) usage >&2; exit 2 ;;
  *)
    configure files
    for path; do add_path "$path" || die "neither a header nor part of the build: $path"; done
    ;;
esac
((${#files[@]})) || { say "no C++ file differs from ${2-main}; --all checks everything"; exit; }

# ---- Checks ----

# Prints what clang-tidy says about a file if it has findings.
check() {
  local findings
  if findings=$("$tidy" -p "$build" --quiet "$2" 2>&1); then
    say "$1 ${2#"$root"/}"
  else
    say "$1 ${2#"$root"/} has findings:"$'\n'"$findings"
    return 1
  fi
}
export -f check

for index in "${!files[@]}"; do
  printf '%s\0' "$((index + 1))/${#files[@]}" "${files[index]}"
done | xargs -0 -n 2 -P "${JOBS:-$(nproc)}" bash -c 'check "$@"' check || { say "there are findings"; exit 1; }
say "no findings in ${#files[@]} files"
