// Runs a TFLite model with LiteRT's WebAssembly build on the CPU (XNNPACK):
//
//   node litert.mjs MODEL.tflite --input [NAME=]FILE.npy ... --out FOLDER [--relaxed]
//
// With --relaxed (Node older than 22 wants node --experimental-wasm-relaxed-simd) products and sums are fused, which
// rounds the same mathematics otherwise: it tells how far apart two correct fp32 results may lie. Inputs, outputs and what is printed are as for onnxruntime.mjs.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { readInputs, writeOutputs } from './command_line.mjs';
import { importPackage, packageFile } from './packages.mjs';

// LiteRT.js is written for browsers: it loads its WebAssembly wrapper, a classic script that leaves a global behind,
// through a worker's importScripts(). Node has no such function; the wrapper itself knows Node, and then wants what
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

async function loadLiteRt(relaxed) {
  provideBrowserGlobals();
  const litert = await importPackage('@litertjs/core');
  // By default the build without relaxed SIMD, whose results would depend on the processor and on Node's version.
  const build = relaxed ? 'litert_wasm_internal.js' : 'litert_wasm_compat_internal.js';
  const wasm = join(dirname(packageFile('@litertjs/core')), '..', 'wasm', build);
  await litert.loadLiteRt(wasm);
  return litert;
}

// LiteRT leaves the outputs undefined, without a word, behind a custom operator that it does not have. (Those of
// MediaPipe's segmentation models are part of XNNPACK.)
const UNKNOWN_OPERATORS = ['TransformTensorBilinear', 'TransformLandmarks', 'Landmarks2TransformMatrix'];

async function run({ model, inputs, relaxed }) {
  const bytes = readFileSync(model);
  const unknown = UNKNOWN_OPERATORS.filter((name) => bytes.includes(`${name}\0`));
  if (unknown.length) throw new Error(`${model}: LiteRT has no operator ${unknown.join(', ')}`);
  const litert = await loadLiteRt(relaxed);
  const compiled = await litert.loadAndCompile(new Uint8Array(bytes), { accelerator: 'wasm' });
  const details = compiled.getInputDetails();
  const arrays = readInputs(inputs, details.map(({ name }) => name));
  const feeds = details.map(({ name }) => {
    if (!arrays[name]) throw new Error(`the input ${name} is not given`);
    return new litert.Tensor(arrays[name].data, arrays[name].shape);
  });
  const results = await compiled.run(feeds);
  const outputs = [];
  for (const [index, { name }] of compiled.getOutputDetails().entries()) {
    const { dtype, layout } = results[index].type;
    outputs.push({ name, dtype, shape: [...layout.dimensions], data: await results[index].data() });
  }
  return outputs;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { input: { type: 'string', multiple: true, default: [] }, out: { type: 'string' }, relaxed: { type: 'boolean', default: false } },
  });
  if (positionals.length !== 1 || values.out === undefined) {
    throw new Error('usage: litert.mjs MODEL.tflite --input [NAME=]FILE.npy ... --out FOLDER [--relaxed]');
  }
  const said = redirectConsole();
  try {
    writeOutputs(values.out, await run({ model: positionals[0], inputs: values.input, relaxed: values.relaxed }));
  } catch (error) {
    throw new Error([error.message ?? error, ...said].join('\n  '));
  }
}

main().catch((error) => {
  process.stderr.write(`litert.mjs: ${error.message}\n`);
  process.exitCode = 1;
});
