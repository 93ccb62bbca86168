// Lowers BlockGather (GatherBlockQuantized): gathers rows of a table of 4-bit or 8-bit integers.
#include "graph/operators/movement/block_gather.hpp"

#include <string>
#include <utility>
#include <vector>

#include "kernels/framework/elements.hpp"
#include "program/divide.hpp"
#include "shaders/movement/block_gather.h"

namespace vellum {
namespace {

// Returns 4-bit integers, which the model stores in a byte each, packed two in a byte.
std::vector<std::byte> in_pairs(const HostTensor& tensor, uint64_t bytes) {
  const int64_t rows = tensor.shape()[0], columns = tensor.shape()[1], width = divide_up(columns, 2);
  std::vector<std::byte> packed(bytes);
  const auto integers = tensor.as<uint8_t>();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      packed[static_cast<size_t>(row * width + column / 2)] |= std::byte(static_cast<uint8_t>(
          (integers[static_cast<size_t>(row * columns + column)] & 15) << (column % 2 * 4)));
  return packed;
}

// Returns input i, which has integers, packed to as many bits as they have.
TensorId packed_input(Lowering& lowering, const BlockGather& op, size_t i) {
  if (op.bits == 8 || op.packed_pairs) return lowering.constant_as_stored(i);
  const HostTensor tensor = *lowering.constant(i);
  TensorDesc desc{
      {tensor.shape()[0], divide_up(tensor.shape()[1], 2)}, ElementType::u8, Storage::buffer, Layout::linear};
  WeightValues values([] { return std::vector<float>(); });
  values.make_bytes = [tensor, bytes = desc.byte_size()] { return in_pairs(tensor, bytes); };
  return lowering.weight(lowering.node().name + "/packed " + std::to_string(i), desc, std::move(values));
}

// Returns one tensor with each scale and its zero point, for devices with few buffers.
TensorId scales_with_zeros(Lowering& lowering, const BlockGather& op) {
  const HostTensor scales = *lowering.constant(2), zeros = *lowering.constant(3);
  const auto make = [scales, zeros, op] {
    const std::vector<float> given = scales.to_floats();
    std::vector<float> pairs;
    const int64_t blocks = scales.shape()[1];
    for (int64_t i = 0; i < scales.elements(); ++i)
      pairs.insert(pairs.end(), {given[static_cast<size_t>(i)],
                                 static_cast<float>(op.integer(zeros, i / blocks, i % blocks))});
    return pairs;
  };
  return lowering.weight(lowering.node().name + "/scales",
                         {{2 * scales.elements()}, ElementType::f32, Storage::buffer, Layout::linear},
                         WeightValues(make));
}

}  // namespace

void lower_block_gather(Lowering& lowering) {
  const auto& op = lowering.op<BlockGather>();
  const Shape& table = lowering.input_type(0).shape;
  if (op.on_host)
    return lowering.run_on_host("a table of " + to_string(table) + " bytes stays in host memory");
  constexpr uint32_t kBuffers = 4;
  const uint32_t buffers = lowering.caps().max_storage_buffers_per_stage;
  const bool merges = lowering.has_input(3) && buffers == kBuffers;
  if (buffers < kBuffers)
    return lowering.run_on_host("a table of blocks has more tensors than the device's buffers");
  const DType dtype = lowering.input_type(0).dtype;
  const int64_t columns = op.columns(table), blocks = divide_up(columns, op.block);
  std::vector<Binding> bindings{
      reads("x", packed_input(lowering, op, 0)), reads("indices", lowering.read(1, Layout::linear)),
      reads("scales", merges ? scales_with_zeros(lowering, op) : lowering.constant_as_stored(2))};
  if (lowering.has_input(3) && !merges) bindings.push_back(reads("zeros", packed_input(lowering, op, 3)));
  bindings.push_back(writes("y", lowering.write(0, Layout::linear)));
  const Shape& y = lowering.output_type().shape;
  Dispatch dispatch =
      make_dispatch("block_gather", grid_1d(lowering.caps(), groups_of_four(y)), std::move(bindings),
                    BlockGatherParameters{.count = element_count(y),
                                          .rows = table[0],
                                          .columns = columns,
                                          .row_bytes = divide_up(columns * op.bits, 8),
                                          .blocks = blocks,
                                          .zero_bytes = divide_up(blocks * op.bits, 8),
                                          .block = op.block,
                                          .default_zero = op.default_zero(dtype)});
  define(dispatch, "BITS", std::to_string(op.bits));
  define(dispatch, "HAS_ZEROS", !lowering.has_input(3) ? "0" : merges ? "2" : "1");
  if (dtype == DType::i8) define(dispatch, "SIGNED_BITS");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum
