// Caches of integers that are state become bytes in words, which attention reads.
#include "passes/caches/pack_integer_caches.hpp"

#include <gtest/gtest.h>

#include "graph/byte_rows.hpp"
#include "passes/attention_of.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kKeyHeads = 2, kQueryHeads = 4, kCachedTokens = 11, kHeadWidth = 16;

struct IntegerCaches {
  int64_t bits = 8;
  std::string kind = "PER_CHANNEL";
  bool values_are_floats = false;

  DType dtype() const { return bits == 8 ? DType::i8 : DType::u8; }
  Shape cache() const { return {1, kKeyHeads, kCachedTokens, kHeadWidth * bits / 8}; }

  OnnxModel model() const {
    OnnxModel result;
    result.input("q", {1, 2, kQueryHeads * kHeadWidth}).input("k", {1, 2, kKeyHeads * kHeadWidth});
    result.input("v", {1, 2, kKeyHeads * kHeadWidth}).input("past.key", cache(), dtype());
    if (values_are_floats)
      result.input("past.value", {1, kKeyHeads, kCachedTokens, kHeadWidth});
    else
      result.input("past.value", cache(), dtype());
    result.input("last", {1}, DType::i32)
        .initializer("total", HostTensor::from<int64_t>(DType::i32, {}, std::vector<int64_t>{kCachedTokens}));
    const Shape scales = kind == "PER_CHANNEL" ? Shape{1, kKeyHeads, 1, kHeadWidth} : Shape{1};
    const float step = bits == 8 ? 0.02f : 0.3f;
    result.initializer("k_scale", random_tensor(scales, 8, step, 2 * step))
        .initializer("v_scale", random_tensor(scales, 9, step, 2 * step));
    Attributes quantised = attributes({{"num_heads", kQueryHeads},
                                       {"kv_num_heads", kKeyHeads},
                                       {"k_quant_type", kind},
                                       {"v_quant_type", values_are_floats ? std::string("NONE") : kind},
                                       {"kv_cache_bit_width", bits}});
    result.node("com.microsoft.GroupQueryAttention",
                {"q", "k", "v", "past.key", "past.value", "last", "total", "", "", "", "", "", "k_scale",
                 values_are_floats ? "" : "v_scale"},
                {"y", "present.key", "present.value"}, quantised);
    for (const char* output : {"y", "present.key", "present.value"}) result.output(output);
    return result;
  }

  HostTensor integers(uint32_t seed) const {
    std::vector<int64_t> values;
    for (const float number : random_tensor(cache(), seed, 0.0f, 255.9f).as<float>())
      values.push_back(static_cast<int64_t>(number) - (bits == 8 ? 128 : 0));
    return HostTensor::from<int64_t>(dtype(), cache(), values);
  }

  std::vector<HostTensor> inputs() const {
    return {random_tensor({1, 2, kQueryHeads * kHeadWidth}, 1),
            random_tensor({1, 2, kKeyHeads * kHeadWidth}, 2),
            random_tensor({1, 2, kKeyHeads * kHeadWidth}, 3),
            integers(4),
            integers(5),
            HostTensor::from<int64_t>(DType::i32, {1}, std::vector<int64_t>{7})};
  }
};

Graph packed(const OnnxModel& model) {
  Graph graph = optimise(model.graph(), {});
  pack_integer_caches(graph, state_pairs(graph, "auto"));
  check(graph);
  return graph;
}

TEST(PackIntegerCaches, AttentionReadsTheWordsThatWereWritten) {
  for (const int64_t bits : {8, 4})
    for (const char* kind : {"PER_TENSOR", "PER_CHANNEL"}) {
      SCOPED_TRACE(std::to_string(bits) + " " + kind);
      const IntegerCaches caches{bits, kind};
      const OnnxModel model = caches.model();
      const Graph graph = packed(model), plain = optimise(model.graph(), {});
      EXPECT_EQ(attention_of(graph).cache_rows, bits == 8 ? RowFormat::bytes : RowFormat::nibbles);
      EXPECT_EQ(graph.values[graph.inputs[3]].type,
                (TensorType{DType::i32, {1, kKeyHeads, kCachedTokens, kHeadWidth * bits / 32}}));
      for (const char* replaced : {"Gather", "Div", "Round", "Clip", "Cast", "Slice"})
        EXPECT_EQ(types(graph).find(replaced), std::string::npos) << types(graph);
      std::vector<HostTensor> inputs = caches.inputs();
      const auto expected = evaluate(plain, inputs);
      for (const size_t i : {3u, 4u}) inputs[i] = pack_bytes(inputs[i]);
      const auto outputs = evaluate(graph, inputs);
      EXPECT_TRUE(close(outputs[0], expected[0], 1e-6));
      for (const size_t i : {1u, 2u})
        EXPECT_EQ(unpack_bytes(outputs[i], caches.dtype()).to_ints(), expected[i].to_ints());
    }
}

TEST(PackIntegerCaches, CachesThatOthersReadStay) {
  const std::string plain = types(optimise(IntegerCaches().model().graph(), {}));
  OnnxModel read = IntegerCaches().model();
  read.node("Cast", {"present.key"}, {"floats"}, attributes({{"to", int64_t{1}}})).output("floats");
  const Graph graph = packed(read);
  EXPECT_EQ(attention_of(graph).cache_rows, RowFormat::floats);
  EXPECT_EQ(types(graph), types(optimise(read.graph(), {})));
  // Attention reads both caches in words, or none.
  OnnxModel mixed = IntegerCaches{.values_are_floats = true}.model();
  EXPECT_EQ(attention_of(packed(mixed)).cache_rows, RowFormat::floats);
  // Without state they are inputs and outputs, of an element for each integer.
  Graph stateless = optimise(IntegerCaches().model().graph(), {});
  pack_integer_caches(stateless, {});
  EXPECT_EQ(types(stateless), plain);
}

}  // namespace
}  // namespace vellum::test
