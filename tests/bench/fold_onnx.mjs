// Writes an ONNX model anew with everything computed that does not depend on its inputs, as converters need it:
//
//   node fold_onnx.mjs MODEL.onnx FOLDED.onnx
//
// By ONNX Runtime's basic optimisations, which keep to ONNX's operators.
import { requirePackage } from '../oracles/packages.mjs';

async function main() {
  const [model, folded] = process.argv.slice(2);
  if (folded === undefined) throw new Error('usage: fold_onnx.mjs MODEL.onnx FOLDED.onnx');
  const options = { executionProviders: ['cpu'], graphOptimizationLevel: 'basic', optimizedModelFilePath: folded, logSeverityLevel: 3 };
  await requirePackage('onnxruntime-node').InferenceSession.create(model, options);
}

main().catch((error) => {
  process.stderr.write(`fold_onnx.mjs: ${error.message}\n`);
  process.exitCode = 1;
});
