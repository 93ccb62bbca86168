// Decoders as optimum's exporter merges them: an If whose condition is an input chooses between the first run
// and the runs that read caches.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "decoder.hpp"
#include "public_interface.hpp"
#include "support/errors.hpp"
#include "vellum/estimate.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

const std::vector<int64_t> kFirstTokens{7, 3, 44, 12, 5};

Tensor condition(bool value) {
  Tensor tensor(DType::boolean, {1});
  tensor.mutable_as<uint8_t>()[0] = value ? 1 : 0;
  return tensor;
}

void add_branch(OnnxModel& model, const std::string& name, const onnx_schema::GraphProto& branch) {
  auto& attribute = *model.proto().mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx_schema::AttributeProto::GRAPH);
  *attribute.mutable_g() = branch;
}

// The decoder is the branch that reads caches. Its keys and values of cross attention are constants without
// elements, as the exporter writes what only the other branch computes.
OnnxModel merged(const Decoder& decoder) {
  OnnxModel plain = decoder.model();
  const auto& graph = plain.proto().graph();
  OnnxModel model(24);
  std::vector<std::string> outputs{"present.0.encoder.key"};
  for (const auto& output : graph.output()) outputs.push_back(output.name());
  model.node("If", {"use_cache_branch"}, outputs, {}, "choice");
  *model.proto().mutable_graph()->mutable_input() = graph.input();
  model.input("use_cache_branch", {1}, DType::boolean).input("past.0.encoder.key", {1, 2, 3, 8});
  OnnxModel empty(24), first(24);
  empty.initializer("none", HostTensor(DType::f32, {0, 2, 1, 8})).node("Identity", {"none"}, {outputs[0]});
  empty.output(outputs[0]);
  auto with_caches = empty.proto().graph();
  with_caches.MergeFrom(graph);
  with_caches.clear_input();
  first.node("Identity", {"past.0.encoder.key"}, {outputs[0]}).output(outputs[0]);
  for (const std::string& output : std::vector(outputs.begin() + 1, outputs.end())) {
    const std::string past =
        output == "next" ? "input_ids" : "past" + output.substr(std::string("present").size());
    first.node(output == "next" ? "Identity" : "Neg", {past}, {output}).output(output);
  }
  add_branch(model, "then_branch", with_caches);
  add_branch(model, "else_branch", first.proto().graph());
  for (const std::string& output : outputs) model.output(output);
  return model;
}

class MergedDecoder : public testing::Test {
 protected:
  Tensor run(Session& session, const std::vector<int64_t>& tokens, int64_t past,
             std::map<std::string, Tensor> more = {}) const {
    const auto count = static_cast<int64_t>(tokens.size());
    more.emplace("input_ids", Tensor::i64({1, count}, tokens));
    more.emplace("attention_mask",
                 Tensor::i64({1, past + count}, std::vector<int64_t>(static_cast<size_t>(past + count), 1)));
    more.emplace("past.0.encoder.key", Tensor(DType::f32, {1, 2, 3, 8}));
    return session.run(more).at("next");
  }

  SessionOptions options() const {
    return {.input_values = {{"use_cache_branch", condition(true)}},
            .state = "auto",
            .state_capacity = static_cast<uint32_t>(decoder.shape().capacity)};
  }

  const Decoder decoder{{}, DecoderForm::concatenation};
  const Device device = Device::open(device_options());
  const Model model = load(merged(decoder));
};

TEST_F(MergedDecoder, KeepsTheCachesOfTheChosenBranch) {
  Session session(device, model, options());
  EXPECT_EQ(session.states().size(), 5u) << "the keys of cross attention are an input";
  std::vector<int64_t> tokens{run(session, kFirstTokens, 0).to_ints().back()};
  for (auto past = static_cast<int64_t>(kFirstTokens.size()); tokens.size() < 12; ++past)
    tokens.push_back(
        run(session, {tokens.back()}, past, {{"use_cache_branch", condition(true)}}).to_ints()[0]);
  EXPECT_EQ(tokens, decoder.generate(kFirstTokens, 12));
}

TEST_F(MergedDecoder, RefusesTheOtherBranch) {
  Session session(device, model, options());
  EXPECT_VELLUM_ERROR(run(session, kFirstTokens, 0, {{"use_cache_branch", condition(false)}}),
                      ErrorCode::invalid_argument, "'use_cache_branch' is 0, but was 1",
                      "session of its own");
  EXPECT_EQ(run(session, kFirstTokens, 0, {{"use_cache_branch", condition(true)}}).to_ints().back(),
            decoder.generate(kFirstTokens, 1)[0]);
}

TEST_F(MergedDecoder, NeedsTheValueThatChooses) {
  SessionOptions without = options();
  without.input_values.clear();
  EXPECT_VELLUM_ERROR(Session(device, model, without), ErrorCode::invalid_argument, "'use_cache_branch'",
                      "give its value");
  SessionOptions other = options();
  other.input_values["use_cache_branch"] = condition(false);
  EXPECT_VELLUM_ERROR(Session(device, model, other), ErrorCode::invalid_argument, "no state grows");
}

TEST_F(MergedDecoder, IsEstimated) {
  SessionOptions shaped = options();
  shaped.input_shapes = {{"input_ids", {1, 1}}, {"attention_mask", {1, decoder.shape().capacity}}};
  const MemoryEstimate estimate = estimate_memory(model, shaped, device);
  const MemoryReport memory = Session(device, model, shaped).memory();
  EXPECT_GT(memory.state_bytes, 0u);
  EXPECT_EQ(estimate.vulkan.state, memory.state_bytes);
  EXPECT_EQ(estimate.vulkan.intermediates, memory.allocated_bytes);
}

}  // namespace
}  // namespace vellum::test
