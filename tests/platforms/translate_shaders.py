#!/usr/bin/python3
"""Translates the shaders of bundles to Metal's language with SPIRV-Cross, the translator in MoltenVK.

    translate_shaders.py BUNDLE...   prints how many there are; fails with the message for one that is not translated
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

MAGIC, HEADER_WORDS, OP_FUNCTION, OP_FUNCTION_END = 0x07230203, 5, 54, 56


def modules(data):
    """The SPIR-V modules in a bundle. Functions come last in a module, so that it ends with the last of them."""
    words = struct.unpack(f"<{len(data) // 4}I", data[:len(data) // 4 * 4])
    at = 0
    while at < len(words):
        if words[at] != MAGIC or words[at + 1] >> 16 != 1:  # the version's major number
            at += 1
            continue
        end = at + HEADER_WORDS
        while words[end] >> 16:
            operation = words[end] & 0xffff
            end += words[end] >> 16
            if operation == OP_FUNCTION_END and (end == len(words) or words[end] & 0xffff != OP_FUNCTION):
                break
        yield struct.pack(f"<{end - at}I", *words[at:end])
        at = end


def translate(module):
    with tempfile.NamedTemporaryFile(suffix=".spv") as file:
        file.write(module)
        file.flush()
        # As MoltenVK on macOS 13; --msl-texture-buffer-native: what textures of buffers are since Metal 2.1.
        command = ["spirv-cross", "--msl", "--msl-version", "30000", "--msl-texture-buffer-native", file.name]
        return subprocess.run(command, capture_output=True, text=True)


def main():
    shaders = {module for name in sys.argv[1:] for module in modules(pathlib.Path(name).read_bytes())}
    if not shaders:
        sys.exit(__doc__)
    for module in shaders:
        answer = translate(module)
        if answer.returncode:
            sys.exit(f"translate_shaders.py: {answer.stderr.strip()}")
    print(f"{len(shaders)} shaders translated to Metal's language")


if __name__ == "__main__":
    main()
