// Packed models: the same bits as the model's own file, without compiling or packing, and files that are
// damaged.
#include "vellum/pack.hpp"

#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <cstring>
#include <memory>
#include <optional>

#include "api/impl.hpp"
#include "decoder.hpp"
#include "glslang_tables.hpp"
#include "import/import.hpp"
#include "support/errors.hpp"
#include "support/tflite_builder.hpp"
#include "vulkan/pipeline.hpp"
#include "with_bundles.hpp"

namespace vellum::test {
namespace {

class Packed : public WithBundles {
 protected:
  // Packs the file and compares sessions of both, on devices of their own.
  void expect_the_same(const std::filesystem::path& model, const SessionOptions& options = {}) const {
    const Device device = Device::open(device_is);
    const Outputs expected = run(device, Model::load(model), options);
    const PackSummary made = pack(model, folder / "packed", Caps::of(device), options);
    EXPECT_EQ(made.file_bytes, std::filesystem::file_size(folder / "packed"));
    const std::string bytes = content(folder / "packed");
    for (const Model& packed : {Model::load(folder / "packed"), Model::load(as_bytes(bytes))}) {
      const Device other = Device::open(device_is);
      EXPECT_TRUE(same(run(other, packed, options), expected));
      const gpu::ShaderCounts counts = impl(other)->context->pipelines().shader_counts();
      EXPECT_EQ(counts.compiled, 0u);
      EXPECT_EQ(counts.precompiled, made.shaders);
    }
  }
  DeviceOptions device_is = device_options();
};

OnnxModel several_inputs_and_outputs() {
  OnnxModel model;
  model.input("x", {2, 6}).input("rows", {3}, DType::i64);
  model.initializer("w", random_tensor({6, 5}, 1)).initializer("none", HostTensor(DType::f32, {0}));
  model.initializer("far", HostTensor::i64({2}, std::vector<int64_t>{-1, 10}));
  model.node("Gemm", {"x", "w"}, {"y"}, attributes({{"alpha", 0.5f}}));
  model.node("Reshape", {"y", "far"}, {"z"}).node("Gather", {"x", "rows"}, {"picked"});
  model.node("LeakyRelu", {"picked"}, {"leaky"}, attributes({{"alpha", 0.125f}}));
  return std::move(model.output("z").output("leaky"));
}

OnnxModel quantised() {
  HostTensor weights(DType::i8, {4, 3, 1, 1});
  for (int i = 0; i < 12; ++i)
    weights.mutable_as<int8_t>()[static_cast<size_t>(i)] = static_cast<int8_t>(5 * i - 30);
  OnnxModel model;
  model.input("x", {1, 3, 5, 7}).initializer("w", weights);
  model.initializer("scale", HostTensor::f32({}, std::vector<float>{0.0625f}));
  model.initializer("zero", HostTensor(DType::i8, {}));
  model.node("DequantizeLinear", {"w", "scale", "zero"}, {"real"}).node("Conv", {"x", "real"}, {"y"});
  model.node("QuantizeLinear", {"y", "scale", "zero"}, {"q"}).output("q");
  return model;
}

// A choice that the shape of the input decides, with a constant in an attribute.
OnnxModel branches() {
  OnnxModel model, then_branch, else_branch;
  model.input("x", {2, 4}).node("Shape", {"x"}, {"shape"});
  model.initializer("expected", HostTensor::i64({2}, std::vector<int64_t>{2, 4}));
  model.node("Equal", {"shape", "expected"}, {"equal"})
      .node("Cast", {"equal"}, {"number"}, attributes({{"to", int64_t{6}}}));
  model.node("ReduceMin", {"number"}, {"least"}, attributes({{"keepdims", int64_t{0}}}));
  model.node("Cast", {"least"}, {"condition"}, attributes({{"to", int64_t{9}}}));
  then_branch.node("Neg", {"x"}, {"out"}).output("out");
  else_branch.node("Abs", {"x"}, {"out"}).output("out");
  model.node("If", {"condition"}, {"y"}, {}, "choice").output("y");
  auto& node = *model.proto().mutable_graph()->mutable_node(model.proto().graph().node_size() - 1);
  for (auto& [name, branch] :
       {std::pair("then_branch", &then_branch), std::pair("else_branch", &else_branch)}) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx_schema::AttributeProto::GRAPH);
    *attribute.mutable_g() = branch->proto().graph();
  }
  return model;
}

