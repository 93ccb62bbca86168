#include "graph/operators/movement/block_gather.hpp"

#include "graph/operators/movement/gather.hpp"

namespace vellum {
int BlockGather::integer(const HostTensor& tensor, int64_t row, int64_t column) const {
  const auto width = static_cast<size_t>(tensor.shape()[1]);
  const auto at = static_cast<size_t>(column);
  const uint8_t byte = tensor.as<uint8_t>()[static_cast<size_t>(row) * width + (packed_pairs ? at / 2 : at)];
  if (packed_pairs) return byte >> (at % 2 * 4) & 15;
  return tensor.dtype() == DType::i8 ? static_cast<int8_t>(byte) : byte;
}

std::vector<TensorType> BlockGather::infer(Inputs inputs) const {
  const TensorType &table = input_type(inputs, 0, "data"), &indices = input_type(inputs, 1, "indices"),
                   &scales = float_input_type(inputs, 2, "scales");
  require_indices(indices);
  if ((table.dtype != DType::u8 && table.dtype != DType::i8) || table.shape.size() != 2)
    refuse_model("data is " + to_string(table) + ", expected a matrix of 8-bit integers");
  const int64_t width = columns(table.shape), blocks = (width + block - 1) / block;
  if (scales.shape != Shape{table.shape[0], blocks})
    refuse_model("scales are " + to_string(scales) + " for data of " + to_string(table));
  if (has_input(inputs, 3)) {
    const TensorType& zero = input_type(inputs, 3, "zero_points");
    if (zero.dtype != table.dtype ||
        zero.shape != Shape{table.shape[0], packed_pairs ? (blocks + 1) / 2 : blocks})
      refuse_model("zero points are " + to_string(zero) + " for data of " + to_string(table));
  }
  TensorType y{scales.dtype, indices.shape};
  y.shape.push_back(width);
  return {y};
}

// Expands only the gathered rows, because the whole table as floats may exceed the memory.
std::vector<HostTensor> BlockGather::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor &table = *inputs[0], &scales = *inputs[2];
  const HostTensor* zero = inputs.size() > 3 ? inputs[3] : nullptr;
  const int64_t width = columns(table.shape()), blocks = scales.shape()[1];
  const bool in_halves = scales.dtype() == DType::f16;
  std::vector<float> values;
  values.reserve(static_cast<size_t>(element_count(type.shape)));
  for (int64_t index : inputs[1]->to_ints()) {
    index = checked_index(index, table.shape()[0]);
    for (int64_t column = 0; column < width; ++column) {
      const int64_t of_row = column / block;
      const auto at = static_cast<size_t>(index * blocks + of_row);
      const float scale = in_halves                      ? half_to_float(scales.as<uint16_t>()[at])
                          : scales.dtype() == DType::f64 ? static_cast<float>(scales.as<double>()[at])
                                                         : scales.as<float>()[at];
      const int64_t middle = zero ? integer(*zero, index, of_row) : default_zero(table.dtype());
      values.push_back(static_cast<float>(integer(table, index, column) - middle) * scale);
    }
  }
  return {HostTensor::from<float>(type.dtype, type.shape, values)};
}

uint64_t BlockGather::work(Inputs, Outputs outputs) const {
  return static_cast<uint64_t>(element_count(outputs[0].shape)) * 4;
}

Attributes BlockGather::attributes() const {
  Attributes result;
  result.set("bits", bits);
  result.set("block_size", block);
  if (packed_pairs) result.set("packed_pairs", int64_t{1});
  if (on_host) result.set("on_host", int64_t{1});
  return result;
}

std::shared_ptr<const Operator> make_block_gather(const NodeSpec&) {
  refuse_model("BlockGather is no operator of models: only GatherBlockQuantized is made of it");
}

}  // namespace vellum
