// Caches that are concatenated with new tokens become caches of fixed capacity with a length that is a value
// of the run.
#include "passes/caches/growing_caches.hpp"

#include <cmath>

#include "passes/pass_harness.hpp"
#include "support/errors.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kHeads = 2, kChannels = 4, kCapacity = 16;

HostTensor list(int64_t value) { return HostTensor::i64({1}, std::vector<int64_t>{value}); }

// One layer of self attention with learned positions from a table, which begin where the cache ends. Keys may
// be cast to their own type, as GPT-J's are, and positions may be the running sums of a mask of all tokens,
// as OPT's are. With joined_mask the mask of the earlier tokens is concatenated with that of the new ones,
// and slopes are sliced from the end of a table, as MPT does.
enum class LayerForm : uint8_t { plain, cast_keys, positions_of_mask, joined_mask, distances };
class Layer {
 public:
  OnnxModel model;
  const bool has_mask;

  explicit Layer(LayerForm form = LayerForm::plain) : has_mask(form == LayerForm::positions_of_mask) {
    const bool casts = form == LayerForm::cast_keys;
    model.input("x", {1, kHeads, kUnknownDim, kChannels})
        .input("past.key", {1, kHeads, kUnknownDim, kChannels});
    model.input("past.value", {1, kHeads, kUnknownDim, kChannels});
    model.initializer("table", random_tensor({32, kChannels}, 3))
        .initializer("two", number(2))
        .initializer("zero", number(0))
        .initializer("one", number(1))
        .initializer("axis0", list(0))
        .initializer("axis3", list(3))
        .initializer("scores_scale", HostTensor::f32({}, std::vector<float>{0.5f}))
        .initializer("seen", HostTensor::f32({}, std::vector<float>{0.0f}))
        .initializer("unseen", HostTensor::f32({}, std::vector<float>{-INFINITY}));
    model.node("Shape", {"past.key"}, {"past_shape"})
        .node("Gather", {"past_shape", "two"}, {"past_length"})
        .node("Shape", {"x"}, {"x_shape"})
        .node("Gather", {"x_shape", "two"}, {"count"})
        .node("Add", {"past_length", "count"}, {"all"})
        .node("Unsqueeze", {"past_length", "axis0"}, {"begin"})
        .node("Unsqueeze", {"all", "axis0"}, {"end"})
        .node("Slice", {"table", "begin", "end", "axis0"}, {has_mask ? "unused" : "positions"});
    if (has_mask) add_positions_of_mask();
    model.node("Add", {"x", "positions"}, {"q"})
        .node("Concat", {"past.key", "q"}, {casts ? "joined.key" : "present.key"},
              attributes({{"axis", int64_t{2}}}))
        .node("Concat", {"past.value", "x"}, {"present.value"}, attributes({{"axis", int64_t{2}}}));
    if (casts) model.node("Cast", {"joined.key"}, {"present.key"}, attributes({{"to", int64_t{1}}}));
    // Row i of the mask sees keys 0 ... past + i.
    model.node("Range", {"zero", "all", "one"}, {"keys"})
        .node("Range", {"past_length", "all", "one"}, {"rows"})
        .node("Unsqueeze", {"rows", "axis1"}, {"rows2"})
        .node("LessOrEqual", {"keys", "rows2"}, {"sees"})
        .node("Where", {"sees", "seen", "unseen"}, {"mask"})
        .initializer("axis1", list(1));
    if (form == LayerForm::joined_mask) add_joined_mask();
    if (form == LayerForm::distances) add_distances();
    model.node("Transpose", {"present.key"}, {"t"}, attributes({{"perm", Attributes::Ints{0, 1, 3, 2}}}))
        .node("MatMul", {"q", "t"}, {"products"})
        .node("Mul", {"products", "scores_scale"}, {"scores"})
        .node("Add", {"scores", form >= LayerForm::joined_mask ? "own_mask" : "mask"}, {"masked"})
        .node("Softmax", {"masked"}, {"weights"}, attributes({{"axis", int64_t{-1}}}))
        .node("MatMul", {"weights", "present.value"}, {"y"})
        .output("y")
        .output("present.key")
        .output("present.value");
  }

