#!/usr/bin/python3
"""What peer_dispatches.py reads of a record, and what it predicts of it."""
import json
import pathlib
import struct
import tempfile
import unittest

import peer_dispatches
from peer_dispatches import Resource

RATES = {"gigamacs_per_s": 100, "gigabytes_per_s": 10, "units": 4, "lanes": 128, "latency_ns": 100, "launch_us": 1, "barrier_us": 2}
# A loop of four multiply-adds and one load.
ASSEMBLY = """subgroup size: 32
Subgroups per SIMD: 8
==== Assembly
BB0:
	s_mov_b32 s0, s3
BB1:
	buffer_load_b128 v[0:3], v8, s[0:3], 0 offen
	v_fmac_f32_e32 v4, v0, v1
	v_fmac_f32_e32 v5, v0, v1
	v_fmac_f32_e32 v6, v0, v1
	v_fmac_f32_e32 v7, v0, v1
	s_cbranch_scc1 BB1
	buffer_store_b128 v[4:7], v8, s[0:3], 0 offen
"""
COPY = ASSEMBLY.split("==== ")[0]


def spirv(workgroup, bindings):
    """A module that declares the size of its workgroups, and storage buffers: {binding: may be written}."""
    words = [0x07230203, 0x10400, 0, 100, 0, 6 << 16 | 16, 1, 17, *workgroup]
    for binding, written in bindings.items():
        struct_id, pointer, variable = (10 * (binding + 1) + each for each in range(3))
        words += [4 << 16 | 71, variable, 34, 0, 4 << 16 | 71, variable, 33, binding]
        words += [] if written else [4 << 16 | 72, struct_id, 0, 24]
        words += [4 << 16 | 32, pointer, 12, struct_id, 4 << 16 | 59, pointer, variable, 12]
    return struct.pack(f"<{len(words)}I", *words)


def bound(number, buffers):
    """The events that write a set: {binding: (buffer, bytes)}, and a uniform buffer."""
    events = [{"event": "write", "set": number, "binding": binding, "element": 0, "type": 7, "buffer": buffer, "offset": 0, "range": size}
              for binding, (buffer, size) in buffers.items()]
    return [*events, {"event": "write", "set": number, "binding": 9, "element": 0, "type": 6, "buffer": 99, "offset": 0, "range": 16}]


def dispatched(pipeline, number, workgroups, barrier):
    return [*[{"event": "barrier", "commands": 1}] * barrier, {"event": "bind_pipeline", "commands": 1, "pipeline": pipeline},
            {"event": "bind_set", "commands": 1, "index": 0, "set": number},
            {"event": "dispatch", "commands": 1, "x": workgroups, "y": 1, "z": 1}]


class Record(unittest.TestCase):
    """A convolution of 1600 pixels from 8 to 16 channels (pipeline 1), then a copy of its result (pipeline 2)."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "1.0.txt").write_text("subgroup size: 16\n")  # a narrower executable
        (self.folder / "1.1.txt").write_text(ASSEMBLY)
        (self.folder / "2.0.txt").write_text(COPY)
        (self.folder / "1.spv").write_bytes(spirv((8, 4, 1), {0: False, 1: True, 2: False, 3: False}))
        (self.folder / "2.spv").write_bytes(spirv((64, 1, 1), {0: True, 1: False}))
        sets = bound(5, {0: (10, 64), 1: (11, 102400), 2: (12, 51200), 3: (13, 512)}) + bound(6, {0: (12, 102400), 1: (11, 102400)})
        inference = dispatched(1, 5, 400, True) + dispatched(2, 6, 100, False)
        self.write(sets + 2 * inference)

    def write(self, events):
        (self.folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))

    def test_dispatches_have_their_buffers_and_barriers(self):
        conv, copy = peer_dispatches.last_inference(peer_dispatches.dispatches_of(self.folder), 2)
        self.assertEqual((conv.kernel, conv.barrier, len(conv.bound)), ((1, (400, 1, 1)), True, 4))
        self.assertEqual((copy.kernel, copy.barrier, copy.bound),
                         ((2, (100, 1, 1)), False, {(0, 0): Resource(12, 102400), (0, 1): Resource(11, 102400)}))

    def test_images_count_their_texels_and_samplers_write_nothing(self):
        shader = peer_dispatches.Shader((1, 1, 1), {(0, 0), (0, 1)})
        self.write([{"event": "image", "handle": 20, "format": 109, "width": 9, "height": 6, "depth": 1, "layers": 1},
                    {"event": "view", "handle": 21, "image": 20},
                    *[{"event": "write", "set": 7, "binding": kind - 2, "element": 0, "type": kind, "view": 21} for kind in (2, 3)],
                    *dispatched(1, 7, 1, False)])
        (dispatch,) = peer_dispatches.dispatches_of(self.folder)
        self.assertEqual(dispatch.bound, {(0, 0): Resource(20, 864, True), (0, 1): Resource(20, 864)})
        self.assertEqual(peer_dispatches.written_by(dispatch, shader), [Resource(20, 864)])

    def test_shaders_name_their_workgroup_and_what_they_write(self):
        self.assertEqual(peer_dispatches.shader_of(self.folder / "1.spv"), peer_dispatches.Shader((8, 4, 1), {(0, 1)}))

    def test_unequal_inferences_are_an_error(self):
        with self.assertRaises(ValueError):
            peer_dispatches.predict(self.folder, RATES, inferences=3)

    def test_weights_are_multiplied_for_each_pixel(self):
        sums, lines = peer_dispatches.predict(self.folder, RATES, inferences=2)
        self.assertEqual((sums["macs"], sums["dispatches"], sums["pipelines"], len(lines)), (1600 * 8 * 16, 2, 2, 2))

    def test_weights_may_lie_in_images_of_one_size(self):
        shader = peer_dispatches.Shader((8, 4, 1), {(0, 1)})
        bound = {(0, binding): Resource(number, size, sampled) for binding, number, size, sampled in
                 ((0, 10, 64, False), (1, 11, 102400, False), (2, 12, 51200, True), (3, 13, 256, True), (4, 14, 256, True))}
        dispatch = peer_dispatches.Dispatch(1, (400, 1, 1), False, bound)
        self.assertEqual(peer_dispatches.macs_of(dispatch, shader, {10, 13, 14}, 4), 1600 * 8 * 16)

    def test_the_longest_time_of_each_dispatch_counts(self):
        sums, _ = peer_dispatches.predict(self.folder, RATES, inferences=2)
        # The convolution: 12800 invocations of 16 products, four in each step; 400 subgroups, 32 of which run at a time.
        latency = 0.1 * (3 + 16 / 4) * 400 / 32 + 204800 / 100e3 / 8
        self.assertAlmostEqual(sums["memory_ms"], (102400 + 51200 + 64 + 512) / 10e6 + 204800 / 10e6)
        self.assertEqual((sums["compute_ms"], sums["latency_ms"]), (0, 0))
        self.assertAlmostEqual(sums["overhead_ms"], 0.004)
        self.assertAlmostEqual(sums["predicted_ms"], sums["memory_ms"] + 0.004)
        sums, _ = peer_dispatches.predict(self.folder, {**RATES, "gigabytes_per_s": 1000}, inferences=2)
        self.assertAlmostEqual(sums["latency_ms"], 1e-3 * (latency + 0.1 * (3 + 204800 / 6400 / 64) * 200 / 32))


if __name__ == "__main__":
    unittest.main()
