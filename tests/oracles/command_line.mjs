// What the oracles' command lines have in common: inputs from .npy files by name, outputs into a folder.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readNpy, writeNpy } from './npy.mjs';

// { name: { dtype, shape, data } } of arguments [NAME=]FILE.npy; without NAME= the file goes to the only input.
export function readInputs(inputArguments, inputNames) {
  const inputs = {};
  for (const argument of inputArguments) {
    const separator = argument.indexOf('=');
    const name = separator >= 0 ? argument.slice(0, separator) : inputNames[0];
    if (separator < 0 && inputNames.length !== 1) {
      throw new Error(`--input ${argument}: the model has the inputs ${inputNames.join(', ')}; say NAME=FILE`);
    }
    if (!inputNames.includes(name)) throw new Error(`--input ${argument}: the model's inputs are ${inputNames.join(', ')}`);
    inputs[name] = readNpy(argument.slice(separator + 1));
  }
  return inputs;
}

// File systems end at 255 bytes; intermediate values of converted models have longer names, distinguished by a hash.
function fileName(name) {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, '_');
  if (safe.length <= 200) return `${safe}.npy`;
  return `${safe.slice(0, 180)}_${createHash('sha256').update(name).digest('hex').slice(0, 16)}.npy`;
}

// Writes each { name, dtype, shape, data } as FOLDER/<name>.npy, characters outside [A-Za-z0-9._-] replaced by _, and
// prints {"outputs": [{"name", "dtype", "shape", "file"}]}.
export function writeOutputs(folder, outputs) {
  mkdirSync(folder, { recursive: true });
  const written = outputs.map(({ name, dtype, shape, data }) => {
    const file = join(folder, fileName(name));
    writeNpy(file, { dtype, shape, data });
    return { name, dtype, shape, file };
  });
  process.stdout.write(`${JSON.stringify({ outputs: written }, null, 2)}\n`);
}
