// Turns a PNG into the input tensor of a test model:
//
//   node prepare_input.mjs blazeface_front|blazeface_back|mlsd PHOTO.png INPUT.npy
import { readFileSync } from 'node:fs';
import { writeNpy } from './npy.mjs';
import { requirePackage } from './packages.mjs';

// What each network was trained to read: side of its square image, channels, and the range of its values.
const PREPARATIONS = {
  blazeface_front: { side: 128, channels: 3, encode: (value) => value / 127.5 - 1 },
  blazeface_back: { side: 256, channels: 3, encode: (value) => value / 127.5 - 1 },
  // The graph itself scales 0..255; the fourth channel is the constant 1 (https://github.com/navervision/mlsd, utils.py).
  mlsd: { side: 320, channels: 4, encode: (value, channel) => (channel < 3 ? value : 1) },
};

// Weights of the source pixels that destination pixel `index` covers, by the share of each that lies under it.
function coverage(index, destination, source) {
  const scale = source / destination;
  const begin = index * scale;
  const end = Math.min((index + 1) * scale, source);
  const weights = [];
  for (let pixel = Math.floor(begin); pixel < end; ++pixel) {
    const overlap = Math.min(end, pixel + 1) - Math.max(begin, pixel);
    if (overlap > 1e-9) weights.push({ pixel, weight: overlap / scale });
  }
  return weights;
}

// Area average of an RGBA image, as [side, side, channels] row-major values in 0..255.
function resize(image, side, channels) {
  const result = new Float32Array(side * side * channels);
  for (let y = 0; y < side; ++y) {
    const rows = coverage(y, side, image.height);
    for (let x = 0; x < side; ++x) {
      const columns = coverage(x, side, image.width);
      for (let channel = 0; channel < channels; ++channel) {
        let sum = 0;
        for (const row of rows) {
          for (const column of columns) {
            sum += row.weight * column.weight * image.data[4 * (row.pixel * image.width + column.pixel) + channel];
          }
        }
        result[(y * side + x) * channels + channel] = sum;
      }
    }
  }
  return result;
}

try {
  const [preparation, photo, file] = process.argv.slice(2);
  const { side, channels, encode } = PREPARATIONS[preparation] ?? {};
  if (!side || !file) {
    throw new Error(`usage: prepare_input.mjs ${Object.keys(PREPARATIONS).join('|')} PHOTO.png INPUT.npy`);
  }
  const { PNG } = requirePackage('pngjs');
  const image = PNG.sync.read(readFileSync(photo)); // RGBA, alpha 255 where the file has none
  const data = resize(image, side, channels).map((value, index) => encode(value, index % channels));
  writeNpy(file, { dtype: 'float32', shape: [1, side, side, channels], data });
} catch (error) {
  process.stderr.write(`prepare_input.mjs: ${error.message}\n`);
  process.exitCode = 1;
}
