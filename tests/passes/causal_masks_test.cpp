// Masks that are an order of tokens become attention's own order; masks that are nearly one stay.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attention_of.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kMaskedHeads = 2, kMaskedChannels = 4;
constexpr float kLowest = std::numeric_limits<float>::lowest();

using SeesKey = std::function<bool(int64_t query, int64_t key)>;

// softmax(q k^T + mask) v with a constant mask, which is 0 where a query sees a key.
OnnxModel with_constant_mask(int64_t queries, int64_t keys, const SeesKey& sees, float excluded = -INFINITY) {
  std::vector<float> mask;
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key) mask.push_back(sees(query, key) ? 0.0f : excluded);
  OnnxModel m;
  m.input("q", {1, kMaskedHeads, queries, kMaskedChannels})
      .input("k", {1, kMaskedHeads, kMaskedChannels, keys})
      .input("v", {1, kMaskedHeads, keys, kMaskedChannels})
      .initializer("mask", HostTensor::f32({1, 1, queries, keys}, mask));
  m.node("MatMul", {"q", "k"}, {"s"}).node("Add", {"s", "mask"}, {"m"});
  m.node("Softmax", {"m"}, {"p"}, attributes({{"axis", int64_t{-1}}}))
      .node("MatMul", {"p", "v"}, {"y"})
      .output("y");
  return m;
}

void fuse_masks(Graph& graph) {
  fuse_attention(graph);
  fuse_causal_masks(graph);
}

const Node& attention_node(const Graph& graph) {
  const auto is_attention = [](const Node& node) { return node.op->type() == "Attention"; };
  return *std::ranges::find_if(graph.nodes, is_attention);
}

size_t attention_inputs(const Graph& graph) { return attention_node(graph).inputs.size(); }

TEST(FuseCausalMasks, ConstantsOfTheFirstAndTheLastTokens) {
  for (const float excluded : {-INFINITY, kLowest, -1e30f}) {
    Graph graph = after(fuse_masks, with_constant_mask(
                                        5, 5, [](int64_t q, int64_t k) { return k <= q; }, excluded));
    EXPECT_TRUE(attention_of(graph).causal);
    EXPECT_EQ(attention_inputs(graph), 3u);
    graph = after(fuse_masks, with_constant_mask(
                                  5, 7, [](int64_t q, int64_t k) { return k <= q; }, excluded));
    EXPECT_TRUE(attention_of(graph).causal);
    EXPECT_EQ(attention_inputs(graph), 3u);
    graph = after(fuse_masks, with_constant_mask(
                                  5, 7, [](int64_t q, int64_t k) { return k <= q + 2; }, excluded));
    EXPECT_TRUE(attention_of(graph).causal);
    EXPECT_EQ(attention_inputs(graph), 5u) << "the queries are the last of seven";
    graph = after(fuse_masks,
                  with_constant_mask(
                      5, 7, [](int64_t q, int64_t k) { return k <= q + 2 && k > q + 2 - 3; }, excluded));
    EXPECT_TRUE(attention_of(graph).causal);
    EXPECT_EQ(attention_of(graph).window, 3);
  }
}

// A constant order and padding that an input gives, as torch's exporters write them for shapes that are
// known.
TEST(FuseCausalMasks, ConstantsBesidePadding) {
  for (const int64_t past : {0, 2})
    for (const bool is_near : {false, true}) {
      std::vector<int64_t> sees;
      for (int64_t query = 0; query < 5; ++query)
        for (int64_t key = 0; key < 7; ++key) sees.push_back(key <= query + past + (is_near ? 1 : 0));
      OnnxModel m(23);
      m.input("q", {1, kMaskedHeads, 5, kMaskedChannels})
          .input("k", {1, kMaskedHeads, 7, kMaskedChannels})
          .input("v", {1, kMaskedHeads, 7, kMaskedChannels})
          .input("p", {1, 1, 1, 7})
          .initializer("zero", scalar(0.0f))
          .initializer("sees", HostTensor::from<int64_t>(DType::boolean, {5, 7}, sees));
      m.node("Greater", {"p", "zero"}, {"padding"})
          .node("And", {"sees", "padding"}, {"mask"})
          .node("Attention", {"q", "k", "v", "mask"}, {"y"})
          .output("y");
      const Graph graph = after(
          [](Graph& decoder) {
            decompose(decoder);
            fuse_masks(decoder);
          },
          m);
      EXPECT_EQ(attention_of(graph).causal, !is_near) << past;
      const std::string& mask = graph.values[attention_node(graph).inputs[3]].name;
      EXPECT_EQ(mask, is_near ? "mask" : "padding");
      EXPECT_EQ(attention_inputs(graph), is_near || past == 0 ? 4u : 5u);
    }
}

