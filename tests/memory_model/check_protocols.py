#!/usr/bin/env python3
"""Checks the protocols between workgroups in Vulkan's memory model: tests/memory_model/check_protocols.py DAT3M

DAT3M: a folder with Dartagnan, built (https://github.com/hernanponcedeleon/Dat3M of February 2026: `mvn -pl dartagnan -am
package -DskipTests`, Java 17). glslangValidator, spirv-opt and spirv-dis have to be on the PATH.

The shader's own text (shaders/reduction/last_workgroup.glsl) is compiled with integers for two workgroups of two invocations.
As it is, its results have to be right and there must be no data race. Without the fence after the atomic results have to be
wrong, which shows that the checker finds such a fault.
Exits with 1 if one of them does not.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHADERS = HERE.parent.parent / "shaders" / "reduction"
FENCE = "    memoryBarrierBuffer();\n"  # the only one within the branch of the first invocation

# The contents of the bindings before, and what has to hold after: a workgroup that is not the last stores nothing.
INPUTS = {0: "{{0}}", 1: "{{0, 0}}", 2: "{{0, 0}}"}
HOLDS = "forall (" + " and ".join(f"(%RESULTS[0][{i}] == 2 or %RESULTS[0][{i}] == 0)" for i in range(2)) + ")"


def assembly(protocol: str, folder: pathlib.Path) -> str:
    """Returns the SPIR-V of last_workgroup.comp with this text of last_workgroup.glsl, without calls, as text."""
    (folder / "last_workgroup.glsl").write_text(protocol)
    module = folder / "module.spv"
    run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True).stdout
    run("glslangValidator", "--target-env", "vulkan1.2", f"-I{folder}", "-o", str(module), str(HERE / "last_workgroup.comp"))
    run("spirv-opt", "--inline-entry-points-exhaustive", "--eliminate-dead-functions", "--private-to-local", str(module),
        "-o", str(module))
    return run("spirv-dis", "--raw-id", "--no-indent", str(module))


def annotated(text: str) -> str:
    """Adds what Dartagnan has to know: the buffers' contents, the condition, and two workgroups of two invocations."""
    ids = {int(binding): name for name, binding in re.findall(r"OpDecorate (%\d+) Binding (\d+)", text)}
    lines = [f"; @Input: {ids[binding]} = {contents}" for binding, contents in INPUTS.items()]
    lines += [f"; @Output: {HOLDS.replace('%RESULTS', ids[2])}", "; @Config: 2, 1, 2"]
    return "\n".join(lines) + "\n" + text


def passes(protocol: str, dat3m: pathlib.Path, what: str) -> bool:
    """`what`: program_spec, the condition; or cat_spec, that there are no data races."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "protocol.spvasm"
        source.write_text(annotated(assembly(protocol, folder)))
        command = ["java", "-jar", str(dat3m / "dartagnan/target/dartagnan.jar"), str(dat3m / "cat/vulkan.cat"),
                   "--target=vulkan", "--witness=none", f"--property={what}", str(source)]
        environment = os.environ | {"DAT3M_HOME": str(dat3m), "DAT3M_OUTPUT": name}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    verdict = re.search(r"^.*\b(PASS|FAIL)\b", done.stdout, re.MULTILINE)
    if not verdict:
        sys.exit(f"check_protocols.py: Dartagnan gave no verdict:\n{done.stdout}{done.stderr}")
    return verdict[1] == "PASS"


def main() -> None:
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "cat/vulkan.cat").exists():
        sys.exit(__doc__)
    dat3m = pathlib.Path(sys.argv[1]).resolve()
    protocol = (SHADERS / "last_workgroup.glsl").read_text()
    assert protocol.count(FENCE) == 1, "the fence after the atomic"
    right = all(passes(protocol, dat3m, what) for what in ("program_spec", "cat_spec"))
    found = not passes(protocol.replace(FENCE, ""), dat3m, "program_spec")
    print(f"last_workgroup.glsl: {'right' if right else 'WRONG'}; without its fence after the atomic: "
          f"{'found wrong' if found else 'NOT FOUND'}")
    sys.exit(not (right and found))


if __name__ == "__main__":
    main()
