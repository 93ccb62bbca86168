#!/usr/bin/env bash
# Fetches and builds Mesa's Vulkan drivers for GPUs that need not be there; called by ./setup.sh gpu-compilers.
# A driver's shim stands in for its kernel module: it answers what the driver asks, and drops the work.
# AMD's and Intel's drivers come ready from Debian, the others are compiled from the source of the same package.
#   build_drivers.sh FOLDER SCRATCH [PART...]
# Without a PART, those of all makers. FOLDER gets lib/ (drivers, shims, libdrm), icd/PART.json and a line in `versions` for each part that is complete.
# shellcheck disable=SC2016 # apt and dpkg expand $(…) and ${…} of their formats
set -euo pipefail
shopt -s inherit_errexit

folder=$1 scratch=$2/gpu_compilers
parts=("${@:3}")
((${#parts[@]})) || parts=(amd intel adreno mali nvidia)
lib=$folder/lib
packages=$scratch/packages # unpacked Debian packages
source_folder=             # Mesa's, set once it is unpacked
build=$scratch/build
mesa= # the version of Debian's package
failed=()

say() { printf 'setup: %s\n' "$*"; }

# complain PART MESSAGE: the part stays missing, the others are built.
complain() {
  printf 'setup: error: gpu-compilers: %s: %s\n' "$1" "$2" >&2
  failed+=("$1")
}

die() {
  printf 'setup: error: gpu-compilers: %s\n' "$*" >&2
  exit 1
}

# quietly COMMAND...: its output goes to a log, of which only a failure shows the end.
quietly() {
  "$@" >"$scratch/log" 2>&1 </dev/null && return
  tail -n 12 "$scratch/log" >&2
  return 1
}

# ---- Parts ---------------------------------------------------------------------------------------------------------

# The driver of a part as Mesa names it in libvulkan_NAME.so, and its shim lib…_noop_drm_shim.so.
driver_of() {
  case $1 in
    amd) echo radeon ;;
    adreno) echo freedreno ;;
    intel) echo intel ;;
    mali) echo panfrost ;;
    nvidia) echo nouveau ;;
    *) die "unknown part: $1" ;;
  esac
}

shim_of() {
  case $1 in
    amd) echo amdgpu ;;
    *) driver_of "$1" ;;
  esac
}

# The targets of ninja for a part: those of its two libraries that do not come ready from Debian.
targets_of() {
  case $1 in
    amd) ;;
    adreno) echo src/freedreno/vulkan/libvulkan_freedreno.so src/freedreno/drm-shim/libfreedreno_noop_drm_shim.so ;;
    intel) echo src/intel/tools/libintel_noop_drm_shim.so ;;
    mali) echo src/panfrost/vulkan/libvulkan_panfrost.so src/panfrost/drm-shim/libpanfrost_noop_drm_shim.so ;;
    nvidia) echo src/nouveau/vulkan/libvulkan_nouveau.so src/nouveau/drm-shim/libnouveau_noop_drm_shim.so ;;
  esac
}

libraries_of() { printf '%s\n' "libvulkan_$(driver_of "$1").so" "lib$(shim_of "$1")_noop_drm_shim.so"; }

is_built() {
  local library
  for library in $(libraries_of "$1"); do [[ -f $lib/$library ]] || return 1; done
}

# record NAME ORIGIN: the line of NAME in `versions`.
record() {
  touch "$folder/versions"
  { grep -v "^$1 " "$folder/versions" || true; printf '%-7s %s\n' "$1" "$2"; } | sort >"$folder/versions.part"
  mv "$folder/versions.part" "$folder/versions"
}

# Written every time, for the path in it must stay true when the cache folder moves.
write_icd() {
  mkdir -p "$folder/icd"
  printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
    "$lib/libvulkan_$(driver_of "$1").so" >"$folder/icd/$1.json.part"
  mv "$folder/icd/$1.json.part" "$folder/icd/$1.json"
}

