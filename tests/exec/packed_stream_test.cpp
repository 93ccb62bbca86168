// Weights of 4 bits that stream through a budget: in parts and whole, from the model's own memory.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "compile/compile.hpp"
#include "exec/executor.hpp"
#include "exec/packed_weights.hpp"
#include "exec/streamed_weights.hpp"
#include "graph/operators/matmul/block_product.hpp"
#include "graph/operators/movement/block_gather.hpp"
#include "support/gpu_test.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kWidth = 128, kTokens = 2;

HostTensor octets(Shape shape, uint32_t seed) {
  HostTensor tensor(DType::u8, std::move(shape));
  uint32_t state = seed;
  for (uint8_t& byte : tensor.mutable_as<uint8_t>()) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return tensor;
}

// A table of rows, and products from there on: two of 10 KiB and two of 80 KiB.
Graph network() {
  Graph graph;
  graph.inputs = {graph.add_value("tokens", {DType::i64, {kTokens}}, true)};
  const auto add = [&](std::string name, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs,
                       int64_t columns) {
    const ValueId y = graph.add_value(name, {DType::f32, {kTokens, columns}}, true);
    graph.nodes.push_back({std::move(name), std::move(op), std::move(inputs), {y}});
    return y;
  };
  auto rows = std::make_shared<BlockGather>();
  rows->bits = 8, rows->block = 128, rows->is_centred = true;
  ValueId x = add("rows", std::move(rows),
                  {graph.add_constant("table", octets({16384, kWidth}, 9)), graph.inputs[0],
                   graph.add_constant("table scales", random_tensor({16384, 1}, 1, 0.0f, 0.01f))},
                  kWidth);
  for (uint32_t layer = 0; layer < 4; ++layer) {
    auto op = std::make_shared<BlockProduct>();
    op->weights.rows = layer == 2 ? 8 * kWidth : kWidth;
    op->weights.columns = layer == 1 ? 8 * kWidth : kWidth;
    op->weights.bits = 4, op->weights.block = 32;
    const int64_t columns = op->weights.columns, blocks = op->weights.blocks();
    const std::string name = "product" + std::to_string(layer);
    x = add(name, std::move(op),
            {x, graph.add_constant(name + "/w", octets({columns, blocks, 16}, layer + 1)),
             graph.add_constant(name + "/s", random_tensor({columns * blocks}, layer + 2, 0.0f, 0.05f))},
            columns);
  }
  graph.outputs = {x};
  return graph;
}

HostTensor run(const std::shared_ptr<gpu::Context>& context, uint64_t budget, uint64_t* unpacked = nullptr,
               Precision precision = Precision::fp32) {
  CompileOptions options;
  options.weights_budget = budget;
  options.precision = precision;
  auto model = std::make_shared<const CompiledModel>(compile(network(), context->caps(), options));
  if (unpacked)
    for (const VirtualTensor& tensor : model->program.tensors)
      if (tensor.role == TensorRole::weight && !unchanged(tensor)) *unpacked += tensor.desc.byte_size();
  std::shared_ptr<WeightSource> weights;
  if (budget > 0) {
    StreamOptions stream;
    stream.budget = budget;
    weights = std::make_shared<StreamedWeights>(context, stream);
  }
  Executor executor(context, std::move(model), {}, weights);
  executor.set_input(0, HostTensor::i64({kTokens}, std::array<int64_t, 2>{5, -2}));
  executor.run();
  return executor.output(0);
}

TEST(PackedStream, HasTheBitsOfTheResidentRunAndNoCopyOfTheWeights) {
  const auto context = gpu::Context::create(test_context_options());
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    const HostTensor expected = run(context, 0, nullptr, precision);
    for (const uint64_t budget : {48u << 10, 128u << 10}) {
      uint64_t unpacked = 0;
      const HostTensor result = run(context, budget, &unpacked, precision);
      EXPECT_EQ(unpacked, 0u) << budget;
      ASSERT_EQ(result.byte_size(), expected.byte_size());
      EXPECT_TRUE(close(result, expected, 0.0)) << budget << " bytes, " << (precision == Precision::fp16);
    }
  }
}

}  // namespace
}  // namespace vellum::test