// A Loop that data end: x doubles until its greatest element is above 10.
OnnxModel repeating() {
  OnnxModel body, model;
  body.input("i", {}, DType::i64).input("go", {}, DType::boolean).input("state", {70});
  body.initializer("most", HostTensor::f32({}, std::vector<float>{10.0f}));
  body.node("Add", {"state", "state"}, {"next"}).node("Identity", {"next"}, {"seen"});
  body.node("ReduceMax", {"next"}, {"greatest"}, attributes({{"keepdims", int64_t{0}}}));
  body.node("Less", {"greatest", "most"}, {"more"}).output("more").output("next").output("seen");
  model.input("x", {70})
      .node("Loop", {"", "", "x"}, {"last", "all"}, {}, "repeat")
      .output("last")
      .output("all");
  auto& attribute = *model.proto().mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx_schema::AttributeProto::GRAPH);
  *attribute.mutable_g() = body.proto().graph();
  return model;
}

// Its output has a data-dependent shape.
OnnxModel with_a_tail() {
  OnnxModel model;
  model.input("x", {4, 5}).node("Relu", {"x"}, {"a"}).node("NonZero", {"a"}, {"y"}).output("y");
  return model;
}

// Each node keeps its operator set: Softmax of 11 is over all that follows the first dimension, of 13 over
// the last.
OnnxModel of_two_operator_sets() {
  OnnxModel model(13);
  model.input("x", {2, 3, 4}).node("local.Old", {"x"}, {"s"}).node("Softmax", {"s"}, {"y"}).output("y");
  auto& function = *model.proto().add_functions();
  function.set_name("Old");
  function.set_domain("local");
  function.add_input("x");
  function.add_output("y");
  function.add_opset_import()->set_version(11);
  auto& node = *function.add_node();
  node.set_op_type("Softmax");
  node.add_input("x");
  node.add_output("y");
  return model;
}

TEST_F(Packed, ModelsGiveTheSameBits) {
  expect_the_same(save(small_model()));
  expect_the_same(save(several_inputs_and_outputs()));
  expect_the_same(save(quantised()));
  expect_the_same(save(branches()));
  expect_the_same(save(of_two_operator_sets()));
}

// On the device as on the host.
TEST_F(Packed, NodesOfTwoOperatorSetsAreOnDevicesAsOnHosts) {
  const OnnxModel model = of_two_operator_sets();
  const HostTensor x = random_tensor({2, 3, 4}, 1);
  const HostTensor want = evaluate(model.graph(), std::vector<HostTensor>{x})[0];
  Session session(Device::open(device_is), Model::load(save(model)));
  EXPECT_TRUE(close(session.run({{"x", x}}).at("y"), want, 1e-6));
}

TEST_F(Packed, TailsThatRunOnTheHostGiveTheSameBits) {
  device_is.log = {};  // a warning says so
  expect_the_same(save(with_a_tail()));
  expect_the_same(save(repeating()));
}

TEST_F(Packed, TfliteModelsGiveTheSameBits) {
  TfliteModel model;
  const int32_t x = model.tensor("x", {1, 4, 6, 3}), y = model.tensor("y", {1, 4, 6, 2});
  const int32_t w = model.floats("w", {2, 1, 1, 3}, {1, -2, 3, 0.5f, 0.25f, -1}),
                b = model.floats("b", {2}, {1, 2});
  constexpr int32_t kConv2d = 3;
  model.op(kConv2d, {x, w, b}, {y}, tfl::BuiltinOptions::Conv2DOptions,
           tfl::CreateConv2DOptions(model.builder(), tfl::Padding::same, 1, 1).Union());
  expect_the_same(folder.write("model.tflite", model.finish({x}, {y})));
}

TEST_F(Packed, OtherOptionsThanPackedForGiveTheSameBits) {
  const Device device = Device::open(device_options());
  const auto file = save(small_model({kUnknownDim, 3, kUnknownDim, 11}));
  pack(file, folder / "packed", Caps::android_baseline_2022(), {.input_shapes = {{"x", {1, 3, 9, 11}}}});
  const Model model = Model::load(file), packed = Model::load(folder / "packed");
  EXPECT_EQ(packed.inputs().front().shape, (Shape{kUnknownDim, 3, kUnknownDim, 11}));
  const InputShapes shapes{{"x", {2, 3, 6, 11}}};
  for (const SessionOptions& options :
       {SessionOptions{.precision = Precision::fp16, .input_shapes = shapes},
        SessionOptions{.storage = StorageChoice::buffer, .input_shapes = shapes},
        SessionOptions{.memory = MemoryMode::offsets, .input_shapes = shapes}})
    EXPECT_TRUE(same(run(device, packed, options), run(device, model, options)));
  EXPECT_EQ(describe(packed, "graph", {.input_shapes = shapes}),
            describe(model, "graph", {.input_shapes = shapes}));
}

TEST_F(Packed, CachesOfACapacityNeedNoCompiler) {
  const Decoder decoder({}, DecoderForm::concatenation);
  const int64_t capacity = decoder.shape().capacity;
  const SessionOptions options{.input_shapes = {{"input_ids", {1, 1}}, {"attention_mask", {1, capacity}}},
                               .state = "auto",
                               .state_capacity = static_cast<uint32_t>(capacity)};
  const Device device = Device::open(device_is);
  pack(save(decoder.model()), folder / "packed", Caps::of(device), options);
  Session session(device, Model::load(folder / "packed"), options);
  const std::vector<int64_t> prompt{7, 3, 44};
  std::vector<int64_t> tokens = prompt;
  for (size_t past = 0; past < 12; ++past) {
    const std::vector<int64_t> mask(past + 1, 1);
    const auto outputs = session.run({{"input_ids", Tensor::i64({1, 1}, std::span(tokens).subspan(past, 1))},
                                      {"attention_mask", Tensor::i64({1, std::ssize(mask)}, mask)}});
    if (past + 1 == tokens.size()) tokens.push_back(outputs.at("next").to_ints()[0]);
  }
  EXPECT_EQ(std::vector<int64_t>(tokens.begin() + 3, tokens.end()), decoder.generate(prompt, 10));
  EXPECT_EQ(impl(device)->context->pipelines().shader_counts().compiled, 0u);
}

TEST_F(Packed, WeightsStreamFromTheFile) {
  const auto file = save(small_model());
  const SessionOptions streaming{.weights_budget = 4096};
  const Device device = Device::open(device_options());
  pack(file, folder / "packed", Caps::of(device), streaming);
  EXPECT_TRUE(same(run(device, Model::load(folder / "packed"), streaming),
                   run(device, Model::load(file), streaming)));
}

// A damaged file is refused, or its result is right.
TEST_F(Packed, DamagedFilesAreRefused) {
  const Device device = Device::open(device_options());
  const auto file = save(small_model());
  const Outputs expected = run(device, Model::load(file));
  pack(file, folder / "packed", Caps::of(device));
  const std::string whole = content(folder / "packed");
  const auto outcome = [&](const std::string& bytes) -> std::string {
    try {
      const Device own = Device::open(device_options());
      return same(run(own, Model::load(as_bytes(bytes))), expected) ? "equal" : "different";
    } catch (const Error& error) {
      return error.code() == ErrorCode::corrupt_model || error.code() == ErrorCode::unsupported
                 ? "refused"
                 : error.what();
    }
  };
  ASSERT_EQ(outcome(whole), "equal");
  for (size_t size = 8; size < whole.size(); size += size < 64 ? 5 : 997)
    EXPECT_EQ(outcome(whole.substr(0, size)), "refused") << size;
  size_t refused = 0, flips = 0;
  for (size_t at = 8; at < whole.size(); at += at < 64 ? 3 : 4001, ++flips) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    const std::string result = outcome(flipped);
    EXPECT_TRUE(result == "refused" || result == "equal") << at << ": " << result;
    refused += result == "refused";
  }
  EXPECT_GT(3 * refused, flips) << "shaders of checks are read only where a check runs";
}

// Descriptions that are whole, and say what cannot be.
TEST_F(Packed, DescriptionsThatLieAreRefused) {
  pack(save(small_model()), folder / "packed", Caps::android_baseline_2022());
  const std::string whole = content(folder / "packed");
  const auto rewritten = [&](auto change) {
    std::string bytes = whole;
    packfile::Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header, bytes);
    const auto all = std::as_bytes(std::span(bytes));
    if (header.description_bytes <= bytes.size() - sizeof header)
      header.description =
          platform::fingerprint(all.subspan(sizeof header, static_cast<size_t>(header.description_bytes)));
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  };
  const auto load_bytes = [](const std::string& bytes) { return Model::load(as_bytes(bytes)); };
  EXPECT_VELLUM_ERROR(load_bytes(rewritten([](auto& header, auto&) { header.version = 3; })),
                      ErrorCode::unsupported, "format 3", "formats up to 2", "pack");
  EXPECT_VELLUM_ERROR(load_bytes(rewritten([](auto& header, auto&) { header.byte_order = 0x04030201; })),
                      ErrorCode::unsupported, "byte order");
  EXPECT_VELLUM_ERROR(
      load_bytes(rewritten([](auto& header, auto&) { header.description_bytes = UINT64_MAX; })),
      ErrorCode::corrupt_model, "damaged");
  EXPECT_VELLUM_ERROR(
      load_bytes(rewritten([](auto& header, auto&) { header.data_offset = UINT64_MAX - 63; })),
      ErrorCode::corrupt_model, "damaged");
  // Every word of the flatbuffer in turn, under a fingerprint that is right.
  for (size_t at = sizeof(packfile::Header); at < sizeof(packfile::Header) + 3000; at += 4) {
    const std::string bytes = rewritten([&](auto&, std::string& all) {
      for (size_t i = at; i < at + 4; ++i) all[i] = static_cast<char>(~all[i]);
    });
    try {
      (void)load_bytes(bytes).nodes();
    } catch (const Error&) {
      continue;  // refused; what is accepted must only not crash
    }
  }
}