  void add_positions_of_mask() {
    model.input("attention_mask", {1, kUnknownDim}, DType::i64).initializer("far", list(INT64_MAX));
    model.initializer("axis_1", list(1))
        .node("CumSum", {"attention_mask", "one"}, {"sums"})
        .node("Sub", {"sums", "one"}, {"places"})
        .node("Slice", {"places", "begin", "far", "axis_1"}, {"own_places"})
        .node("Squeeze", {"own_places", "axis0"}, {"rows_of_table"})
        .node("Gather", {"table", "rows_of_table"}, {"positions"});
  }

  // Zeros for the earlier tokens, a causal mask of the new ones, and slopes that end with the last token.
  void add_joined_mask() {
    model.initializer("far", list(INT64_MAX)).initializer("slopes", random_tensor({1, 32}, 8));
    model.initializer("axis_1", list(1)).initializer("all_slopes", list(32));
    model.node("Unsqueeze", {"count", "axis0"}, {"rows_count"})
        .node("Concat", {"rows_count", "begin"}, {"past_size"}, attributes({{"axis", int64_t{0}}}))
        .node("Expand", {"seen", "past_size"}, {"past_mask"});
    model.node("Range", {"zero", "count", "one"}, {"new_keys"})
        .node("Unsqueeze", {"new_keys", "axis_1"}, {"new_rows"})
        .node("LessOrEqual", {"new_keys", "new_rows"}, {"new_sees"})
        .node("Where", {"new_sees", "seen", "unseen"}, {"new_mask"})
        .node("Concat", {"past_mask", "new_mask"}, {"joined"}, attributes({{"axis", int64_t{-1}}}));
    model.node("Sub", {"all_slopes", "end"}, {"first_slope"})
        .node("Slice", {"slopes", "first_slope", "far", "axis_1"}, {"own_slopes"})
        .node("Add", {"joined", "own_slopes"}, {"own_mask"});
  }

  // Distances from the end, which begin with that of the first token.
  void add_distances() {
    model.node("Unsqueeze", {"all", "axis0"}, {"keys_count"})
        .node("Expand", {"scores_scale", "keys_count"}, {"steps"})
        .node("CumSum", {"steps", "zero"}, {"distances"}, attributes({{"reverse", int64_t{1}}}))
        .node("Add", {"distances", "mask"}, {"own_mask"});
  }

  // A mask of `count` tokens in all, of which `seen` are ones.
  static HostTensor mask(int64_t count, int64_t seen) {
    std::vector<int64_t> values(static_cast<size_t>(count), 0);
    std::fill_n(values.begin(), seen, 1);
    return HostTensor::i64({1, count}, values);
  }

  Graph fixed(int64_t tokens) const {
    const Graph graph = model.graph();
    const Graph with_length = add_cache_length(graph, state_pairs(graph, "auto"), kCapacity);
    InputShapes shapes{{"x", {1, kHeads, tokens, kChannels}}};
    if (has_mask) shapes["attention_mask"] = {1, kCapacity};
    const std::vector<StatePair> states = state_pairs(with_length, "auto");
    Graph prepared = optimise(fix_cache_capacity(with_length, states, shapes, {}), shapes);
    limit_attention_to_length(prepared, state_pairs(prepared, "auto"));
    check(prepared);
    return prepared;
  }
};

// The cache with other numbers after its tokens.
HostTensor in_capacity(const HostTensor& past) {
  HostTensor cache = random_tensor({1, kHeads, kCapacity, kChannels}, 99);
  const auto count = static_cast<size_t>(past.shape()[2] * kChannels);
  for (size_t head = 0; head < kHeads; ++head)
    std::copy_n(past.as<float>().begin() + head * count, count,
                cache.mutable_as<float>().begin() + head * kCapacity * kChannels);
  return cache;
}