# Puts a part's libraries into the folder, once all that they need is there.
# keep PART ORIGIN
keep() {
  local part=$1 library found unmet
  for library in $(libraries_of "$part"); do
    found=$(find "$build" "$packages" -name "$library" -print -quit)
    [[ -n $found ]] || { complain "$part" "neither Debian's packages nor the build have $library"; return 0; }
    unmet=$(LD_LIBRARY_PATH=$lib ldd "$found" | awk '/not found/ { print $1 }')
    [[ -z $unmet ]] || { complain "$part" "$library needs libraries that are not installed: ${unmet//$'\n'/ }"; return 0; }
    strip --strip-unneeded -o "$lib/$library.part" "$found"
  done
  for library in $(libraries_of "$part"); do mv "$lib/$library.part" "$lib/$library"; done
  write_icd "$part"
  record "$part" "$2"
  say "gpu-compilers: $part is ready"
}

# ---- Debian's packages ---------------------------------------------------------------------------------------------

# Drivers come from the backports of the release that runs here: its own Mesa may be years old. apt gets lists and
# settings of its own, so that the system's stay as they are, and checks all it fetches against Debian's signatures.
prepare_apt() {
  local codename uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg suite kind signed=
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  uri=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' |
    awk -v release="$codename" '$2 == release && $3 == "main" { print $1; exit }')
  [[ -n $uri ]] || die "apt's sources have no component main of the release ${codename:-named by /etc/os-release}"
  [[ ! -r $keyring ]] || signed="[signed-by=$keyring] "
  backports=$codename-backports
  mkdir -p "$scratch/apt/lists/partial" "$scratch/apt/cache/archives/partial"
  for suite in "$codename" "$backports"; do
    for kind in deb deb-src; do printf '%s %s%s %s main\n' "$kind" "$signed" "$uri" "$suite"; done
  done >"$scratch/apt/sources.list"
  cat >"$scratch/apt/apt.conf" <<CONF
Dir::Etc::sourcelist "$scratch/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$scratch/apt/lists";
Dir::Cache "$scratch/apt/cache";
APT::Default-Release "$backports";
APT::Sandbox::User "root";
CONF
  say "gpu-compilers: reading the package lists of $codename and $backports"
  quietly scratch_apt update || die "could not read the package lists of $codename and $backports (is the network there?)"
}

scratch_apt() { APT_CONFIG=$scratch/apt/apt.conf apt-get -q "$@"; }

# unpack PACKAGE...: their files under $packages.
unpack() {
  local archives=$scratch/archives archive
  mkdir -p "$archives"
  (cd "$archives" && quietly scratch_apt download "$@") || die "could not download the Debian packages $*"
  for archive in "$archives"/*.deb; do dpkg-deb -x "$archive" "$packages"; done
}

# ready_made: the drivers and shims that Debian has built, and the libdrm that all of them load.
ready_made() {
  say "gpu-compilers: fetching Mesa's drivers for AMD and Intel from the Debian packages of $backports"
  unpack mesa-vulkan-drivers mesa-drm-shim libdrm2 libdrm-amdgpu1
  mesa=$(dpkg-deb --show --showformat='${source:Version}' "$scratch"/archives/mesa-vulkan-drivers_*.deb)
  dpkg --compare-versions "$mesa" ge 25 || die "the drivers must be those of Mesa 25 or later; $backports has $mesa"
  mkdir -p "$lib"
  cp "$packages"/usr/lib/*/libdrm.so.2 "$packages"/usr/lib/*/libdrm_amdgpu.so.1 "$lib/"
  record libdrm "$(dpkg-deb --field "$scratch"/archives/libdrm2_*.deb Version), ready-made"
}

# ---- Mesa from source ----------------------------------------------------------------------------------------------

fetch_source() {
  say "gpu-compilers: fetching the source of Mesa $mesa"
  mkdir -p "$scratch/src"
  # Upstream's archive alone: Debian's changes to it are to packaging.
  (cd "$scratch/src" && quietly scratch_apt source --download-only --tar-only "mesa=$mesa") ||
    die "could not download the Debian source package mesa $mesa"
  quietly tar -xf "$scratch"/src/mesa_*.orig.tar.* -C "$scratch/src" || die "could not unpack the source of Mesa $mesa"
  source_folder=$(find "$scratch/src" -mindepth 1 -maxdepth 1 -type d -name 'mesa-*')
  open_any_nvidia_gpu "$source_folder/src/nouveau/drm-shim/nouveau_noop.c"
  # Else all of Mesa would be compiled anew once NVK joins the build; only OpenGL's loader asks for it.
  sed -i '/-DHAVE_NVK/d' "$source_folder/meson.build"
}

# Mesa's shim takes every NVIDIA GPU for a GTX 780 with one multiprocessor, and knows none of the generation Ada. After this it
# asks the environment for the PCI device and the counts of GPCs and TPCs, and offers Ada the classes of Ampere.
open_any_nvidia_gpu() {
  sed -i -e 's/= 0x1004;/= strtoul(getenv("NOUVEAU_PCI_DEVICE"), NULL, 16);/' \
    -e 's/= 0x01000101;/= strtoul(getenv("NOUVEAU_GRAPH_UNITS"), NULL, 16);/' \
    -e 's/_override_file("0x1004"/_override_file(getenv("NOUVEAU_PCI_DEVICE")/' \
    -e 's/\bcase 0x170:/case 0x190: &/' "$1"
}

# Meson and libdrm's headers are newer in backports than in the release; they are used from where they are unpacked.
fetch_tools() {
  unpack meson libdrm-dev libdrm-radeon1 libdrm-nouveau2 libdrm-intel1 libpciaccess-dev
  sed -i "s|^prefix=.*|prefix=$packages/usr|" "$packages"/usr/lib/*/pkgconfig/*.pc
  # Debian's Python has the modules that Mesa's generators import; another may stand before it in PATH.
  mkdir -p "$scratch/bin"
  ln -sf /usr/bin/python3 "$scratch/bin/python3"
  export PATH=$scratch/bin:$PATH PYTHONPATH=$packages/usr/lib/python3/dist-packages
  PKG_CONFIG_PATH=$(echo "$packages"/usr/lib/*/pkgconfig)
  export PKG_CONFIG_PATH
}

