// Makes integers of the weights and activations of a TFLite model in floating point, as a converter does after
// calibration (Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
// Inference, 2018, section 2; https://ai.google.dev/edge/litert/models/quantization_spec). Models here are what
// `flatc --json` makes of the schema in runtime/import/tflite.
const CODE = {
  add: 0, concatenation: 2, conv: 3, depthwiseConv: 4, dequantize: 6, maxPool: 17, relu: 19, reshape: 22, pad: 34,
  quantize: 114,
};
// The lowest version of an operator that takes integers, with weights of a scale per channel where it has weights.
const VERSIONS = new Map([
  [CODE.add, 2], [CODE.concatenation, 2], [CODE.conv, 3], [CODE.depthwiseConv, 3], [CODE.dequantize, 2],
  [CODE.maxPool, 2], [CODE.relu, 2], [CODE.reshape, 1], [CODE.pad, 2], [CODE.quantize, 1],
]);
// These move elements, so what they read and what they write has one scale.
const MOVING = [CODE.concatenation, CODE.maxPool, CODE.reshape, CODE.pad];
const OPTIONS = new Map([
  [CODE.add, 'AddOptions'], [CODE.conv, 'Conv2DOptions'], [CODE.depthwiseConv, 'DepthwiseConv2DOptions'],
]);

// Activations in `type`. int8: weights have a scale per channel and no zero point; uint8: one of both for all, as
// converters wrote them at first.
export const SCHEMES = {
  int8: { type: 'int8', low: -128, array: Int8Array, perChannel: true },
  uint8: { type: 'uint8', low: 0, array: Uint8Array, perChannel: false },
};

const clone = (json) => JSON.parse(JSON.stringify(json));
const bytesOf = (array) => [...new Uint8Array(array.buffer, array.byteOffset, array.byteLength)];

function halfToFloat(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) throw new Error('a weight is not finite');
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

// The graph of the model with codes instead of indices, constants as floats.
class Network {
  constructor(model) {
    this.model = clone(model);
    [this.graph] = this.model.subgraphs;
    const codes = this.model.operator_codes.map((code) => Math.max(code.old_builtin_code ?? 0, code.builtin_code ?? 0));
    this.operators = this.graph.operators.map(
      ({ opcode_index: index = 0, ...operator }) => ({ ...operator, code: codes[index] }));
    this.constants = new Map();
    this.graph.tensors.forEach((tensor, id) => this.readConstant(tensor, id));
    this.foldHalves();
    this.fuseActivations();
  }

  readConstant({ type = 'float32', buffer = 0 }, id) {
    const data = this.model.buffers[buffer].data ?? [];
    if (!data.length || (type !== 'float32' && type !== 'float16')) return;
    const bytes = Uint8Array.from(data).buffer;
    const halves = () => Float32Array.from(new Uint16Array(bytes), halfToFloat);
    this.constants.set(id, type === 'float32' ? new Float32Array(bytes) : halves());
  }

  foldHalves() {
    this.operators = this.operators.filter(({ code, inputs, outputs }) => {
      if (code !== CODE.dequantize || !this.constants.has(inputs[0])) return true;
      this.constants.set(outputs[0], this.constants.get(inputs[0]));
      return false;
    });
  }

  // RELU into the operator that alone it reads from.
  fuseActivations() {
    const readers = (tensor) =>
      this.operators.filter(({ inputs }) => inputs.includes(tensor)).length + this.graph.outputs.includes(tensor);
    this.operators = this.operators.filter((operator) => {
      if (operator.code !== CODE.relu) return true;
      const [from] = operator.inputs;
      const producer = this.operators.find(({ outputs }) => outputs.includes(from));
      const type = producer && OPTIONS.get(producer.code);
      if (!type || readers(from) !== 1 || producer.builtin_options?.activation) return true;
      producer.builtin_options_type = type;
      producer.builtin_options = { ...producer.builtin_options, activation: 'relu' };
      producer.outputs = operator.outputs;
      return false;
    });
  }

  activations() {
    return [...new Set([...this.graph.inputs, ...this.operators.flatMap(({ outputs }) => outputs)])];
  }
}

// The numbers of all tensors that quantise() wants the range of.
export function activationsOf(model) {
  return new Network(model).activations();
}

// One { scale, zero } for each set of tensors that share it, from { min, max } of every tensor.
function chooseScales(network, ranges, { low }) {
  const leader = new Map(network.activations().map((tensor) => [tensor, tensor]));
  const find = (tensor) => (leader.get(tensor) === tensor ? tensor : find(leader.get(tensor)));
  for (const { code, inputs, outputs } of network.operators) {
    if (!MOVING.includes(code)) continue;
    for (const input of inputs) if (leader.has(input)) leader.set(find(input), find(outputs[0]));
  }
  const total = new Map();
  for (const tensor of leader.keys()) {
    const { min, max } = total.get(find(tensor)) ?? { min: 0, max: 0 };
    const own = ranges.get(tensor);
    total.set(find(tensor), { min: Math.min(min, own.min), max: Math.max(max, own.max) });
  }
  return new Map([...leader.keys()].map((tensor) => {
    const { min, max } = total.get(find(tensor));
    const scale = Math.fround((max - min) / 255 || 1);
    return [tensor, { scale, zero: Math.round(low - min / scale) }];
  }));
}

