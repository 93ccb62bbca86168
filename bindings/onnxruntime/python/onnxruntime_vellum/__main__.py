"""Runs a Python program whose sessions prefer Vellum: python -m onnxruntime_vellum [NAME=VALUE ...] PROGRAM [ARGUMENT ...]"""

import runpy
import sys

import onnxruntime_vellum


def main() -> None:
    arguments = sys.argv[1:]
    options = {}
    while arguments and "=" in arguments[0]:
        name, value = arguments.pop(0).split("=", 1)
        options[name] = value
    if not arguments:
        sys.exit(__doc__)
    onnxruntime_vellum.prefer(**options)
    sys.argv = arguments
    if arguments[0] == "-m" and len(arguments) > 1:
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
