#!/usr/bin/env bash
# Installs the Debian packages in a clean system (debootstrap, only Debian's packages besides), builds and runs programs against
# them there on lavapipe, and compares the bits of their results with those of a build tree on this machine.
#   tests/install/chroot_test.sh FOLDER_OF_PACKAGES BUILD_TREE MODEL.onnx
# As root. BUILD_TREE is the one that the packages were made of (release.sh: build/packages). A wheel in the folder is installed,
# too, and runs five lines. Environment: SCRATCH, a folder for the system (1 GB, a new one in /var/tmp), MIRROR; JAVA_BUILD, a
# build tree of the same commit with the targets android_stand_in_aar, java_test_jar and java_test_pictures: the AAR with the
# desktop's library is checked, and the tests of Java run with what is in it. A system that is in $SCRATCH/base from an earlier
# call is used again.
set -euo pipefail

debs=$(realpath "$1") build=$(realpath "$2") model=$(realpath "$3")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
scratch=${SCRATCH:-$(mktemp -d /var/tmp/vellum-chroot.XXXXXX)}
system=$scratch/system

say() { printf '== %s\n' "$*"; }
((EUID == 0)) || { echo "chroot_test.sh needs root, for debootstrap and chroot" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "chroot_test.sh needs debootstrap" >&2; exit 1; }

leave() {
  umount "$system/proc" 2>/dev/null || true
  rm -rf "$system"
  [[ -n ${SCRATCH-} ]] || rm -rf "$scratch"
}
trap leave EXIT

say "a Debian system"
if [[ ! -d $scratch/base ]]; then
  debootstrap --variant=minbase --include=ca-certificates bookworm "$scratch/base.new" "$mirror" >"$scratch/debootstrap.log"
  mv "$scratch/base.new" "$scratch/base"
