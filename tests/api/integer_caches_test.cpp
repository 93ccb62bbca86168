// Sessions whose caches are integers of 8 and 4 bits, which com.microsoft's GroupQueryAttention quantises.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "graph/operator_support.hpp"
#include "passes/passes.hpp"
#include "public_interface.hpp"
#include "support/tensors.hpp"
#include "vellum/estimate.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kGroups = 2, kQueries = 4, kRoom = 24, kSize = 16;

struct Form {
  int64_t bits = 8;
  std::string kind = "PER_CHANNEL";
  bool grows = false;  // past and present differ in length

  DType dtype() const { return bits == 8 ? DType::i8 : DType::u8; }
  Shape cache(int64_t tokens) const { return {1, kGroups, tokens, kSize * bits / 8}; }
  std::string text() const { return std::to_string(bits) + kind + (grows ? "Grows" : ""); }
};

// Numbers of which no quotient by a scale is near a half, so that all devices round alike.
HostTensor quarters(Shape shape, uint32_t seed) {
  HostTensor values = random_tensor(std::move(shape), seed, -20.0f, 20.0f);
  for (float& value : values.mutable_as<float>()) value = std::nearbyint(value) / 16.0f + 1.0f / 128;
  return values;
}

class IntegerCacheSessions : public testing::TestWithParam<Form> {
 protected:
  OnnxModel model() const {
    const Form& form = GetParam();
    OnnxModel result;
    result.input("q", {1, kUnknownDim, kQueries * kSize}).input("k", {1, kUnknownDim, kGroups * kSize});
    result.input("v", {1, kUnknownDim, kGroups * kSize});
    for (const char* past : {"past.key", "past.value"})
      result.input(past, form.cache(form.grows ? kUnknownDim : kRoom), form.dtype());
    if (form.grows) {
      result.initializer("axis0", HostTensor::i64({1}, std::vector<int64_t>{0}))
          .initializer("one", HostTensor::i64({}, std::vector<int64_t>{1}))
          .initializer("axis", HostTensor::i64({}, std::vector<int64_t>{2}));
      result.node("Shape", {"past.key"}, {"past_shape"})
          .node("Gather", {"past_shape", "axis"}, {"past_tokens"})
          .node("Shape", {"q"}, {"q_shape"})
          .node("Gather", {"q_shape", "one"}, {"new_tokens"})
          .node("Add", {"past_tokens", "new_tokens"}, {"all"})
          .node("Sub", {"all", "one"}, {"last_token"})
          .node("Cast", {"all"}, {"total"}, attributes({{"to", int64_t{6}}}));
      result.node("Unsqueeze", {"last_token", "axis0"}, {"last_tokens"})
          .node("Cast", {"last_tokens"}, {"last"}, attributes({{"to", int64_t{6}}}));
    } else {
      result.input("last", {1}, DType::i32)
          .initializer("total", HostTensor::from<int64_t>(DType::i32, {}, std::vector<int64_t>{kRoom}));
    }
    const Shape scales = form.kind == "PER_CHANNEL" ? Shape{1, kGroups, 1, kSize} : Shape{1};
    for (const std::string part : {"k", "v"}) {
      HostTensor scale = random_tensor(scales, part == "k" ? 8 : 9, 0.0f, 2.0f);
      for (float& value : scale.mutable_as<float>())
        value = std::exp2(std::floor(value) - (form.bits == 8 ? 6.0f : 3.0f));
      result.initializer(part + "_scale", scale);
    }
    result.node(
        "com.microsoft.GroupQueryAttention",
        {"q", "k", "v", "past.key", "past.value", "last", "total", "", "", "", "", "", "k_scale", "v_scale"},
        {"y", "present.key", "present.value"},
        attributes({{"num_heads", kQueries},
                    {"kv_num_heads", kGroups},
                    {"k_quant_type", form.kind},
                    {"v_quant_type", form.kind},
                    {"kv_cache_bit_width", form.bits}}));
    for (const char* output : {"y", "present.key", "present.value"}) result.output(output);
    return result;
  }

  SessionOptions options() const {
    SessionOptions result{.state = "auto"};
    if (GetParam().grows) result.state_capacity = static_cast<uint32_t>(kRoom);
    return result;
  }

  std::map<std::string, Tensor> inputs(int64_t tokens, int64_t length) const {
    const auto seed = static_cast<uint32_t>(10 * length);
    std::map<std::string, Tensor> result{{"q", quarters({1, tokens, kQueries * kSize}, seed)},
                                         {"k", quarters({1, tokens, kGroups * kSize}, seed + 1)},
                                         {"v", quarters({1, tokens, kGroups * kSize}, seed + 2)}};
    if (!GetParam().grows)
      result.emplace("last", HostTensor::from<int64_t>(DType::i32, {1}, std::vector<int64_t>{length - 1}));
    return result;
  }

