#!/usr/bin/env python3
"""Prints what ONNX Runtime computes for single operators of com.microsoft: the values that tests/graph record.

  pip install onnx onnxruntime numpy
  python3 tests/oracles/onnx_contrib.py
"""
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8,
         np.dtype(np.int32): TensorProto.INT32, np.dtype(np.bool_): TensorProto.BOOL, np.dtype(np.int64): TensorProto.INT64}


def run(op, inputs, outputs=1, **attributes):
    """inputs: arrays, of which the first is given at run time; None: omitted."""
    names = ["" if value is None else f"i{k}" for k, value in enumerate(inputs)]
    results = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("i0", TYPES[inputs[0].dtype], inputs[0].shape)],
        [onnx.ValueInfoProto(name=name) for name in results],
        [numpy_helper.from_array(value, names[k]) for k, value in enumerate(inputs) if k > 0 and value is not None])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21),
                                                                    helper.make_opsetid("com.microsoft", 1)])
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    for result in session.run(None, {"i0": inputs[0]}):
        text = ", ".join(f"{v:.9g}" for v in result.reshape(-1).tolist())
        print(f"{op} {attributes} {list(result.shape)} {result.dtype}: {{{text}}}")


def eighths(shape, seed):
    """Numbers in -1...1, as the tests make them."""
    count = int(np.prod(shape))
    return (((np.arange(count) * 7 + seed * 5) % 17 - 8) / 8).astype(np.float32).reshape(shape)


def octets(shape, seed, dtype=np.uint8):
    count = int(np.prod(shape))
    return ((np.arange(count) * 37 + seed * 11) % 256).astype(np.uint8).astype(dtype).reshape(shape)


f, b, i8 = (lambda *v: np.array(v[0] if len(v) == 1 else v, np.float32)), (lambda v: np.array(v, np.uint8)), (lambda v: np.array(v, np.int8))

x = octets((2, 3), 1)
run("QLinearSoftmax", [x, f(0.03125), b(7), f(0.00390625), b(0)], opset=13, axis=-1)
run("QLinearSoftmax", [octets((2, 1, 3), 1), f(0.03125), b(7), f(0.00390625), b(0)], opset=12, axis=0)
run("QLinearWhere", [np.array([[True], [False]]), x, f(0.5), b(3), octets((1, 3), 5), f(0.25), b(200), f(1), b(100)])
pooled = [octets((1, 3, 2, 4), 1), f(0.5), b(3), f(0.5), b(9)]
run("QLinearAveragePool", pooled, kernel_shape=[2, 1], channels_last=1)
run("QLinearGlobalAveragePool", pooled, channels_last=1)
weights, scale = octets((4, 2), 3, np.int8), f(0.125, 0.25)
run("MatMulIntegerToFloat", [octets((3, 4), 2), weights, f(0.5), scale, b(9), i8([1, -2]), f(1, 2)])
run("DynamicQuantizeMatMul", [eighths((3, 4), 2), weights, scale, i8([1, -2]), f(1, 2)])
gates = 8  # of two hidden units
run("DynamicQuantizeLSTM", [eighths((3, 1, 3), 1), octets((1, 3, gates), 1, np.int8), octets((1, 2, gates), 2, np.int8),
                            eighths((1, 2 * gates), 3), None, None, None, None, f([0.0078125]), i8([3]),
                            f([0.00390625]), i8([-2])], 3, hidden_size=2)
