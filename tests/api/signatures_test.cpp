// Names of a TFLite file's signature, through every function and option that takes the name of an input or
// output.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"
#include "vellum/caps.hpp"
#include "vellum/estimate.hpp"
#include "vellum/pack.hpp"
#include "vellum/plan.hpp"
#include "vellum/vellum.h"
#include "vellum/vellum.hpp"
#include "vellum/vellum_picture.h"

namespace vellum::test {
namespace {

Tensor two(float a, float b) { return Tensor::f32({2}, std::vector<float>{a, b}); }

class Signatures : public testing::Test {
 protected:
  std::string bytes = model_of_two_signatures();
  Device device = Device::open(device_options());
  Model model = Model::load(as_bytes(bytes), {}, "negate");
  Tensor x = two(1, -3), y = two(-1, 3);
  std::span<const std::byte> values{x.data(), x.byte_size()};
};

TEST_F(Signatures, AreNamedByTheModel) {
  EXPECT_EQ(model.signatures(), (std::vector<std::string>{"negate", "double"}));
  EXPECT_EQ(Model::load(as_bytes(bytes)).signatures().front(), "double");
  EXPECT_EQ(model.inputs()[0].name, "serving_x:0");
  EXPECT_EQ(model.inputs()[0].signature_name, "in");
  EXPECT_EQ(model.outputs()[0].signature_name, "out");
  EXPECT_VELLUM_ERROR(Model::load(as_bytes(bytes), {}, "train"), ErrorCode::not_found, "'double', 'negate'");
}

TEST_F(Signatures, TheirNamesBindInputsAndOutputs) {
  Session session(device, model);
  EXPECT_EQ(session.inputs()[0].signature_name, "in");
  EXPECT_EQ(session.outputs()[0].signature_name, "out");
  EXPECT_TRUE(close(session.run({{"in", x}}).at("PartitionedCall:0"), y));
  session.set_input("in", two(5, 6));
  session.run();
  EXPECT_TRUE(close(session.output("out"), two(-5, -6)));
  session.prepare({{"in", {2}}});
  EXPECT_VELLUM_ERROR(session.output("other"), ErrorCode::not_found, "'PartitionedCall:0'", "'out'");
  EXPECT_EQ(device.validation_messages(), 0u);
}

TEST_F(Signatures, TheirNamesBindThoseOfRunsInFlight) {
  Session session(device, model);
  const vellum::Run kept = session.submit({{"in", x}});
  EXPECT_TRUE(close(kept.output("out"), y));
  EXPECT_TRUE(close(kept.output("PartitionedCall:0"), y));
  Tensor to(DType::f32, {2});
  const InputValues input{"in", values};
  const OutputValues output{"out", {to.mutable_data(), to.byte_size()}};
  session.submit({&input, 1}, {&output, 1}).wait();
  EXPECT_TRUE(close(to, y));
}

TEST_F(Signatures, AnInputIsGivenOnce) {
  Session session(device, model);
  EXPECT_VELLUM_ERROR(session.run({{"in", x}, {"serving_x:0", x}}), ErrorCode::invalid_argument, "twice");
  const std::vector<InputValues> both{{"in", values}, {"serving_x:0", values}};
  EXPECT_VELLUM_ERROR(session.submit(both, {}), ErrorCode::invalid_argument, "twice");
  EXPECT_VELLUM_ERROR(Session(device, model, {.input_shapes = {{"in", {2}}, {"serving_x:0", {2}}}}),
                      ErrorCode::invalid_argument, "twice");
}

TEST_F(Signatures, TheirNamesAreThoseOfOptions) {
  const SessionOptions batch{.input_shapes = {{"in", {3}}}};
  EXPECT_EQ(Session(device, model, batch).inputs()[0].shape, (Shape{3}));
  EXPECT_EQ(model.nodes(batch.input_shapes).back().output_shapes[0], (Shape{3}));
  EXPECT_NE(describe(model, "graph", batch).find("float32 3"), std::string::npos);
  EXPECT_GT(estimate_memory(model, batch, device).use.total(), 0u);
  EXPECT_VELLUM_ERROR(Session(device, model, {.input_shapes = {{"x", {3}}}}), ErrorCode::invalid_argument,
                      "'x'");
}

TEST_F(Signatures, BundlesAreMadeForOne) {
  TempFolder folder;
  const auto file = folder.write("model.tflite", bytes);
  pack_with_variants(file, folder / "negate", Caps::of(device), {.input_shapes = {{"in", {2}}}},
                     {.signature = "negate"});
  const Model bundle = Model::load(folder / "negate");
  EXPECT_EQ(bundle.signatures(), std::vector<std::string>{"negate"});
  EXPECT_TRUE(close(Session(device, bundle).run({{"in", x}}).at("PartitionedCall:0"), y));
  EXPECT_NO_THROW(Model::load(folder / "negate", {}, "negate"));
  EXPECT_VELLUM_ERROR(Model::load(folder / "negate", {}, "double"), ErrorCode::not_found, "'negate'");
  EXPECT_VELLUM_ERROR(
      pack_with_variants(file, folder / "train", Caps::of(device), {}, {.signature = "train"}),
      ErrorCode::not_found, "'train'");
}

// As in docs/using.md.
TEST_F(Signatures, VariablesAreHandedFromRunToRun) {
  const std::string stream = running_sum_model();
  const Model sum = Model::load(as_bytes(stream));
  Session session(device, sum);
  std::map<std::string, Tensor> inputs{{"x", x}};
  EXPECT_VELLUM_ERROR(session.run(inputs), ErrorCode::invalid_argument, "a variable");
  for (const TensorInfo& input : session.inputs())
    if (input.initial_value) inputs[input.name] = *input.initial_value;
  for (const Tensor& expected : {two(11, 17), two(12, 14), two(13, 11)}) {
    const auto outputs = session.run(inputs);
    EXPECT_TRUE(close(outputs.at("y"), expected));
    for (const TensorInfo& input : sum.inputs())
      if (input.initial_value) inputs[input.name] = outputs.at(input.name + ".next");
  }
  EXPECT_EQ(device.validation_messages(), 0u);
}

TEST_F(Signatures, CHasTheNamesAndTheChoice) {
  vellum_error error;
  vellum_model* loaded = nullptr;
  ASSERT_EQ(vellum_model_load_bytes_signature(bytes.data(), bytes.size(), nullptr, "train", &loaded, &error),
            VELLUM_NOT_FOUND);
  EXPECT_EQ(loaded, nullptr);
  ASSERT_EQ(vellum_model_load_bytes_signature(bytes.data(), bytes.size(), nullptr, "negate", &loaded, &error),
            VELLUM_OK)
      << error.message;
  EXPECT_EQ(vellum_model_signature_count(loaded), 2u);
  EXPECT_STREQ(vellum_model_signature(loaded, 0), "negate");
  EXPECT_EQ(vellum_model_signature(loaded, 2), nullptr);
  vellum_tensor_info info = VELLUM_SIZED(vellum_tensor_info);
  ASSERT_EQ(vellum_model_input(loaded, 0, &info, &error), VELLUM_OK);
  EXPECT_STREQ(info.signature_name, "in");
  EXPECT_EQ(info.initial_value, nullptr);
  vellum_model_destroy(loaded);

  const std::string stream = running_sum_model();
  ASSERT_EQ(vellum_model_load_bytes(stream.data(), stream.size(), &loaded, &error), VELLUM_OK);
  EXPECT_EQ(vellum_model_signature_count(loaded), 0u);
  ASSERT_EQ(vellum_model_input(loaded, 1, &info, &error), VELLUM_OK);
  ASSERT_NE(info.initial_value, nullptr);
  EXPECT_EQ(static_cast<const float*>(info.initial_value)[1], 20);
  vellum_model_destroy(loaded);
}

TEST_F(Signatures, CMakesBundlesForOne) {
  const auto append = [](const void* piece, size_t count, void* to) -> int32_t {
    static_cast<std::string*>(to)->append(static_cast<const char*>(piece), count);
    return 0;
  };
  vellum_bundle_variants variants;
  vellum_bundle_variants_init(&variants);
  EXPECT_EQ(variants.signature, nullptr);
  variants.signature = "negate";
  std::string bundle;
  vellum_error error;
  ASSERT_EQ(vellum_bundle_in_memory_with_variants(bytes.data(), bytes.size(), append, &bundle, nullptr,
                                                  nullptr, nullptr, &variants, nullptr, &error),
            VELLUM_OK)
      << error.message;
  const Model made = Model::load(as_bytes(bundle));
  EXPECT_EQ(made.signatures(), std::vector<std::string>{"negate"});
  EXPECT_TRUE(close(Session(device, made).run({{"in", x}}).at("PartitionedCall:0"), y));
  variants.signature = "train";
  EXPECT_EQ(vellum_bundle_in_memory_with_variants(bytes.data(), bytes.size(), append, &bundle, nullptr,
                                                  nullptr, nullptr, &variants, nullptr, &error),
            VELLUM_NOT_FOUND);
}

}  // namespace
}  // namespace vellum::test