meson() { python3 "$packages/usr/bin/meson" "$@"; }

# configure DRIVERS: everything off that compute shaders do without; -O1, for compiling takes minutes.
configure() {
  local options=(--wrap-mode=nodownload -Dvulkan-drivers="$1" "-Dtools=drm-shim,intel" -Dbuildtype=release
    -Doptimization=1 -Dbuild-tests=false -Dgallium-drivers= -Dplatforms= -Dvulkan-layers= -Dvideo-codecs= -Dopengl=false
    -Dfreedreno-kmds=msm)
  local feature
  for feature in llvm gles1 gles2 glx egl gbm zstd xmlconfig shared-glapi libunwind valgrind lmsensors; do
    options+=("-D$feature=disabled")
  done
  if [[ -f $build/build.ninja ]]; then options+=(--reconfigure); fi
  # Meson forgets Mesa's choice of edition when Rust comes in later.
  if [[ $1 == *nouveau* ]]; then options+=(-Drust_std=2021 -Dbuild.rust_std=2021); fi
  quietly meson setup "${options[@]}" "$build" "$source_folder"
}

# compile PART [TOOLS]
compile() {
  local part=$1 tools=${2-} targets origin
  origin="Mesa $mesa, compiled with gcc $(gcc -dumpfullversion)${tools:+ and $tools}"
  [[ $part != intel ]] || origin="Mesa $mesa, ready-made; its shim ${origin#*, }"
  read -ra targets < <(targets_of "$part")
  say "gpu-compilers: compiling $part"
  if quietly ninja -j "$(nproc)" -C "$build" "${targets[@]}"; then
    keep "$part" "$origin"
  else
    complain "$part" "could not be compiled"
  fi
}

# ---- NVIDIA: parts of NVK are in Rust ------------------------------------------------------------------------------

oldest_rustc=1.78

# is_recent COMMAND VERSION: the command is there, at this version or a later one.
is_recent() {
  local version
  version=$("$1" --version 2>/dev/null | cut -d' ' -f2) && printf '%s\n%s\n' "$2" "$version" | sort --version-sort --check=quiet
}

