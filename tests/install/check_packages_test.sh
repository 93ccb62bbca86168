#!/usr/bin/env bash
# packaging/check_packages.py on packages with every fault that it knows, and on one without.
#   check_packages_test.sh CHECK_PACKAGES.py
set -euo pipefail

check=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# package NAME RECOMMENDS MAINTAINER
package() {
  mkdir -p "$1/DEBIAN" "$1/usr/bin"
  touch "$1/usr/bin/vellum"
  printf '%s\n' "Package: libvellum0.2" "Version: 1" "Architecture: all" ${2:+"Recommends: $2"} "Maintainer: $3" "Description: x" \
    >"$1/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$1" "$1.deb" >/dev/null
}

mkdir -p bad/usr/share/doc/Vellum good/usr/share/{man/man1,doc/libvellum0.2}
touch good/usr/share/man/man1/vellum.1.gz good/usr/share/doc/libvellum0.2/copyright
package bad "" "Vellum maintainers <vellum@packages.debian.org>"
package good "mesa-vulkan-drivers | vulkan-icd" "A. Publisher <publisher@vellum.example>"
python3 -c 'import zipfile; zipfile.ZipFile("bad.whl", "w").writestr("vellum-1.dist-info/licenses/LICENSE", "")'

python3 "$check" good.deb
cp good.deb other.deb
if python3 "$check" good.deb other.deb >found; then exit 1; fi
grep -q "other.deb: its synopsis is that of good.deb: x" found
if python3 "$check" bad.deb bad.whl >found; then exit 1; fi
for fault in "Vellum/ is empty" "no copyright" "vellum has no manual page" "no Vulkan driver" "maintainer is" "no NOTICE" \
  "no licences/libprotobuf-dev.txt"; do
  grep -q "$fault" found || { echo "does not find: $fault"; cat found; exit 1; }
done
[[ $(wc -l <found) == 9 ]]