TEST(FuseCausalMasks, ConstantsThatAreNearlyAnOrderStay) {
  const std::vector<SeesKey> masks{
      [](int64_t q, int64_t k) { return k <= q + 1; },                     // one key too many
      [](int64_t q, int64_t k) { return k < q; },                          // not itself
      [](int64_t q, int64_t k) { return k >= q; },                         // the other direction
      [](int64_t q, int64_t k) { return k <= q && !(q == 3 && k == 1); },  // one key is missing
      [](int64_t q, int64_t k) { return k <= q || (q == 0 && k == 6); },   // one key is seen
      [](int64_t q, int64_t k) { return k <= 2 * q; },
      [](int64_t q, int64_t k) { return k <= q && k > q - 3; },  // a window of the first tokens
      [](int64_t, int64_t) { return true; },
  };
  for (size_t i = 0; i < masks.size(); ++i) {
    const Graph graph = after(fuse_masks, with_constant_mask(5, 7, masks[i], kLowest));
    EXPECT_FALSE(attention_of(graph).causal) << i;
    EXPECT_EQ(attention_inputs(graph), 4u) << i;
  }
  for (const float excluded : {-1e4f, 1.0f, INFINITY, NAN}) {
    Graph graph = with_constant_mask(
                      5, 5, [](int64_t q, int64_t k) { return k <= q; }, excluded)
                      .graph();
    infer_shapes_and_fold(graph, {});
    fuse_masks(graph);
    EXPECT_FALSE(attention_of(graph).causal) << excluded;
  }
}

// Attention with a cache of which the first `past` + kNewTokens tokens are valid, and a mask of the
// positions.
constexpr int64_t kNewTokens = 3, kTokensOfCache = 8;

HostTensor ramp_of(Shape shape, int64_t begin) {
  std::vector<int64_t> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = begin + static_cast<int64_t>(i);
  return HostTensor::i64(std::move(shape), values);
}

struct ComparedPositions {
  std::string kind = "LessOrEqual";  // of keys and queries
  int64_t first_key = 0, first_query = 0;
  bool queries_first = false;
  bool negated = false;
  std::string start = "past";
};

class CachedAttention {
 public:
  CachedAttention() {
    model_.input("q", {1, kMaskedHeads, kNewTokens, kMaskedChannels})
        .input("k", {1, kMaskedHeads, kTokensOfCache, kMaskedChannels})
        .input("v", {1, kMaskedHeads, kTokensOfCache, kMaskedChannels})
        .input("past", {1}, DType::i64)
        .input("other", {1}, DType::i64)
        .input("padding", {1, 1, 1, kTokensOfCache}, DType::boolean);
    model_.initializer("count", ints({kNewTokens})).node("Add", {"past", "count"}, {"lengths"});
  }

  CachedAttention& compare(const std::string& name, const ComparedPositions& p) {
    model_.initializer(name + ".keys", ramp_of({kTokensOfCache}, p.first_key))
        .initializer(name + ".offsets", ramp_of({kNewTokens, 1}, p.first_query))
        .node("Add", {p.start, name + ".offsets"}, {name + ".queries"});
    const std::vector<std::string> operands = p.queries_first
                                                  ? std::vector{name + ".queries", name + ".keys"}
                                                  : std::vector{name + ".keys", name + ".queries"};
    model_.node(p.kind, operands, {p.negated ? name + ".not" : name});
    if (p.negated) model_.node("Not", {name + ".not"}, {name});
    return *this;
  }

  CachedAttention& both(const std::string& a, const std::string& b, const std::string& y) {
    model_.node("And", {a, b}, {y});
    return *this;
  }

  CachedAttention& choose(const std::string& condition, float kept, float excluded, const std::string& y) {
    model_.initializer(y + ".kept", HostTensor::f32({}, std::vector<float>{kept}))
        .initializer(y + ".excluded", HostTensor::f32({}, std::vector<float>{excluded}))
        .node("Where", {condition, y + ".kept", y + ".excluded"}, {y});
    return *this;
  }

  OnnxModel& model() { return model_; }

  // The graph before and after the pass; results must be equal.
  Graph fused(const std::string& mask) {
    Graph graph = model_.output(mask).output("lengths").graph();
    infer_shapes_and_fold(graph, {});
    auto op = std::make_shared<Attention>();
    const auto value = [&](const std::string& name) { return *graph.find_value(name); };
    const ValueId y = static_cast<ValueId>(graph.values.size());
    graph.values.push_back(
        Value{.name = "y", .type = {DType::f32, {1, kMaskedHeads, kNewTokens, kMaskedChannels}}});
    graph.nodes.push_back({.name = "attention",
                           .op = op,
                           .inputs = {value("q"), value("k"), value("v"), value(mask), value("lengths")},
                           .outputs = {y}});
    graph.outputs = {y};
    const Graph before = graph;
    fuse_causal_masks(graph);
    check(graph);
    for (int64_t past = 0; past <= kTokensOfCache - kNewTokens; ++past)
      for (uint32_t seed = 1; seed < 4; ++seed) expect_equal(before, graph, past, seed);
    return graph;
  }

