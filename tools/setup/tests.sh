# shellcheck shell=bash disable=SC2154 # root, cache and scratch are setup.sh's
# Drivers and other runtimes that the tests compare with. Part of setup.sh.

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
