#include "graph/operators/matmul/block_weights.hpp"

namespace vellum {
namespace {

// Returns integer `i` of a row of integers of `bits` bits.
uint32_t packed_integer(const uint8_t* row, size_t i, size_t bits) {
  const size_t per_byte = 8 / bits;
  return uint32_t{row[i / per_byte]} >> (i % per_byte * bits) & ((1u << bits) - 1);
}

void require_elements(const TensorType& type, const char* what, int64_t count) {
  if (element_count(type.shape) != count)
    refuse_model(std::string(what) + " are " + to_string(type) + ", expected " + std::to_string(count));
}

}  // namespace

std::vector<TensorType> BlockWeights::infer(Inputs inputs) const {
  const TensorType &packed = input_type(inputs, 0, "B"), &scales = float_input_type(inputs, 1, "scales");
  if (packed.dtype != DType::u8) refuse_model("B is " + to_string(packed) + ", expected uint8");
  const int64_t all = checked_multiply(columns, blocks());
  require_elements(
      packed, "the integers of B",
      length > 0 ? checked_multiply(columns, length * bits / 8) : checked_multiply(all, block * bits / 8));
  require_elements(scales, "the scales", all);
  if (has_input(inputs, 2)) {
    const TensorType& zero = input_type(inputs, 2, "zero_points");
    if (zero.dtype != DType::u8 && !is_float(zero.dtype))
      refuse_unsupported("zero points of " + to_string(zero));
    require_elements(zero, "the zero points",
                     is_float(zero.dtype) ? all : checked_multiply(columns, (blocks() * bits + 7) / 8));
  }
  if (has_input(inputs, 3)) {
    const TensorType& groups = input_type(inputs, 3, "g_idx");
    if (groups.dtype != DType::i32 || element_count(groups.shape) < rows)
      refuse_model("g_idx is " + to_string(groups) + ", expected int32 for " + std::to_string(rows) +
                   " rows");
  }
  return {{scales.dtype, {rows, columns}}};
}

std::vector<HostTensor> BlockWeights::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto input = [&](size_t i) { return i < inputs.size() ? inputs[i] : nullptr; };
  const auto scales = inputs[1]->to_floats(), zeros = zero_points(input(2));
  const auto height = static_cast<size_t>(rows), width = static_cast<size_t>(columns),
             count = static_cast<size_t>(blocks()), size = static_cast<size_t>(block),
             row_bytes = static_cast<size_t>(column_integers() * bits / 8);
  std::vector<size_t> block_of(height);
  for (size_t k = 0; k < height; ++k) block_of[k] = k / size;
  if (input(3) != nullptr) {
    const Ints groups = inputs[3]->to_ints();
    for (size_t k = 0; k < height; ++k) {
      if (groups[k] < 0 || groups[k] >= blocks())
        refuse_model("g_idx names block " + std::to_string(groups[k]) + " of " + std::to_string(count));
      block_of[k] = static_cast<size_t>(groups[k]);
    }
  }
  std::vector<float> weights(height * width);
  for (size_t n = 0; n < width; ++n) {
    const uint8_t* column = inputs[0]->as<uint8_t>().data() + n * row_bytes;
    for (size_t k = 0; k < height; ++k) {
      const size_t at = n * count + block_of[k];
      const auto integer = static_cast<float>(packed_integer(column, k, static_cast<size_t>(bits)));
      weights[k * width + n] = (integer - zeros[at]) * scales[at];
    }
  }
  return {HostTensor::from<float>(type.dtype, type.shape, weights)};
}

std::vector<float> BlockWeights::zero_points(const HostTensor* given) const {
  const auto count = static_cast<size_t>(blocks()), width = static_cast<size_t>(columns),
             size = static_cast<size_t>(bits);
  if (given == nullptr) return std::vector<float>(width * count, static_cast<float>(1 << (bits - 1)));
  if (is_float(given->dtype())) return given->to_floats();
  std::vector<float> result;
  const size_t row = (count * size + 7) / 8;
  for (size_t column = 0; column < width; ++column)
    for (size_t i = 0; i < count; ++i)
      result.push_back(
          static_cast<float>(packed_integer(given->as<uint8_t>().data() + column * row, i, size)));
  return result;
}

Attributes BlockWeights::attributes() const {
  Attributes result;
  result.set("rows", rows);
  result.set("columns", columns);
  result.set("bits", bits);
  result.set("block_size", block);
  if (length > 0) result.set("length", length);
  return result;
}

}  // namespace vellum
