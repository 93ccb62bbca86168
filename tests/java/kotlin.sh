#!/usr/bin/env bash
# Kotlin: compiles a program against vellum.jar, runs it on lavapipe, compares its outputs with the tool's bit for bit, and checks
# that null is refused where the interface takes none. The compiler is fetched by Maven once (63 MB). Not part of tests/run.sh.
#   tests/java/kotlin.sh [BUILD]     BUILD, by default build: a tree in which vellum_jar, vellum_jni and vellum-cli were built
set -euo pipefail

# The compiler, checked; Maven checks what it needs by its repository's sums.
version=1.9.24
sha256=e71ff19e6b141ab85a9328fd010941531a302543026bd4244c95adc208d501f6

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1-$root/build}" && pwd)
cache=$("$root/setup.sh" where)
jars=$cache/kotlin-$version
jdk=${VELLUM_JDK:-$(dirname "$(dirname "$(compgen -G '/usr/lib/jvm/java-17-openjdk-*/bin/javac' | head -n 1)")")}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
die() { printf 'kotlin.sh: %s\n' "$*" >&2; exit 1; }

if [[ ! -d $jars ]]; then
  cat >"$scratch/pom.xml" <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>io.vellum</groupId><artifactId>kotlin</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.jetbrains.kotlin</groupId><artifactId>kotlin-compiler-embeddable</artifactId><version>$version</version>
    </dependency>
  </dependencies>
</project>
XML
  mvn -q -B -f "$scratch/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DoutputDirectory="$scratch/jars"
  mkdir -p "$cache"
  mv "$scratch/jars" "$jars"
fi
sha256sum --check --status <<<"$sha256  $jars/kotlin-compiler-embeddable-$version.jar" ||
  die "$jars is not the compiler that was expected"

stdlib=$jars/kotlin-stdlib-$version.jar
vellum=$build/bindings/java/vellum.jar
kotlin() {
  "$jdk/bin/java" -cp "$jars/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -jdk-home "$jdk" \
    -jvm-target 1.8 -cp "$vellum:$stdlib" -d "$scratch/$1" "$root/tests/java/kotlin/$2" "${@:3}" 2>&1
}

kotlin faces.jar Faces.kt -Werror || die "Faces.kt does not compile"
if kotlin nulls.jar Nulls.kt >"$scratch/refused"; then die "Nulls.kt compiles"; fi
expected=$(grep -c '^  [A-Z]' "$root/tests/java/kotlin/Nulls.kt")
refused=$(grep -oE 'Nulls\.kt:[0-9]+' "$scratch/refused" | sort -u | wc -l)
((refused == expected)) || { cat "$scratch/refused" >&2; die "$refused of $expected lines with null are refused"; }

icd=$(printf '%s\n' /usr/share/vulkan/icd.d/lvp_icd*.json | head -n 1)
export VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd VK_LOADER_LAYERS_DISABLE='~implicit~'
model=$cache/models/face_detection_front_128x128_barracuda.onnx
mkdir "$scratch/kotlin"
"$jdk/bin/java" -Xcheck:jni "-Dio.vellum.library=$build/bindings/java/libvellum_jni.so" -cp "$scratch/faces.jar:$vellum:$stdlib" \
  FacesKt "$model" "$scratch/kotlin"
/usr/bin/python3 -c 'import numpy, sys; numpy.save(sys.argv[1], numpy.full((1, 128, 128, 3), 0.5, numpy.float32))' \
  "$scratch/input.npy"
"$build/tools/vellum/vellum" run "$model" -i "input:0=$scratch/input.npy" -o "$scratch/tool" >/dev/null
/usr/bin/python3 - "$scratch" <<'PYTHON'
import pathlib
import sys

import numpy

scratch = pathlib.Path(sys.argv[1])
outputs = sorted(scratch.glob("tool/*.npy"))
assert len(outputs) == 4, outputs
for output in outputs:
    assert numpy.load(output).tobytes() == (scratch / "kotlin" / output.stem).read_bytes(), output.stem
PYTHON
printf 'Kotlin %s: compiled and run, 4 outputs bit for bit those of the tool, %s lines with null refused\n' "$version" "$refused"