fi
rm -rf "$system"
cp -a "$scratch/base" "$system"
mkdir "$system/vellum"
cp "$debs"/*.deb "$root/tests/abi/old_program.c" "$root/tests/api/postcard.cpp" "$model" "$system/vellum/"
cp -r "$root/tests/install/consumer" "$system/vellum/"
cp /etc/resolv.conf "$system/etc/resolv.conf"
mount -t proc proc "$system/proc"
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$system" "$@"
}

say "dpkg -i, and apt for what the packages need"
inside apt-get -qq update
inside sh -c 'dpkg -i /vellum/*.deb' >"$scratch/dpkg.log" 2>&1 || true  # complains of what is missing; apt fetches it
begin=$(date +%s)
inside apt-get -qq -y --no-install-recommends -f install >"$scratch/apt.log" 2>&1
for package in "$debs"/*.deb; do
  name=$(dpkg-deb -f "$package" Package)
  inside dpkg -s "$name" | grep '^Status: install ok installed' >/dev/null || { echo "$name is not installed" >&2; exit 1; }
done
say "installed with what they need in $(($(date +%s) - begin)) s; again, each on its own:"
for package in "$debs"/*.deb; do
  begin=$(date +%s%N)
  inside dpkg -i "/vellum/$(basename "$package")" >"$scratch/dpkg.log"
  took=$((($(date +%s%N) - begin) / 1000000))
  bytes=$(dpkg-deb --fsys-tarfile "$package" | tar -tv | awk '{ sum += $3 } END { print sum }')
  printf '%s: %d bytes, %d installed, %d ms\n' "$(basename "$package")" "$(stat -c %s "$package")" "$bytes" "$took"
done
inside apt-get -qq -y --no-install-recommends install mesa-vulkan-drivers g++ cmake make pkg-config >"$scratch/apt.log" 2>&1

say "a program in C, through pkg-config"
file=$(basename "$model")
inside sh -c 'cc -std=c99 /vellum/old_program.c -o /vellum/program $(pkg-config --cflags --libs vellum)'
inside /vellum/program "/vellum/$file" | tee "$scratch/inside.txt"

say "find_package(Vellum)"
inside cmake -S /vellum/consumer -B /vellum/consumer/build -DPROGRAM=/vellum/postcard.cpp >"$scratch/cmake.log"
inside cmake --build /vellum/consumer/build >>"$scratch/cmake.log"
inside /vellum/consumer/build/consumer "/vellum/$file" | tee "$scratch/consumer.txt"
grep -q '^Identity_3:0: 1x384x16' "$scratch/consumer.txt"

say "the tool and Python"
inside vellum --version
inside vellum profile "/vellum/$file" --runs 1 --json >"$scratch/profile.json"
if inside dpkg -s python3-vellum >/dev/null 2>&1; then
  inside python3 -c 'import vellum; print("vellum", vellum.__version__)'
fi

say "a bundle, with the library for bundles alone"
inside vellum bundle "/vellum/$file" -o /vellum/bundle.vlm >/dev/null
inside sh -c 'cc -std=c99 /vellum/old_program.c -o /vellum/runtime_program $(pkg-config --cflags --libs vellum_runtime)'
inside /vellum/runtime_program /vellum/bundle.vlm >"$scratch/bundle.txt"

if [[ -n ${JAVA_BUILD-} ]]; then
  say "the AAR's contents, and JUnit with its classes and its library"
  inside apt-get -qq -y --no-install-recommends install python3 openjdk-17-jre-headless junit4 libonnx-testdata \
    >"$scratch/apt.log" 2>&1
  mkdir "$system/vellum/java"
  cp "$JAVA_BUILD"/tests/android/stand_in.aar "$JAVA_BUILD"/tests/java/{java_test.jar,java_test_pictures} \
    "$root"/tests/android/aar_test.py "$root"/bindings/java/src/main/java/io/vellum/Native.java "$system/vellum/java/"
  cp -r "$("$root/setup.sh" where)/models" "$root/tests/data" "$system/vellum/java/"
  inside python3 /vellum/java/aar_test.py /vellum/java/stand_in.aar /vellum/java/Native.java x86_64
  inside python3 -m zipfile -e /vellum/java/stand_in.aar /vellum/java/aar
  mapfile -t tests < <(cd "$root/tests/java" && printf '%s\n' io/vellum/*Test.java | sed 's|/|.|g; s|\.java$||')
  inside env VELLUM_TEST_DATA=/vellum/java VELLUM_TEST_SOURCE=/vellum/java java -Xcheck:jni -ea -Dvellum.tool=/usr/bin/vellum \
    -Dio.vellum.library=/vellum/java/aar/jni/x86_64/libvellum_jni.so -Dvellum.pictures=/vellum/java/java_test_pictures \
    -cp /vellum/java/aar/classes.jar:/vellum/java/java_test.jar:/usr/share/java/junit4.jar:/usr/share/java/hamcrest.jar \
    org.junit.runner.JUnitCore "${tests[@]}" | tee "$scratch/junit.txt"
  grep -q '^OK' "$scratch/junit.txt"
fi

wheel=$(compgen -G "$debs/vellum-*.whl" || true)
if [[ -n $wheel ]]; then
  say "the wheel, without the packages' library: five lines"
  inside apt-get -qq -y --no-install-recommends install python3-venv python3-numpy >"$scratch/apt.log" 2>&1
  cp "$wheel" "$system/vellum/"
  inside python3 -m venv --system-site-packages /vellum/venv
  begin=$(date +%s%N)
  inside /vellum/venv/bin/pip install --quiet --no-index --no-deps "/vellum/$(basename "$wheel")"
  printf '%s: %d bytes, %d ms\n' "$(basename "$wheel")" "$(stat -c %s "$wheel")" $((($(date +%s%N) - begin) / 1000000))
  cat >"$system/vellum/five.py" <<'PYTHON'
import numpy, sys, vellum
session = vellum.Session(sys.argv[1])
image = numpy.random.default_rng(1).random(session.inputs[0].shape, numpy.float32)
numpy.save("/vellum/image.npy", image)
numpy.savez("/vellum/outputs.npz", **session.run({session.inputs[0].name: image}))
PYTHON
  inside /vellum/venv/bin/python /vellum/five.py "/vellum/$file"
  inside vellum run "/vellum/$file" -i input:0=/vellum/image.npy -o /vellum/tool >/dev/null
  inside python3 - <<'PYTHON'
import numpy, pathlib, subprocess
outputs = numpy.load("/vellum/outputs.npz")
for name, values in outputs.items():
    assert values.tobytes() == numpy.load(f"/vellum/tool/{name.replace(':', '_')}.npy").tobytes(), name
code = "import vellum; print(vellum.library._name)"
library = subprocess.run(["/vellum/venv/bin/python", "-c", code], capture_output=True, text=True, check=True).stdout.strip()
assert pathlib.Path(library).is_relative_to("/vellum/venv"), library
print("equal bit for bit to the tool:", len(outputs), "outputs")
PYTHON
fi

say "the same program with the build tree's library"
cc -std=c99 "-I$root/runtime/include" "$root/tests/abi/old_program.c" -o "$scratch/program" "-L$build/runtime" -lvellum
icd=$(ls /usr/share/vulkan/icd.d/lvp_icd*.json)
env "LD_LIBRARY_PATH=$build/runtime" "VK_ICD_FILENAMES=$icd" "VK_DRIVER_FILES=$icd" \
  "$scratch/program" "$model" >"$scratch/outside.txt"
# All but the device's line: its name has the version of this machine's driver.
compared() { grep ' bytes, ' "$1" | grep -v ' objects of '; }
for installed in inside bundle; do
  if ! diff <(compared "$scratch/$installed.txt") <(compared "$scratch/outside.txt"); then
    echo "the installed library computes other bits than the build tree's ($installed)" >&2
    exit 1
  fi
done
[[ -s $scratch/outside.txt ]]
say "equal, bit for bit: $(compared "$scratch/inside.txt" | wc -l) outputs"
