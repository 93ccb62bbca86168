// Outputs that the host computes after operators with data-dependent shapes. Where their own shapes are known
// before the run, they are outputs like any other.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "detection_model.hpp"
#include "public_interface.hpp"
#include "support/errors.hpp"
#include "vellum/vellum.h"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

using Outputs = std::map<std::string, Tensor>;

// Rows of `x` with a number above 0.5 are negated, and go back into the picture.
OnnxModel picture_model() {
  OnnxModel model;
  model.input("x", {2, 4, 6, 5})
      .initializer("axis", HostTensor::i64({1}, std::vector<int64_t>{3}))
      .initializer("least", HostTensor::f32({}, std::vector<float>{0.5f}))
      .node("Relu", {"x"}, {"early"})
      .node("ReduceMax", {"x"}, {"most"},
            attributes({{"axes", std::vector<int64_t>{3}}, {"keepdims", int64_t{0}}}))
      .node("Greater", {"most", "least"}, {"above"})
      .node("NonZero", {"above"}, {"places"})
      .node("Transpose", {"places"}, {"rows"})
      .node("GatherND", {"x", "rows"}, {"values"})
      .node("Neg", {"values"}, {"negated"})
      .node("ScatterND", {"x", "rows", "negated"}, {"picture"})
      .node("Shape", {"values"}, {"size"})
      .output("picture")
      .output("values")
      .output("early")
      .output("size");
  return model;
}

// The rows above 0 of x [6,4] in a table of eight rows.
OnnxModel padded_model() {
  OnnxModel model;
  model.input("x", {6, 4})
      .initializer("zero", HostTensor::f32({}, std::vector<float>{0.0f}))
      .initializer("first", HostTensor::i64({}, std::vector<int64_t>{0}))
      .initializer("rows", HostTensor::i64({1}, std::vector<int64_t>{8}))
      .initializer("none", HostTensor::i64({3}, std::vector<int64_t>{0, 0, 0}))
      .initializer("columns", HostTensor::i64({1}, std::vector<int64_t>{0}))
      .initializer("table", HostTensor::f32({8, 4}, std::vector<float>(32, -1.0f)))
      .node("Gather", {"x", "first"}, {"column"}, attributes({{"axis", int64_t{1}}}))
      .node("Greater", {"column", "zero"}, {"mask"})
      .node("NonZero", {"mask"}, {"places"})
      .node("Transpose", {"places"}, {"indices"})
      .node("GatherND", {"x", "indices"}, {"kept"})
      .node("ScatterND", {"table", "indices", "kept"}, {"padded"})
      .node("ReduceMax", {"kept"}, {"highest"}, attributes({{"keepdims", int64_t{0}}}))
      .output("kept")
      .output("padded")
      .output("highest");
  return model;
}

// `x` in as many rows as it has numbers that are not 0, which the shape rules cannot follow: the file
// declares how many.
OnnxModel reshaped_model(const std::vector<int64_t>& declared) {
  OnnxModel model;
  model.input("x", {4, 3})
      .initializer("second", HostTensor::i64({1}, std::vector<int64_t>{1}))
      .initializer("rest", HostTensor::i64({1}, std::vector<int64_t>{-1}))
      .node("NonZero", {"x"}, {"places"})
      .node("Shape", {"places"}, {"size"})
      .node("Gather", {"size", "second"}, {"count"})
      .node("Concat", {"count", "rest"}, {"shape"}, attributes({{"axis", int64_t{0}}}))
      .node("Reshape", {"x", "shape"}, {"y"})
      .output("y");
  auto& type = *model.proto().mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
  type.set_elem_type(1);
  for (const int64_t dim : declared) type.mutable_shape()->add_dim()->set_dim_value(dim);
  return model;
}

DeviceOptions options_without_host_warnings() {
  DeviceOptions options = device_options();
  options.log = [log = options.log](LogLevel level, std::string_view message) {
    if (message.find("on the host: the shape of its output") == std::string_view::npos) log(level, message);
  };
  return options;
}

