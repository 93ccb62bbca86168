#!/usr/bin/python3
"""Checks CONTRIBUTING.md's table against the sources: every activation, operator, shader, planning strategy, pass, trait of
devices, fault of a driver, public option, command and option of a command has its table row, its use and its test, and the
files that the page names exist. The files of vcpkg agree with CMake's.

    contributing_test.py REPOSITORY
"""
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
problems = []


def text_of(*patterns):
    """The text of all files that match the patterns, which are relative to the repository."""
    files = sorted(file for pattern in patterns for file in root.glob(pattern))
    if not files:
        sys.exit(f"no file matches {patterns}: contributing_test.py looks in the wrong place")
    return "\n".join(file.read_text() for file in files)


def found(pattern, text, what):
    """All matches of a pattern, which has one at least."""
    matches = re.findall(pattern, text, re.MULTILINE)
    if not matches:
        sys.exit(f"found no {what}: contributing_test.py does not understand the sources any more")
    return matches


def require(condition, problem):
    if not condition:
        problems.append(problem)


def has_word(word, text):
    return re.search(rf"\b{re.escape(word)}\b", text) is not None


def check_operators():
    table = text_of("runtime/graph/operators.def")
    kernel_tests = text_of("tests/kernels/**/*_test.cpp")
    other_tests = text_of("tests/graph/*_test.cpp", "tests/passes/*_test.cpp", "tests/exec/*_test.cpp",
                          "tests/exec/empty_tensors/*_cases.cpp", "tests/api/*_test.cpp")
    for operator, lowering in found(r"^VELLUM_OPERATOR\((\w+), \w+, (\w+)\)", table, "operator"):
        name = f'"{operator}"'
        if lowering == "lower_none":
            require(name in other_tests, f"operator {operator}: no test in tests/graph or tests/passes names it")
        else:
            require(name in kernel_tests, f"operator {operator}: no test in tests/kernels names it")


def check_fused_kernels():
    table = text_of("runtime/graph/operators/fused/fused_kernels.def")
    for kernel, match, lower in found(r"^VELLUM_FUSED_KERNEL\((\w+), .*, (\w+), (\w+)\)", table, "fused kernel"):
        file = root / f"runtime/kernels/fused/{kernel}.cpp"
        source = file.read_text() if file.exists() else ""
        for function in match, lower:
            require(has_word(function, source), f"fused kernel {kernel}: {file.name} in runtime/kernels/fused has no {function}()")
        test = root / f"tests/kernels/fused/{kernel}_test.cpp"
        require(test.exists() and f"FusedKernelId::{kernel}" in test.read_text(),
                f"fused kernel {kernel}: no {test.name} in tests/kernels/fused checks where it is used")


def check_activations():
    header = text_of("runtime/graph/operators/elementwise/activation.hpp")
    shader = text_of("shaders/**/activation.glsl")
    table = text_of("runtime/graph/operators/elementwise/activation.cpp")
    tests = text_of("tests/graph/*_test.cpp", "tests/kernels/**/*_test.cpp", "tests/passes/*_test.cpp")
    unary = text_of("runtime/graph/operators/elementwise/unary.cpp")
    empty_tensors = text_of("tests/exec/empty_tensors_test.cpp", "tests/exec/empty_tensors/elementwise_cases.cpp")
    for operator in found(r"^VELLUM_OPERATOR\((\w+), make_activation,", text_of("runtime/graph/operators.def"), "activation's operator"):
        require(f'"{operator}"' in unary, f"activation {operator}: unary.cpp has no row for the operator")
        require(f'"{operator}"' in empty_tensors, f"activation {operator}: tests/exec/empty_tensors/ does not list it")
    body = found(r"enum class ActivationKind[^{]*\{([^}]*)\}", header, "enum ActivationKind")[0]
    names = dict(re.findall(r'ActivationKind::(\w+)\W+"(\w+)"', table))
    for kind in found(r"\w+", body, "activation"):
        require(f"activation_{kind}(" in shader, f"activation {kind}: activation.glsl has no activation_{kind}()")
        if kind != "none":
            require(has_word(f"ActivationKind::{kind}", unary), f"activation {kind}: no operator of unary.cpp has it")
            operator = "".join(part.capitalize() for part in kind.split("_"))
            require(has_word(f"ActivationKind::{kind}", tests) or f'"{operator}"' in tests or f'"{names.get(kind)}"' in tests,
                    f"activation {kind}: no test in tests/graph, tests/kernels or tests/passes names it")


