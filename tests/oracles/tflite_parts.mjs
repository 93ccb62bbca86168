// Cuts a TFLite model where operators stand that LiteRT does not have, so that it can run the parts between them. A part is
// the same file, so that nothing is copied wrongly: its list of operators is shortened in place, and the lists of inputs
// and outputs are written anew after the end. Field numbers are those of TensorFlow Lite's schema.fbs, version 3c.
import { Table } from './flatbuffer.mjs';

const MODEL = { operatorCodes: 1, subgraphs: 2, buffers: 4, signatures: 7 };
const SUBGRAPH = { tensors: 0, inputs: 1, outputs: 2, operators: 3 };
const OPERATOR = { opcode: 0, inputs: 1, outputs: 2, customOptions: 5 };
const OPERATOR_CODE = { custom: 1, version: 2 };
const TENSOR = { shape: 0, buffer: 2, name: 3 };
const BUFFER = { data: 0 };

// { tensors: [{ name, shape, constant }], inputs, outputs, operators: [{ custom, version, inputs, outputs, options }] };
// tensors are meant by their numbers, and `custom` is empty for TFLite's own operators.
export function readGraph(bytes) {
  const model = Table.root(bytes);
  const subgraphs = model.tables(MODEL.subgraphs);
  if (subgraphs.length !== 1) throw new Error(`the model has ${subgraphs.length} graphs instead of one`);
  const [graph] = subgraphs;
  const codes = model.tables(MODEL.operatorCodes);
  const buffers = model.tables(MODEL.buffers);
  return {
    tensors: graph.tables(SUBGRAPH.tensors).map((tensor) => ({
      name: tensor.string(TENSOR.name),
      shape: tensor.integers(TENSOR.shape),
      constant: buffers[tensor.integer(TENSOR.buffer)].vector(BUFFER.data).length > 0,
    })),
    inputs: graph.integers(SUBGRAPH.inputs),
    outputs: graph.integers(SUBGRAPH.outputs),
    operators: graph.tables(SUBGRAPH.operators).map((operator) => {
      const code = codes[operator.integer(OPERATOR.opcode)];
      return {
        custom: code.string(OPERATOR_CODE.custom),
        version: code.integer(OPERATOR_CODE.version, 1),
        inputs: operator.integers(OPERATOR.inputs).filter((tensor) => tensor >= 0),
        outputs: operator.integers(OPERATOR.outputs),
        options: operator.bytes(OPERATOR.customOptions),
      };
    }),
  };
}

// The model with these operators (their numbers, rising) alone.
export function cutPart(bytes, { operators, inputs, outputs }) {
  const end = Math.ceil(bytes.length / 4) * 4;
  const part = new Uint8Array(end + 4 * (2 + inputs.length + outputs.length));
  part.set(bytes);
  const model = Table.root(part);
  if (model.vector(MODEL.signatures).length) throw new Error('the model has signatures, which a part of it would not fit');
  const [graph] = model.tables(MODEL.subgraphs);
  const { view } = graph;
  const list = graph.vector(SUBGRAPH.operators).start;
  for (const [index, operator] of operators.entries()) {
    const from = list + 4 * operator;
    const target = from + view.getUint32(from, true);
    view.setUint32(list + 4 * index, target - (list + 4 * index), true);
  }
  view.setUint32(list - 4, operators.length, true);
  let at = end;
  for (const [number, tensors] of [[SUBGRAPH.inputs, inputs], [SUBGRAPH.outputs, outputs]]) {
    const field = graph.field(number);
    view.setUint32(field, at - field, true);
    for (const value of [tensors.length, ...tensors]) {
      view.setInt32(at, value, true);
      at += 4;
    }
  }
  return part;
}

// The tensors that do not depend on the input, and the operators that make them (weights that are stored as halves).
function findConstants(graph) {
  const tensors = new Set([...graph.tensors.keys()].filter((tensor) => graph.tensors[tensor].constant));
  const operators = new Set();
  graph.operators.forEach(({ inputs, outputs }, index) => {
    if (!inputs.every((tensor) => tensors.has(tensor))) return;
    operators.add(index);
    outputs.forEach((tensor) => tensors.add(tensor));
  });
  return { tensors, operators };
}

// The graph as a sequence of steps: { operators, inputs, outputs } for what LiteRT runs in one go, { custom } for one
// operator of those names. `inputs` and `outputs` are the tensors that a part takes from before and leaves for later;
// what makes a constant is in every part that reads it.
export function planParts(graph, customNames) {
  const constants = findConstants(graph);
  const known = new Set([...graph.inputs, ...constants.tensors]);
  const waiting = new Set([...graph.operators.keys()].filter((index) => !constants.operators.has(index)));
  const tensorsOf = (operators, which) => new Set(operators.flatMap((index) => graph.operators[index][which]));
  // In the file's order, in which every operator follows those that it reads from.
  const takeReady = (custom) => {
    const taken = [];
    for (const index of waiting) {
      const operator = graph.operators[index];
      if (customNames.includes(operator.custom) !== custom) continue;
      if (!operator.inputs.every((tensor) => known.has(tensor))) continue;
      taken.push(index);
      waiting.delete(index);
      operator.outputs.forEach((tensor) => known.add(tensor));
    }
    return taken;
  };
  const partOf = (operators) => {
    const read = tensorsOf(operators, 'inputs');
    for (const index of [...constants.operators].reverse()) {
      const { inputs, outputs } = graph.operators[index];
      if (!outputs.some((tensor) => read.has(tensor))) continue;
      operators.push(index);
      inputs.forEach((tensor) => read.add(tensor));
    }
    operators.sort((a, b) => a - b);
    const made = tensorsOf(operators, 'outputs');
    const later = new Set([...graph.outputs, ...tensorsOf([...waiting], 'inputs')]);
    return {
      operators,
      inputs: [...read].filter((tensor) => !made.has(tensor) && !constants.tensors.has(tensor)),
      outputs: [...made].filter((tensor) => later.has(tensor) && !constants.tensors.has(tensor)),
    };
  };
  const steps = [];
  while (waiting.size) {
    const operators = takeReady(false);
    if (operators.length) steps.push(partOf(operators));
    const custom = takeReady(true);
    for (const index of custom) steps.push({ custom: graph.operators[index] });
    if (!operators.length && !custom.length) throw new Error('the operators of the model wait for each other');
  }
  return steps;
}
