// Computes the reference outputs of the models in tests/models.json, ONNX with ONNX Runtime and TFLite with LiteRT:
//
//   VELLUM_CACHE=FOLDER node make_references.mjs
//
// For each case, references/<case>/ in the cache folder holds input.npy, one .npy per output, for outputs that are
// `suppressed` also what they were before, and manifest.json. Models that are `quantised` have references/<case>_<scheme>/
// besides (make_quantised.mjs), and references/mediapipe_pools/ is a model of its own (make_pools.mjs). Redone when the
// model, its entry in the table, the photo or one of these scripts changes.
//
// What LiteRT computes is the same on every machine; ONNX Runtime rounds as the processor's vector instructions make it.
// How far apart two engines may therefore be says tests/rounding.json, which depends on no processor.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePools } from './make_pools.mjs';
import { makeQuantised } from './make_quantised.mjs';
import { writeNpy } from './npy.mjs';
import { cacheFolder } from './packages.mjs';
import { prepareInput } from './prepare_input.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cache = cacheFolder();
const CALIBRATION = ['astronaut', 'chelsea', 'coffee', 'page'];

function runOracle(script, folder, argumentsOf) {
  // Inside the folder, so that what it prints names the files relative to it.
  const options = { cwd: folder, env: { ...process.env, VELLUM_CACHE: cache }, stdio: ['ignore', 'pipe', 'inherit'] };
  return execFileSync(process.execPath, [join(here, script), ...argumentsOf], options);
}

function makeReference(testCase, model, photo, values, folder) {
  mkdirSync(folder, { recursive: true });
  writeNpy(join(folder, 'input.npy'), prepareInput(testCase, photo));
  const script = model.endsWith('.tflite') ? 'litert.mjs' : 'onnxruntime.mjs';
  const more = values.flatMap((name) => ['--value', name]);
  const manifest = runOracle(script, folder, [model, '--input', 'input.npy', '--out', '.', ...more]);
  writeFileSync(join(folder, 'manifest.json'), manifest);
}

// Outputs of a model for the file input.npy beside it.
function runLiteRt(folder, model, out) {
  return JSON.parse(runOracle('litert.mjs', folder, [model, '--input', 'input.npy', '--out', out])).outputs;
}

// The models of integers that are made of this one, calibrated with all photos.
function makeQuantisedReference(testCase, scheme, model, photos, folder) {
  const inputs = photos.map((photo) => prepareInput(testCase, photo));
  makeQuantised({ model, scheme, inputs, folder, runLiteRt });
}

// Calls make(folder) for references/<name> unless it was made of the same parts before.
function keep(name, parts, make) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  const key = hash.digest('hex');
  const folder = join(cache, 'references', name);
  const keyFile = join(folder, 'key');
  if (existsSync(keyFile) && readFileSync(keyFile, 'utf8').trim() === key) return;
  process.stdout.write(`references: ${name}\n`);
  rmSync(`${folder}.part`, { recursive: true, force: true });
  make(`${folder}.part`);
  writeFileSync(join(`${folder}.part`, 'key'), `${key}\n`);
  // Only now: what there was serves until then, and still does where this is interrupted.
  rmSync(folder, { recursive: true, force: true });
  renameSync(`${folder}.part`, folder);
}

function main() {
  const scripts = readdirSync(here).filter((name) => name.endsWith('.mjs') || name === 'package-lock.json').sort();
  const tools = scripts.map((name) => readFileSync(join(here, name)));
  const { models } = JSON.parse(readFileSync(join(here, '..', 'models.json'), 'utf8'));
  keep('mediapipe_pools', tools, (folder) => makePools(folder, runLiteRt));
  const photoFile = (name) => join(cache, 'photos', `${name}.png`);
  for (const { file, cases, quantised = [], suppressed = {} } of models) {
    const model = join(cache, 'models', file);
    const modelParts = [...tools, readFileSync(model)];
    const values = Object.values(suppressed).map((output) => output.of);
    for (const testCase of cases) {
      const photo = photoFile(testCase.photo);
      keep(testCase.name, [...modelParts, readFileSync(photo), JSON.stringify([testCase, values])], (folder) =>
        makeReference(testCase, model, photo, values, folder));
      const photos = [testCase.photo, ...CALIBRATION.filter((name) => name !== testCase.photo)].map(photoFile);
      for (const scheme of quantised) {
        const parts = [...modelParts, ...photos.map((name) => readFileSync(name)), JSON.stringify(testCase), scheme];
        keep(`${testCase.name}_${scheme}`, parts, (folder) =>
          makeQuantisedReference(testCase, scheme, model, photos, folder));
      }
    }
  }
}

try {
  main();
} catch (error) {
  process.stderr.write(`make_references.mjs: ${error.message}\n`);
  process.exitCode = 1;
}
