#include "graph/operators/movement/landmarks.hpp"

#include <algorithm>
#include <cmath>

namespace vellum {
namespace {

// x' = xx x + xy y + x0, y' = yx x + yy y + y0
struct Affine {
  float xx, xy, x0, yx, yy, y0;

  float x(float px, float py) const { return xx * px + xy * py + x0; }
  float y(float px, float py) const { return yx * px + yy * py + y0; }
};

Affine read_affine(const float* matrix) {
  return {matrix[0], matrix[1], matrix[3], matrix[4], matrix[5], matrix[7]};
}

void require_matrix(Inputs inputs, int64_t batch) {
  const TensorType& matrix = float_input_type(inputs, 1, "matrix");
  if (matrix.shape != Shape{batch, 4, 4}) {
    refuse_model("the matrix is " + to_string(matrix) + ", expected " + to_string(Shape{batch, 4, 4}));
  }
}

Affine region(const LandmarksToMatrix& op, const float* landmarks) {
  const auto at = [&](int64_t index) { return landmarks + 3 * index; };
  const float *left = at(op.left), *right = at(op.right);
  const float rotation = op.target_rotation - std::atan2(right[1] - left[1], right[0] - left[0]);
  const float c = std::cos(rotation), s = std::sin(rotation);
  const auto turned = [&](const float* p) { return std::array{c * p[0] - s * p[1], s * p[0] + c * p[1]}; };
  std::array<float, 2> low = turned(at(op.subset.front())), high = low;
  for (const int64_t index : op.subset) {
    const auto point = turned(at(index));
    for (size_t i = 0; i < 2; ++i) {
      low[i] = std::min(low[i], point[i]);
      high[i] = std::max(high[i], point[i]);
    }
  }
  const float centre_x = (low[0] + high[0]) / 2, centre_y = (low[1] + high[1]) / 2;
  const auto width = static_cast<float>(op.width), height = static_cast<float>(op.height);
  const float scale_x = op.scale_x * (high[0] - low[0]) / width;
  const float scale_y = op.scale_y * (high[1] - low[1]) / height;
  // Centre the crop, scale it, rotate it back, move it to the region's centre.
  Affine result{c * scale_x, s * scale_y, 0, -s * scale_x, c * scale_y, 0};
  result.x0 = c * centre_x + s * centre_y - result.xx * width / 2 - result.xy * height / 2;
  result.y0 = -s * centre_x + c * centre_y - result.yx * width / 2 - result.yy * height / 2;
  return result;
}

// A position along an axis: the elements on both sides, the weight of the second.
struct Between {
  int64_t first, second;
  float weight;
};

// Only for x in [0, size - 1].
Between between(float x, int64_t size) {
  const auto first = static_cast<int64_t>(x);
  return {first, std::min(first + 1, size - 1), x - static_cast<float>(first)};
}

}  // namespace

std::vector<TensorType> LandmarksToMatrix::infer(Inputs inputs) const {
  const TensorType& landmarks = float_input_type(inputs, 0, "landmarks");
  if (landmarks.shape.size() != 3 || landmarks.shape[2] != 3) {
    refuse_model("the landmarks are " + to_string(landmarks) + ", expected N x L x 3");
  }
  const auto require = [&](int64_t index) {
    if (index < 0 || index >= landmarks.shape[1]) {
      refuse_model("landmark " + std::to_string(index) + " of " + std::to_string(landmarks.shape[1]));
    }
  };
  require(left);
  require(right);
  if (subset.empty()) refuse_model("the region has no landmarks");
  for (const int64_t index : subset) require(index);
  if (width < 1 || height < 1) refuse_model("the crop is empty");
  return {{landmarks.dtype, {landmarks.shape[0], 4, 4}}};
}

std::vector<HostTensor> LandmarksToMatrix::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto landmarks = inputs[0]->to_floats();
  const size_t item = static_cast<size_t>(inputs[0]->shape()[1]) * 3;
  std::vector<float> matrices;
  for (int64_t n = 0; n < type.shape[0]; ++n) {
    const Affine a = region(*this, landmarks.data() + static_cast<size_t>(n) * item);
    matrices.insert(matrices.end(), {a.xx, a.xy, 0, a.x0, a.yx, a.yy, 0, a.y0, 0, 0, 1, 0, 0, 0, 0, 1});
  }
  return {cast(HostTensor::f32(type.shape, matrices), type.dtype)};
}

