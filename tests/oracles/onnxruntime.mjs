// Runs an ONNX model with ONNX Runtime on the CPU:
//
//   node onnxruntime.mjs MODEL.onnx --input [NAME=]FILE.npy ... --out FOLDER [--unoptimised] [--all-values]
//
// Writes every output as FOLDER/<name>.npy, characters outside [A-Za-z0-9._-] in the name replaced by _, and prints
// {"outputs": [{"name", "dtype", "shape", "file"}]}. Without NAME= the file goes to the model's only input. With
// --unoptimised the operators run as the file has them, unfused, in the file's layout: the same mathematics rounded in
// another order. With --all-values, which implies it, every intermediate value is written too.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { withAllValuesAsOutputs } from './all_values.mjs';
import { readInputs, writeOutputs } from './command_line.mjs';
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

async function main() {
  const { model, inputs, out, allValues, optimise } = parseCommandLine();
  const ort = requirePackage('onnxruntime-node');
  const session = await ort.InferenceSession.create(allValues ? withAllValuesAsOutputs(readFileSync(model)) : model, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: optimise ? 'all' : 'disabled',
    logSeverityLevel: 3,
  });
  const feeds = Object.fromEntries(
    Object.entries(readInputs(inputs, session.inputNames)).map(([name, { dtype, shape, data }]) => [
      name,
      new ort.Tensor(dtype, data, shape),
    ]),
  );
  const results = await session.run(feeds);
  const outputs = session.outputNames.map((name) => {
    const { type, dims, data } = results[name];
    return { name, dtype: type, shape: [...dims], data };
  });
  writeOutputs(out, outputs);
}

main().catch((error) => {
  process.stderr.write(`onnxruntime.mjs: ${error.message}\n`);
  process.exitCode = 1;
});
