// Runs many small ONNX models with ONNX Runtime on the CPU:
//
//   node onnxruntime_folders.mjs FOLDER
//
// Each folder in FOLDER holds model.onnx and inputs/<name>.npy; outputs/<name>.npy are written beside them. A model that
// ONNX Runtime refuses is named with its reason and has no outputs.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readNpy, writeNpy } from './npy.mjs';
import { requirePackage } from './packages.mjs';

async function runModel(ort, folder) {
  const session = await ort.InferenceSession.create(join(folder, 'model.onnx'), {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 4, // errors are printed below
  });
  const feeds = Object.fromEntries(
    session.inputNames.map((name) => {
      const { dtype, shape, data } = readNpy(join(folder, 'inputs', `${name}.npy`));
      return [name, new ort.Tensor(dtype, data, shape)];
    }),
  );
  const results = await session.run(feeds);
  await session.release();
  mkdirSync(join(folder, 'outputs'), { recursive: true });
  for (const name of session.outputNames) {
    const { type, dims, data } = results[name];
    writeNpy(join(folder, 'outputs', `${name}.npy`), { dtype: type, shape: [...dims], data });
  }
}

async function main() {
  if (process.argv.length !== 3) throw new Error('usage: onnxruntime_folders.mjs FOLDER');
  const ort = requirePackage('onnxruntime-node');
  const all = process.argv[2];
  for (const name of readdirSync(all)) {
    try {
      await runModel(ort, join(all, name));
    } catch (error) {
      process.stdout.write(`${name} is refused: ${error.message}\n`);
    }
  }
}

main().catch((error) => {
  process.stderr.write(`onnxruntime_folders.mjs: ${error.message}\n`);
  process.exitCode = 1;
});
