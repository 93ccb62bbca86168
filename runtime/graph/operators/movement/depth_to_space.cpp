#include "graph/operators/movement/depth_to_space.hpp"

namespace vellum {

namespace {

int64_t read_block(const NodeSpec& spec) {
  const int64_t block = spec.attributes->get_int("blocksize", 0);
  if (block < 1 || block > (1 << 15)) refuse_model("blocksize is " + std::to_string(block));
  return block;
}

bool is_column_first(const NodeSpec& spec) {
  const std::string mode = spec.attributes->get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") refuse_model("mode '" + mode + "' is unknown");
  return mode == "CRD";
}

const TensorType& image(Inputs inputs) {
  const TensorType& x = input_type(inputs, 0, "input");
  if (x.shape.size() != 4) refuse_model("input has shape " + to_string(x.shape) + ", expected N x C x H x W");
  return x;
}

// Splits the input into the dimensions `split`, reorders them by `order`, and gives the result `shape`.
HostTensor reorder(const HostTensor& input, const Shape& split, const std::vector<size_t>& order,
                   const Shape& shape) {
  const auto dense = row_major_strides(split);
  Shape dims;
  std::vector<int64_t> strides;
  for (const size_t axis : order) {
    dims.push_back(split[axis]);
    strides.push_back(dense[axis]);
  }
  return gather_strided(input, dims, strides, 0).reshaped(shape);
}

}  // namespace

std::vector<TensorType> DepthToSpace::infer(Inputs inputs) const {
  TensorType y = image(inputs);
  if (y.shape[1] % (block * block) != 0) {
    refuse_model(std::to_string(y.shape[1]) + " channels do not fill blocks of " + std::to_string(block));
  }
  y.shape[1] /= block * block;
  y.shape[2] = checked_multiply(y.shape[2], block);
  y.shape[3] = checked_multiply(y.shape[3], block);
  return {y};
}

std::vector<HostTensor> DepthToSpace::evaluate(HostInputs inputs) const {
  const TensorType y = infer_known(*this, inputs)[0];
  const Shape& x = inputs[0]->shape();
  if (column_first) {
    return {reorder(*inputs[0], {x[0], y.shape[1], block, block, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, y.shape)};
  }
  return {reorder(*inputs[0], {x[0], block, block, y.shape[1], x[2], x[3]}, {0, 3, 4, 1, 5, 2}, y.shape)};
}

Attributes DepthToSpace::attributes() const {
  Attributes result;
  result.set("blocksize", block);
  result.set("mode", std::string(column_first ? "CRD" : "DCR"));
  return result;
}

std::vector<TensorType> SpaceToDepth::infer(Inputs inputs) const {
  TensorType y = image(inputs);
  if (y.shape[2] % block != 0 || y.shape[3] % block != 0) {
    refuse_model("input of shape " + to_string(y.shape) + " is not made of blocks of " +
                 std::to_string(block));
  }
  y.shape[1] = checked_multiply(y.shape[1], block * block);
  y.shape[2] /= block;
  y.shape[3] /= block;
  return {y};
}

std::vector<HostTensor> SpaceToDepth::evaluate(HostInputs inputs) const {
  const TensorType y = infer_known(*this, inputs)[0];
  const Shape& x = inputs[0]->shape();
  const std::vector<size_t> order =
      column_first ? std::vector<size_t>{0, 1, 3, 5, 2, 4} : std::vector<size_t>{0, 3, 5, 1, 2, 4};
  return {reorder(*inputs[0], {x[0], x[1], y.shape[2], block, y.shape[3], block}, order, y.shape)};
}

Attributes SpaceToDepth::attributes() const {
  Attributes result;
  result.set("blocksize", block);
  result.set("mode", std::string(column_first ? "CRD" : "DCR"));
  return result;
}

std::shared_ptr<const Operator> make_depth_to_space(const NodeSpec& spec) {
  auto op = std::make_shared<DepthToSpace>();
  op->block = read_block(spec);
  op->column_first = is_column_first(spec);
  return op;
}

std::shared_ptr<const Operator> make_space_to_depth(const NodeSpec& spec) {
  auto op = std::make_shared<SpaceToDepth>();
  op->block = read_block(spec);
  op->column_first = is_column_first(spec);
  return op;
}

}  // namespace vellum