// Memory of the caller for some outputs, filled with what no result is.
class Targets {
 public:
  void add(const TensorInfo& info) {
    Tensor& tensor = tensors_.emplace(info.name, Tensor(info.dtype, info.shape)).first->second;
    std::ranges::fill(bytes(tensor), std::byte{0xa5});
  }
  std::vector<OutputValues> values() {
    std::vector<OutputValues> values;
    for (auto& [name, tensor] : tensors_) values.push_back({name, bytes(tensor)});
    return values;
  }
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }

 private:
  static std::span<std::byte> bytes(Tensor& tensor) {
    return {static_cast<std::byte*>(tensor.mutable_data()), tensor.byte_size()};
  }
  std::map<std::string, Tensor> tensors_;
};

class HostOutputs : public testing::Test {
 protected:
  Device device = Device::open(options_without_host_warnings());

  // Every subset of the outputs whose shapes are known goes to the caller's memory; the others of the tail
  // are kept, and nothing else.
  void sweep(const OnnxModel& source, const std::string& input, const Shape& shape) {
    const Model model = load(source);
    Session plain(device, model);
    const std::vector<TensorInfo> outputs = Session(device, model).outputs();
    for (const uint32_t in_flight : {1u, 2u}) {
      Session session(device, model, {.in_flight = in_flight});
      for (uint32_t subset = 0; subset < 1u << outputs.size(); ++subset) {
        const Tensor x = random_tensor(shape, subset);
        const Outputs expected = plain.run({{input, x}});
        check(session, {input, {x.data(), x.byte_size()}, x.shape()}, outputs, subset, expected);
      }
    }
  }

  static void check(Session& session, const InputValues& input, const std::vector<TensorInfo>& outputs,
                    uint32_t subset, const Outputs& expected) {
    Targets targets;
    for (size_t i = 0; i < outputs.size(); ++i)
      if ((subset >> i & 1) != 0 && is_known(outputs[i].shape)) targets.add(outputs[i]);
    const std::vector<OutputValues> values = targets.values();
    const vellum::Run run =
        subset % 2 ? session.submit({&input, 1}, values) : session.try_submit({&input, 1}, values);
    ASSERT_TRUE(run.valid());
    run.wait();
    for (const auto& [name, tensor] : targets.tensors()) {
      EXPECT_TRUE(same_bits(tensor, expected.at(name))) << name << ", subset " << subset;
      EXPECT_VELLUM_ERROR(run.output(name), ErrorCode::not_found, name, "memory of the caller's");
    }
    for (const TensorInfo& info : outputs)
      if (!is_known(info.shape)) {
        EXPECT_TRUE(same_bits(run.output(info.name), expected.at(info.name))) << info.name;
      }
  }
};

TEST_F(HostOutputs, OfKnownShapesGoToTheCallersMemory) {
  sweep(detection_model(), "image", {1, 3, 6, 5});
  sweep(picture_model(), "x", {2, 4, 6, 5});
  sweep(padded_model(), "x", {6, 4});
}

