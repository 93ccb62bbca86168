// Runs an ONNX model with ONNX Runtime on the CPU:
//
//   node onnxruntime.mjs MODEL.onnx --input [NAME=]FILE.npy ... --out FOLDER [--value NAME ...] [--all-values]
//
// Writes every output as FOLDER/<name>.npy, characters outside [A-Za-z0-9._-] in the name replaced by _, and prints
// {"outputs": [{"name", "dtype", "shape", "file"}]}. Without NAME= the file goes to the model's only input. Intermediate
// values that --value names are written too, with --all-values all of them; then the operators run as the file has them,
// unfused.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { valueNames, withOutputs } from './more_outputs.mjs';
import { readInputs, writeOutputs } from './command_line.mjs';
import { requirePackage } from './packages.mjs';

function parseCommandLine() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      input: { type: 'string', multiple: true, default: [] },
      out: { type: 'string' },
      value: { type: 'string', multiple: true, default: [] },
      'all-values': { type: 'boolean', default: false },
    },
  });
  if (positionals.length !== 1 || values.out === undefined) {
    const inputAndOutput = '--input [NAME=]FILE.npy ... --out FOLDER';
    throw new Error(`usage: onnxruntime.mjs MODEL.onnx ${inputAndOutput} [--value NAME ...] [--all-values]`);
  }
  return { model: positionals[0], inputs: values.input, out: values.out, named: values.value, all: values['all-values'] };
}

async function main() {
  const { model, inputs, out, named, all } = parseCommandLine();
  const ort = requirePackage('onnxruntime-node');
  const more = all ? valueNames(readFileSync(model)) : named;
  const session = await ort.InferenceSession.create(more.length > 0 ? withOutputs(readFileSync(model), more) : model, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: all ? 'disabled' : 'all',
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
