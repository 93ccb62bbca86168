// AffineGrid: the positions of an image or volume after an affine transformation, for GridSample.
// https://onnx.ai/onnx/operators/onnx__AffineGrid.html
#include "graph/composed.hpp"

namespace vellum {
namespace {

float grid_position(int64_t i, int64_t size, bool align_corners) {
  const auto x = static_cast<float>(i), n = static_cast<float>(size);
  if (align_corners) return size == 1 ? -1.0f : 2.0f * x / (n - 1.0f) - 1.0f;
  return (2.0f * x + 1.0f) / n - 1.0f;
}

// Returns a row (x, y, 1) or (x, y, z, 1) for each element of an image or volume of shape `size`.
HostTensor homogeneous_positions(DType dtype, const Shape& size, bool align_corners) {
  const int64_t rows = element_count(size);
  const auto width = static_cast<int64_t>(size.size()) + 1;
  std::vector<float> values(Body::table_size({rows, width}), 1.0f);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row;
    for (size_t axis = size.size(); axis-- > 0; rest /= size[axis])
      values[static_cast<size_t>(row * width + width - 2) - axis] =
          grid_position(rest % size[axis], size[axis], align_corners);
  }
  return HostTensor::from<float>(dtype, {rows, width}, values);
}

void affine_grid(Body& body, bool align_corners) {
  const ValueId theta = body.input(0, "theta");
  const Shape shape = body.shape(theta);
  const Ints size = constant_ints(body.rule_inputs(), 1, "size");
  if (size.size() != 4 && size.size() != 5) refuse_model("size has neither four nor five elements");
  const Shape image(size.begin() + 2, size.end());
  const auto rank = static_cast<int64_t>(image.size());
  if (shape != Shape{size[0], rank, rank + 1})
    refuse_model("theta has shape " + to_string(shape) + ", size is " + to_string(size));
  for (const int64_t dim : size)
    if (dim <= 0) refuse_model("size is " + to_string(size));
  const ValueId positions =
      body.constant(homogeneous_positions(body.type(theta).dtype, image, align_corners));
  const ValueId grid = body.add("MatMul", {positions, body.transpose(theta, {0, 2, 1})});
  Shape y{size[0]};
  y.insert(y.end(), image.begin(), image.end());
  y.push_back(rank);
  body.output(body.reshape(grid, y));
}

}  // namespace

std::shared_ptr<const Operator> make_affine_grid(const NodeSpec& spec) {
  return composed(spec, [align_corners = get_flag(*spec.attributes, "align_corners", false)](Body& body) {
    affine_grid(body, align_corners);
  });
}

}  // namespace vellum
