// A model of MediaPipe's pools that remember their maxima, which none of the fetched models has, with what LiteRT
// computes from it: MaxPoolingWithArgmax2D, RELU of the maxima, MaxUnpooling2D to where they were.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeModel } from './flatc.mjs';
import { writeNpy } from './npy.mjs';

const [SAME, CUSTOM, RELU] = [1, 32, 19];
const [HEIGHT, WIDTH, CHANNELS] = [7, 10, 5];
const [POOL_HEIGHT, POOL_WIDTH] = [2, 3];

function poolsModel() {
  const rows = Math.ceil(HEIGHT / POOL_HEIGHT);
  const columns = Math.ceil(WIDTH / POOL_WIDTH);
  const tensor = (name, height, width) => ({ name, shape: [1, height, width, CHANNELS], type: 'float32' });
  // TfLitePoolParams: padding, strides and filter (width before height), activation, and room for what LiteRT computes.
  const numbers = Int32Array.of(SAME, POOL_WIDTH, POOL_HEIGHT, POOL_WIDTH, POOL_HEIGHT, ...Array(12).fill(0));
  const options = { custom_options: [...new Uint8Array(numbers.buffer)] };
  const pooled = ['maxima', 'where', 'positive'].map((name) => tensor(name, rows, columns));
  const custom = (name) => ({ old_builtin_code: CUSTOM, builtin_code: CUSTOM, custom_code: name });
  return {
    version: 3,
    operator_codes: [
      custom('MaxPoolingWithArgmax2D'),
      custom('MaxUnpooling2D'),
      { old_builtin_code: RELU, builtin_code: RELU },
    ],
    subgraphs: [{
      tensors: [tensor('x', HEIGHT, WIDTH), ...pooled, tensor('y', rows * POOL_HEIGHT, columns * POOL_WIDTH)],
      inputs: [0],
      outputs: [4],
      operators: [
        { opcode_index: 0, inputs: [0], outputs: [1, 2], ...options },
        { opcode_index: 2, inputs: [1], outputs: [3] },
        { opcode_index: 1, inputs: [3, 2], outputs: [4], ...options },
      ],
    }],
    buffers: [{}],
  };
}

// No two alike, in no order: multiples of a number without a common divisor, modulo the count.
function scattered(count) {
  return Float32Array.from({ length: count }, (_, index) => ((index * 211) % count) / count - 0.25);
}

// Writes model.tflite, input.npy and y.npy to `folder`. runLiteRt(folder, model, out) runs a model on its input.npy.
export function makePools(folder, runLiteRt) {
  const scratch = mkdtempSync(join(tmpdir(), 'vellum-pools-'));
  try {
    writeModel(poolsModel(), scratch, 'model');
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(scratch, 'model.tflite'), join(folder, 'model.tflite'));
    const shape = [1, HEIGHT, WIDTH, CHANNELS];
    writeNpy(join(folder, 'input.npy'), { dtype: 'float32', shape, data: scattered(HEIGHT * WIDTH * CHANNELS) });
    runLiteRt(folder, 'model.tflite', '.');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
