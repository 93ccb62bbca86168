"""Reads the assembly that `vellum inspect --stage kernels --code` writes: the hot loop of a kernel, the innermost loop with
the most multiply-adds times its efficiency, and what it issues. (A loop that activates the sums may have more multiply-adds,
among many other instructions.) Where all loops are unrolled that is the code between its first load and its first store: like a
loop it has neither what finds a kernel's place nor what activates and stores the other results.

hot_loop(text) returns a HotLoop or None. Formats: AMD's ISA as ACO prints it (RADV), ir3 (Turnip), GEN (ANV), NVIDIA's as NAK
prints it (NVK), Mali's Valhall (PanVK).
"""
import collections
import dataclasses
import re


@dataclasses.dataclass
class HotLoop:
    fmas: float      # multiply-adds of one lane in one iteration; a dot product of four bytes is four of them
    slots: float     # cycles (AMD) or issue slots (others) of the unit that multiplies
    loads: int       # memory instructions that load
    counts: dict     # instructions by kind

    @property
    def efficiency(self):
        """Multiply-adds a slot: an upper bound of the share of the device's peak. Packed halves count twice."""
        return self.fmas / max(1, self.slots)

    @property
    def fmas_per_load(self):
        return self.fmas / max(1, self.loads)


def section(text, title):
    """The lines of the last representation whose name has `title`."""
    parts = re.split(r"^==== ", text, flags=re.MULTILINE)
    found = [part for part in parts if title.lower() in part.split("\n", 1)[0].lower()]
    return found[-1].split("\n")[1:] if found else []


def innermost(loops):
    return [(a, b) for a, b in loops if not any(a <= c and d <= b and (c, d) != (a, b) for c, d in loops)]


def loops_between(lines, label, branch):
    """Ranges of lines from a label to the last branch back to it."""
    labels, ends = {}, {}
    for i, line in enumerate(lines):
        if found := re.match(label, line.strip()):
            labels[found[1]] = i
        if (found := re.search(branch, line)) and found[1] in labels:
            ends[labels[found[1]]] = i
    return innermost(list(ends.items()))


def between_load_and_store(lines, load, store):
    """The lines from the first load to the first store after it, as regular expressions find them."""
    first = next((i for i, line in enumerate(lines) if re.search(load, line)), 0)
    last = next((i for i, line in enumerate(lines) if i > first and re.search(store, line)), len(lines))
    return lines[first:last]


def count_loops(count, lines, loops, load, store):
    """What each loop issues, then what the code does without them."""
    return [count(lines[a:b + 1]) for a, b in loops] + [count(between_load_and_store(lines, load, store))]


def amd(lines):
    def count(body):
        kinds, fmas, cycles, loads = collections.Counter(), 0, 0, 0
        for line in map(str.strip, body):
            if not line or re.match(r"BB\d+:", line):
                continue
            op = line.split()[0]
            if op.startswith("v_dual"):
                halves = re.findall(r"v_dual_(\w+)", line)
                fmas += sum(half.startswith("fma") for half in halves)
                cycles += 1
                kinds["dual"] += 1
            elif re.match(r"v_pk_fma", op):
                fmas, cycles = fmas + 2, cycles + 1
                kinds["packed"] += 1
            elif re.match(r"v_(fma|fmac|fmaak|fmamk|mad|mac)_(mix|mixlo|mixhi|f16|f32|legacy)", op):
                fmas, cycles = fmas + 1, cycles + 1
                kinds["fma"] += 1
            elif re.match(r"v_dot4", op):
                fmas, cycles = fmas + 4, cycles + 1
                kinds["dot product"] += 1
            elif re.match(r"v_mul_(lo|hi)_|v_mad_[ui]64|v_(rcp|rsq|exp|log|sqrt|sin|cos)_", op):
                cycles += 4
                kinds["quarter rate"] += 1
            elif re.match(r"(buffer|global|flat|image|tbuffer)_(load|sample)", op):
                loads += 1
                kinds["load"] += 1
            elif re.match(r"s_(buffer_)?load", op):
                kinds["scalar load"] += 1
            elif op.startswith("ds_"):
                kinds["shared"] += 1
            elif op.startswith("v_"):
                cycles += 1
                kinds["other vector"] += 1
        return HotLoop(fmas, cycles, loads, dict(kinds))

    return count_loops(count, lines, loops_between(lines, r"(BB\d+):", r"s_c?branch\w*\s+(BB\d+)"),
                       r"^\s*(buffer|global|flat|image|tbuffer)_(load|sample)", r"(buffer|global|flat|image)_store")


