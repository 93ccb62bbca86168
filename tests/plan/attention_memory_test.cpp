// How the memory of intermediates grows with the number of tokens that attend to one another.
#include <gtest/gtest.h>

#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "plan/memory_plan.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kHeads = 2, kChannels = 16;

// Attention as exporters spell it, on Q, K and V of `tokens` tokens, with what parts and joins the heads.
Graph spelt_out(int64_t tokens) {
  const HostTensor parted = HostTensor::i64({4}, std::vector<int64_t>{1, tokens, kHeads, kChannels});
  OnnxModel m;
  m.initializer("parted", parted)
      .initializer("joined", HostTensor::i64({3}, std::vector<int64_t>{1, tokens, -1}));
  for (const std::string x : {"q", "k", "v"}) {
    m.input(x, {1, tokens, kHeads * kChannels}).node("Reshape", {x, "parted"}, {x + "r"});
    const Attributes order =
        attributes({{"perm", x == "k" ? Attributes::Ints{0, 2, 3, 1} : Attributes::Ints{0, 2, 1, 3}}});
    m.node("Transpose", {x + "r"}, {x + "h"}, order);
  }
  m.node("MatMul", {"qh", "kh"}, {"scores"});
  m.node("Softmax", {"scores"}, {"weights"}, attributes({{"axis", int64_t{-1}}}));
  m.node("MatMul", {"weights", "vh"}, {"sum"});
  m.node("Transpose", {"sum"}, {"order"}, attributes({{"perm", Attributes::Ints{0, 2, 1, 3}}}));
  m.node("Reshape", {"order", "joined"}, {"y"}).output("y");
  return m.graph();
}

uint64_t planned_bytes(int64_t tokens, bool fused, Precision precision, DeviceType type = DeviceType::cpu) {
  const std::vector<std::string> without{"fuse_attention"};
  Graph graph = optimise(spelt_out(tokens), {}, fused ? std::span<const std::string>() : without);
  DeviceCaps caps;
  caps.type = type;
  const Program program = lower(graph, caps, {.precision = precision, .storage = StorageChoice::buffer});
  EXPECT_TRUE(program.warnings.empty());
  return plan_memory(program, {}, tight_rules(16)).planned_bytes;
}

TEST(AttentionMemory, GrowsWithTheTokensInsteadOfTheirSquare) {
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    const uint64_t element = precision == Precision::fp32 ? 4 : 2;
    const uint64_t fused = planned_bytes(512, true, precision), apart = planned_bytes(512, false, precision);
    EXPECT_LE(fused, 4 * 512 * kHeads * kChannels * element) << "Q, K, V and the result";
    EXPECT_GE(apart, kHeads * 512 * 512 * element) << "the scores of all pairs at least";
    EXPECT_EQ(planned_bytes(1024, true, precision), 2 * fused);
    EXPECT_GE(planned_bytes(1024, false, precision), 39 * apart / 10);
  }
}

// A GPU that few queries leave idle gets several parts of the keys, and fewer the more queries there are.
TEST(AttentionMemory, OfPartsOfTheKeysDoesNotGrowWithTheTokens) {
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    const auto of_parts = [&](int64_t tokens) {
      return planned_bytes(tokens, true, precision, DeviceType::discrete_gpu) -
             planned_bytes(tokens, true, precision);
    };
    EXPECT_GT(of_parts(512), 0u);
    EXPECT_LE(of_parts(1024), 11 * of_parts(512) / 10);
    EXPECT_EQ(of_parts(8192), 0u);
  }
}

}  // namespace
}  // namespace vellum::test
