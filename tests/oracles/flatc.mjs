// TFLite models as JSON and back, by flatc and the schema that Vellum reads them with.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const schemaFile = join(dirname(fileURLToPath(import.meta.url)), '../../runtime/import/tflite/schema.fbs');

function flatc(folder, ...words) {
  // Vellum's schema leaves out what Vellum does not read; this field LiteRT needs.
  const schema = readFileSync(schemaFile, 'utf8').replace(/(depth_multiplier: int) \(deprecated\)/, '$1');
  writeFileSync(join(folder, 'schema.fbs'), schema);
  try {
    execFileSync('flatc', words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const missing = 'flatc is not installed (Debian: flatbuffers-compiler)';
    throw new Error(error.code === 'ENOENT' ? missing : `flatc: ${error.stderr}${error.stdout}`);
  }
}

// The model as JSON. Files are written to `folder`.
export function readModel(model, folder) {
  flatc(folder, '--json', '--raw-binary', '--strict-json', 'schema.fbs', '--', model);
  return JSON.parse(readFileSync(join(folder, basename(model).replace(/tflite$/, 'json')), 'utf8'));
}

// Writes NAME.tflite to `folder`.
export function writeModel(json, folder, name) {
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(json));
  flatc(folder, '--binary', 'schema.fbs', `${name}.json`);
}