def ir3(lines):
    def count(body):
        kinds, fmas, slots, loads = collections.Counter(), 0, 0, 0
        for line in map(str.strip, body):
            line = re.sub(r"^:?\d*:?\d*:?\[?[0-9a-fx_]*\]?\s*", "", line) if re.match(r"^:\d", line) else line
            if not line or re.match(r"l\d+:", line) or line[0] in ";@":
                continue
            repeat = int(found[1]) + 1 if (found := re.search(r"\(rpt(\d)\)", line)) else 1
            waits = int(found[1]) if (found := re.search(r"\(nop(\d)\)", line)) else 0
            op = re.sub(r"^(\([^)]*\)\s*)+", "", line).split()
            if not op:
                continue
            op = op[0]
            slots += waits
            kinds["nop"] += waits
            if op.startswith("alias."):  # names a register as an operand of the load behind it, like that not the multiplier's
                kinds["alias"] += 1
            elif re.match(r"(isam|sam|ldib|ldg|ldc)", op):
                loads += 1
                kinds[op.split(".")[0]] += 1
            elif op.startswith("st"):
                kinds["store"] += 1
            else:
                slots += repeat
                fmas += repeat if op.startswith("mad.f") else 4 * repeat if op.startswith("dp4acc") else 0
                kinds["mad" if op.startswith("mad.f") else "nop" if op == "nop" else "other"] += repeat
        return HotLoop(fmas, slots, loads, dict(kinds))

    return count_loops(count, lines, loops_between(lines, r"(l\d+):", r"(?:br\w*|jump)\b.*#(l\d+)"),
                       r"\b(isam|sam|ldib|ldg)", r"\b(stib|stg)\b")


def gen(lines):
    def count(body):
        kinds = collections.Counter()
        for line in map(str.strip, body):
            line = re.sub(r"^\([^)]*\)\s*", "", line)
            if line and not re.match(r"LABEL|//|END|START", line):
                kinds[re.split(r"[\s(]", line)[0]] += 1
        loads = sum(number for op, number in kinds.items() if op.startswith("send"))
        slots = sum(number for op, number in kinds.items() if not re.match(r"send|while|if|else|endif|break|sync", op))
        return HotLoop(kinds["mad"] + 4 * kinds["dp4a"], slots, loads, dict(kinds))

    return count_loops(count, lines, loops_between(lines, r"LABEL(\d+):", r"while.*JIP:\s*LABEL(\d+)"),
                       r"\bsend", r"^\s*send\w*\(\d+\)\s+null")


def nak(lines):
    def count(body):
        kinds, fmas = collections.Counter(), 0
        for line in map(str.strip, body):
            if "// delay" not in line:
                continue
            op = re.sub(r"^(@!?\S+\s+)?([^=]*= )?", "", line).split()[0]
            fmas += 2 if op.startswith("hfma2") else op.startswith("ffma")
            kinds["load" if re.match(r"ld\.|suld|tex|tld", op) else "control" if re.match(r"bra|bssy|bsync|bclear", op) else
                  "fma" if re.match(r"ffma|hfma2", op) else "other"] += 1
        return HotLoop(fmas, kinds["fma"] + kinds["other"], kinds["load"], dict(kinds))

    # Blocks name their predecessors. NAK puts what comes after a loop between its blocks.
    bodies, predecessors, number = {}, {}, None
    for line in lines:
        if found := re.match(r"block\S* (\d+) L\d+ \[([\d, ]*)\]", line.strip()):
            number = int(found[1])
            predecessors[number] = [int(each) for each in found[2].split(",") if each.strip()]
            bodies[number] = []
        elif number is not None:
            bodies[number].append(line)
    loops = []
    for head, before in predecessors.items():
        for tail in (block for block in before if block >= head):
            loop, waiting = {head}, [tail]
            while waiting:
                block = waiting.pop()
                if block not in loop:
                    loop.add(block)
                    waiting += predecessors[block]
            loops.append(loop)
    whole = between_load_and_store([line for body in bodies.values() for line in body],
                                   r"= (ld|suld|tex|tld)\b", r"\b(st|sust)\.")
    return [count([line for block in sorted(loop) for line in bodies[block]]) for loop in loops
            if not any(other < loop for other in loops)] + [count(whole)]


def valhall(lines):
    def count(body):
        kinds, fmas = collections.Counter(), 0
        for op in (line.split()[0] for line in body if line.strip()):
            fmas += 2 if op.startswith("FMA.v2f16") else op.startswith("FMA.f32")
            kinds["load" if re.match(r"LD_|LOAD|TEX", op) else "control" if re.match(r"BRANCH|NOP|BARRIER", op) else
                  "fma" if re.match(r"FMA\.(v2)?f", op) else "other"] += 1
        return HotLoop(fmas, kinds["fma"] + kinds["other"], kinds["load"], dict(kinds))

    ends = {}
    for i, line in enumerate(lines):
        found = re.search(r"\bBRANCH\w*\..*offset:-(\d+)", line)  # in instructions after this one
        if found and i + 1 - int(found[1]) >= 0:
            ends[i + 1 - int(found[1])] = i
    return count_loops(count, lines, innermost(list(ends.items())), r"\b(LD_|TEX)", r"\bST(_|ORE)(?!.*thread_local)")


def amd_or_valhall(lines):
    return valhall(lines) if any("BRANCHZ" in line or "STORE." in line for line in lines) else amd(lines)


def hot_loop(text, loading=False, fmas=None):
    """The hot loop of one executable's representations; None if nothing multiplies, or there is no assembly. `loading`: of
    those that load from memory. `fmas`: of those with that many multiply-adds, if there are any."""
    for title, read in (("IR3 Assembly", ir3), ("GEN Assembly", gen), ("NAK assembly", nak),
                        ("Assembly", amd_or_valhall)):
        if lines := section(text, title):
            *loops, whole = read(lines)
            loops = [loop for loop in loops if loop.fmas > 0 and (loop.loads > 0 or not loading)] or [whole]
            loops = [loop for loop in loops if loop.fmas == fmas] or loops
            loop = max(loops, key=lambda loop: (loop.fmas * loop.efficiency, loop.loads))
            return loop if loop.fmas > 0 else None
    return None
