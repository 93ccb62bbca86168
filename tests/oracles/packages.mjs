// The npm packages that `setup.sh tests` installed into the cache folder, which lies outside this tree.
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

export function cacheFolder() {
  const { VELLUM_CACHE, VELLUM_TEST_DATA, XDG_CACHE_HOME } = process.env;
  return VELLUM_CACHE || VELLUM_TEST_DATA || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'vellum');
}

export function requirePackage(name) {
  const folder = join(cacheFolder(), 'oracles');
  try {
    return createRequire(join(folder, 'package.json'))(name);
  } catch (error) {
    throw new Error(`the npm package ${name} does not load from ${folder}: run ./setup.sh tests (${error.message})`);
  }
}
