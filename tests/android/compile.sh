#!/usr/bin/env bash
# Compiles the Java sources for Android, io.vellum, io.vellum.android and the sample app, against the classes of Android 8.0 (API
# 26) as Robolectric publishes them, fetched by Maven once (100 MB) and checked. Nothing is run. Not part of tests/run.sh.
#
#   tests/android/compile.sh [FOLDER]     FOLDER: where the jar is kept; default: setup.sh's cache
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1-$("$root/setup.sh" where)/android}
jar=$folder/android-all-8.0.0_r4-robolectric-r1.jar
sum=3707dc100381e3bbcc57b85255fd313ae20875fc65cf3130c47e86f044ad77f0
jdk=${VELLUM_JDK:-$(dirname "$(dirname "$(compgen -G '/usr/lib/jvm/java-17-openjdk-*/bin/javac' | head -n 1)")")}
annotations=/usr/share/java/org.jetbrains.annotations-java8.jar:/usr/share/java/org.jetbrains.annotations-common.jar

if [[ ! -f $jar ]]; then
  mkdir -p "$folder"
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -DoutputDirectory="$folder" \
    -Dartifact=org.robolectric:android-all:8.0.0_r4-robolectric-r1
fi
sha256sum --check --status <<<"$sum  $jar" || { echo "compile.sh: $jar is not the file that was expected" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mapfile -t sources < <(find "$root/bindings/java/src" "$root/bindings/android/java" "$root/samples/android" -name '*.java')
"$jdk/bin/javac" --release 8 -encoding UTF-8 -Xlint:deprecation,rawtypes,try,unchecked,-options,-classfile -Werror -cp "$jar:$annotations" -d "$scratch" \
  "${sources[@]}"
printf '%d sources compile against Android 8.0 (API 26)\n' "${#sources[@]}"