TEST_F(HostOutputs, AreKeptWithTheOthersWhereAllAreKept) {
  Session plain(device, load(detection_model())), session(device, load(detection_model()), {.in_flight = 2});
  const Tensor image = random_tensor({1, 3, 6, 5}, 3);
  const Outputs expected = plain.run({{"image", image}});
  const Outputs kept = session.submit({{"image", image}}).outputs();
  ASSERT_EQ(kept.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(same_bits(kept.at(name), tensor)) << name;
}

TEST_F(HostOutputs, OfUnknownShapesAreRefusedBeforeTheRun) {
  Session session(device, load(detection_model()));
  const Tensor image = random_tensor({1, 3, 6, 5}, 3);
  const InputValues input{"image", {image.data(), image.byte_size()}, image.shape()};
  std::vector<std::byte> memory(400);
  const OutputValues boxes{"boxes", memory}, count{"count", memory};
  EXPECT_VELLUM_ERROR(session.submit({&input, 1}, {&boxes, 1}), ErrorCode::invalid_argument, "'boxes'",
                      "only the run determines");
  EXPECT_VELLUM_ERROR(session.submit({&input, 1}, {&count, 1}), ErrorCode::invalid_argument, "'count'",
                      "takes 8 bytes, but 400 were given");
  const OutputValues twice[] = {{"count", std::span(memory).first(8)}, {"count", std::span(memory).last(8)}};
  EXPECT_VELLUM_ERROR(session.submit({&input, 1}, twice), ErrorCode::invalid_argument, "'count'",
                      "given twice");
}

TEST_F(HostOutputs, GoToTheCallersMemoryInC) {
  const std::string bytes = detection_model().bytes();
  const Tensor image = random_tensor({1, 3, 6, 5}, 3);
  const Outputs expected = Session(device, load(detection_model())).run({{"image", image}});
  vellum_error error{};
  vellum_device* c_device = nullptr;
  vellum_model* model = nullptr;
  vellum_session* session = nullptr;
  vellum_run* run = nullptr;
  ASSERT_EQ(vellum_device_open(nullptr, &c_device, &error), VELLUM_OK) << error.message;
  ASSERT_EQ(vellum_model_load_bytes(bytes.data(), bytes.size(), &model, &error), VELLUM_OK) << error.message;
  ASSERT_EQ(vellum_session_create(c_device, model, nullptr, &session, &error), VELLUM_OK) << error.message;
  int64_t count = -1;
  std::vector<float> boxes(30 * 4);
  const vellum_input_values input{"image", image.data(), image.byte_size(), nullptr, 0};
  const vellum_output_values outputs[] = {{"count", &count, sizeof count},
                                          {"all_boxes", boxes.data(), boxes.size() * sizeof(float)}};
  ASSERT_EQ(vellum_session_submit(session, &input, 1, outputs, 2, &run, &error), VELLUM_OK) << error.message;
  EXPECT_EQ(vellum_run_wait(run, &error), VELLUM_OK) << error.message;
  EXPECT_EQ(count, expected.at("count").to_ints().front());
  EXPECT_EQ(boxes, expected.at("all_boxes").to_floats());
  vellum_run_destroy(run);
  vellum_session_destroy(session);
  vellum_model_destroy(model);
  vellum_device_destroy(c_device);
}

// The shape is the file's word where it does not follow from the operators.
TEST_F(HostOutputs, WithAnotherShapeThanTheFileDeclaresAreErrors) {
  Session session(device, load(reshaped_model({2, 6})));
  ASSERT_EQ(session.outputs().front().shape, (Shape{2, 6}));
  for (const size_t rows : {2, 6, 3, 2}) {
    std::vector<float> values(12), y(12);
    for (size_t i = 0; i < rows; ++i) values[i] = static_cast<float>(i) + 1;
    const Tensor x = Tensor::f32({4, 3}, values);
    const InputValues input{"x", {x.data(), x.byte_size()}};
    const OutputValues output{"y", std::as_writable_bytes(std::span(y))};
    const vellum::Run run = session.submit({&input, 1}, {&output, 1});
    if (rows == 2) {
      run.wait();
      EXPECT_EQ(y, values);
    } else {
      EXPECT_VELLUM_ERROR(run.wait(), ErrorCode::invalid_argument, "'y'", "declares", "2x6",
                          rows == 6 ? "6x2" : "3x4");
    }
    const auto count = static_cast<int64_t>(rows);
    EXPECT_EQ(session.submit({{"x", x}}).output("y").shape(), (Shape{count, 12 / count}));
  }
}

}  // namespace
}  // namespace vellum::test
