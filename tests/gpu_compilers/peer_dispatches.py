"""Predicts by the performance model how long an inference of another engine takes, as scoreboard.py does for Vellum's kernels:
    tests/gpu_compilers/peer_dispatches.py RECORD BUILD_FOLDER GPU MODEL [--fp16] [--inferences NUMBER] [--dispatches]
RECORD is the folder in which tests/bench/peers/dispatch_layer.cpp recorded a process that dispatched nothing but inferences, NUMBER
of them, by default three. Prints two lines of JSON: the sums of the scoreboard for the record, and for Vellum with MODEL on that GPU,
whose rates and latencies are those of both. --dispatches prints a line for each dispatch of the record before.

A dispatch with constant weights and a bias multiplies each weight for each pixel of its output; the pixels are the elements of the
output divided by those of the bias. Where several constants are as large as the largest, as the four images of weights are on
Adreno, all of them are weights. The count includes the padding of channels that the engine computes. Dispatches with weights and bias in one buffer count as copies.
"""
import argparse
import collections
import dataclasses
import json
import math
import pathlib
import re
import struct

import machine_code
import scoreboard

# Values of VkDescriptorType, and the bytes of a texel by VkFormat: of rgba8, and of one, two or four halves or floats.
SAMPLED_IMAGE, STORAGE_IMAGE, UNIFORM_BUFFER, STORAGE_BUFFER = 2, 3, 6, 7
TEXEL_BYTES = {37: 4, 76: 2, 83: 4, 97: 8, 100: 4, 103: 8, 109: 16}
# As in runtime/cost/dispatch_time.hpp and runtime/plan/dispatch_model.cpp.
STEPS_AROUND = 3
BYTES_OF_STEP = 64
USUAL_RESIDENT = 8
USUAL_SUBGROUP = 32
RESIDENT = ("Subgroups per SIMD", "Max Waves Per Core", "Max warps/SM")


@dataclasses.dataclass
class Shader:
    """What the SPIR-V of a pipeline declares. `written`: (set, binding) of what it may write."""
    workgroup: tuple
    written: set


def shader_of(path):
    execution_mode, pointer, variable, decorate, member_decorate = 16, 32, 59, 71, 72
    local_size, non_writable, binding, descriptor_set = 17, 24, 33, 34
    words = struct.unpack(f"<{path.stat().st_size // 4}I", path.read_bytes())
    workgroup, places, fixed, pointees, types = (1, 1, 1), collections.defaultdict(dict), set(), {}, {}
    position = 5  # after the header
    while position < len(words):
        length, op = words[position] >> 16, words[position] & 0xFFFF
        operands = words[position + 1:position + length]
        if op == execution_mode and operands[1] == local_size:
            workgroup = operands[2:5]
        elif op == decorate and operands[1] in (binding, descriptor_set):
            places[operands[0]][operands[1]] = operands[2]
        elif op == decorate and operands[1] == non_writable or op == member_decorate and operands[2] == non_writable:
            fixed.add(operands[0])
        elif op == pointer:
            pointees[operands[0]] = operands[2]
        elif op == variable:
            types[operands[1]] = operands[0]
        position += length
    return Shader(workgroup, {(place[descriptor_set], place[binding]) for each, place in places.items()
                              if each not in fixed and pointees[types[each]] not in fixed})


@dataclasses.dataclass(frozen=True)
class Resource:
    """A buffer or an image by its number, with the bytes that are bound. A shader cannot write `sampled` ones."""
    number: int
    bytes: int
    sampled: bool = False


@dataclasses.dataclass
class Dispatch:
    """`bound`: (set, binding) to a Resource. Uniform buffers and samplers are left out."""
    pipeline: int
    workgroups: tuple
    barrier: bool
    bound: dict

    @property
    def kernel(self):
        return self.pipeline, self.workgroups