# With blocks of rows (g_idx) ONNX Runtime ignores packed zero points.
for bits, rows, block, zero, groups in ((4, 20, 16, True, False), (4, 32, 32, False, False), (8, 20, 16, True, False),
                                        (4, 32, 16, False, True), (2, 20, 16, True, False)):
    columns, blocks = 3, -(-rows // block)
    run("MatMulNBits",
        [eighths((2, rows), 4), octets((columns, blocks, block * bits // 8), 6), np.abs(eighths((columns * blocks,), 1)) / 8,
         octets((columns, -(-blocks * bits // 8)), 8) if zero else None,
         ((np.arange(rows) * 3) % blocks).astype(np.int32) if groups else None, f(1, 2, 3)],
        K=rows, N=columns, bits=bits, block_size=block)
indices = np.array([2, 0], np.int64)


def gather(bits, zero):
    table, blocks = octets((3, 24 * bits // 8), 7), 2  # blocks of 16 and 8
    scales = np.abs(eighths((3, blocks), 2))
    points = octets((3, -(-blocks * bits // 8)), 9) if zero else None
    # The indices are given at run time.
    names = ["d", "i", "s"] + (["z"] if zero else [])
    node = helper.make_node("GatherBlockQuantized", names, ["y"], domain="com.microsoft", gather_axis=0, quantize_axis=1,
                            block_size=16, bits=bits)
    weights = {"d": table, "s": scales} | ({"z": points} if zero else {})
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("i", TensorProto.INT64, [2])],
                              [onnx.ValueInfoProto(name="y")],
                              [numpy_helper.from_array(value, name) for name, value in weights.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21),
                                                                    helper.make_opsetid("com.microsoft", 1)])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    result = session.run(None, {"i": indices})[0]
    print(f"GatherBlockQuantized bits={bits} zero={zero} {list(result.shape)}: {{{', '.join(f'{v:.9g}' for v in result.reshape(-1))}}}")


gather(4, True)
gather(4, False)
gather(8, True)


def fingerprint(y):
    """The products of the last dimension with eighths."""
    return y.reshape(-1, y.shape[-1]).astype(np.float64) @ eighths((y.shape[-1],), 9).astype(np.float64)


def attention(op, inputs, outputs=1, **attributes):
    """inputs: arrays, all given at run time; None: omitted."""
    names = ["" if value is None else f"i{k}" for k, value in enumerate(inputs)]
    results = [f"y{k}" for k in range(outputs)]
    given = {names[k]: value for k, value in enumerate(inputs) if value is not None}
    graph = helper.make_graph(
        [helper.make_node(op, names, results, domain="com.microsoft", **attributes)], "g",
        [helper.make_tensor_value_info(name, TYPES[value.dtype], value.shape) for name, value in given.items()],
        [onnx.ValueInfoProto(name=name) for name in results])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21),
                                                                    helper.make_opsetid("com.microsoft", 1)])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for result in session.run(None, given):
        print(f"{op} {attributes} {list(result.shape)}: {{{', '.join(f'{v:.8g}' for v in fingerprint(result))}}}")


def group_query(batches, tokens, past, lengths, packed=False, turns=False, bias=False, sinks=False, **attributes):
    heads, kv_heads, width = 4, 2, 16
    if packed:
        qkv = [eighths((batches, tokens, (heads + 2 * kv_heads) * width), 1), None, None]
    else:
        qkv = [eighths((batches, tokens, count * width), seed) for count, seed in ((heads, 1), (kv_heads, 2), (kv_heads, 3))]
    cache = [eighths((batches, kv_heads, past, width), seed) if past is not None else None for seed in (4, 5)]
    angles = [eighths((32, width // 2), seed) if turns else None for seed in (6, 7)]
    inputs = [*qkv, *cache, np.array(lengths, np.int32) - 1, np.array(max(lengths), np.int32), *angles, None,
              eighths((1, 1, tokens, max(lengths)), 8) if bias else None, 2 * eighths((heads,), 9) if sinks else None]
    attention("GroupQueryAttention", inputs, 3, num_heads=heads, kv_num_heads=kv_heads, do_rotary=int(turns), **attributes)


group_query(1, 3, None, [3])
group_query(1, 3, 0, [3], packed=True, turns=True)
group_query(1, 1, 4, [5], turns=True)
group_query(1, 2, 3, [5], turns=True, rotary_interleaved=1)
group_query(1, 1, 8, [5], turns=True)
group_query(1, 2, 4, [6], local_window_size=2, softcap=2.0)
group_query(1, 2, 3, [5], bias=True, scale=0.5)
group_query(2, 1, 4, [5, 3], turns=True)
group_query(1, 3, None, [3], sinks=True)
group_query(1, 2, 3, [5], turns=True, sinks=True)
group_query(2, 1, 4, [5, 3], smooth_softmax=1)
group_query(1, 2, 6, [5], sinks=True, local_window_size=2, softcap=2.0)
group_query(1, 2, 6, [5], turns=True, local_window_size=4, sliding_window_cache=1)


def integer_caches(kind, bits, tokens, past, length):
    """Caches in 8 or 4 bits; `past`: their capacity, `length`: tokens after the run. Scales are sixteenths and less."""
    width = 16 if bits == 8 else 8
    scales = [np.array([factor], np.float32) if kind == "PER_TENSOR" else factor * (2 + np.abs(eighths((1, 2, 1, 16), seed)))
              for factor, seed in ((1 / 64, 6), (1 / 32, 7))]
    codes = [(16 * eighths((1, 2, past, width), seed)).astype(np.int8) for seed in (4, 5)]
    if bits == 4:
        codes = [code.view(np.uint8) for code in codes]
    attention("GroupQueryAttention", [eighths((1, tokens, 64), 1), eighths((1, tokens, 32), 2), eighths((1, tokens, 32), 3), *codes,
                                      np.array([length - 1], np.int32), np.array(length, np.int32), *[None] * 5, *scales], 3,
              num_heads=4, kv_num_heads=2, k_quant_type=kind, v_quant_type=kind, kv_cache_bit_width=bits)


for kind in ("PER_TENSOR", "PER_CHANNEL"):
    for bits in (8, 4):
        integer_caches(kind, bits, 1, 6, 6)
        integer_caches(kind, bits, 3, 3, 6)


def normalised(x, weight, epsilon):
    """q_norm_weight and k_norm_weight, which ONNX Runtime's kernel for CPUs does not have: norms of heads before the rotation."""
    heads = x.reshape(-1, 16).astype(np.float64)
    return (heads / np.sqrt((heads**2).mean(-1, keepdims=True) + epsilon) * weight).astype(np.float32).reshape(x.shape)


attention("GroupQueryAttention", [normalised(eighths((1, 2, 64), 1), 2 + eighths((16,), 10), 0.5),
                                  normalised(eighths((1, 2, 32), 2), 2 + eighths((16,), 11), 0.25), eighths((1, 2, 32), 3),
                                  *[eighths((1, 2, 3, 16), seed) for seed in (4, 5)], np.array([4], np.int32), np.array(5, np.int32),
                                  *[eighths((32, 8), seed) for seed in (6, 7)]], 3, num_heads=4, kv_num_heads=2, do_rotary=1)


def experts(tokens, activation, fusion=0, bias=True, **attributes):
    """Four experts of six hidden units, two for each token."""
    rows = 12 if fusion else 6
    biases = [eighths(shape, seed) if bias else None for shape, seed in (((4, rows), 5), ((4, 8), 6))]
    attention("MoE", [eighths((tokens, 8), 1), eighths((tokens, 4), 2), eighths((4, rows, 8), 3), biases[0], eighths((4, 8, 6), 4),
                      biases[1]], k=2, activation_type=activation, swiglu_fusion=fusion, **attributes)


def packed_experts(tokens, bits, block=0, zeros=False, **attributes):
    """Four experts of 32 hidden units, two for each token, with gates and linear parts in turns."""
    fc1, fc2 = [octets((4, rows, 32 * bits // 8), seed) for rows, seed in ((64, 3), (32, 4))]
    blocks = 32 // block if block else 0
    scales = [(1 + np.abs(eighths((4, rows, blocks) if block else (4, rows), seed))) / 2**(bits + 2)
              for rows, seed in ((64, 5), (32, 6))]
    inputs = [eighths((tokens, 32), 1), eighths((tokens, 4), 2), fc1, scales[0], eighths((4, 64), 7), fc2, scales[1],
              eighths((4, 32), 8), None, None, None]
    if zeros:
        inputs += [octets((4, rows, -(-blocks * bits // 8)), seed) for rows, seed in ((64, 9), (32, 10))]
    extra = {"block_size": block} if block else {}
    attention("QMoE", inputs, k=2, activation_type="swiglu", swiglu_fusion=1, expert_weight_bits=bits,
              normalize_routing_weights=1, **extra, **attributes)


for tokens in (1, 5):
    for bits in (4, 8):
        packed_experts(tokens, bits)
        packed_experts(tokens, bits, 16)
        packed_experts(tokens, bits, 16, True)
for tokens in (1, 2, 5):
    experts(tokens, "relu", normalize_routing_weights=1)
    experts(tokens, "silu", bias=False)
    experts(tokens, "gelu")
    experts(tokens, "swiglu", 1, activation_alpha=1.5, activation_beta=1.0, swiglu_limit=0.75)
queries, angles = eighths((2, 3, 32), 1), [eighths((32, 8), seed) for seed in (6, 7)]
attention("RotaryEmbedding", [queries, np.array([4], np.int64), *angles])
attention("RotaryEmbedding", [queries, np.array([[0, 1, 2], [7, 8, 9]], np.int64), *angles], interleaved=1, num_heads=2)
keys, values = eighths((2, 4, 32), 2), eighths((2, 4, 32), 3)
attention("MultiHeadAttention", [queries, keys, values, None, np.array([[1, 1, 0, 1], [1, 0, 0, 1]], np.int32)], num_heads=2)
attention("MultiHeadAttention", [queries, keys, values, None, np.array([3, 2], np.int32), eighths((1, 2, 3, 4), 8)], num_heads=2)
attention("MultiHeadAttention", [queries, queries, queries], num_heads=2, unidirectional=1)
attention("Attention", [queries, eighths((32, 96), 2), eighths((96,), 3), np.array([2, 3], np.int32)], num_heads=2)
# Numbers of keys and first keys, running sums of lengths, and a flag for each query and key (of which any above 0 counts).
for mask in ([2, 3, 1, 0], [2, 3, 0, 3, 6, 0, 3, 6]):
    attention("Attention", [queries, eighths((32, 96), 2), eighths((96,), 3), np.array(mask, np.int32)], num_heads=2)
flags = np.array([[[1, 0, 1], [0, -1, 2], [1, 1, 0]], [[0, 0, 1], [1, 1, 1], [0, 1, 0]]], np.int32)
attention("Attention", [queries, eighths((32, 96), 2), eighths((96,), 3), flags], num_heads=2)
attention("Attention", [queries, eighths((32, 96), 2), eighths((96,), 3), flags], num_heads=2, unidirectional=1)
past = eighths((2, 1, 2, 2, 16), 4)
attention("Attention", [queries[:1], eighths((32, 96), 2), eighths((96,), 3), None, past], 2, num_heads=2, unidirectional=1)
# Sums of two products fit in 16 bits: beyond them kernels of ONNX Runtime for some processors saturate.
integers = [octets((2, 3, 32), 2), octets((32, 96), 3, np.int8) // 2, eighths((96,), 1), np.array(1 / 256, np.float32)]
steps = [np.array(1 / 256, np.float32), np.abs(eighths((96,), 4)) / 128]
zeros = [np.array(120, np.uint8), np.array(3, np.int8), octets((96,), 2, np.int8)]
attention("QAttention", [*integers, steps[0], None, *zeros[:2]], num_heads=2)
attention("QAttention", [*integers, steps[0], np.array([2, 3], np.int32)], num_heads=2, unidirectional=1)
attention("QAttention", [integers[0][:1], *integers[1:], steps[1], None, zeros[0], zeros[2], past], 2, num_heads=2, unidirectional=1)
new = [eighths((2, 1, 64), seed) for seed in (1, 2, 3)]
cache, length = [eighths((2, 4, 12, 16), seed) for seed in (4, 5)], np.array([5], np.int32)
attention("MultiHeadAttention", [*new, None, None, None, *cache, length], 3, num_heads=4)
attention("DecoderMaskedMultiHeadAttention", [*new, None, None, *cache, length], 3, num_heads=4, past_present_share_buffer=1)