TEST_F(Packed, BundlesInMemoryAreThoseOfFiles) {
  const Caps caps = Caps::android_baseline_2022();
  const auto file = save(small_model());
  const PackSummary written = pack(file, folder / "packed", caps);
  std::string bytes;
  const PackSummary made = pack(
      as_bytes(small_model().bytes()),
      [&](std::span<const std::byte> piece) {
        bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      },
      caps);
  EXPECT_EQ(made.file_bytes, bytes.size());
  EXPECT_EQ(made.shaders, written.shaders);
  EXPECT_EQ(made.weights_bytes, written.weights_bytes);
  const Device device = Device::open(device_is);
  EXPECT_TRUE(same(run(device, Model::load(as_bytes(bytes))), run(device, Model::load(file))));

  const auto full = [](std::span<const std::byte>) { throw Error(ErrorCode::io, "the disk is full"); };
  EXPECT_VELLUM_ERROR(pack(as_bytes(small_model().bytes()), full, caps), ErrorCode::io, "the disk is full");
  EXPECT_VELLUM_ERROR(pack(as_bytes(small_model().bytes()), {}, caps), ErrorCode::invalid_argument,
                      "no function");
  EXPECT_VELLUM_ERROR(pack(as_bytes(bytes), full, caps), ErrorCode::invalid_argument, "model in memory",
                      "packed already");
}

// A bundle in the application's memory is read there as long as something needs it; a model file is not kept.
TEST_F(Packed, BundlesInSharedMemoryAreNotCopied) {
  const auto file = save(small_model());
  const Device device = Device::open(device_is);
  const Outputs expected = run(device, Model::load(file));
  pack(file, folder / "packed", Caps::of(device));
  for (const size_t offset : {size_t{0}, size_t{1}}) {  // aligned, and not
    const std::string whole = content(folder / "packed");
    auto storage = std::make_shared<std::vector<uint64_t>>(whole.size() / 8 + 2);
    std::byte* begin = std::as_writable_bytes(std::span(*storage)).data() + offset;
    std::memcpy(begin, whole.data(), whole.size());
    const std::weak_ptr<void> alive = storage;
    std::optional<Model> model =
        Model::load(std::shared_ptr<const std::byte>(std::move(storage), begin), whole.size());
    EXPECT_EQ(alive.expired(), offset != 0);
    EXPECT_TRUE(same(run(device, *model), expected));
    std::optional<Session> session(std::in_place, device, *model);
    model.reset();
    EXPECT_EQ(alive.expired(), offset != 0) << "the session has the model";
    session.reset();
    EXPECT_TRUE(alive.expired());
  }
  const auto bytes = std::make_shared<const std::string>(content(file));
  const Model model =
      Model::load(std::shared_ptr<const std::byte>(bytes, reinterpret_cast<const std::byte*>(bytes->data())),
                  bytes->size());
  EXPECT_EQ(bytes.use_count(), 1);
  EXPECT_TRUE(same(run(device, model), expected));
  EXPECT_VELLUM_ERROR(Model::load(std::shared_ptr<const std::byte>(), 0), ErrorCode::corrupt_model);
}

TEST_F(Packed, SaysWhatItCannotPack) {
  const auto file = save(small_model());
  const Caps caps = Caps::android_baseline_2022();
  pack(file, folder / "packed", caps);
  EXPECT_VELLUM_ERROR(pack(folder / "packed", folder / "twice", caps), ErrorCode::invalid_argument,
                      "packed already");
  EXPECT_VELLUM_ERROR(pack(folder / "none.onnx", folder / "x", caps), ErrorCode::not_found, "none.onnx");
  EXPECT_VELLUM_ERROR(pack(file, folder / "packed" / "below", caps), ErrorCode::io, "below");
  EXPECT_VELLUM_ERROR(pack(file, folder / "misspelt" / "packed", caps), ErrorCode::io, "there is no folder",
                      "misspelt");
  EXPECT_FALSE(std::filesystem::exists(folder / "misspelt"));
  EXPECT_VELLUM_ERROR(pack(save(small_model({1, 3, kUnknownDim, 11})), folder / "open", caps),
                      ErrorCode::invalid_argument, "'x'");
}

}  // namespace
}  // namespace vellum::test