 private:
  static void expect_equal(const Graph& before, const Graph& graph, int64_t past, uint32_t seed) {
    std::vector<HostTensor> inputs = random_inputs(before, seed, -3.0f, 3.0f);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string& name = before.values[before.inputs[i]].name;
      if (name == "past" || name == "other") inputs[i] = ints({name == "past" ? past : 1});
      if (name != "padding") continue;
      std::vector<int64_t> seen(kTokensOfCache, 1);
      for (size_t k = 0; k < seen.size(); ++k) seen[k] = seed == 1 ? 0 : (seed * (k + 1)) % 3 != 0;
      inputs[i] = HostTensor::from<int64_t>(DType::boolean, {1, 1, 1, kTokensOfCache}, seen);
    }
    EXPECT_TRUE(close(evaluate(graph, inputs)[0], evaluate(before, inputs)[0], 0.0))
        << "past " << past << ", seed " << seed;
  }

  OnnxModel model_;
};

TEST(FuseCausalMasks, PositionsOfCaches) {
  for (const ComparedPositions& p :
       {ComparedPositions{}, ComparedPositions{.kind = "Less", .first_query = 1},
        ComparedPositions{.kind = "GreaterOrEqual", .queries_first = true},
        ComparedPositions{.kind = "Greater", .first_query = 1, .queries_first = true},
        ComparedPositions{.kind = "Greater", .negated = true},
        ComparedPositions{.first_key = 5, .first_query = 5}}) {
    CachedAttention cached;
    const Graph graph = cached.compare("sees", p).fused("sees");
    EXPECT_TRUE(attention_of(graph).causal) << p.kind;
    EXPECT_EQ(attention_node(graph).inputs[3], kNoValue) << p.kind;
  }
}

TEST(FuseCausalMasks, PositionsThatAreNearlyAnOrderStay) {
  for (const ComparedPositions& p :
       {ComparedPositions{.kind = "Less"}, ComparedPositions{.first_query = 1},
        ComparedPositions{.first_key = 1}, ComparedPositions{.kind = "GreaterOrEqual"},
        ComparedPositions{.queries_first = true}, ComparedPositions{.negated = true},
        ComparedPositions{.start = "other"}}) {
    CachedAttention cached;
    const Graph graph = cached.compare("sees", p).fused("sees");
    EXPECT_FALSE(attention_of(graph).causal) << p.kind << p.first_key << p.first_query << p.start;
    EXPECT_NE(attention_node(graph).inputs[3], kNoValue);
  }
}

TEST(FuseCausalMasks, WindowsAndPaddingOfCaches) {
  CachedAttention cached;
  cached.compare("sees", {}).compare("near", {.kind = "Greater", .first_query = -2});
  const Graph graph = cached.both("sees", "near", "window").both("window", "padding", "mask").fused("mask");
  EXPECT_TRUE(attention_of(graph).causal);
  EXPECT_EQ(attention_of(graph).window, 2);
  EXPECT_EQ(graph.values[attention_node(graph).inputs[3]].name, "padding");
}

// Floats: a finite number excludes exactly only where each query sees a key.
TEST(FuseCausalMasks, ChoicesOfFloats) {
  for (const float excluded : {-INFINITY, kLowest}) {
    CachedAttention alone;
    const Graph graph = alone.compare("sees", {}).choose("sees", 0.0f, excluded, "mask").fused("mask");
    EXPECT_TRUE(attention_of(graph).causal);
    CachedAttention padded;
    const Graph with_padding = padded.compare("sees", {})
                                   .both("sees", "padding", "seen")
                                   .choose("seen", 0.0f, excluded, "mask")
                                   .fused("mask");
    EXPECT_EQ(attention_of(with_padding).causal, std::isinf(excluded));
  }
  CachedAttention small;
  EXPECT_FALSE(
      attention_of(small.compare("sees", {}).choose("sees", 0.0f, -1e4f, "mask").fused("mask")).causal);
  CachedAttention reversed;
  EXPECT_FALSE(
      attention_of(reversed.compare("sees", {}).choose("sees", -INFINITY, 0.0f, "mask").fused("mask"))
          .causal);
}

}  // namespace
}  // namespace vellum::test
