// BlockProduct and BlockGather, the packed weights of MatMulNBits and GatherBlockQuantized, against their
// host references.
#include "graph/operators/matmul/block_product.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cost/device_traits.hpp"
#include "graph/operators/movement/block_gather.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace block_product_test {

// Bytes of any value, the same for the same seed everywhere.
HostTensor octets(Shape shape, uint32_t seed, DType dtype = DType::u8, uint8_t most = 255) {
  HostTensor tensor(dtype, std::move(shape));
  uint32_t state = seed;
  for (uint8_t& byte : tensor.mutable_as<uint8_t>()) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24) & most;
  }
  return tensor;
}

enum class Zeros : uint8_t { none, packed, floats };

struct Product {
  Shape a;
  int64_t columns, bits, block;
  Zeros zeros = Zeros::none;
  bool bias = false;
  int64_t length = 0;
};

OperatorCase block_product(const Product& product) {
  auto op = std::make_shared<BlockProduct>();
  op->weights.rows = product.a.back(), op->weights.columns = product.columns;
  op->weights.bits = product.bits, op->weights.block = product.block;
  op->weights.length = product.length;
  const int64_t blocks = op->weights.blocks(), columns = product.columns, all = columns * blocks;
  OperatorCase test;
  test.type = "BlockProduct";
  const float scale = 2.0f / static_cast<float>(1 << product.bits);
  test.inputs = {random_tensor(product.a, 1),
                 octets({columns, op->weights.column_integers() * product.bits / 8}, 2),
                 random_tensor({all}, 3, 0.25f * scale, scale), std::nullopt, std::nullopt};
  if (product.zeros == Zeros::packed) test.inputs[3] = octets({columns, (blocks * product.bits + 7) / 8}, 4);
  if (product.zeros == Zeros::floats)
    test.inputs[3] = random_tensor({all}, 4, 0.0f, static_cast<float>(1 << product.bits));
  if (product.bias) test.inputs[4] = random_tensor({columns}, 5);
  test.constants = {1, 2, 3, 4};
  for (size_t i = 3; i < 5; ++i)
    if (!test.inputs[i]) test.constants.erase(i);
  test.op = op;
  test.sweep.arithmetic_fp16 = false;
  test.sweep.as_for_gpu = true;
  test.sweep.buffers = 4;            // as Android Baseline 2022 has
  test.sweep.fp32_tolerance = 5e-5;  // the host adds up in another order
  test.sweep.fp16_tolerance = 2e-2;
  return test;
}

TEST(BlockProduct, OneRow) {
  check_operator(block_product({{1, 64}, 12, 4, 32}));
  check_operator(block_product({{1, 1, 256}, 20, 4, 32, Zeros::packed, true}));
  check_operator(block_product({{96}, 8, 8, 16, Zeros::floats}));
}

TEST(BlockProduct, ManyRows) {
  check_operator(block_product({{2, 9, 64}, 24, 4, 16, Zeros::packed}));
  check_operator(block_product({{19, 128}, 16, 8, 64, Zeros::none, true}));
  check_operator(block_product({{2, 64}, 12, 2, 32, Zeros::packed}));
  check_operator(block_product({{3, 64}, 12, 4, 256}));
}

// Blocks that A ends within, rows that are no whole texels, columns that are none.
TEST(BlockProduct, OddSizes) {
  check_operator(block_product({{1, 77}, 13, 4, 32, Zeros::packed, true}));
  check_operator(block_product({{5, 68}, 7, 4, 64, Zeros::floats}));
  check_operator(block_product({{3, 50}, 5, 8, 32, Zeros::packed}));
  check_operator(block_product({{2, 3, 21}, 1, 2, 16, Zeros::packed}));
  check_operator(block_product({{1, 3}, 3, 8, 16}));
}

// The last block of a column is cut short after the rows.
TEST(BlockProduct, ColumnsShorterThanTheirBlocks) {
  check_operator(block_product({{1, 96}, 12, 4, 128, Zeros::packed, true, 96}));
  check_operator(block_product({{3, 224}, 13, 8, 256, Zeros::packed, false, 224}));
  check_operator(block_product({{2, 330}, 8, 4, 512, Zeros::none, true, 352}));
}

// Long enough for a workgroup to share a sum.
TEST(BlockProduct, LongSums) {
  OperatorCase test = block_product({{1, 4100}, 9, 4, 32, Zeros::packed});
  test.sweep.fp32_tolerance = 1e-3;
  test.sweep.fp16_tolerance = 0.1;
  check_operator(test);
}

TEST(BlockProduct, Activation) {
  OperatorCase test = block_product({{3, 64}, 12, 4, 32, Zeros::none, true});
  test.activation = {ActivationKind::relu};
  check_operator(test);
}