Attributes LandmarksToMatrix::attributes() const {
  Attributes result;
  result.set("left_rotation_idx", left);
  result.set("right_rotation_idx", right);
  result.set("subset_idxs", subset);
  result.set("output_width", width);
  result.set("output_height", height);
  result.set("scale_x", scale_x);
  result.set("scale_y", scale_y);
  result.set("target_rotation_radians", target_rotation);
  return result;
}

std::vector<TensorType> TransformTensorBilinear::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  if (x.shape.size() != 4) refuse_model("X is " + to_string(x) + ", expected N x C x H x W");
  require_matrix(inputs, x.shape[0]);
  if (width < 1 || height < 1) refuse_model("the crop is empty");
  return {{x.dtype, {x.shape[0], x.shape[1], height, width}}};
}

std::vector<HostTensor> TransformTensorBilinear::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto x = inputs[0]->to_floats(), matrices = inputs[1]->to_floats();
  const int64_t channels = type.shape[1], in_height = inputs[0]->shape()[2], in_width = inputs[0]->shape()[3];
  HostTensor y(DType::f32, type.shape);
  float* out = y.mutable_as<float>().data();
  for (int64_t plane = 0; plane < type.shape[0] * channels; ++plane) {
    const Affine affine = read_affine(matrices.data() + plane / channels * 16);
    const float* in = x.data() + plane * in_height * in_width;
    for (int64_t row = 0; row < height; ++row) {
      for (int64_t column = 0; column < width; ++column, ++out) {
        // The matrix is for positions, of which pixel i's centre is i + 0.5.
        const float cx = static_cast<float>(column) + 0.5f, cy = static_cast<float>(row) + 0.5f;
        const float px = affine.x(cx, cy) - 0.5f, py = affine.y(cx, cy) - 0.5f;
        *out = 0.0f;
        // False for NaN as well.
        if (!(px >= 0.0f && px <= static_cast<float>(in_width - 1))) continue;
        if (!(py >= 0.0f && py <= static_cast<float>(in_height - 1))) continue;
        const Between h = between(px, in_width), v = between(py, in_height);
        const float *top = in + v.first * in_width, *bottom = in + v.second * in_width;
        const float upper = (1 - h.weight) * top[h.first] + h.weight * top[h.second];
        const float lower = (1 - h.weight) * bottom[h.first] + h.weight * bottom[h.second];
        *out = (1 - v.weight) * upper + v.weight * lower;
      }
    }
  }
  return {cast(y, type.dtype)};
}

Attributes TransformTensorBilinear::attributes() const {
  Attributes result;
  result.set("output_width", width);
  result.set("output_height", height);
  return result;
}

std::vector<TensorType> TransformLandmarks::infer(Inputs inputs) const {
  const TensorType& landmarks = float_input_type(inputs, 0, "landmarks");
  const Shape& shape = landmarks.shape;
  if (shape.size() != 3 || (shape[2] != 2 && shape[2] != 3)) {
    refuse_model("the landmarks are " + to_string(landmarks) + ", expected N x L x 2 or N x L x 3");
  }
  require_matrix(inputs, shape[0]);
  return {landmarks};
}

std::vector<HostTensor> TransformLandmarks::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  auto landmarks = inputs[0]->to_floats();
  const auto matrices = inputs[1]->to_floats();
  const int64_t dimensions = type.shape[2];
  for (int64_t i = 0; i < type.shape[0] * type.shape[1]; ++i) {
    const Affine affine = read_affine(matrices.data() + i / type.shape[1] * 16);
    float* point = landmarks.data() + i * dimensions;
    const float x = point[0], y = point[1];
    point[0] = affine.x(x, y);
    point[1] = affine.y(x, y);
  }
  return {cast(HostTensor::f32(type.shape, landmarks), type.dtype)};
}

}  // namespace vellum
