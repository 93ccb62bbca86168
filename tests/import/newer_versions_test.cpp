// Models of newer versions than the schema knows: read, or refused for an operator, never for the number.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/small_tensors.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Versions = std::pair<int64_t, int>;  // of the format and of the operator set

// https://onnx.ai/onnx/repo-docs/Versioning.html; the last one is not released.
const std::vector<Versions> kNewVersions = {{11, 23}, {12, 24}, {13, 25},  {13, 26},
                                            {14, 27}, {14, 28}, {99, 1000}};

OnnxModel model_of(const Versions& versions) {
  OnnxModel model(versions.second);
  model.proto().set_ir_version(versions.first);
  model.input("x", {2, 3, 4});
  return model;
}

// Operators that have a version of their own in an operator set beyond 22, with the attributes these added
// where they say what is so by default.
OnnxModel with_revised_operators(const Versions& versions) {
  const bool revised = versions.second >= 27;
  OnnxModel model = model_of(versions);
  model.initializer("flat", ints({2, 12}))
      .initializer("k", ints({5}))
      .initializer("pads", ints({1, 0, 0, 2}))
      .initializer("front", ints({0}))
      .initializer("scale", HostTensor::f32({}, std::vector<float>{0.125f}))
      .initializer("first", HostTensor::f32({}, std::vector<float>{1.0f}))
      .initializer("last", HostTensor::f32({}, std::vector<float>{9.0f}));
  model.node("Reshape", {"x", "flat"}, {"a"})
      .node("TopK", {"a", "k"}, {"values", "indices"})
      .node("Cast", {"indices"}, {"b"}, attributes({{"to", int64_t{1}}}))
      .node("Pad", {"b", "pads"}, {"c"})
      .node("Unsqueeze", {"c", "front"}, {"d"})
      .node("Transpose", {"d"}, {"e"})
      .node("Squeeze", {"e"}, {"f"})
      .node("Flatten", {"f"}, {"g"})
      .node("Identity", {"g"}, {"h"})
      .node("Celu", {"h"}, {"i"})
      .node("Range", {"first", "last", "first"}, {"r"},
            revised ? attributes({{"stash_type", int64_t{1}}}) : Attributes{})
      .node("QuantizeLinear", {"values", "scale"}, {"q"},
            revised ? attributes({{"precision", int64_t{0}}, {"output_dtype", int64_t{0}}}) : Attributes{})
      .node("DequantizeLinear", {"q", "scale"}, {"dequantized"},
            revised ? attributes({{"output_dtype", int64_t{0}}}) : Attributes{})
      .node("Attention", {"x", "x", "x"}, {"attended"},
            revised ? attributes({{"q_num_heads", int64_t{2}},
                                  {"kv_num_heads", int64_t{2}},
                                  {"left_window_size", int64_t{-1}},
                                  {"right_window_size", int64_t{-1}}})
                    : attributes({{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}}));
  return std::move(model.output("i").output("r").output("dequantized").output("attended"));
}

TEST(NewerVersions, ComputeWhatOperatorSet22Computes) {
  const std::vector<HostTensor> inputs = {random_tensor({2, 3, 4}, 1)};
  const auto expected = evaluate(with_revised_operators({10, 22}).graph(), inputs);
  for (const Versions& versions : kNewVersions) {
    SCOPED_TRACE(versions.second);
    const auto results = evaluate(with_revised_operators(versions).graph(), inputs);
    ASSERT_EQ(results.size(), expected.size());
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(same_bits(results[i], expected[i])) << "output " << i;
  }
}

TEST(NewerVersions, OperatorsThatAreNotKnownAreListed) {
  OnnxModel model = model_of({14, 28});
  model.node("TfIdfVectorizer", {"x"}, {"a"}, {}, "counts")
      .node("OfDaysToCome", {"a"}, {"b"})
      .node("Relu", {"b"}, {"y"})
      .output("y");
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::unsupported, "'TfIdfVectorizer' (node 'counts')",
                      "'OfDaysToCome'");
}

