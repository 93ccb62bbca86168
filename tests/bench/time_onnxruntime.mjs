// Milliseconds of an ONNX model in ONNX Runtime (by default its CPU provider), on inputs of ones, as JSON {"min_ms", "median_ms"}:
//
//   node time_onnxruntime.mjs MODEL.onnx RUNS [PROVIDER]
import { requirePackage } from '../oracles/packages.mjs';

const WARM_UP = 2;

async function main() {
  const [model, runs, provider = 'cpu'] = process.argv.slice(2);
  if (runs === undefined) throw new Error('usage: time_onnxruntime.mjs MODEL.onnx RUNS [PROVIDER]');
  const ort = requirePackage('onnxruntime-node');
  const session = await ort.InferenceSession.create(model, { executionProviders: [provider], logSeverityLevel: 3 });
  const feeds = Object.fromEntries(
    session.inputMetadata.map(({ name, type, shape }) => {
      if (type !== 'float32' || shape.some((length) => typeof length !== 'number')) {
        throw new Error(`input ${name} is ${type} of shape ${shape}; float32 of a fixed shape is wanted`);
      }
      const elements = shape.reduce((product, length) => product * length, 1);
      return [name, new ort.Tensor(type, new Float32Array(elements).fill(1), shape)];
    }),
  );
  const times = [];
  for (let run = 0; run < WARM_UP + Number(runs); run++) {
    const begin = performance.now();
    await session.run(feeds);
    if (run >= WARM_UP) times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  console.log(JSON.stringify({ min_ms: times[0], median_ms: times[Math.floor(times.length / 2)] }));
}

main().catch((error) => {
  process.stderr.write(`time_onnxruntime.mjs: ${error.message}\n`);
  process.exitCode = 1;
});
