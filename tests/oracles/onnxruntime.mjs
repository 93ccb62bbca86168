// Runs an ONNX model with ONNX Runtime on the CPU:
//
//   node onnxruntime.mjs MODEL.onnx --input [NAME=]FILE.npy ... --out FOLDER [--unoptimised] [--all-values]
//
// Writes every output as FOLDER/<name>.npy, characters outside [A-Za-z0-9._-] in the name replaced by _, and prints
// {"outputs": [{"name", "dtype", "shape", "file"}]}. Without NAME= the file goes to the model's only input. With
// --unoptimised the operators run as the file has them, unfused, in the file's layout: the same mathematics rounded in
// another order. With --all-values, which implies it, every intermediate value is written too.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withAllValuesAsOutputs } from './all_values.mjs';
import { readNpy, writeNpy } from './npy.mjs';
import { requirePackage } from './packages.mjs';

function parseCommandLine() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      input: { type: 'string', multiple: true, default: [] },
      out: { type: 'string' },
      unoptimised: { type: 'boolean', default: false },
      'all-values': { type: 'boolean', default: false },
    },
  });
  if (positionals.length !== 1 || values.out === undefined) {
    throw new Error('usage: onnxruntime.mjs MODEL.onnx --input [NAME=]FILE.npy ... --out FOLDER [--unoptimised] [--all-values]');
  }
  const allValues = values['all-values'];
  return { model: positionals[0], inputs: values.input, out: values.out, allValues, optimise: !allValues && !values.unoptimised };
}

function readInputs(ort, session, inputs) {
  const feeds = {};
  for (const argument of inputs) {
    const separator = argument.indexOf('=');
    const file = argument.slice(separator + 1);
    const name = separator >= 0 ? argument.slice(0, separator) : session.inputNames[0];
    if (separator < 0 && session.inputNames.length !== 1) {
      throw new Error(`--input ${argument}: the model has the inputs ${session.inputNames.join(', ')}; say NAME=FILE`);
    }
    if (!session.inputNames.includes(name)) {
      throw new Error(`--input ${argument}: the model's inputs are ${session.inputNames.join(', ')}`);
    }
    const { dtype, shape, data } = readNpy(file);
    feeds[name] = new ort.Tensor(dtype, data, shape);
  }
  return feeds;
}

// File systems end at 255 bytes; intermediate values of converted models have longer names, told apart by a hash.
function fileName(name) {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, '_');
  if (safe.length <= 200) return `${safe}.npy`;
  return `${safe.slice(0, 180)}_${createHash('sha256').update(name).digest('hex').slice(0, 16)}.npy`;
}

async function main() {
  const { model, inputs, out, allValues, optimise } = parseCommandLine();
  const ort = requirePackage('onnxruntime-node');
  const session = await ort.InferenceSession.create(allValues ? withAllValuesAsOutputs(readFileSync(model)) : model, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: optimise ? 'all' : 'disabled',
    logSeverityLevel: 3,
  });
  const results = await session.run(readInputs(ort, session, inputs));
  mkdirSync(out, { recursive: true });
  const outputs = session.outputNames.map((name) => {
    const { type, dims, data } = results[name];
    const file = join(out, fileName(name));
    writeNpy(file, { dtype: type, shape: [...dims], data });
    return { name, dtype: type, shape: [...dims], file };
  });
  process.stdout.write(`${JSON.stringify({ outputs }, null, 2)}\n`);
}

main().catch((error) => {
  process.stderr.write(`onnxruntime.mjs: ${error.message}\n`);
  process.exitCode = 1;
});
