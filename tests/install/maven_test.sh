#!/usr/bin/env bash
# Makes a Maven repository of a build and uses it as a stranger would: a project of Maven, and one of Gradle where that is
# installed (Debian's is 4.4), name the coordinates, and the program runs with the library that is in the jar. Plugins come from Maven Central.
#   tests/install/maven_test.sh [BUILD]     BUILD, by default build: a tree with the targets vellum_jar, vellum_jni and, for the
#                                           AAR with the desktop's library, android_stand_in_aar
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1-$root/build}" && pwd)
model=$("$root/setup.sh" where)/models/face_detection_front_128x128_barracuda.onnx
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
icd=$(printf '%s\n' /usr/share/vulkan/icd.d/lvp_icd*.json | head -n 1)
export VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd VK_LOADER_LAYERS_DISABLE='~implicit~'
JAVA_HOME=${VELLUM_JDK:-$(dirname "$(dirname "$(compgen -G '/usr/lib/jvm/java-17-openjdk-*/bin/javac' | head -n 1)")")}
export JAVA_HOME

repository=$scratch/repository
aar=$build/tests/android/stand_in.aar
"$root/packaging/maven_repository.py" "$repository" --jar "$build/bindings/java/vellum.jar" \
  --library "linux-$(uname -m)=$build/bindings/java/libvellum_jni.so" $([[ ! -f $aar ]] || printf -- '--aar %s' "$aar")
version=$(ls "$repository/io/vellum/vellum")

project=$scratch/project
mkdir -p "$project/src/main/java"
cat >"$project/src/main/java/Faces.java" <<'JAVA'
import io.vellum.*;
import java.util.*;

public class Faces {
  public static void main(String[] arguments) {
    try (Device device = Device.open(); Model model = Model.load(arguments[0]); Session session = Session.create(device, model)) {
      TensorInfo input = session.inputs().get(0);
      Tensor image = Tensor.allocate(input.type(), input.shape());
      System.out.println(session.run(Collections.singletonMap(input.name(), image)).size() + " outputs on " + device.info().name());
    }
  }
}
JAVA
cat >"$project/pom.xml" <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>faces</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>8</maven.compiler.source><maven.compiler.target>8</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories><repository><id>vellum</id><url>file://$repository</url></repository></repositories>
  <dependencies>
    <dependency><groupId>io.vellum</groupId><artifactId>vellum</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
XML
local=$scratch/local # not the user's own repository, which would remember this one
[[ ! -d ~/.m2/repository ]] || cp -r ~/.m2/repository "$local"
rm -rf "$local/io/vellum"
mvn -q -B -f "$project/pom.xml" "-Dmaven.repo.local=$local" compile \
  org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath "-Dmdep.outputFile=$scratch/classpath"
"$JAVA_HOME/bin/java" -cp "$project/target/classes:$(<"$scratch/classpath")" Faces "$model" | tee "$scratch/maven"
grep -q '^4 outputs on ' "$scratch/maven"
echo "Maven: compiled and run with the library in the jar"

if ! command -v gradle >/dev/null; then
  echo "skipped: Gradle is not installed"
  exit
fi
cat >"$project/build.gradle" <<GRADLE
apply plugin: 'java'
apply plugin: 'application'
mainClassName = 'Faces'
repositories { maven { url 'file://$repository' } }
configurations { android }
dependencies {
    compile 'io.vellum:vellum:$version'
$([[ ! -f $aar ]] || echo "    android 'io.vellum:vellum-android:$version@aar'")
}
task aars { doLast { println configurations.android.files*.name } }
GRADLE
touch "$project/settings.gradle"
(cd "$project" && gradle --offline --no-daemon -q -g "$scratch/gradle" aars installDist) 2>&1 | grep -v -i openjdk
"$project/build/install/project/bin/project" "$model" | tee "$scratch/gradle.txt"
grep -q '^4 outputs on ' "$scratch/gradle.txt"
echo "Gradle: compiled and run by the same coordinates"