void expect_results_of_concatenation(const Layer& layer) {
  for (const int64_t tokens : {1, 3}) {
    const Graph graph = layer.fixed(tokens);
    EXPECT_NE(types(graph).find("Attention"), std::string::npos) << types(graph);
    EXPECT_EQ(tokens_of_run(graph), tokens);
    for (const int64_t past : {1, 2, 7, 12}) {
      const HostTensor x = random_tensor({1, kHeads, tokens, kChannels}, 5),
                       key = random_tensor({1, kHeads, past, kChannels}, 6),
                       value = random_tensor({1, kHeads, past, kChannels}, 7);
      Graph plain = layer.model.graph();
      InputShapes shapes{{"x", x.shape()}, {"past.key", key.shape()}, {"past.value", value.shape()}};
      std::vector<HostTensor> inputs{x, key, value}, in_caches{x, in_capacity(key), in_capacity(value)};
      if (layer.has_mask) {
        shapes["attention_mask"] = {1, past + tokens};
        inputs.push_back(Layer::mask(past + tokens, past + tokens));
        in_caches.push_back(Layer::mask(kCapacity, past + tokens));
      }
      in_caches.push_back(list(past));
      infer_shapes_and_fold(plain, shapes);
      const auto expected = evaluate(plain, inputs), outputs = evaluate(graph, in_caches);
      EXPECT_TRUE(close(outputs[0], expected[0], 1e-5)) << past << " + " << tokens;
      EXPECT_EQ(outputs[3].to_ints(), (std::vector<int64_t>{past + tokens}));
    }
  }
}

TEST(GrowingCaches, GiveWhatConcatenationGives) { expect_results_of_concatenation(Layer()); }

TEST(GrowingCaches, MayBeCastToTheirOwnType) { expect_results_of_concatenation(Layer(LayerForm::cast_keys)); }

TEST(GrowingCaches, PositionsMayBeSlicedFromAMaskOfAllTokens) {
  expect_results_of_concatenation(Layer(LayerForm::positions_of_mask));
}

TEST(GrowingCaches, MasksAndSlopesMayEndWithTheTokens) {
  expect_results_of_concatenation(Layer(LayerForm::joined_mask));
}

// Values are computed again for the capacity. For shorter caches they must equal the values of the model.
TEST(GrowingCaches, ValuesThatCountFromTheEndAreRefused) {
  EXPECT_VELLUM_ERROR(Layer(LayerForm::distances).fixed(3), ErrorCode::unsupported, "Add",
                      "depends on the length of the cache in a way that is not supported");
}

// Self attention by one operator, which has the caches as its own inputs and outputs.
struct AttentionOperator {
  std::string type;
  std::vector<std::string> inputs;
  Attributes attributes;
  bool has_heads_apart = false;  // (1, head, token, channel)
  int64_t most_tokens = 3;

  Shape shape(int64_t tokens) const {
    return has_heads_apart ? Shape{1, kHeads, tokens, kChannels} : Shape{1, tokens, kHeads * kChannels};
  }

  OnnxModel model() const {
    OnnxModel result(24);
    result.input("x", shape(kUnknownDim));
    for (const char* past : {"past.key", "past.value"})
      result.input(past, {1, kHeads, kUnknownDim, kChannels});
    result.initializer("bias", random_tensor({3 * kHeads * kChannels}, 4));
    result.node("Neg", {"x"}, {"v"}).node(type, inputs, {"y", "present.key", "present.value"}, attributes);
    for (const char* output : {"y", "present.key", "present.value"}) result.output(output);
    return result;
  }
};

