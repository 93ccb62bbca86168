// How the memory of intermediates grows with the number of tokens that attend to one another.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "plan/memory_plan.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

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

// Windows of tokens as in Swin V2, on images: queries and keys are normalised, with the values beside them,
// and the values themselves are not.
Graph of_cosines() {
  constexpr int64_t kWindows = 16, kTokens = 64, kWidth = kHeads * kChannels;
  OnnxModel m(17);
  m.initializer("w", random_tensor({kWidth, 3 * kWidth}, 1))
      .initializer("w2", random_tensor({kWidth, kWidth}, 2));
  m.initializer("heads", HostTensor::i64({5}, std::vector<int64_t>{kWindows, kTokens, 3, kHeads, kChannels}));
  m.initializer("joined", HostTensor::i64({2}, std::vector<int64_t>{kWindows * kTokens, kWidth}));
  m.initializer("scale", random_tensor({kChannels}, 3));
  m.input("x", {kWindows * kTokens, kWidth}).node("MatMul", {"x", "w"}, {"qkv"});
  m.node("Reshape", {"qkv", "heads"}, {"h"});
  m.node("Transpose", {"h"}, {"t"}, attributes({{"perm", Attributes::Ints{2, 0, 3, 1, 4}}}));
  m.node("LayerNormalization", {"t", "scale"}, {"n"});
  const std::string parts[] = {"q", "k", "v"};
  for (int64_t i = 0; i < 3; ++i) {
    const std::string& part = parts[i];
    m.initializer(part + "_at", HostTensor::i64({}, std::vector<int64_t>{i}));
    m.node("Gather", {i < 2 ? "n" : "t", part + "_at"}, {part}, attributes({{"axis", int64_t{0}}}));
  }
  m.node("Transpose", {"k"}, {"kt"}, attributes({{"perm", Attributes::Ints{0, 1, 3, 2}}}));
  m.node("MatMul", {"q", "kt"}, {"scores"});
  m.node("Softmax", {"scores"}, {"p"}, attributes({{"axis", int64_t{-1}}}))
      .node("MatMul", {"p", "v"}, {"sum"});
  m.node("Transpose", {"sum"}, {"order"}, attributes({{"perm", Attributes::Ints{0, 2, 1, 3}}}));
  m.node("Reshape", {"order", "joined"}, {"rows"}).node("MatMul", {"rows", "w2"}, {"y"}).output("y");
  return m.graph();
}

TEST(AttentionMemory, CopiesOfHeadsFreeTheirSource) {
  const auto bytes = [](std::vector<std::string> disabled) {
    const Program program =
        lower(optimise(of_cosines(), {}, disabled), {}, {.storage = StorageChoice::image2d});
    return std::pair{plan_memory(program, {}, tight_rules(16)).planned_bytes, program.tasks.size()};
  };
  const auto [merged, tasks] = bytes({});
  const auto [apart, more_tasks] = bytes({"merge_moves"});
  EXPECT_LT(tasks, more_tasks);
  EXPECT_LE(merged, apart);
  // Two parts less than where attention reads its values from the source.
  constexpr uint64_t kPart = 16 * 64 * kHeads * kChannels * sizeof(float);
  EXPECT_LE(merged, 10 * kPart);
}

}  // namespace
}  // namespace vellum::test
