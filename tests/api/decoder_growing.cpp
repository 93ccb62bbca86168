// The decoder with caches that grow, as exporters write it: new tokens are appended to the caches, and positions,
// masks and sizes follow from the shapes of caches.
#include <cmath>

#include "decoder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

HostTensor ints(const std::vector<int64_t>& values) {
  return HostTensor::i64({static_cast<int64_t>(values.size())}, values);
}

}  // namespace

void Decoder::add_shared_nodes(OnnxModel& model) const {
  const auto number = [](int64_t value) { return HostTensor::i64({}, std::vector<int64_t>{value}); };
  model.input("attention_mask", {1, kUnknownDim}, DType::i64)
      .initializer("zero", number(0))
      .initializer("one", number(1))
      .initializer("two", number(2))
      .initializer("axes01", ints({0, 1}))
      .initializer("axes12", ints({1, 2}))
      .initializer("axis012", ints({0, 1, 2}))
      .initializer("axis013", ints({0, 1, 3}))
      .initializer("axis0", ints({0}))
      .initializer("axis2", ints({2}))
      .initializer("allowed", HostTensor::f32({}, std::vector<float>{0.0f}))
      .initializer("excluded", HostTensor::f32({}, std::vector<float>{-INFINITY}));
  model.node("Shape", {"past.0.key"}, {"past_shape"})
      .node("Gather", {"past_shape", "two"}, {"past_length"})
      .node("Shape", {"input_ids"}, {"ids_shape"})
      .node("Gather", {"ids_shape", "one"}, {"count"})
      .node("Add", {"past_length", "count"}, {"all"})
      .node("Unsqueeze", {"all", "axis0"}, {"all1"})
      .node("Range", {"past_length", "all", "one"}, {"positions"})
      .node("Range", {"zero", "all", "one"}, {"keys"})
      .node("Unsqueeze", {"positions", "axis013"}, {"rows"})
      .node("Unsqueeze", {"keys", "axis012"}, {"columns"})
      .node("LessOrEqual", {"columns", "rows"}, {"earlier"})
      .node("Cast", {"attention_mask"}, {"attended"}, attributes({{"to", int64_t{9}}}))
      .node("Unsqueeze", {"attended", "axes12"}, {"attended4"})
      .node("And", {"earlier", "attended4"}, {"seen"})
      .node("Where", {"seen", "allowed", "excluded"}, {"mask"});
  for (const std::string table : {"cosines", "sines"})
    model.node("Gather", {table, "positions"}, {table + "_half"})
        .node("Concat", {table + "_half", table + "_half"}, {table + "_row"},
              attributes({{"axis", int64_t{-1}}}))
        .node("Unsqueeze", {table + "_row", "axes01"}, {table + "4"});
  const int64_t repeats = shape_.heads / shape_.kv_heads;
  model.initializer("kv_first", ints({1, shape_.kv_heads, repeats}))
      .initializer("kv_last", ints({shape_.channels}))
      .node("Concat", {"kv_first", "all1", "kv_last"}, {"repeated_shape"}, attributes({{"axis", int64_t{0}}}))
      .initializer("q_shape", ints({1, -1, shape_.heads, shape_.channels}))
      .initializer("kv_shape", ints({1, -1, shape_.kv_heads, shape_.channels}))
      .initializer("merged", ints({1, shape_.heads, -1, shape_.channels}))
      .initializer("y_shape", ints({1, -1, shape_.width()}))
      .initializer(
          "scale",
          HostTensor::f32({}, std::vector<float>{1.0f / std::sqrt(static_cast<float>(shape_.channels))}))
      .initializer("half_begin", ints({shape_.channels / 2}))
      .initializer("half_end", ints({1 << 20}))
      .initializer("axis3", ints({3}));
}

std::string Decoder::rotated(OnnxModel& model, const std::string& heads) const {
  model.node("Slice", {heads, "axis0", "half_begin", "axis3"}, {heads + "/first"})
      .node("Slice", {heads, "half_begin", "half_end", "axis3"}, {heads + "/second"})
      .node("Neg", {heads + "/second"}, {heads + "/negated"})
      .node("Concat", {heads + "/negated", heads + "/first"}, {heads + "/turned"},
            attributes({{"axis", int64_t{-1}}}))
      .node("Mul", {heads, "cosines4"}, {heads + "/own"})
      .node("Mul", {heads + "/turned", "sines4"}, {heads + "/other"})
      .node("Add", {heads + "/own", heads + "/other"}, {heads + "/rotated"});
  return heads + "/rotated";
}

std::string Decoder::growing_attention(OnnxModel& model, const std::string& layer) const {
  const Attributes swap = attributes({{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  const std::string at = "/" + layer;
  for (const std::string part : {"q", "k", "v"})
    model.node("Reshape", {part + at, part == "q" ? "q_shape" : "kv_shape"}, {part + "_split" + at})
        .node("Transpose", {part + "_split" + at}, {part + "_heads" + at}, swap);
  const std::string q = rotated(model, "q_heads" + at), k = rotated(model, "k_heads" + at);
  const auto joined = [&](const std::string& heads) {
    model.node("Transpose", {heads}, {"tokens" + at}, swap)
        .node("Reshape", {"tokens" + at, "y_shape"}, {"attention" + at});
    return "attention" + at;
  };
  const std::string past = "past." + layer, present = "present." + layer;
  if (form_ == DecoderForm::attention) {
    model.node("Attention", {q, k, "v_heads" + at, "mask", past + ".key", past + ".value"},
               {"heads" + at, present + ".key", present + ".value"});
    return joined("heads" + at);
  }
  for (const std::string part : {".key", ".value"}) {
    const std::string all = present + part;
    model.node("Concat", {past + part, part == ".key" ? k : "v_heads" + at}, {all},
               attributes({{"axis", int64_t{-2}}}));
    model.node("Unsqueeze", {all, "axis2"}, {all + "/5"})
        .node("Expand", {all + "/5", "repeated_shape"}, {all + "/repeated"})
        .node("Reshape", {all + "/repeated", "merged"}, {all + "/all"});
  }
  model
      .node("Transpose", {present + ".key/all"}, {"kt" + at},
            attributes({{"perm", std::vector<int64_t>{0, 1, 3, 2}}}))
      .node("MatMul", {q, "kt" + at}, {"products" + at})
      .node("Mul", {"products" + at, "scale"}, {"scores" + at})
      .node("Add", {"scores" + at, "mask"}, {"masked" + at})
      .node("Softmax", {"masked" + at}, {"weights" + at}, attributes({{"axis", int64_t{-1}}}))
      .node("MatMul", {"weights" + at, present + ".value/all"}, {"heads" + at});
  return joined("heads" + at);
}

}  // namespace vellum::test