// Forms of newer versions of operators that Vellum does not compute.
TEST(NewerVersions, FormsOfOperatorsThatAreNotSupportedAreRefused) {
  const auto refused = [](const std::string& type, const std::vector<std::string>& inputs,
                          const Attributes& attrs) {
    OnnxModel model = model_of({13, 25});
    model.initializer("scale", HostTensor::f32({}, std::vector<float>{0.125f}));
    model.initializer("bytes", HostTensor::from<int64_t>(DType::u8, {2}, std::vector<int64_t>{3, 4}));
    return std::move(model.node(type, inputs, {"y"}, attrs, "newer").output("y"));
  };
  const auto set_to = [](const char* attribute, int64_t value) { return attributes({{attribute, value}}); };
  EXPECT_VELLUM_ERROR(refused("DequantizeLinear", {"bytes", "scale"}, set_to("output_dtype", 24)).graph(),
                      ErrorCode::unsupported, "DequantizeLinear 'newer'", "24");
  EXPECT_VELLUM_ERROR(refused("Range", {"scale", "scale", "scale"}, set_to("stash_type", 10)).graph(),
                      ErrorCode::unsupported, "Range 'newer'", "stash_type");
  EXPECT_VELLUM_ERROR(refused("Cast", {"x"}, set_to("to", 24)).graph(), ErrorCode::unsupported,
                      "Cast 'newer'", "24");
  EXPECT_VELLUM_ERROR(refused("Relu", {"x"}, set_to("invented_later", 1)).graph(), ErrorCode::unsupported,
                      "Relu 'newer'", "invented_later");
}

// A field of the wire format that holds bytes.
std::string unknown_field(uint32_t number, const std::string& content) {
  std::string bytes;
  for (uint32_t tag = number << 3 | 2; tag > 0; tag >>= 7)
    bytes += static_cast<char>((tag & 0x7f) | (tag >= 0x80 ? 0x80 : 0));
  return bytes + static_cast<char>(content.size()) + content;
}

// Fields that IR 9 to 13 added to each message, and a field of a later version.
TEST(NewerVersions, FieldsThatTheSchemaLacksAreSkipped) {
  const std::string entry = unknown_field(1, "key") + unknown_field(2, "value"),
                    later = unknown_field(1000, "later");
  OnnxModel model = with_revised_operators({13, 25});
  onnx_schema::ModelProto& proto = model.proto();
  onnx_schema::GraphProto& graph = *proto.mutable_graph();
  *proto.mutable_unknown_fields() += unknown_field(26, unknown_field(1, "two GPUs")) + later;
  *graph.mutable_unknown_fields() += unknown_field(16, entry) + later;
  for (auto& node : *graph.mutable_node()) {
    *node.mutable_unknown_fields() += unknown_field(8, "overload") + unknown_field(9, entry) +
                                      unknown_field(10, unknown_field(1, "two GPUs")) + later;
    for (auto& attribute : *node.mutable_attribute()) *attribute.mutable_unknown_fields() += later;
  }
  for (auto& tensor : *graph.mutable_initializer())
    *tensor.mutable_unknown_fields() += unknown_field(16, entry) + later;
  for (auto& input : *graph.mutable_input())
    *input.mutable_unknown_fields() += unknown_field(4, entry) + later;

  const std::vector<HostTensor> inputs = {random_tensor({2, 3, 4}, 1)};
  const auto expected = evaluate(with_revised_operators({10, 22}).graph(), inputs);
  const auto results = evaluate(model.graph(), inputs);
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_TRUE(same_bits(results[i], expected[i])) << "output " << i;
}

// An attribute of a kind that the schema does not number is named, like any damage to it.
TEST(NewerVersions, KindsOfAttributesThatTheSchemaLacksAreRefused) {
  OnnxModel model = model_of({99, 1000});
  model.node("Relu", {"x"}, {"y"}).output("y");
  auto& attribute = *model.proto().mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("tuning");
  *attribute.mutable_unknown_fields() += std::string("\xa0\x01\x63", 3);  // field 20, the kind: 99
  EXPECT_VELLUM_ERROR(model.graph(), ErrorCode::corrupt_model, "'tuning'");
}

}  // namespace
}  // namespace vellum::test
