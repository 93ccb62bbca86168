#!/usr/bin/python3
"""Makes a Maven repository of files, to be served or published: io.vellum:vellum, the classes with their library for desktops,
and io.vellum:vellum-android, the AAR.

    maven_repository.py OUT --jar vellum.jar [--library PLATFORM=FILE]... [--aar vellum.aar]

PLATFORM: linux-x86_64, linux-aarch64, windows-x86_64, macos-aarch64, ...; the JVM loads the library out of the jar. The jar has the
licences of what the libraries contain. Each file has its .sha1 and .sha256 beside it. Dates are SOURCE_DATE_EPOCH's.
"""
import argparse
import hashlib
import os
import pathlib
import sys
import time
import zipfile

sys.dont_write_bytecode = True
import third_party  # noqa: E402

GROUP = "io.vellum"
POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <packaging>{packaging}</packaging>
  <name>{artifact}</name>
  <description>{description}</description>
  <licenses>
    <license>
      <name>Apache-2.0</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
    </license>
  </licenses>
</project>
"""
SOURCES = third_party.ROOT / "bindings/java/src/main/java"


def write_jar(path, entries):
    """entries: pairs of a name and bytes."""
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]  # zip begins in 1980
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name, date), data, zipfile.ZIP_DEFLATED)


def jar_entries(jar, libraries):
    with zipfile.ZipFile(jar) as archive:
        yield from ((name, archive.read(name)) for name in archive.namelist() if not name.endswith("/"))
    yield "META-INF/LICENSE", (third_party.ROOT / "LICENSE").read_bytes()
    if libraries:
        yield "META-INF/NOTICE", third_party.notice().encode()
        for component in third_party.components():
            yield f"META-INF/licences/{component['package']}.txt", component["copyright"].encode()
    for described in sorted(libraries):
        platform, _, file = described.partition("=")
        yield f"io/vellum/natives/{platform}/{pathlib.Path(file).name}", pathlib.Path(file).read_bytes()


class Artifact:
    def __init__(self, repository, name):
        self.name, self.version = name, third_party.project_version()
        self.folder = repository / GROUP.replace(".", "/") / name / self.version
        self.folder.mkdir(parents=True)

    def file(self, ending):
        return self.folder / f"{self.name}-{self.version}{ending}"

    def describe(self, packaging, description):
        self.file(".pom").write_text(POM.format(group=GROUP, artifact=self.name, version=self.version, packaging=packaging,
                                                description=description))

    def write_checksums(self):
        for file in sorted(self.folder.iterdir()):
            for algorithm in ("sha1", "sha256"):
                digest = hashlib.new(algorithm, file.read_bytes()).hexdigest()
                file.with_name(f"{file.name}.{algorithm}").write_text(digest)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--jar", required=True)
    parser.add_argument("--library", action="append", default=[], metavar="PLATFORM=FILE")
    parser.add_argument("--aar")
    given = parser.parse_args()

    desktop = Artifact(given.out, "vellum")
    desktop.describe("jar", "Runs vision models on Vulkan devices")
    write_jar(desktop.file(".jar"), jar_entries(given.jar, given.library))
    sources = sorted(SOURCES.rglob("*.java"))
    write_jar(desktop.file("-sources.jar"), ((file.relative_to(SOURCES).as_posix(), file.read_bytes()) for file in sources))
    desktop.write_checksums()
    if given.aar:
        android = Artifact(given.out, "vellum-android")
        android.describe("aar", "Runs vision models on the GPUs of phones")
        android.file(".aar").write_bytes(pathlib.Path(given.aar).read_bytes())
        android.write_checksums()
    for file in sorted(given.out.rglob("*.*ar")):
        print(f"{file.relative_to(given.out)}  {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