def check_shaders():
    sources = text_of("runtime/kernels/**/*.cpp", "runtime/exec/*.cpp", "runtime/program/*.cpp", "runtime/vulkan/*.cpp",
                      "tests/**/*.cpp")
    for file in sorted(root.glob("shaders/**/*.comp")):
        require(f'"{file.stem}' in sources or f"/{file.stem}" in sources, f"shader {file.name}: no source file names it")


def check_switches():
    """A macro that a kernel file names is a word of some shader; GLSL does not notice a name that no shader reads. What
    each shader reads is checked by tests/shaders/switches_test.cpp, of the candidates that its operators lower to."""
    shaders = re.sub(r"//[^\n]*", "", text_of("shaders/**/*.comp", "shaders/**/*.glsl", "shaders/**/*.h"))
    words = set(found(r"\b[A-Z][A-Z_0-9]*\b", shaders, "macro of a shader"))
    composed = {"LINEAR", "FROM_"}  # a value that tensor.glsl composes names with; a macro for each channel
    for file in sorted((root / "runtime/kernels").rglob("*.[ch]pp")):
        for macro in re.findall(r'"([A-Z][A-Z_0-9]*)"', re.sub(r"//[^\n]*", "", file.read_text())):
            require(macro in words | composed, f"{file.relative_to(root)} names the macro {macro}, which no shader reads")


def check_strategies():
    table = text_of("planner/src/strategies.cpp")
    page = text_of("docs/planner.md")
    header = text_of("planner/include/vellum/planner/plan.hpp")
    for mode in "Object", "Offset":
        body = found(rf"enum class {mode}Strategy \{{([^}}]*)\}}", header, "enum of strategies")[0]
        for strategy in found(r"\w+", re.sub(r"//.*", "", body), "strategy"):
            require(f"{mode}Strategy::{strategy}, \"{strategy}\"" in table,
                    f"{mode}Strategy::{strategy} has no row in planner/src/strategies.cpp")
            require(f"`{strategy}`" in page, f"strategy {strategy}: docs/planner.md does not name it")
        folder = mode.lower() + "s"
        for function in found(rf"\b({folder}_\w+)\(const RecordClass", text_of(f"planner/src/{folder}/assignment.hpp"), "solver"):
            require(has_word(function, table), f"{function}() is in no row of planner/src/strategies.cpp")
    # Every strategy of the table runs in these.
    tests = text_of("tests/planner/*.cpp")
    require("all_object_strategies()" in tests and "all_offset_strategies()" in tests, "tests/planner does not run all strategies")


def check_passes():
    order = text_of("runtime/passes/optimise.cpp")
    header = text_of("runtime/passes/**/*.hpp")
    tests = text_of("tests/passes/*_test.cpp")
    page = text_of("docs/kernels.md", "docs/models.md", "docs/benchmarks/passes.md", "docs/architecture.md")
    passes = set(found(r'\{"(\w+)", \w+', order, "pass"))
    for name in sorted(passes):
        require(has_word(name, tests), f"pass {name}: no test in tests/passes names it")
        require(has_word(name, page), f"pass {name}: no page of docs/ names it")
    for function in found(r"^void (\w+)\(Graph& graph\);", header, "declaration of a pass"):
        require(function in passes, f"pass {function} is in no row of runtime/passes/optimise.cpp")


