// Compiling products with packed weights, and the times that are predicted for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#ifndef _WIN32
#include <sys/mman.h>
#endif

#include "caps/vendors.hpp"
#include "compile/compile.hpp"
#include "cost/device_rates.hpp"
#include "plan/dispatch_model.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kDepth = 1024, kColumns = 4096;
const Shape kPacked{kColumns, kDepth / 32, 16};

// A product of rows with packed weights, and tokens whose integers are followed to their limits.
Graph packed_network(int64_t rows) {
  OnnxModel model;
  model.input("x", {rows, kDepth}).input("tokens", {4}, DType::i64);
  model.initializer("w", HostTensor(DType::u8, kPacked));
  model.initializer("scales", HostTensor(DType::f32, {kColumns * kDepth / 32}));
  model.node("com.microsoft.MatMulNBits", {"x", "w", "scales"}, {"y"},
             attributes({{"K", kDepth}, {"N", kColumns}, {"bits", int64_t{4}}, {"block_size", int64_t{32}}}));
  model.node("Mul", {"tokens", "tokens"}, {"squares"}).output("y").output("squares");
  return model.graph();
}

#ifndef _WIN32
// Returns a tensor of bytes that end the process if they are read.
HostTensor unreadable(const Shape& shape) {
  const auto size = static_cast<size_t>(element_count(shape));
  void* const pages = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(pages, MAP_FAILED);
  const auto unmap = [size](const std::byte* data) { munmap(const_cast<std::byte*>(data), size); };
  return {DType::u8, shape, std::shared_ptr<const std::byte>(static_cast<const std::byte*>(pages), unmap)};
}

// The weights may be a mapped file of many gigabytes, and a memory budget compiles the network many times.
TEST(PackedWeights, AreNotReadByTheCompiler) {
  Graph graph = packed_network(1);
  for (Value& value : graph.values)
    if (value.constant && value.type.dtype == DType::u8) value.constant = unreadable(kPacked);
  const CompiledModel model = compile(graph, DeviceCaps{}, {});
  EXPECT_TRUE(model.program.inputs[1].limit) << "the integers of the tokens are followed";
  CompileOptions budget;
  budget.weights_budget = static_cast<uint64_t>(kDepth * kColumns / 4);
  EXPECT_GT(compile(graph, DeviceCaps{}, budget).program.tasks.size(), model.program.tasks.size());
}
#endif

double predicted_ms(int64_t rows, const DeviceCaps& caps) {
  const CompiledModel model = compile(packed_network(rows), caps, {});
  const std::vector<double> tasks = predicted_milliseconds(model.program, model.barriers, caps);
  return std::accumulate(tasks.begin(), tasks.end(), 0.0);
}

// To unpack a weight takes longer than to multiply it with a few rows.
TEST(PackedWeights, ArePredictedToTakeTheTimeOfUnpacking) {
  DeviceCaps caps;
  caps.type = DeviceType::cpu;
  caps.vendor_id = kMesa;
  const double peak_ms = static_cast<double>(kDepth * kColumns) / (1e6 * device_rates(caps).gigamacs_per_s);
  EXPECT_NEAR(predicted_ms(1, caps), peak_ms / device_traits(caps).packed_efficiency, 0.2 * peak_ms);
  EXPECT_LT(predicted_ms(64, caps), 64 * predicted_ms(1, caps));
}

}  // namespace
}  // namespace vellum::test
