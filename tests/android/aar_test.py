#!/usr/bin/python3
"""Checks an AAR: its entries, what its classes.jar holds, and that each library exports every native function that the classes
declare. The library may be a stand-in that was built for the desktop; then those of io.vellum.android are not expected of it.

    aar_test.py FILE.aar NATIVE_SOURCE.java ABI...
"""
import io
import re
import subprocess
import sys
import tempfile
import zipfile


def fail(message):
    sys.exit(f"aar_test.py: {message}")


def exported(library):
    """The functions of io.vellum.Native that a shared library exports, and everything else that it does."""
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(library)
        file.flush()
        lines = subprocess.run(["nm", "-D", "--defined-only", file.name], check=True, capture_output=True, text=True).stdout
    names = {line.split()[2] for line in lines.splitlines()}
    prefix = "Java_io_vellum_Native_"
    return ({name.removeprefix(prefix) for name in names if name.startswith(prefix)},
            {name for name in names if not name.startswith("Java_io_vellum_")})


def main():
    file, source, abis = sys.argv[1], sys.argv[2], sys.argv[3:]
    archive = zipfile.ZipFile(file)
    entries = {name for name in archive.namelist() if not name.endswith("/")}
    expected = {"AndroidManifest.xml", "R.txt", "classes.jar", "proguard.txt", "LICENSE", "NOTICE",
                "META-INF/com/android/build/gradle/aar-metadata.properties"} | {f"jni/{abi}/libvellum_jni.so" for abi in abis}
    if entries != expected:
        fail(f"the entries differ: missing {expected - entries}, unexpected {entries - expected}")
    manifest = archive.read("AndroidManifest.xml").decode()
    if 'package="io.vellum"' not in manifest or 'minSdkVersion="26"' not in manifest:
        fail("the manifest has another package or minSdkVersion")

    classes = zipfile.ZipFile(io.BytesIO(archive.read("classes.jar")))
    names = {name for name in classes.namelist() if name.endswith(".class")}
    for needed in ("io/vellum/Session.class", "io/vellum/Native.class", "io/vellum/android/Frames.class"):
        if needed not in names:
            fail(f"classes.jar has no {needed}")
    if foreign := {name for name in names if not name.startswith("io/vellum/")}:
        fail(f"classes.jar has classes of others: {foreign}")
    for name in names:
        version = int.from_bytes(classes.read(name)[6:8], "big")
        if version != 52:
            fail(f"{name} is of class file version {version}, not 52, Java 8")

    with open(source, encoding="utf-8") as text:
        declared = set(re.findall(r"static native [\w<>\[\]]+ (\w+)\(", text.read()))
    if len(declared) < 40:
        fail(f"found only {len(declared)} native functions in {source}")
    for abi in abis:
        functions, others = exported(archive.read(f"jni/{abi}/libvellum_jni.so"))
        if functions != declared:
            fail(f"{abi}: not exported {declared - functions}, not declared {functions - declared}")
        if others:
            fail(f"{abi}: exports more than native functions: {sorted(others)[:5]}")
    print(f"{len(entries)} entries, {len(names)} classes, {len(declared)} native functions for {', '.join(abis)}")


main()