def check_traits():
    header = text_of("runtime/cost/device_traits.hpp")
    struct = re.sub(r"//.*", "", header[header.index("struct DeviceTraits {"):header.index("\n};")])
    members = found(r"\b(\w+) = [^;,]*[;,]", re.sub(r"static constexpr.*", "", struct), "trait")
    visited = found(r"VELLUM_TRAIT\((\w+)", header, "line of visit_traits()")
    # Caps files have these as members of their own.
    set_by_caps = text_of("runtime/caps_file/caps_json.cpp")
    sources = {file: file.read_text() for file in sorted((root / "runtime").rglob("*.[ch]pp"))}
    own = [root / "runtime/cost/device_traits.hpp", root / "runtime/cost/device_traits.cpp"]
    uses = "\n".join(text for file, text in sources.items() if file not in own)
    for trait in members:
        require(trait in visited or has_word(trait, set_by_caps), f"trait {trait}: visit_traits() does not name it")
        require(has_word(trait, uses), f"trait {trait}: nothing in runtime/ uses it")
    vendors = found(r"constexpr uint32_t (k\w+)", text_of("runtime/caps/vendors.hpp"), "vendor")
    allowed = {"cost/device_traits.cpp", "cost/device_rates.cpp", "caps/driver_quirks.cpp", "caps/vendors.hpp"}
    for file, text in sources.items():
        name = file.relative_to(root / "runtime").as_posix()
        for vendor in vendors:
            require(name in allowed or not has_word(vendor, text),
                    f"runtime/{name} names {vendor}: what differs between vendors is a trait (runtime/cost/device_traits.hpp)")


def check_driver_quirks():
    tests = text_of("tests/**/*_test.cpp")
    uses = text_of("runtime/vulkan/*.cpp", "runtime/kernels/**/*.cpp", "runtime/exec/*.cpp")
    for function in found(r"^\w+ (\w+)\((?:const )?DeviceCaps&", text_of("runtime/caps/driver_quirks.hpp"), "fault of a driver"):
        require(has_word(function, tests), f"fault of a driver: no test names {function}()")
        require(has_word(function, uses), f"fault of a driver: nothing uses {function}()")


def check_options():
    tests = text_of("tests/**/*.c", "tests/**/*.cpp", "tests/java/**/*.java", "bindings/python/tests/*.py")
    page = text_of("docs/*.md", "SECURITY.md")
    for table in sorted((root / "runtime/include/vellum").glob("*.def")):
        for option, member in found(r"^VELLUM_OPTION\(\w+, (\w+), (?:\w+\.)?(\w+),", table.read_text(), "option"):
            first, *rest = option.split("_")
            names = {option, member, option.replace("_", "-"), first + "".join(word.capitalize() for word in rest)}
            for place, text in ("test", tests), ("page of docs/", page):
                require(any(has_word(name, text) for name in names), f"option {option} of {table.name}: no {place} names it")


def check_options_of_commands():
    tests = text_of("tests/**/*_test.cpp", "tests/**/*.py", "tests/**/*.sh")
    page = text_of("docs/*.md")
    tool = text_of("tools/**/*.cpp")
    for names in found(r'add_(?:option|flag)\w*(?:<[^>]*>)?\(\s*"([^"]+)"', tool, "option of a command"):
        for option in re.findall(r"--[\w-]+", names):
            for place, text in ("test", tests), ("page of docs/", page):
                require(re.search(rf"{option}(?![\w-])", text), f"option {option} of the tool: no {place} names it")


def check_commands():
    header = text_of("tools/vellum/commands.hpp")
    main = text_of("tools/vellum/main.cpp")
    tests = text_of("tests/tools/usage_test.cpp")
    page = text_of("docs/tool.md")
    for command in found(r"^Command add_(\w+)\(", header, "command"):
        require(has_word(f"add_{command}", main), f"command {command}: tools/vellum/main.cpp does not add it")
        require(f'"{command}"' in tests, f"command {command}: tests/tools/usage_test.cpp does not ask for its help")
        require(f"vellum {command}" in page, f"command {command}: docs/tool.md does not show it")