// Of the elements in each slice along `axis`, or of all: stored integers, scales and zero points.
function quantiseWeights(floats, shape, axis, { perChannel, array }) {
  const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  const slices = perChannel ? shape[axis] : 1;
  const sliceOf = (index) => Math.floor(index / inner) % slices;
  const ranges = Array.from({ length: slices }, () => ({ min: 0, max: 0 }));
  floats.forEach((value, index) => {
    const range = ranges[sliceOf(index)];
    range.min = Math.min(range.min, value);
    range.max = Math.max(range.max, value);
  });
  const step = ({ min, max }) => (perChannel ? Math.max(-min, max) / 127 : (max - min) / 255);
  const scales = ranges.map((range) => Math.fround(step(range) || 1));
  const zeros = ranges.map(({ min }, slice) => (perChannel ? 0 : Math.round(-min / scales[slice])));
  const [least, most] = perChannel ? [-127, 127] : [0, 255];
  const data = array.from(floats, (value, index) => {
    const slice = sliceOf(index);
    return Math.min(most, Math.max(least, Math.round(value / scales[slice]) + zeros[slice]));
  });
  return { data, scales, zeros, axis: perChannel ? axis : 0, inner };
}

class Writer {
  constructor(network, scheme, form) {
    this.network = network;
    this.scheme = scheme;
    this.form = form;
    this.tensors = network.graph.tensors;
    this.buffers = network.model.buffers;
  }

  // One scale and zero point for each index along `axis`, after which `inner` elements follow.
  storeConstant(id, type, data, { scales, zeros, axis, inner }) {
    if (this.form === 'dequantised') {
      const sliceOf = (index) => Math.floor(index / inner) % scales.length;
      const real = (value, slice) => (value - zeros[slice]) * scales[slice];
      const floats = Float32Array.from(data, (value, index) => real(value, sliceOf(index)));
      Object.assign(this.tensors[id], { type: 'float32', buffer: this.addBuffer(floats) });
    } else {
      const quantization = { scale: scales, zero_point: zeros, quantized_dimension: axis };
      Object.assign(this.tensors[id], { type, quantization, buffer: this.addBuffer(data) });
    }
  }

  addBuffer(array) {
    return this.buffers.push({ data: bytesOf(array) }) - 1;
  }

  // Filters of a convolution, and its bias, whose scale is that of the products.
  storeWeights({ code, inputs: [input, weights, bias] }, scales) {
    const { shape } = this.tensors[weights];
    const axis = code === CODE.depthwiseConv ? 3 : 0;
    const filters = quantiseWeights(this.network.constants.get(weights), shape, axis, this.scheme);
    this.storeConstant(weights, this.scheme.type, filters.data, filters);
    const products = filters.scales.map((scale) => Math.fround(scale * scales.get(input).scale));
    const sums = Int32Array.from(this.network.constants.get(bias),
      (value, index) => Math.round(value / products[index % products.length]));
    this.storeConstant(bias, 'int32', sums, { scales: products, zeros: products.map(() => 0), axis: 0, inner: 1 });
  }

  storeActivations(scales) {
    for (const [id, { scale, zero }] of scales) {
      Object.assign(this.tensors[id], { type: this.scheme.type, quantization: { scale: [scale], zero_point: [zero] } });
    }
  }

  // A tensor in floating point that stands for `id` at the edge of the graph, under its name.
  addEdge(id) {
    const { name, shape } = this.tensors[id];
    this.tensors[id].name = `${name}_quantised`;
    return this.tensors.push({ name, shape, type: 'float32' }) - 1;
  }

  addFloatEdges() {
    const { graph, operators } = this.network;
    graph.inputs = graph.inputs.map((id) => {
      const edge = this.addEdge(id);
      operators.unshift({ code: CODE.quantize, inputs: [edge], outputs: [id] });
      return edge;
    });
    graph.outputs = graph.outputs.map((id) => {
      const edge = this.addEdge(id);
      operators.push({ code: CODE.dequantize, inputs: [id], outputs: [edge] });
      return edge;
    });
  }

  finish() {
    const { model, graph, operators } = this.network;
    const codes = [...new Set(operators.map(({ code }) => code))];
    model.operator_codes = codes.map(
      (code) => ({ old_builtin_code: code, builtin_code: code, version: VERSIONS.get(code) }));
    graph.operators = operators.map(({ code, ...operator }) => ({ ...operator, opcode_index: codes.indexOf(code) }));
    const tensors = operators.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]);
    const used = new Set(tensors.map((id) => this.tensors[id]?.buffer));
    this.buffers.forEach((buffer, index) => used.has(index) || delete buffer.data);
    return model;
  }
}

// The model with integers, from { min, max } of its activations by tensor number. In the form 'float_edges' its inputs
// and outputs stay in floating point, between QUANTIZE and DEQUANTIZE; 'dequantised' is the same weights in floating
// point, and no rounding anywhere.
export function quantise(model, ranges, scheme, form = 'integers') {
  const network = new Network(model);
  const foreign = network.operators.find(({ code }) => !VERSIONS.has(code));
  if (foreign) throw new Error(`operator ${foreign.code} is not quantised here`);
  const scales = chooseScales(network, ranges, scheme);
  const writer = new Writer(network, scheme, form);
  for (const operator of network.operators) {
    if (operator.code === CODE.conv || operator.code === CODE.depthwiseConv) writer.storeWeights(operator, scales);
  }
  if (form !== 'dequantised') writer.storeActivations(scales);
  if (form === 'float_edges') writer.addFloatEdges();
  return writer.finish();
}
