#!/usr/bin/env bash
# Makes an apt repository of the Debian packages of a release, to be served as files.
#   packaging/apt_repository.sh FOLDER OUT [KEY]     FOLDER: of release.sh; KEY: of gpg's keyring, who signs it
# Without KEY it is not signed, and apt takes it with [trusted=yes] alone. With KEY, OUT/vellum.asc is the public key.
# Needs dpkg-dev, and gpg for KEY. Dates are SOURCE_DATE_EPOCH's, so that the same packages give the same files (signatures differ).
set -euo pipefail

(($# == 2 || $# == 3)) || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
packages=$(realpath "$1") key=${3-}
shopt -s nullglob
debs=("$packages"/*.deb)
((${#debs[@]})) || { echo "apt_repository.sh: $packages has no packages" >&2; exit 1; }
out=$(mkdir -p "$2" && cd "$2" && pwd)
[[ -z $(ls -A "$out") ]] || { echo "apt_repository.sh: $out is not empty" >&2; exit 1; }

suite=stable
mkdir -p "$out/pool/main/v/vellum"
cp -p "${debs[@]}" "$out/pool/main/v/vellum/"
cd "$out"
mapfile -t architectures < <(for deb in "${debs[@]}"; do dpkg-deb -f "$deb" Architecture; done | grep -vx all | sort -u)
for architecture in "${architectures[@]}"; do
  folder=dists/$suite/main/binary-$architecture
  mkdir -p "$folder"
  dpkg-scanpackages --arch "$architecture" pool 2>/dev/null >"$folder/Packages"
  gzip -9nk "$folder/Packages"
done

release() {
  printf 'Origin: Vellum\nLabel: Vellum\nSuite: %s\nCodename: %s\n' "$suite" "$suite"
  printf 'Architectures: %s\nComponents: main\n' "${architectures[*]}"
  printf 'Date: %s\nSHA256:\n' "$(LC_ALL=C date -u -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" | sed 's/+0000/UTC/')"
  local file
  for file in main/*/*; do
    printf ' %s %s %s\n' "$(sha256sum "$file" | cut -d' ' -f1)" "$(stat -c %s "$file")" "$file"
  done
}
cd "dists/$suite"
release >"$out/Release.new"
mv "$out/Release.new" Release
if [[ -n $key ]]; then
  gpg --batch --yes --local-user "$key" --clearsign --output InRelease Release
  gpg --batch --yes --local-user "$key" --armor --detach-sign --output Release.gpg Release
  gpg --batch --armor --export "$key" >"$out/vellum.asc"
fi
echo "$out: ${#debs[@]} packages for ${architectures[*]}$([[ -n $key ]] && echo ", signed by $key")"