  // The outputs of the model on the host, whose caches are given and have the length of the model's.
  std::vector<HostTensor> expected(const std::map<std::string, Tensor>& given, const HostTensor& keys,
                                   const HostTensor& values) const {
    Graph graph = model().graph();
    InputShapes shapes{{"past.key", keys.shape()}, {"past.value", values.shape()}};
    for (const auto& [name, tensor] : given) shapes[name] = tensor.shape();
    infer_shapes_and_fold(graph, shapes, {});
    std::vector<HostTensor> tensors{given.at("q"), given.at("k"), given.at("v"), keys, values};
    if (!GetParam().grows) tensors.push_back(given.at("last"));
    return evaluate(graph, tensors);
  }

  static HostTensor first_tokens(const HostTensor& cache, int64_t tokens) {
    Shape shape = cache.shape();
    shape[2] = tokens;
    return gather_strided(cache, shape, row_major_strides(cache.shape()), 0);
  }
};

TEST_P(IntegerCacheSessions, RunsGiveTheIntegersAndResultsOfTheModel) {
  const Device device = Device::open(device_options());
  Session session(device, load(model()), options());
  const Form& form = GetParam();
  HostTensor keys(form.dtype(), form.cache(form.grows ? 0 : kRoom)), values = keys;
  int64_t length = 0;
  for (const int64_t tokens : {5, 1, 3, 1}) {
    length += tokens;
    const auto given = inputs(tokens, length);
    const std::vector<HostTensor> wanted = expected(given, keys, values);
    EXPECT_TRUE(close(session.run(given).at("y"), wanted[0], 1e-5)) << length;
    keys = wanted[1], values = wanted[2];
    for (const auto& [name, cache] : {std::pair("past.key", &keys), std::pair("past.value", &values)}) {
      const Tensor found = session.state(name);
      EXPECT_EQ(found.type(), (TensorType{form.dtype(), form.cache(kRoom)}));
      EXPECT_EQ(first_tokens(found, length).to_ints(), first_tokens(*cache, length).to_ints()) << name;
    }
  }
  EXPECT_TRUE(session.warnings().empty()) << session.warnings().front();
  EXPECT_EQ(device.validation_messages(), 0u);
}

// Integers of 4 bits have an offset: a token of zeros is no byte of zeros.
TEST_P(IntegerCacheSessions, TokensOfZerosAreZeros) {
  Session session(Device::open(device_options()), load(model()), options());
  const Form& form = GetParam();
  HostTensor keys(form.dtype(), form.cache(form.grows ? 0 : kRoom)), values = keys;
  for (int64_t length = 1; length <= 4; ++length) {
    auto given = inputs(1, length);
    if (length != 3)
      for (const char* token : {"k", "v"}) given.at(token) = Tensor(DType::f32, {1, 1, kGroups * kSize});
    const std::vector<HostTensor> wanted = expected(given, keys, values);
    EXPECT_TRUE(close(session.run(given).at("y"), wanted[0], 1e-5)) << length;
    keys = wanted[1], values = wanted[2];
    EXPECT_EQ(first_tokens(session.state("past.key"), length).to_ints(),
              first_tokens(keys, length).to_ints());
  }
}

TEST_P(IntegerCacheSessions, StatesTakeTheirBytesAndAreSetAndSaved) {
  const Device device = Device::open(device_options());
  const Model loaded = load(model());
  Session session(device, loaded, options());
  session.run(inputs(5, 5));
  const uint64_t cache_bytes =
      2 * uint64_t{kGroups * kRoom * kSize} * static_cast<uint64_t>(GetParam().bits) / 8;
  SessionOptions shaped = options();
  for (const auto& [name, tensor] : inputs(5, 5)) shaped.input_shapes[name] = tensor.shape();
  const MemoryEstimate estimate = estimate_memory(loaded, shaped, device);
  const uint64_t length_bytes = GetParam().grows ? 16 : 0;
  EXPECT_EQ(estimate.use.state, cache_bytes + length_bytes);
  EXPECT_EQ(session.memory().state_bytes, estimate.vulkan.state);
  const SavedState saved = session.save_state();
  const Tensor keys = session.state("past.key");
  const Tensor next = session.run(inputs(1, 6)).at("y");
  session.reset_state();
  session.restore_state(saved);
  EXPECT_TRUE(close(session.run(inputs(1, 6)).at("y"), next, 0.0));
  session.restore_state(saved);
  session.set_state("past.key", keys);
  EXPECT_EQ(session.state("past.key").to_ints(), keys.to_ints());
  EXPECT_TRUE(close(session.run(inputs(1, 6)).at("y"), next, 0.0));
}

INSTANTIATE_TEST_SUITE_P(Forms, IntegerCacheSessions,
                         testing::Values(Form{8, "PER_TENSOR"}, Form{8, "PER_CHANNEL"}, Form{4, "PER_TENSOR"},
                                         Form{4, "PER_CHANNEL"}, Form{8, "PER_TENSOR", true},
                                         Form{4, "PER_CHANNEL", true}),
                         [](const auto& form) { return "Form" + std::to_string(form.index); });

}  // namespace
}  // namespace vellum::test
