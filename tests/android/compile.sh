#!/usr/bin/env bash
# Compiles the Java sources for Android: io.vellum and io.vellum.android against the classes of Android 8.0 (API 26), the sample
# app, which asks for the version before it uses what is newer, against those of Android 13 (API 33). Robolectric publishes them;
# they are fetched by Maven once (300 MB) and checked. Nothing is run. Not part of tests/run.sh.
#
#   tests/android/compile.sh [FOLDER]     FOLDER: where the jars are kept; default: setup.sh's cache
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1-$("$root/setup.sh" where)/android}
jdk=${VELLUM_JDK:-$(dirname "$(dirname "$(compgen -G '/usr/lib/jvm/java-17-openjdk-*/bin/javac' | head -n 1)")")}
annotations=/usr/share/java/org.jetbrains.annotations-java8.jar:/usr/share/java/org.jetbrains.annotations-common.jar

# classes VERSION SHA256: prints the jar.
classes() {
  local jar=$folder/android-all-$1.jar
  if [[ ! -f $jar ]]; then
    mkdir -p "$folder"
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -DoutputDirectory="$folder" \
      -Dartifact=org.robolectric:android-all:"$1" >&2
  fi
  sha256sum --check --status <<<"$2  $jar" || { echo "compile.sh: $jar is not the file that was expected" >&2; exit 1; }
  printf '%s\n' "$jar"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# compile JAR SOURCE...
compile() {
  local jar=$1
  shift
  "$jdk/bin/javac" --release 8 -encoding UTF-8 -Xlint:deprecation,rawtypes,try,unchecked,-options,-classfile -Werror \
    -cp "$jar:$annotations" -d "$scratch" "$@"
}

api26=$(classes 8.0.0_r4-robolectric-r1 3707dc100381e3bbcc57b85255fd313ae20875fc65cf3130c47e86f044ad77f0)
api33=$(classes 13-robolectric-9030017 6e67dca81d30295e31ee6a28cfb601b6b66aaeaee51a92386ed099a64cea5996)
mapfile -t library < <(find "$root/bindings/java/src" "$root/bindings/android/java" -name '*.java')
compile "$api26" "${library[@]}"
printf '%d sources compile against Android 8.0 (API 26)\n' "${#library[@]}"
mapfile -t sample < <(find "$root/samples/android" -name '*.java')
compile "$scratch:$api33" "${sample[@]}"
printf '%d sources of the sample compile against Android 13 (API 33)\n' "${#sample[@]}"
