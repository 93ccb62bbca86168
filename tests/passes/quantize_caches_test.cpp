// Caches that TensorScatter writes and attention reads are kept in 8 bits.
#include "passes/caches/quantize_caches.hpp"

#include <gtest/gtest.h>

#include "graph/byte_rows.hpp"
#include "graph/operators/movement/cache_update.hpp"
#include "passes/pass_harness.hpp"
#include "support/errors.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kCacheHeads = 2, kCacheChannels = 8, kCacheTokens = 12;

struct CacheModel {
  OnnxModel model{24};

  explicit CacheModel(int64_t channels = kCacheChannels, const std::string& writer = "TensorScatter") {
    const Shape cache{1, kCacheHeads, kCacheTokens, channels}, tokens{1, kCacheHeads, 2, channels};
    model.input("q", tokens).input("k", tokens).input("v", tokens);
    model.input("past.key", cache).input("past.value", cache);
    model.input("at", writer == "TensorScatter" ? Shape{1} : tokens, DType::i64)
        .input("length", {1}, DType::i64);
    for (const std::string part : {"key", "value"}) {
      std::vector<std::string> inputs{"past." + part, part.substr(0, 1), "at"};
      if (writer != "TensorScatter") std::swap(inputs[1], inputs[2]);
      Attributes axis = attributes({{"axis", int64_t{2}}});
      model.node(writer, inputs, {"present." + part}, axis);
    }
    model.node("Attention", {"q", "present.key", "present.value", "", "", "", "length"}, {"y"});
    model.output("y").output("present.key").output("present.value");
  }

  Graph quantized(const std::string& state = "auto") const {
    Graph graph = optimise(model.graph(), {});
    quantize_caches(graph, state_pairs(graph, state));
    return graph;
  }
};

TEST(QuantizeCaches, AttentionReadsTheBytesThatWereWritten) {
  const CacheModel made;
  const Graph graph = made.quantized(), plain = optimise(made.model.graph(), {});
  EXPECT_EQ(types(graph), "CacheUpdate CacheUpdate Attention");
  const Shape tokens{1, kCacheHeads, 2, kCacheChannels}, cache{1, kCacheHeads, kCacheTokens, kCacheChannels};
  EXPECT_EQ(graph.values[graph.inputs[3]].type.shape, (Shape{1, kCacheHeads, kCacheTokens, 3}));
  std::vector<HostTensor> inputs{random_tensor(tokens, 1),
                                 random_tensor(tokens, 2),
                                 random_tensor(tokens, 3),
                                 random_tensor(cache, 4),
                                 random_tensor(cache, 5),
                                 HostTensor::i64({1}, std::vector<int64_t>{7}),
                                 HostTensor::i64({1}, std::vector<int64_t>{9})};
  const auto expected = evaluate(plain, inputs);
  for (const size_t i : {3u, 4u}) inputs[i] = to_byte_rows(inputs[i], kCacheChannels);
  for (const Node& node : graph.nodes) EXPECT_EQ(infer(graph, node)[0], graph.values[node.outputs[0]].type);
  const auto outputs = evaluate(graph, inputs);
  EXPECT_TRUE(close(outputs[0], expected[0], 1e-2));
  EXPECT_FALSE(close(outputs[0], expected[0], 1e-6)) << "bytes are not exact";
  for (const size_t i : {1u, 2u})
    EXPECT_TRUE(close(from_byte_rows(outputs[i], kCacheChannels), expected[i], 0.51 / 127));
}

// A soft cap and sinks are parts of attention, which reads the bytes as without them.
TEST(QuantizeCaches, OfGroupQueriesWithSinksAndASoftCap) {
  OnnxModel model;
  const Shape cache{1, 2, 9, 8};
  model.input("q", {1, 2, 32}).input("k", {1, 2, 16}).input("v", {1, 2, 16});
  model.input("past.key", cache).input("past.value", cache).input("last", {1}, DType::i32);
  model.initializer("total", HostTensor::from<int64_t>(DType::i32, {1}, std::vector<int64_t>{9}));
  model.initializer("sinks", random_tensor({4}, 8));
  model.node("com.microsoft.GroupQueryAttention",
             {"q", "k", "v", "past.key", "past.value", "last", "total", "", "", "", "", "sinks"},
             {"y", "present.key", "present.value"},
             attributes({{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"softcap", 3.0f}}));
  model.output("y").output("present.key").output("present.value");
  const Graph plain = optimise(model.graph(), {});
  Graph graph = plain;
  quantize_caches(graph, state_pairs(graph, "auto"));
  std::vector<HostTensor> inputs{random_tensor({1, 2, 32}, 1),
                                 random_tensor({1, 2, 16}, 2),
                                 random_tensor({1, 2, 16}, 3),
                                 random_tensor(cache, 4),
                                 random_tensor(cache, 5),
                                 HostTensor::from<int64_t>(DType::i32, {1}, std::vector<int64_t>{6})};
  const HostTensor expected = evaluate(plain, inputs)[0];
  for (const size_t i : {3u, 4u}) inputs[i] = to_byte_rows(inputs[i], 8);
  EXPECT_TRUE(close(evaluate(graph, inputs)[0], expected, 1e-2));
}

TEST(QuantizeCaches, RefuseWhatCannotReadOrWriteBytes) {
  CacheModel read_otherwise;
  read_otherwise.model.node("Neg", {"present.key"}, {"z"}, {}).output("z");
  EXPECT_VELLUM_ERROR(read_otherwise.quantized(), ErrorCode::unsupported, "'past.key'", "Neg");
  CacheModel past_is_read;
  past_is_read.model.node("Neg", {"past.value"}, {"z"}, {}).output("z");
  EXPECT_VELLUM_ERROR(past_is_read.quantized(), ErrorCode::unsupported, "'past.value'", "more than");
  EXPECT_VELLUM_ERROR(CacheModel(6).quantized(), ErrorCode::unsupported, "6 channels");
  EXPECT_VELLUM_ERROR(CacheModel(8, "ScatterElements").quantized(), ErrorCode::unsupported,
                      "ScatterElements");
  EXPECT_VELLUM_ERROR(CacheModel().quantized("past.key=present.key"), ErrorCode::unsupported, "both caches");
  OnnxModel hidden;
  hidden.input("h.in", {1, 4}).node("Neg", {"h.in"}, {"h.out"}, {}).output("h.out");
  Graph graph = optimise(hidden.graph(), {});
  EXPECT_VELLUM_ERROR(quantize_caches(graph, state_pairs(graph, "h.in=h.out")), ErrorCode::invalid_argument,
                      "no state is a cache");
}

}  // namespace
}  // namespace vellum::test