void expect_same_in_a_capacity(const AttentionOperator& op) {
  const OnnxModel model = op.model();
  const Graph imported = model.graph();
  const Graph with_length = add_cache_length(imported, state_pairs(imported, "auto"), kCapacity);
  const std::vector<StatePair> states = state_pairs(with_length, "auto");
  for (int64_t tokens = 1; tokens <= op.most_tokens; tokens += 2) {
    const HostTensor x = random_tensor(op.shape(tokens), 5);
    const InputShapes shapes{{"x", x.shape()}};
    Graph graph = optimise(fix_cache_capacity(with_length, states, shapes, {}), shapes);
    limit_attention_to_length(graph, state_pairs(graph, "auto"));
    EXPECT_EQ(tokens_of_run(graph), tokens);
    for (const int64_t past : {1, 7, 12}) {
      const HostTensor key = random_tensor({1, kHeads, past, kChannels}, 6),
                       value = random_tensor({1, kHeads, past, kChannels}, 7);
      Graph plain = model.graph();
      infer_shapes_and_fold(plain,
                            {{"x", x.shape()}, {"past.key", key.shape()}, {"past.value", value.shape()}});
      const auto expected = evaluate(plain, std::vector{x, key, value});
      const auto outputs = evaluate(graph, std::vector{x, in_capacity(key), in_capacity(value), list(past)});
      EXPECT_TRUE(close(outputs[0], expected[0], 1e-5)) << op.type << ": " << past << " + " << tokens;
      for (const size_t i : {1, 2}) {
        const Shape all{1, kHeads, past + tokens, kChannels};
        EXPECT_EQ(gather_strided(outputs[i], all, row_major_strides(outputs[i].shape()), 0).to_floats(),
                  expected[i].to_floats());
      }
    }
  }
}

TEST(GrowingCaches, OfAttentionOperators) {
  const Attributes heads =
      attributes({{"q_num_heads", kHeads}, {"kv_num_heads", kHeads}, {"is_causal", int64_t{1}}});
  const std::vector<std::string> standard{"x", "x", "v", "", "past.key", "past.value"};
  expect_same_in_a_capacity({"Attention", standard, heads});
  expect_same_in_a_capacity({"Attention", standard, attributes({{"scale", 0.25f}}), true});
  const std::vector<std::string> multi_head{"x", "x", "v", "bias", "", "", "past.key", "past.value"};
  const std::string domain = "com.microsoft.";
  expect_same_in_a_capacity({domain + "MultiHeadAttention", multi_head, attributes({{"num_heads", kHeads}})});
  expect_same_in_a_capacity({domain + "MultiHeadAttention", multi_head,
                             attributes({{"num_heads", kHeads}, {"unidirectional", int64_t{1}}})});
  expect_same_in_a_capacity({domain + "DecoderMaskedMultiHeadAttention",
                             {"x", "x", "v", "", "", "past.key", "past.value", "", "", "", "bias"},
                             attributes({{"num_heads", kHeads}, {"scale", 0.25f}}),
                             false,
                             1});
}

TEST(GrowingCaches, AreRefusedWhereSomethingElseReadsThem) {
  Layer layer;
  layer.model.node("ReduceMean", {"present.value"}, {"mean"}, attributes({{"axes", Attributes::Ints{2}}}))
      .output("mean");
  EXPECT_VELLUM_ERROR(layer.fixed(1), ErrorCode::unsupported, "'present.value'", "ReduceMean 'mean'");
  Layer before;
  before.model.node("Neg", {"past.value"}, {"negated"}).output("negated");
  EXPECT_VELLUM_ERROR(before.fixed(1), ErrorCode::unsupported, "'past.value'", "Neg 'negated'");
  Layer grows;
  grows.model.node("Identity", {"weights"}, {"w"}).output("w");
  EXPECT_VELLUM_ERROR(grows.fixed(1), ErrorCode::unsupported, "output 'w' becomes longer");
  Layer tells;
  tells.model.output("all");
  EXPECT_VELLUM_ERROR(tells.fixed(1), ErrorCode::unsupported, "output 'all'");
}

}  // namespace
}  // namespace vellum::test