// The weights on the device are the bytes of the model, and its scales, whatever the precision.
TEST(BlockProduct, WeightsStayPacked) {
  const OperatorCase test = block_product({{1, 64}, 12, 4, 32, Zeros::packed});
  const Graph graph = single_node_graph(test);
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    const Program program =
        lower(graph, DeviceCaps{.max_storage_buffers_per_stage = 8}, {.precision = precision});
    uint64_t bytes = 0;
    for (const VirtualTensor& tensor : program.tensors)
      if (tensor.role == TensorRole::weight) bytes += tensor.desc.byte_size();
    EXPECT_EQ(bytes, 12 * 32 + 12 * 2 * 4 + 12 * 1);
  }
}

// Words are loaded as texels of sixteen bytes where that is faster and the device's limits allow it.
TEST(BlockProduct, WordsAsTexels) {
  const auto texel_buffers = [&](const OperatorCase& test, const DeviceCaps& caps) {
    const Program program = lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer});
    int64_t count = 0;
    for (const Task& task : program.tasks)
      for (const Binding& binding : task.dispatch->bindings)
        count += binding.of_words4 && binding.texel_buffer;
    return count;
  };
  DeviceCaps caps = test_context()->caps();
  for (const int64_t rows : {1, 40})  // 40: tiles of many rows
    for (const int64_t bits : {4, 8}) {
      const OperatorCase test = block_product({{rows, 96}, 21, bits, 32, Zeros::packed, true});
      for (const bool as_texels : {false, true}) {
        caps.reads_buffers_as_texels = as_texels;
        const bool is_sampled = device_traits(caps).samples_texel_buffers;
        if (rows > 1 && is_sampled) continue;  // only small tiles load texels there
        EXPECT_EQ(texel_buffers(test, caps), as_texels || is_sampled ? 1 : 0);
        if (rows == 1 || as_texels) check_operator(test, caps);
      }
    }
  caps.max_texel_buffer_elements = 10;
  EXPECT_EQ(texel_buffers(block_product({{1, 96}, 21, 4, 32}), caps), 0);
}

struct Table {
  int64_t rows, columns, bits, block;
  DType dtype = DType::u8;
  bool packed = false, zeros = false;
};

OperatorCase block_gather(const Table& table) {
  auto op = std::make_shared<BlockGather>();
  op->bits = table.bits, op->block = table.block, op->packed_pairs = table.packed;
  op->is_centred = table.packed || table.bits == 8;
  const int64_t blocks = (table.columns + table.block - 1) / table.block;
  const auto width = [&](int64_t count) { return table.packed ? (count + 1) / 2 : count; };
  const uint8_t most = table.bits == 4 && !table.packed ? (table.dtype == DType::u8 ? 15 : 7) : 255;
  OperatorCase test;
  test.type = "BlockGather";
  test.inputs = {octets({table.rows, width(table.columns)}, 1, table.dtype, most),
                 HostTensor::i64({2, 3}, Attributes::Ints{0, table.rows - 1, -1, 1, 0, -table.rows}),
                 random_tensor({table.rows, blocks}, 2, 0.01f, 0.05f)};
  if (table.zeros) test.inputs.emplace_back(octets({table.rows, width(blocks)}, 3, table.dtype, most));
  test.constants = {0, 2};
  if (table.zeros) test.constants.insert(3);
  test.op = op;
  test.sweep.channels4_inputs = test.sweep.arithmetic_fp16 = false;
  test.sweep.buffers = 4;
  return test;
}

TEST(BlockGather, PackedTables) {
  check_operator(block_gather({5, 40, 4, 16, DType::u8, true, true}));
  check_operator(block_gather({7, 34, 4, 32, DType::u8, true}));
  check_operator(block_gather({4, 19, 8, 16, DType::u8, false, true}));
  check_operator(block_gather({4, 32, 8, 16}));
}

TEST(BlockGather, TablesOfSignedAndSingleIntegers) {
  check_operator(block_gather({4, 21, 8, 16, DType::i8, false, true}));
  check_operator(block_gather({5, 35, 4, 16, DType::u8, false, true}));
  check_operator(block_gather({5, 33, 4, 32, DType::i8}));
}

TEST(BlockGather, LargeTablesStayOnTheHost) {
  OperatorCase test = block_gather({5, 40, 4, 16, DType::u8, true, true});
  auto op = std::make_shared<BlockGather>(dynamic_cast<const BlockGather&>(*test.op));
  op->on_host = true;
  test.op = op;
  test.sweep.host_allowed = true;
  check_operator(test);
}

}  // namespace block_product_test
}  // namespace vellum::test
