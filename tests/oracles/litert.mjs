// Runs a TFLite model with LiteRT's WebAssembly build on the CPU (XNNPACK):
//
//   node litert.mjs MODEL.tflite --input [NAME=]FILE.npy ... --out FOLDER
//
// Inputs, outputs and what is printed are as for onnxruntime.mjs.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ATTENTION_OPERATORS, runAttention } from './attention.mjs';
import { readInputs, writeOutputs } from './command_line.mjs';
import { importPackage, packageFile } from './packages.mjs';
import { cutPart, planParts, readGraph } from './tflite_parts.mjs';

// LiteRT.js is written for browsers: it loads its WebAssembly wrapper, a classic script that leaves a global behind,
// through a worker's importScripts(). Node has no such function; the wrapper itself knows Node, and then needs what
// a CommonJS module has.
function provideBrowserGlobals() {
  globalThis.self = globalThis;
  globalThis.importScripts = (file) => {
    const wrapper = new Function('require', '__filename', '__dirname', `${readFileSync(file, 'utf8')}\nreturn ModuleFactory;`);
    globalThis.ModuleFactory = wrapper(createRequire(file), file, dirname(file));
  };
}

// It reports on the console that there is no WebGPU, which nobody asked for, and standard output is for the result.
function redirectConsole() {
  const lines = [];
  for (const method of ['log', 'info', 'warn', 'error', 'debug']) {
    console[method] = (...words) => lines.push(words.join(' '));
  }
  return lines;
}

async function loadLiteRt() {
  provideBrowserGlobals();
  const litert = await importPackage('@litertjs/core');
  // The build without relaxed SIMD, whose results would depend on the processor and on Node's version.
  const wasm = join(dirname(packageFile('@litertjs/core')), '..', 'wasm', 'litert_wasm_compat_internal.js');
  await litert.loadLiteRt(wasm);
  return litert;
}

// Runs one model: arrays { shape, data } in the order of its inputs, to { name, dtype, shape, data } of its outputs.
async function runModel(litert, bytes, arrays) {
  const compiled = await litert.loadAndCompile(bytes, { accelerator: 'wasm' });
  const results = await compiled.run(arrays.map(({ data, shape }) => new litert.Tensor(data, shape)));
  const outputs = [];
  for (const [index, { name }] of compiled.getOutputDetails().entries()) {
    const { dtype, layout } = results[index].type;
    outputs.push({ name, dtype, shape: [...layout.dimensions], data: await results[index].data() });
  }
  return outputs;
}

// LiteRT leaves the outputs undefined, without a message, after a custom operator that it does not have. (Those of
// MediaPipe's segmentation models are part of XNNPACK.) So it runs the parts between them, and attention.mjs runs them.
async function runInParts(litert, bytes, graph, arrays) {
  const values = new Map(graph.inputs.map((tensor, index) => [tensor, arrays[index]]));
  for (const step of planParts(graph, ATTENTION_OPERATORS)) {
    if (step.custom) {
      const { inputs, outputs } = step.custom;
      values.set(outputs[0], runAttention(step.custom, inputs.map((tensor) => values.get(tensor))));
    } else {
      const results = await runModel(litert, cutPart(bytes, step), step.inputs.map((tensor) => values.get(tensor)));
      step.outputs.forEach((tensor, index) => values.set(tensor, results[index]));
    }
  }
  return graph.outputs.map((tensor) => {
    const { shape, data } = values.get(tensor);
    return { name: graph.tensors[tensor].name, dtype: 'float32', shape, data };
  });
}

async function run({ model, inputs }) {
  const bytes = new Uint8Array(readFileSync(model));
  const graph = readGraph(bytes);
  const names = graph.inputs.map((tensor) => graph.tensors[tensor].name);
  const given = readInputs(inputs, names);
  const arrays = names.map((name) => {
    if (!given[name]) throw new Error(`the input ${name} is not given`);
    return given[name];
  });
  const litert = await loadLiteRt();
  const inParts = graph.operators.some(({ custom }) => ATTENTION_OPERATORS.includes(custom));
  return inParts ? runInParts(litert, bytes, graph, arrays) : runModel(litert, bytes, arrays);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { input: { type: 'string', multiple: true, default: [] }, out: { type: 'string' } },
  });
  if (positionals.length !== 1 || values.out === undefined) {
    throw new Error('usage: litert.mjs MODEL.tflite --input [NAME=]FILE.npy ... --out FOLDER');
  }
  const said = redirectConsole();
  try {
    writeOutputs(values.out, await run({ model: positionals[0], inputs: values.input }));
  } catch (error) {
    throw new Error([error.message ?? error, ...said].join('\n  '));
  }
}

main().catch((error) => {
  process.stderr.write(`litert.mjs: ${error.message}\n`);
  process.exitCode = 1;
});