def dispatches_of(folder):
    """All dispatches in the order of the calls."""
    images, views, dispatches = {}, {}, []
    sets, commands = collections.defaultdict(dict), collections.defaultdict(lambda: {"sets": {}})
    for line in (folder / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        kind, state = event["event"], commands[event.get("commands")]
        if kind == "image":
            texels = event["width"] * event["height"] * event["depth"] * event["layers"]
            images[event["handle"]] = Resource(event["handle"], texels * TEXEL_BYTES.get(event["format"], 0))
        elif kind == "view":
            views[event["handle"]] = images.get(event["image"])
        elif kind == "write" and event["type"] == STORAGE_BUFFER:
            sets[event["set"]][event["binding"]] = Resource(event["buffer"], event["range"])
        elif kind == "write" and event["type"] in (SAMPLED_IMAGE, STORAGE_IMAGE) and views.get(event["view"]):
            sets[event["set"]][event["binding"]] = dataclasses.replace(views[event["view"]], sampled=event["type"] == SAMPLED_IMAGE)
        elif kind == "bind_pipeline":
            state["pipeline"] = event["pipeline"]
        elif kind == "bind_set":
            state["sets"][event["index"]] = event["set"]
        elif kind == "barrier":
            state["barrier"] = True
        elif kind == "dispatch":
            bound = {(index, binding): resource for index, number in state["sets"].items() for binding, resource in sets[number].items()}
            dispatches.append(Dispatch(state["pipeline"], (event["x"], event["y"], event["z"]), state.pop("barrier", False), bound))
    return dispatches


def last_inference(dispatches, inferences):
    """Raises ValueError if the inferences differ."""
    length = len(dispatches) // inferences
    parts = [dispatches[start:start + length] for start in range(0, len(dispatches), length or 1)]
    if len(parts) != inferences or any([each.kernel for each in part] != [each.kernel for each in parts[0]] for part in parts):
        raise ValueError(f"the record is not one of {inferences} equal inferences")
    return parts[-1]


def pipeline_of(folder, number):
    """A pipeline as scoreboard.predicted_us() takes it, with the shader and the statistics. The last executable is the widest."""
    last = max(folder.glob(f"{number}.*.txt"), key=lambda path: int(path.name.split(".")[1]))
    text = last.read_text(errors="replace")
    statistics = {found[1]: float(found[2]) for found in re.finditer(r"^([^:\n]+): ([\d.]+)$", text.split("==== ")[0], re.MULTILINE)}
    return {"shader": shader_of(folder / f"{number}.spv"), "statistics": statistics, "hot_loop": machine_code.hot_loop(text), "defines": {}}


def written_by(dispatch, shader):
    return [resource for place, resource in dispatch.bound.items() if place in shader.written and not resource.sampled]


def macs_of(dispatch, shader, constants, element_bytes):
    fixed = [resource.bytes for resource in dispatch.bound.values() if resource.number in constants]
    written = sum(resource.bytes for resource in written_by(dispatch, shader))
    weights = max(fixed, default=0)
    return written / min(fixed) * weights * fixed.count(weights) / element_bytes if len(fixed) > 1 else 0


def modelled(dispatch, pipeline, macs, rates):
    """The terms of runtime/cost/dispatch_time.cpp, as `vellum inspect --json` prints them."""
    statistics = pipeline["statistics"]
    subgroup = statistics["subgroup size"] or USUAL_SUBGROUP
    workgroups, lanes = math.prod(dispatch.workgroups), math.prod(pipeline["shader"].workgroup)
    invocations, subgroups = workgroups * lanes, workgroups * math.ceil(lanes / subgroup)
    size = sum({resource.number: resource.bytes for resource in dispatch.bound.values()}.values())
    steps = STEPS_AROUND + (macs / 16 if macs else size / BYTES_OF_STEP) / invocations
    at_once = max(rates["units"], rates["lanes"] / subgroup)
    resident = next((statistics[name] for name in RESIDENT if statistics.get(name)), USUAL_RESIDENT)
    held = max(at_once, rates["units"] * resident)
    return {"macs": macs, "bytes": size, "invocations": invocations, "steps": steps, "efficiency": 0.5 if macs else 1,
            "compute_us": macs / (1e3 * rates["gigamacs_per_s"]), "memory_us": size / (1e3 * rates["gigabytes_per_s"]),
            "latency_us": 1e-3 * steps * rates["latency_ns"] * max(1, subgroups / held),
            "overhead_us": rates["launch_us"] + dispatch.barrier * rates["barrier_us"],
            "busy": subgroups / (math.ceil(subgroups / at_once) * at_once), "waves": max(1, min(subgroups, held) / at_once)}


def predict(folder, rates, element_bytes=4, inferences=3):
    """The sums of the scoreboard, and a line of text for each dispatch."""
    dispatches = last_inference(dispatches_of(folder), inferences)
    pipelines = {number: pipeline_of(folder, number) for number in {each.pipeline for each in dispatches}}
    written = {resource.number for each in dispatches for resource in written_by(each, pipelines[each.pipeline]["shader"])}
    constants = {resource.number for each in dispatches for resource in each.bound.values()} - written
    sums = dict.fromkeys(["predicted_ms", *scoreboard.SHARES, "macs"], 0)
    lines = []
    for dispatch in dispatches:
        pipeline = pipelines[dispatch.pipeline]
        macs = macs_of(dispatch, pipeline["shader"], constants, element_bytes)
        row = modelled(dispatch, pipeline, macs, rates)
        us, longest, overhead = scoreboard.predicted_us(row, pipeline)
        for key, value in ((longest, us / 1e3), ("overhead_ms", overhead / 1e3), ("predicted_ms", (us + overhead) / 1e3), ("macs", macs)):
            sums[key] += value
        lines.append(f"{us:8.2f} us, {longest[:-3]}, {macs / 1e6:.3f} M, {row['bytes']} bytes, pipeline {dispatch.pipeline}, "
                     f"{dispatch.workgroups} x {pipeline['shader'].workgroup}, {pipeline['hot_loop']}")
    return {**sums, "dispatches": len(dispatches), "pipelines": len(pipelines)}, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("gpu")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--fp16", action="store_true", help="elements have two bytes")
    parser.add_argument("--inferences", type=int, default=3)
    parser.add_argument("--dispatches", action="store_true")
    arguments = parser.parse_args()
    precision = scoreboard.PRECISIONS["fp16" if arguments.fp16 else "fp32"]
    report = scoreboard.report_of(arguments.build / "tools/vellum/vellum", arguments.gpu, arguments.model, precision)
    sums, lines = predict(arguments.record, report["rates"], 2 if arguments.fp16 else 4, arguments.inferences)
    for line in lines if arguments.dispatches else []:
        print(line)
    print(json.dumps(scoreboard.rounded(sums)))
    print(json.dumps(scoreboard.rounded(scoreboard.figures(report))))


if __name__ == "__main__":
    main()
