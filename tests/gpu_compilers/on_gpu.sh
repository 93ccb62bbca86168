#!/usr/bin/env bash
# Runs a command on a GPU that need not be there: Mesa's driver for it compiles every shader, a stand-in for the kernel's
# side of the driver accepts the work and computes nothing. Results are therefore meaningless, compiled kernels are real.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: on_gpu.sh GPU COMMAND...   runs COMMAND with GPU as its only Vulkan device
       on_gpu.sh --list           lists the GPUs: name, part of `./setup.sh gpu-compilers`, whether that is built, product

Example: tests/gpu_compilers/on_gpu.sh navi31 build/tools/vellum/vellum devices
TEXT
}

# NAME PART IDENTIFIER PRODUCT. The identifier is what the part's shim is told; the NVIDIA shim is told three things:
# chipset, PCI device, and the counts of TPCs and GPCs.
gpus() {
  cat <<'TABLE'
pitcairn  amd     pitcairn           Radeon HD 7800 (GCN 1)
bonaire   amd     bonaire            Radeon HD 7790 (GCN 2)
polaris10 amd     polaris10          Radeon RX 580 (GCN 4)
vega10    amd     vega10             Radeon RX Vega (GCN 5)
raven     amd     raven              Ryzen 2000's GPU (GCN 5)
renoir    amd     renoir             Ryzen 4000's GPU (GCN 5)
navi10    amd     navi10             Radeon RX 5700 XT (RDNA 1)
navi21    amd     navi21             Radeon RX 6800 (RDNA 2)
vangogh   amd     vangogh            Steam Deck (RDNA 2)
navi31    amd     navi31             Radeon RX 7900 (RDNA 3)
gfx1150   amd     gfx1150            Ryzen AI 300's GPU (RDNA 3.5)
a618      adreno  618                Adreno 618
a660      adreno  660                Adreno 660
a730      adreno  730                Adreno 730
a740      adreno  740                Adreno 740
a750      adreno  750                Adreno 750
intel-skl intel   skl                Skylake GT2
intel-icl intel   icl                Ice Lake GT2
intel-tgl intel   tgl                Tiger Lake GT2
intel-adl intel   adl                Alder Lake GT1
intel-dg2 intel   dg2                Arc A770M
intel-mtl intel   mtl                Meteor Lake
intel-lnl intel   lnl                Lunar Lake (Xe 2)
intel-bmg intel   bmg                Battlemage G21 (Xe 2)
mali-g31  mali    7093               Mali-G31 (Bifrost)
mali-g52  mali    7212               Mali-G52 (Bifrost)
mali-g76  mali    7211               Mali-G76 (Bifrost)
mali-g610 mali    a867               Mali-G610 (Valhall)
mali-g310 mali    ac74               Mali-G310 (Valhall)
tu104     nvidia  164:1e87:001706    GeForce RTX 2080 (Turing)
ga102     nvidia  172:2204:002907    GeForce RTX 3090 (Ampere)
ad102     nvidia  192:2684:00400b    GeForce RTX 4090 (Ada)
TABLE
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

die() {
  printf 'on_gpu.sh: error: %s\n' "$*" >&2
  exit "${status:-1}"
}

built() { [[ -f $folder/icd/$1.json ]]; }

list() {
  local name part identifier product state
  while read -r name part identifier product; do
    if built "$part"; then state=built; else state=missing; fi
    printf '%-10s %-7s %-8s %s\n' "$name" "$part" "$state" "$product"
  done < <(gpus)
}

# The variables that each part's shim reads, and those that its driver needs besides.
select_gpu() {
  local part=$1 identifier=$2 chipset device units
  case $part in
    amd) export AMDGPU_GPU_ID=$identifier; shim=amdgpu ;;
    adreno) export FD_GPU_ID=$identifier; shim=freedreno ;;
    intel) export INTEL_STUB_GPU_PLATFORM=$identifier; shim=intel ;;
    mali)
      # Mesa calls PanVK on Bifrost untested and reports Vulkan 1.0, though the driver has what 1.1 asks for.
      export PAN_GPU_ID=$identifier PAN_I_WANT_A_BROKEN_VULKAN_DRIVER=1 MESA_VK_VERSION_OVERRIDE=1.1
      shim=panfrost
      ;;
    nvidia)
      IFS=: read -r chipset device units <<<"$identifier"
      export NOUVEAU_CHIPSET=$chipset NOUVEAU_PCI_DEVICE=0x$device NOUVEAU_GRAPH_UNITS=$units
      export NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1
      shim=nouveau
      ;;
  esac
}

case ${1-} in
  -h | --help) usage; exit ;;
  '') usage >&2; exit 2 ;;
esac
folder=$("$root/setup.sh" where)/gpu_compilers
if [[ $1 == --list ]]; then list; exit; fi

read -r gpu part identifier _ < <(gpus | awk -v name="$1" '$1 == name') ||
  status=2 die "unknown GPU: $1 (on_gpu.sh --list lists those known)"
(($# > 1)) || status=2 die "no command for $gpu"
shift
built "$part" || die "the $part driver that $gpu needs is not built; run: ./setup.sh gpu-compilers"

select_gpu "$part" "$identifier"
export VK_DRIVER_FILES=$folder/icd/$part.json VK_ICD_FILENAMES=$folder/icd/$part.json
# A cached shader would not be compiled, and so have neither statistics nor a message.
export MESA_SHADER_CACHE_DISABLE=true
export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec env LD_PRELOAD="$folder/lib/lib${shim}_noop_drm_shim.so${LD_PRELOAD:+:$LD_PRELOAD}" "$@"
