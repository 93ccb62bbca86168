// A model of integers out of a float one (quantise.mjs) with what LiteRT computes from it: in integers, and from the
// same weights and input in floating point. LiteRT.js takes no tensors of bytes, so for the former it runs the model
// with floating point at its edges; model.tflite is the same with integers there.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readModel, writeModel } from './flatc.mjs';
import { readNpy, writeNpy } from './npy.mjs';
import { SCHEMES, activationsOf, quantise } from './quantise.mjs';
import { cutPart, readGraph } from './tflite_parts.mjs';

// { min, max } of every activation by its number, over the inputs.
function measureRanges(bytes, json, inputs, runLiteRt, folder) {
  const graph = readGraph(bytes);
  const tensors = activationsOf(json).filter((tensor) => !graph.inputs.includes(tensor));
  const model = join(folder, 'all_values.tflite');
  const all = { operators: [...graph.operators.keys()], inputs: graph.inputs, outputs: tensors };
  writeFileSync(model, cutPart(bytes, all));
  const ranges = new Map();
  const include = (tensor, data) => {
    const { min, max } = ranges.get(tensor) ?? { min: 0, max: 0 };
    const least = data.reduce((a, b) => Math.min(a, b), min);
    const most = data.reduce((a, b) => Math.max(a, b), max);
    ranges.set(tensor, { min: least, max: most });
  };
  for (const input of inputs) {
    include(graph.inputs[0], input.data);
    writeNpy(join(folder, 'input.npy'), input);
    for (const { name, file } of runLiteRt(folder, model, 'values')) {
      include(tensors.find((tensor) => graph.tensors[tensor].name === name), readNpy(join(folder, file)).data);
    }
  }
  return ranges;
}

// The ranges of the inputs and outputs: { inputs: { name: { scale, zero_point } }, outputs }.
function edgesOf(json) {
  const [graph] = json.subgraphs;
  const list = (ids) => Object.fromEntries(ids.map((id) => {
    const { name, quantization } = graph.tensors[id];
    return [name, { scale: quantization.scale[0], zero_point: quantization.zero_point[0] }];
  }));
  return { inputs: list(graph.inputs), outputs: list(graph.outputs) };
}

// What the integers of the input stand for.
function onGrid(input, { scale, zero_point: zero }, { low }) {
  const stored = (value) => Math.min(low + 255, Math.max(low, Math.round(value / scale) + zero));
  return { ...input, data: input.data.map((value) => (stored(value) - zero) * scale) };
}

// Writes model.tflite, edges.json, input.npy and LiteRT's outputs (in integers/, in floats/) to `folder`. The first
// input is what it runs, rounded; all of them calibrate. runLiteRt(folder, model, out) runs a model on input.npy in
// `folder`.
export function makeQuantised({ model, scheme, inputs, folder, runLiteRt }) {
  if (!SCHEMES[scheme]) throw new Error(`there is no scheme ${scheme}`);
  const scratch = mkdtempSync(join(tmpdir(), 'vellum-quantise-'));
  try {
    const json = readModel(model, scratch);
    const ranges = measureRanges(new Uint8Array(readFileSync(model)), json, inputs, runLiteRt, scratch);
    const write = (form) => {
      const result = quantise(json, ranges, SCHEMES[scheme], form);
      writeModel(result, scratch, form);
      return result;
    };
    mkdirSync(folder, { recursive: true });
    const edges = edgesOf(write('integers'));
    writeFileSync(join(folder, 'edges.json'), JSON.stringify(edges));
    copyFileSync(join(scratch, 'integers.tflite'), join(folder, 'model.tflite'));
    writeNpy(join(folder, 'input.npy'), onGrid(inputs[0], Object.values(edges.inputs)[0], SCHEMES[scheme]));
    for (const [form, out] of [['float_edges', 'integers'], ['dequantised', 'floats']]) {
      write(form);
      runLiteRt(folder, join(scratch, `${form}.tflite`), out);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
