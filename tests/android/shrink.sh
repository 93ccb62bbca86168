#!/usr/bin/env bash
# Shrinks the classes of the AAR with a program that runs one model, by the AAR's own rules, and runs what is left on the desktop:
# the outputs are those of before, bit for bit. ProGuard, whose rules R8 reads, is fetched by Maven. Not part of tests/run.sh.
#   tests/android/shrink.sh [BUILD]     BUILD, by default build: a tree with the targets android_classes and vellum_jni
set -euo pipefail

version=7.6.1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1-$root/build}" && pwd)
cache=$("$root/setup.sh" where)
jars=$cache/proguard-$version
jdk=${VELLUM_JDK:-$(dirname "$(dirname "$(compgen -G '/usr/lib/jvm/java-17-openjdk-*/bin/javac' | head -n 1)")")}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
die() { printf 'shrink.sh: %s\n' "$*" >&2; exit 1; }

if [[ ! -d $jars ]]; then
  cat >"$scratch/pom.xml" <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>io.vellum</groupId><artifactId>shrink</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>com.guardsquare</groupId><artifactId>proguard-base</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
XML
  mvn -q -B -f "$scratch/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DoutputDirectory="$scratch/jars"
  mv "$scratch/jars" "$jars"
fi

classes=$build/tests/android/classes.jar
mkdir "$scratch/program"
cat >"$scratch/Faces.java" <<'JAVA'
import io.vellum.*;
import java.nio.file.*;
import java.util.*;

public class Faces {
  public static void main(String[] arguments) throws Exception {
    try (Device device = Device.open();
         Model model = Model.load(arguments[0]);
         Session session = Session.create(device, model, new SessionOptions().precision(Precision.FP32))) {
      TensorInfo input = session.inputs().get(0);
      Tensor image = Tensor.allocate(input.type(), input.shape());
      for (int i = 0; i < image.toFloats().length; ++i) image.buffer().asFloatBuffer().put(i, 0.001f * (i % 997));
      for (Map.Entry<String, Tensor> output : new TreeMap<>(session.run(Collections.singletonMap(input.name(), image))).entrySet())
        System.out.println(output.getKey() + " " + Arrays.hashCode(output.getValue().toFloats()));
      System.out.println(session.memory().objects().size() + " objects on " + device.info().name());
      Model.load("/no/such/model");
    } catch (VellumException expected) {
      System.out.println(expected.status() + " " + expected.getMessage());
    }
  }
}
JAVA
"$jdk/bin/javac" --release 8 -Xlint:-options -cp "$classes" -d "$scratch/program" "$scratch/Faces.java"
cat >"$scratch/rules.txt" <<TEXT
-injars $scratch/program
-injars $classes(!META-INF/**)
-outjars $scratch/shrunk.jar
-libraryjars <java.home>/jmods/java.base.jmod(!**.jar;!module-info.class)
-keep public class Faces { public static void main(java.lang.String[]); }
-dontwarn android.**
-dontwarn org.jetbrains.annotations.**
-dontnote
TEXT
"$jdk/bin/java" -cp "$jars/*" proguard.ProGuard "@$scratch/rules.txt" "@$root/bindings/android/proguard.txt" \
  >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; die "ProGuard fails"; }

icd=$(printf '%s\n' /usr/share/vulkan/icd.d/lvp_icd*.json | head -n 1)
export VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd VK_LOADER_LAYERS_DISABLE='~implicit~'
model=$cache/models/face_detection_front_128x128_barracuda.onnx
run() { "$jdk/bin/java" -Xcheck:jni "-Dio.vellum.library=$build/bindings/java/libvellum_jni.so" -cp "$1" Faces "$model"; }
run "$scratch/program:$classes" >"$scratch/before"
run "$scratch/shrunk.jar" >"$scratch/after" || die "the shrunk program fails"
cmp "$scratch/before" "$scratch/after" || die "the shrunk program prints something else"
[[ $(grep -c '^Identity' "$scratch/before") == 4 ]] || { cat "$scratch/before"; die "the program has other outputs"; }
count() { unzip -l "$1" | grep -c '\.class$'; }
size() { unzip -l "$1" | awk '/\.class$/ { sum += $1 } END { print sum }'; }
printf '%d of %d classes are left, %d of %d bytes; the outputs are the same bits\n' "$(count "$scratch/shrunk.jar")" \
  "$(($(count "$classes") + 1))" "$(size "$scratch/shrunk.jar")" "$(size "$classes")"