# Prints what is missing for NVK, or nothing.
missing_for_rust() {
  if ! is_recent rustc "$oldest_rustc" || ! command -v cargo >/dev/null; then
    echo "rustc $oldest_rustc or later with cargo (Debian: rustc-web and cargo-web)"
  elif [[ -z $(find /usr/lib/llvm-*/lib /usr/lib/*/ -maxdepth 1 -name 'libclang*.so*' -print -quit 2>/dev/null) ]]; then
    echo "libclang (Debian: libclang-dev)"
  fi
}

wrap_field() { sed -n "s/^$2 *= *//p" "$source_folder/subprojects/$1.wrap"; }

# The crates that Mesa's wrap files name, put where Meson looks before it would fetch them; Meson checks their hashes.
fetch_crates() {
  local name crate version archives folder=$scratch/crate cached=$source_folder/subprojects/packagecache
  mkdir -p "$folder/src" "$cached"
  : >"$folder/src/lib.rs"
  for name in paste proc-macro2 quote syn unicode-ident; do
    crate=$(wrap_field "$name" directory)
    # One at a time: cargo finds the versions that Mesa names at odds with one another.
    version=${crate##*-}
    printf '%s\n' '[package]' 'name = "crate"' 'version = "0.0.0"' '[dependencies]' "$name = \"=$version\"" \
      >"$folder/Cargo.toml"
    rm -f "$folder/Cargo.lock"
    (cd "$folder" && quietly cargo fetch) || return 1
    archives=("${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$crate.crate")
    cp "${archives[0]}" "$cached/$(wrap_field "$name" source_filename)" || return 1
  done
}

# install_generator CRATE COMMAND OLDEST VERSION: unoptimised, for it runs for seconds and would compile for minutes.
install_generator() {
  is_recent "$2" "$3" || quietly cargo install --debug --locked --root "$scratch/rust" "$1@$4"
}

# Of several versions of libclang bindgen would load the newest, but take the headers of the `clang` on the PATH.
choose_libclang() {
  local clang
  clang=$(realpath "$(command -v clang)" 2>/dev/null) || return 0
  if compgen -G "${clang%/bin/*}/lib/libclang*.so*" >/dev/null; then export LIBCLANG_PATH=${LIBCLANG_PATH-${clang%/bin/*}/lib}; fi
}

compile_nvidia() {
  local drivers=$1 missing
  missing=$(missing_for_rust)
  if [[ -n $missing ]]; then
    complain nvidia "NVK needs $missing"
    return
  fi
  say "gpu-compilers: fetching the Rust crates of NVK, bindgen and cbindgen"
  export PATH=$scratch/rust/bin:$PATH
  choose_libclang
  if ! fetch_crates; then complain nvidia "could not fetch the Rust crates of NVK (is the network there?)"
  elif ! install_generator bindgen-cli bindgen 0.65 0.69.5; then complain nvidia "cargo could not install bindgen-cli"
  elif ! install_generator cbindgen cbindgen 0.25 0.27.0; then complain nvidia "cargo could not install cbindgen"
  elif ! configure "$drivers"; then complain nvidia "Meson could not configure NVK"
  else compile nvidia "$(rustc --version)"; fi
}

# ---- All of it -----------------------------------------------------------------------------------------------------

main() {
  local part missing=() compiled=() drivers=
  for part in "${parts[@]}"; do
    if is_built "$part"; then write_icd "$part"; else missing+=("$part"); fi
  done
  ((${#missing[@]})) || return 0

  mkdir -p "$build" "$packages"
  prepare_apt
  ready_made
  for part in "${missing[@]}"; do
    if [[ -z $(targets_of "$part") ]]; then keep "$part" "Mesa $mesa, ready-made"; continue; fi
    compiled+=("$part")
    case $part in adreno | mali) drivers+=${drivers:+,}$(driver_of "$part") ;; esac
  done
  if ((${#compiled[@]})); then
    fetch_source
    fetch_tools
    configure "$drivers" || die "Meson could not configure Mesa"
    for part in "${compiled[@]}"; do [[ $part == nvidia ]] || compile "$part"; done
    # Last, for it changes the configuration.
    for part in "${compiled[@]}"; do [[ $part != nvidia ]] || compile_nvidia "${drivers:+$drivers,}nouveau"; done
  fi
  ((${#failed[@]} == 0)) || die "not built: ${failed[*]}; the other parts can be used"
}

main