def own_definitions(file):
    """What a source file defines in unnamed namespaces: types, constants, and functions with their parameters' types."""
    text = re.sub(r'//[^\n]*|R"(\w*)\(.*?\)\1"', "", file.read_text(), flags=re.DOTALL)
    for rest in re.split(r"^namespace \{$", text, flags=re.MULTILINE)[1:]:
        outside, depth = "", 0  # the namespace without the bodies in it
        for character in rest:
            depth += (character == "{") - (character == "}")
            if depth < 0:
                break
            if depth == 0 or (depth == 1 and character == "{"):
                outside += character + "\n" * (character == "}")
        for item in re.split(r"[;}]\s*\n", outside):
            item = " ".join(item.split())
            if match := re.match(r"(?:template <.*?> )?(?:struct|class|enum class|enum) (\w+)", item):
                yield match[1]
            elif match := re.match(r"(?:template <.*?> )?[\w:<>,&* ]+?[ &*](\w+)\((.*)\)(?: const)? ?\{", item):
                types = [re.sub(r"\s*=.*$|\b\w+$", "", part.strip()).strip() for part in match[2].split(",")]
                yield f"{match[1]}({', '.join(types)})"
            elif match := re.match(r"(?:constexpr|const|static)\b[^(]*?\b(\w+) ?[=\[{]", item):
                yield match[1]


def check_names():
    folders = {file.parent for top in ("planner/src", "runtime", "shaders") for file in (root / top).rglob("*.cpp")}
    for folder in sorted(folders):
        name = folder.relative_to(root).as_posix()
        if name.startswith(("runtime/passes", "runtime/kernels")):  # no unity build there, see runtime/CMakeLists.txt
            continue
        defined = {}
        for file in sorted(folder.glob("*.cpp")):
            for definition in set(own_definitions(file)):
                require(definition not in defined,
                        f"{name}: {file.name} and {defined.get(definition)} both define {definition}, and are one translation "
                        "unit in a unity build")
                defined[definition] = file.name


def check_no_loops(house):
    """No folder of `house` includes another that includes it in turn, directly or through others."""
    includes = {}  # by folder: the folders that it includes, each with one of the lines
    for file in (root / house).rglob("*.[ch]pp"):
        room = file.relative_to(root / house).parts[0]
        for name in re.findall(rf'^#include "(?:{house.removeprefix("runtime").strip("/")}/?)([^"]+)"', file.read_text(), re.MULTILINE):
            other = name.split("/")[0]
            if "/" in name and other != room and (root / house / name).exists():
                includes.setdefault(room, {}).setdefault(other, f"{file.relative_to(root)} includes {name}")

    def way(at, to, passed):
        """The lines that lead from one folder to another; empty if none do."""
        for other, line in includes.get(at, {}).items():
            if other == to:
                return [line]
            if other not in passed and (rest := way(other, to, passed | {other})):
                return [line, *rest]
        return []

    require(len(includes) > 3, f"found no includes in {house}: contributing_test.py does not understand them any more")
    for room in sorted(includes):
        loop = way(room, room, set())
        require(not loop, f"{house}/{room} is in a loop: " + "; ".join(loop))


def check_rooms():
    """docs/architecture.md: dependencies have one direction."""
    check_no_loops("runtime")


def check_programs():
    """The tool, vellum-plan and the samples share tools/common, and include nothing of each other."""
    own = {"tools/vellum": root / "tools/vellum", "planner/cli": root / "planner/cli", "samples": root / "samples"}
    for program, folder in own.items():
        others = [other for other in own.values() if other != folder and program != "planner/cli"] or [root / "samples"]
        for file in sorted(folder.rglob("*.[ch]pp")):
            for name in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
                if (file.parent / name).exists() or (folder / name).exists():
                    continue
                require(not any((other / name).exists() for other in others),
                        f"{file.relative_to(root)} includes {name} of another program: what both use belongs in tools/common")


def code_of(file):
    """The text of a file of C++ or GLSL without comments and includes."""
    return re.sub(r'//[^\n]*|^#include[^\n]*', "", file.read_text(), flags=re.MULTILINE)


