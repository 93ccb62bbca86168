#!/usr/bin/env bash
# The repositories that packaging/ makes, as far as no network is needed: apt reads the one of packages, the index of wheels names
# each with its checksum, and the JVM loads the library out of the jar.
#   repositories_test.sh PACKAGING [JDK vellum.jar libvellum_jni.so]
set -euo pipefail

packaging=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

mkdir -p package/DEBIAN files
printf '%s\n' "Package: vellum-tools" "Version: 0.2.0-1" "Architecture: amd64" "Maintainer: A <a@vellum.example>" "Description: x" \
  >package/DEBIAN/control
dpkg-deb --root-owner-group --build package files/vellum-tools_0.2.0-1_amd64.deb >/dev/null
python3 -c 'import zipfile
with zipfile.ZipFile("files/vellum-0.2.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("vellum-0.2.0.dist-info/METADATA", "Name: vellum\nVersion: 0.2.0\nRequires-Python: >=3.10\n")'

"$packaging/apt_repository.sh" files apt >/dev/null
SOURCE_DATE_EPOCH=1 "$packaging/apt_repository.sh" files again >/dev/null
if "$packaging/apt_repository.sh" files again 2>/dev/null; then echo "an old repository is written over"; exit 1; fi
mkdir -p state/lists/partial cache/archives/partial
: >state/status
echo "deb [trusted=yes arch=amd64] file:$folder/apt stable main" >sources.list
printf '%s\n' "APT::Architecture \"amd64\";" "APT::Architectures { \"amd64\"; };" "APT::Sandbox::User \"root\";" "Dir::State \"$folder/state\";" \
  "Dir::State::status \"$folder/state/status\";" "Dir::Cache \"$folder/cache\";" "Dir::Etc::sourcelist \"$folder/sources.list\";" \
  'Dir::Etc::sourceparts "/dev/null";' >apt.conf
export APT_CONFIG=$folder/apt.conf
apt-get -qq update
apt-cache policy vellum-tools | grep 'Candidate: 0.2.0-1' >/dev/null  # with -q it may end before apt-cache writes all
unset APT_CONFIG

"$packaging/python_index.py" files index >/dev/null
sum=$(sha256sum files/*.whl | cut -d' ' -f1)
grep -q "href=\"vellum-0.2.0-py3-none-any.whl#sha256=$sum\" data-requires-python=\"&gt;=3.10\"" index/simple/vellum/index.html
[[ -f index/simple/vellum/vellum-0.2.0-py3-none-any.whl ]] && grep -q 'href="vellum/"' index/simple/index.html

if (($# == 4)); then
  jdk=$2
  "$packaging/maven_repository.py" maven --jar "$3" --library "linux-$(uname -m)=$4" >/dev/null
  jar=$(echo maven/io/vellum/vellum/*/vellum-*[0-9].jar)
  [[ $(sha256sum "$jar" | cut -d' ' -f1) == "$(<"$jar.sha256")" ]]
  cat >Version.java <<'JAVA'
class Version {
  public static void main(String[] none) {
    System.out.println("version " + io.vellum.Vellum.version());
  }
}
JAVA
  "$jdk/bin/java" -cp "$jar" Version.java | grep '^version [0-9]' >/dev/null
  if "$jdk/bin/java" -cp "$3" Version.java >/dev/null 2>&1; then echo "a library was found elsewhere"; exit 1; fi
fi
echo "passed"
