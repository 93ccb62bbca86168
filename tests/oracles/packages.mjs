// The npm packages that `setup.sh tests` installed into the cache folder, which is outside this tree.
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export function cacheFolder() {
  const { VELLUM_CACHE, VELLUM_TEST_DATA, XDG_CACHE_HOME } = process.env;
  return VELLUM_CACHE || VELLUM_TEST_DATA || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'vellum');
}

function load(name, how) {
  const folder = join(cacheFolder(), 'oracles');
  try {
    return how(createRequire(join(folder, 'package.json')));
  } catch (error) {
    throw new Error(`the npm package ${name} does not load from ${folder}: run ./setup.sh tests (${error.message})`);
  }
}

export function requirePackage(name) {
  return load(name, (require) => require(name));
}

// The file that importing the package would load.
export function packageFile(name) {
  return load(name, (require) => require.resolve(name));
}

// For packages that are ES modules, which require() refuses in older versions of Node.
export function importPackage(name) {
  return import(pathToFileURL(packageFile(name)).href);
}
