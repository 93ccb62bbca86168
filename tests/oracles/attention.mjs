// MediaPipe's operators for attention to a region of landmarks, version 2, in double precision, after their definition
// (https://github.com/google-ai-edge/mediapipe, mediapipe/util/tflite/operations). Images are [1, height, width, channels].
import { readFlexMap } from './flatbuffer.mjs';

// Affine maps of the plane as [xx, xy, x0, yx, yy, y0].
const move = (x, y) => [1, 0, x, 0, 1, y];
const scale = (x, y) => [x, 0, 0, 0, y, 0];
const turn = (angle) => [Math.cos(angle), -Math.sin(angle), 0, Math.sin(angle), Math.cos(angle), 0];
const apply = (m, [x, y]) => [m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5]];

// First the right map, then the left one.
function after(left, right) {
  const [x0, y0] = apply(left, [right[2], right[5]]);
  const columns = [0, 1].map((column) => {
    const [x, y] = [right[column], right[3 + column]];
    return [left[0] * x + left[1] * y, left[3] * x + left[4] * y];
  });
  return [columns[0][0], columns[1][0], x0, columns[0][1], columns[1][1], y0];
}

const affineOf = ({ data }) => [data[0], data[1], data[3], data[4], data[5], data[7]];

// From pixels of the crop to the plane of the landmarks: the box around the chosen landmarks, upright once the line from
// the left to the right one is turned to the target, scaled.
function landmarksToTransformMatrix([landmarks], options) {
  const point = (index) => [landmarks.data[3 * index], landmarks.data[3 * index + 1]];
  const [left, right] = [point(options.left_rotation_idx), point(options.right_rotation_idx)];
  const angle = options.target_rotation_radians - Math.atan2(right[1] - left[1], right[0] - left[0]);
  const turned = options.subset_idxs.map((index) => apply(turn(angle), point(index)));
  const range = (axis) => {
    const values = turned.map((place) => place[axis]);
    return { low: Math.min(...values), high: Math.max(...values) };
  };
  const [x, y] = [range(0), range(1)];
  const centre = apply(turn(-angle), [(x.low + x.high) / 2, (y.low + y.high) / 2]);
  const { output_width: width, output_height: height } = options;
  const maps = [
    move(...centre),
    turn(-angle),
    scale((options.scale_x * (x.high - x.low)) / width, (options.scale_y * (y.high - y.low)) / height),
    move(-width / 2, -height / 2),
  ];
  const [xx, xy, x0, yx, yy, y0] = maps.reduce(after);
  return { shape: [1, 4, 4], data: Float32Array.of(xx, xy, 0, x0, yx, yy, 0, y0, 0, 0, 1, 0, 0, 0, 0, 1) };
}

// Linear between pixels, zero where the position is outside their centres.
function transformTensorBilinear([image, matrix], options) {
  const [, height, width, channels] = image.shape;
  const { output_width: outWidth, output_height: outHeight } = options;
  const affine = affineOf(matrix);
  const data = new Float32Array(outWidth * outHeight * channels);
  for (let index = 0; index < outWidth * outHeight; ++index) {
    const centre = [(index % outWidth) + 0.5, Math.floor(index / outWidth) + 0.5];
    const [x, y] = apply(affine, centre).map((value) => value - 0.5);
    if (!(x >= 0 && x <= width - 1 && y >= 0 && y <= height - 1)) continue;
    const [column, row] = [Math.floor(x), Math.floor(y)];
    for (let channel = 0; channel < channels; ++channel) {
      let sum = 0;
      for (const [u, v] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
        const weight = (u ? x - column : 1 - x + column) * (v ? y - row : 1 - y + row);
        if (weight > 0) sum += weight * image.data[((row + v) * width + column + u) * channels + channel];
      }
      data[index * channels + channel] = sum;
    }
  }
  return { shape: [1, outHeight, outWidth, channels], data };
}

function transformLandmarks([landmarks, matrix]) {
  const affine = affineOf(matrix);
  const step = landmarks.shape.at(-1);
  const data = Float32Array.from(landmarks.data);
  for (let index = 0; index < data.length; index += step) {
    [data[index], data[index + 1]] = apply(affine, [data[index], data[index + 1]]);
  }
  return { shape: landmarks.shape, data };
}

const OPERATORS = {
  Landmarks2TransformMatrix: landmarksToTransformMatrix,
  TransformTensorBilinear: transformTensorBilinear,
  TransformLandmarks: transformLandmarks,
};

export const ATTENTION_OPERATORS = Object.keys(OPERATORS);

// The output { shape, data } of one operator (tflite_parts.mjs) from its inputs.
export function runAttention({ custom, version, options }, inputs) {
  if (version !== 2) throw new Error(`${custom}: version ${version} instead of 2`);
  return OPERATORS[custom](inputs, options.length ? readFlexMap(options) : {});
}
