// Turns photos into the input tensors of networks, as a case of tests/models.json says: crops of one size, channels and
// layout, a batch of them.
import { readFileSync } from 'node:fs';
import { requirePackage } from './packages.mjs';

const IMAGENET_MEAN = [0.485, 0.456, 0.406];
const IMAGENET_DEVIATION = [0.229, 0.224, 0.225];

// What networks were trained to read: `channels` picks from red, green, blue, alpha; `encode` maps 0..255.
const ENCODINGS = {
  signed: { channels: [0, 1, 2], encode: (value) => value / 127.5 - 1 },
  unit: { channels: [0, 1, 2], encode: (value) => value / 255 },
  signed_bgr: { channels: [2, 1, 0], encode: (value) => value / 127.5 - 1 },
  // PaddleOCR applies ImageNet's constants, which are meant for RGB, to BGR (https://github.com/PaddlePaddle/PaddleOCR,
  // NormalizeImage of the detection configurations).
  imagenet_bgr: {
    channels: [2, 1, 0],
    encode: (value, channel) => (value / 255 - IMAGENET_MEAN[channel]) / IMAGENET_DEVIATION[channel],
  },
  // The graph itself scales 0..255; the fourth channel is the constant 1 (https://github.com/navervision/mlsd, utils.py).
  bytes_and_one: { channels: [0, 1, 2, 3], encode: (value, channel) => (channel < 3 ? value : 1) },
};

// Weights of the source pixels that destination pixel `index` covers, by the share of each that it covers.
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

// Area average of a crop [x, y, width, height, degrees] of an RGBA image, as [height, width, channels] in 0..255.
function resize(image, [left, top, cropWidth, cropHeight, degrees = 0], [width, height], channels) {
  if (degrees !== 0 && degrees !== 180) throw new Error(`crops are turned by 180 degrees or not at all, not ${degrees}`);
  const result = new Float32Array(width * height * channels.length);
  for (let y = 0; y < height; ++y) {
    const rows = coverage(y, height, cropHeight);
    for (let x = 0; x < width; ++x) {
      const columns = coverage(x, width, cropWidth);
      const pixel = degrees === 180 ? (height - 1 - y) * width + (width - 1 - x) : y * width + x;
      for (const [index, channel] of channels.entries()) {
        let sum = 0;
        for (const row of rows) {
          for (const column of columns) {
            const source = (top + row.pixel) * image.width + left + column.pixel;
            sum += row.weight * column.weight * image.data[4 * source + channel];
          }
        }
        result[pixel * channels.length + index] = sum;
      }
    }
  }
  return result;
}

// A parallelogram [corner, right, down] of an RGBA image, whose border is repeated, read linearly between pixel centres.
function readRegion(image, [corner, right, down], [width, height], channels) {
  const result = new Float32Array(width * height * channels.length);
  const along = (position, size) => Math.min(Math.max(position - 0.5, 0), size - 1);
  for (let pixel = 0; pixel < width * height; ++pixel) {
    const u = ((pixel % width) + 0.5) / width;
    const v = (Math.floor(pixel / width) + 0.5) / height;
    const place = (axis) => corner[axis] + u * (right[axis] - corner[axis]) + v * (down[axis] - corner[axis]);
    const [x, y] = [along(place(0), image.width), along(place(1), image.height)];
    const [columns, rows] = [x, y].map((at) => [
      { at: Math.floor(at), weight: 1 - (at % 1) },
      { at: Math.ceil(at), weight: at % 1 },
    ]);
    for (const [index, channel] of channels.entries()) {
      for (const row of rows) {
        for (const column of columns) {
          const source = 4 * (row.at * image.width + column.at) + channel;
          result[pixel * channels.length + index] += row.weight * column.weight * image.data[source];
        }
      }
    }
  }
  return result;
}

function readCrop(testCase, image, crop, channels) {
  const [left, top, width, height] = crop;
  if (left < 0 || top < 0 || left + width > image.width || top + height > image.height) {
    throw new Error(`${testCase.name}: the crop ${crop} leaves the photo of ${image.width} x ${image.height}`);
  }
  return resize(image, crop, testCase.size, channels);
}

// The pixels of every picture of a batch: the whole photo, upright crops of it, or tilted regions.
function readPictures(testCase, image, channels) {
  if (testCase.regions) return testCase.regions.map((region) => readRegion(image, region, testCase.size, channels));
  const crops = testCase.crops ?? [[0, 0, image.width, image.height]];
  return crops.map((crop) => readCrop(testCase, image, crop, channels));
}

// The tensor { dtype, shape, data } of a case.
export function prepareInput(testCase, photo) {
  const { PNG } = requirePackage('pngjs');
  const image = PNG.sync.read(readFileSync(photo)); // RGBA, alpha 255 where the file has none
  const { channels, encode } = ENCODINGS[testCase.encoding] ?? {};
  if (!channels) throw new Error(`${testCase.name}: unknown encoding ${testCase.encoding}`);
  const [width, height] = testCase.size;
  const pictures = readPictures(testCase, image, channels);
  const planar = testCase.layout === 'nchw';
  const size = width * height * channels.length;
  const data = new Float32Array(pictures.length * size);
  for (const [batch, pixels] of pictures.entries()) {
    for (let index = 0; index < size; ++index) {
      const channel = index % channels.length;
      const position = planar ? channel * width * height + Math.floor(index / channels.length) : index;
      data[batch * size + position] = encode(pixels[index], channel);
    }
  }
  const shape = planar ? [channels.length, height, width] : [height, width, channels.length];
  return { dtype: 'float32', shape: [pictures.length, ...shape], data };
}