def included_by(file):
    """The file and all files of the project that it includes, directly or through others."""
    reached, waiting = set(), [file]
    while waiting:
        at = waiting.pop()
        if at in reached:
            continue
        reached.add(at)
        for name in re.findall(r'^#include [<"]([^">]+)[">]', at.read_text(), re.MULTILINE):
            folders = (at.parent, root / "runtime", root / "runtime/include", root / "planner/include")
            waiting += [folder / name for folder in folders if (folder / name).exists()][:1]
    return reached


def defines(file, name):
    """Whether a source file has the body of a function or type of this name."""
    return re.search(rf"\b(?:struct|class) {name}\b[^;()]*\{{|\b{name}\s*\([^;{{}}]*\)[^;{{}}]*\{{", code_of(file)) is not None


def leads_to(user, file, name):
    """Whether `user` uses what `file` defines: its code has the name, and what it includes declares it. A table of
    operators has names alone."""
    if user.suffix == ".comp" or not has_word(name, code_of(user)):
        return False
    if user.suffix == ".def":
        return True
    if file.suffix == ".comp":  # shaders are named by strings
        return re.search(rf'"(?:\w+/)?{name}"', user.read_text()) is not None
    headers = (header for header in included_by(user) if header.suffix == ".hpp")
    return any(has_word(name, code_of(header)) for header in headers)


def check_following_a_convolution():
    """docs/architecture.md follows a convolution through few files, by calls that lead from one to the next."""
    page = text_of("docs/architecture.md").split("## Following one convolution")[1].split("\n## ")[0]
    rows = [(root / file, name) for file, name in found(r"^\| `([\w./]+)` \| `(\w+)` \|", page, "file that a convolution passes")]
    require(len(rows) <= 12, f"architecture.md follows a convolution through {len(rows)} files, more than 12")
    missing = [file for file, _ in rows if not file.exists()]
    require(not missing, f"architecture.md follows a convolution to files that are not there: {missing}")
    for file, name in rows:
        if file.exists() and file.suffix != ".comp":
            require(defines(file, name), f"{file.relative_to(root)} does not define {name}, as architecture.md says")
    reached = [root / "runtime/import/onnx/import_onnx.cpp", *sorted((root / "runtime/api").rglob("*.cpp")),
               root / "runtime/graph/operators.def"]  # where files are read, sessions made, operators listed
    remaining = [row for row in rows if row[0].exists()]
    while found_now := [(file, name) for file, name in remaining if any(leads_to(user, file, name) for user in reached)]:
        reached += [file for file, _ in found_now]
        remaining = [row for row in remaining if row not in found_now]
    for file, name in remaining:
        require(False, f"nothing leads to {name} in {file.relative_to(root)}: no file before it in architecture.md's table uses it")


def check_page():
    page = text_of("CONTRIBUTING.md")
    for name in found(r"`([\w./]+/[\w./]*)`", page, "file name"):
        require((root / name).exists(), f"CONTRIBUTING.md names {name}, which is not there")


def check_versions():
    """docs/versioning.md: a release changes the version in all of these files."""
    version = found(r"project\(Vellum VERSION ([\d.]+)", text_of("CMakeLists.txt"), "version")[0]
    manifest, port = (json.loads(text_of(file)) for file in ("vcpkg.json", "packaging/vcpkg/ports/vellum/vcpkg.json"))
    for name, data in (("vcpkg.json", manifest), ("the port's vcpkg.json", port)):
        require(data["version"] == version, f"{name} has version {data['version']}, CMakeLists.txt {version}")
    needed = [entry for entry in port["dependencies"] if "vcpkg-cmake" not in str(entry)]
    require(manifest["dependencies"] == needed and manifest["features"] == port["features"],
            "vcpkg.json and packaging/vcpkg/ports/vellum/vcpkg.json have different dependencies")


for check in (check_operators, check_fused_kernels, check_activations, check_shaders, check_switches, check_strategies,
              check_passes, check_traits, check_driver_quirks, check_options, check_options_of_commands, check_commands,
              check_names, check_rooms, check_programs, check_following_a_convolution, check_page, check_versions):
    check()
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
