#!/usr/bin/env bash
# Makes an apt repository of the Debian packages, signed with a key of its own, and uses it in a clean Debian as a stranger would:
# apt-get install vellum-tools, vellum devices, vellum doctor, the Python package, and purging all of it. A wheel in the folder is
# installed by pip from an index of wheels, too.
#   tests/install/apt_test.sh FOLDER_OF_PACKAGES MODEL.onnx
# As root. Environment: SCRATCH and MIRROR as of chroot_test.sh; QUICK=1 leaves out vellum doctor.
set -euo pipefail

packages=$(realpath "$1") model=$(realpath "$2")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
scratch=${SCRATCH:-$(mktemp -d /var/tmp/vellum-apt.XXXXXX)}
system=$scratch/apt-system

((EUID == 0)) || { echo "apt_test.sh needs root, for debootstrap and chroot" >&2; exit 1; }
say() { printf '== %s\n' "$*"; }
fail() { printf 'apt_test.sh: %s\n' "$*" >&2; exit 1; }
leave() {
  umount "$system/proc" 2>/dev/null || true
  rm -rf "$system" "$scratch/gnupg"
  [[ -n ${SCRATCH-} ]] || rm -rf "$scratch"
}
trap leave EXIT

if [[ ! -d $scratch/base ]]; then
  say "a Debian system"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$scratch/base.new" "$mirror" >"$scratch/debootstrap.log"
  mv "$scratch/base.new" "$scratch/base"
fi
rm -rf "$system"
cp -a "$scratch/base" "$system"
cp /etc/resolv.conf "$system/etc/resolv.conf"
mount -t proc proc "$system/proc"
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$system" "$@"
}
# What is typed, shown with its seconds.
typed() {
  local begin
  begin=$(date +%s%N)
  printf '# %s\n' "$*"
  inside sh -c "$*" >"$scratch/typed" 2>&1 || { cat "$scratch/typed"; fail "this command fails"; }
  tail -n "${LINES_SHOWN:-3}" "$scratch/typed"
  printf '  (%d.%d s)\n' $((($(date +%s%N) - begin) / 1000000000)) $((($(date +%s%N) - begin) / 100000000 % 10))
}

say "the repository"
export GNUPGHOME=$scratch/gnupg
mkdir -m 700 -p "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key "Test <test@vellum.example>" ed25519 sign 1d 2>/dev/null
"$root/packaging/apt_repository.sh" "$packages" "$system/srv/vellum" test@vellum.example

say "in a clean Debian"
inside sh -c 'find / -xdev \( -path /proc -o -path /srv \) -prune -o -print | sort' >"$scratch/before"
cp "$system/srv/vellum/vellum.asc" "$system/etc/apt/keyrings/vellum.asc"
cat >"$system/etc/apt/sources.list.d/vellum.sources" <<'TEXT'
Types: deb
URIs: file:/srv/vellum
Suites: stable
Components: main
Signed-By: /etc/apt/keyrings/vellum.asc
TEXT
cp "$model" "$system/srv/model.onnx"
typed apt-get -q update
LINES_SHOWN=1 typed apt-get -q -y install vellum-tools
inside dpkg -s mesa-vulkan-drivers >/dev/null || fail "no Vulkan driver came with the tool"
LINES_SHOWN=30 typed vellum devices
[[ -n ${QUICK-} ]] || typed vellum doctor # minutes, where Mesa's CPU driver is the device
LINES_SHOWN=6 typed vellum profile /srv/model.onnx --runs 1
typed 'vellum run /srv/model.onnx </dev/null || true'
LINES_SHOWN=1 typed apt-get -q -y install --no-install-recommends man-db bash-completion python3-vellum libvellum-dev
typed 'man -P cat vellum | head -n 8'
typed "python3 -c 'import vellum; session = vellum.Session(\"/srv/model.onnx\"); print(sorted(session.run(session.inputs[0].zeros())))'"
for package in "$packages"/*.deb; do
  inside sh -c "test -s /usr/share/doc/$(dpkg-deb -f "$package" Package)/copyright" || fail "$package: no copyright file"
done

if compgen -G "$packages/vellum-*.whl" >/dev/null; then
  say "the wheel, from an index"
  "$root/packaging/python_index.py" "$packages" "$system/srv/wheels"
  LINES_SHOWN=1 typed apt-get -q -y install --no-install-recommends python3-venv python3-numpy
  typed python3 -m venv --system-site-packages /srv/venv
  typed /srv/venv/bin/pip install -q --index-url file:///srv/wheels/simple vellum
  typed "/srv/venv/bin/python -c 'import vellum; print(vellum.__version__, vellum.devices()[0].name, vellum.library._name)'"
  grep -q /srv/venv "$scratch/typed" || fail "Python found another library than the wheel's"
fi

say "purge"
LINES_SHOWN=1 typed "apt-get -q -y purge '^(lib|python3-)?vellum.*'"
inside sh -c 'find / -xdev \( -path /proc -o -path /srv \) -prune -o -print | sort' >"$scratch/after"
left=$(comm -13 "$scratch/before" "$scratch/after" | grep -i vellum |
  grep -v -e '^/etc/apt/' -e '^/var/lib/apt/lists/' -e '^/var/cache/apt/' -e '^/root/.cache/vellum' -e '^/var/cache/man/' || true)
[[ -z $left ]] || fail "these stay: $left"
say "nothing of Vellum is left"
