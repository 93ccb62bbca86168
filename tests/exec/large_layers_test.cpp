// Layers with more weights than a storage buffer of the device holds are computed in parts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "support/errors.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

constexpr uint64_t kRange = 64 << 10;

// The device of the tests, whose storage buffers hold 64 KiB.
std::shared_ptr<gpu::Context> small_buffers() {
  gpu::ContextOptions options = test_context_options();
  options.adjust_caps = [adjust = options.adjust_caps](const DeviceCaps& real) {
    DeviceCaps caps = adjust ? adjust(real) : real;
    caps.max_storage_buffer_range = kRange;
    return caps;
  };
  return gpu::Context::create(options);
}

// The end of a VGG: a convolution, and products with 64 KiB of weights and more.
OnnxModel classifier(int64_t batch) {
  const auto same = attributes({{"pads", Attributes::Ints{1, 1, 1, 1}}});
  const auto transposed = attributes({{"transB", int64_t{1}}});
  OnnxModel model;
  model.input("x", {batch, 24, 4, 4})
      .initializer("w0", random_tensor({32, 24, 3, 3}, 1))
      .initializer("w1", random_tensor({50, 512}, 2))
      .initializer("b1", random_tensor({50}, 3))
      .initializer("w2", random_tensor({50, 100}, 4))
      .initializer("b2", random_tensor({1, 100}, 5));
  model.node("Conv", {"x", "w0"}, {"c"}, same, "conv")
      .node("Relu", {"c"}, {"r"})
      .node("Flatten", {"r"}, {"f"})
      .node("Gemm", {"f", "w1", "b1"}, {"g"}, transposed, "fc6")
      .node("Relu", {"g"}, {"h"})
      .node("Gemm", {"h", "w2", "b2"}, {"y"}, {}, "fc7")
      .output("y");
  return model;
}

HostTensor run(const std::shared_ptr<gpu::Context>& context, const Graph& graph,
               const CompileOptions& options, const HostTensor& input) {
  Executor executor(context, std::make_shared<const CompiledModel>(compile(graph, context->caps(), options)));
  executor.set_input(0, input);
  executor.run();
  return executor.output(0);
}

TEST(LargeLayers, GiveTheSameResultsInParts) {
  const std::shared_ptr<gpu::Context> context = small_buffers();
  const std::shared_ptr<gpu::Context> large_buffers = gpu::Context::create(test_context_options());
  for (const int64_t batch : {1, 3}) {
    const Graph graph = classifier(batch).graph();
    const HostTensor input = random_tensor({batch, 24, 4, 4}, 6);
    const HostTensor want = evaluate(graph, std::vector{input})[0];
    for (const auto storage : {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d})
      for (const Precision precision : {Precision::fp32, Precision::fp16}) {
        const CompileOptions options{.precision = precision, .storage = storage};
        const Graph parts = prepare_graph(graph, context->caps(), options);
        EXPECT_GT(parts.nodes.size(), 4u) << to_text(parts);
        const HostTensor in_parts = run(context, graph, options, input);
        // Halves do not determine sums of 512 products: these are compared with what the whole layers give.
        if (precision == Precision::fp32)
          EXPECT_TRUE(close(in_parts, want, 1e-4));
        else
          EXPECT_TRUE(close(in_parts, run(large_buffers, graph, options, input), 2e-3));
      }
  }
}

// 64 channels of 32x32 pixels, 256 KiB, between small inputs and outputs.
OnnxModel wide_in_between() {
  const auto same = attributes({{"pads", Attributes::Ints{1, 1, 1, 1}}});
  OnnxModel model;
  model.input("x", {1, 3, 32, 32})
      .initializer("w0", random_tensor({64, 3, 3, 3}, 1))
      .initializer("w1", random_tensor({64, 1, 3, 3}, 2))
      .initializer("w2", random_tensor({3, 64, 1, 1}, 3));
  model.node("Conv", {"x", "w0"}, {"a"}, same, "first")
      .node("Relu", {"a"}, {"b"})
      .node("Conv", {"b", "w1"}, {"c"},
            attributes({{"pads", Attributes::Ints{1, 1, 1, 1}}, {"group", int64_t{64}}}), "depthwise")
      .node("Sigmoid", {"c"}, {"d"})
      .node("Add", {"b", "d"}, {"e"})
      .node("Conv", {"e", "w2"}, {"y"}, {}, "last")
      .output("y");
  return model;
}

// Devices that prefer buffers take images for what no binding of a buffer reaches; where the caller wants
// buffers, the error says what helps.
TEST(LargeTensors, AreImagesWhereBuffersAreTooSmall) {
  gpu::ContextOptions context_options = test_context_options();
  context_options.adjust_caps = [adjust = context_options.adjust_caps](const DeviceCaps& real) {
    DeviceCaps caps = adjust ? adjust(real) : real;
    caps.max_storage_buffer_range = kRange;
    caps.prefers_images = false;
    return caps;
  };
  const std::shared_ptr<gpu::Context> context = gpu::Context::create(context_options);
  const Graph graph = wide_in_between().graph();
  const HostTensor input = random_tensor({1, 3, 32, 32}, 6);
  const HostTensor want = evaluate(graph, std::vector{input})[0];
  EXPECT_TRUE(close(run(context, graph, {.precision = Precision::fp32}, input), want, 1e-4));
  const CompileOptions halves{.precision = Precision::fp16};
  if (context->caps().rgba16f_images)
    EXPECT_TRUE(close(run(context, graph, halves, input), want, 5e-2));
  else
    EXPECT_VELLUM_ERROR(run(context, graph, halves, input), ErrorCode::unsupported, "storage buffer range",
                        "may help: smaller inputs");
  EXPECT_VELLUM_ERROR(run(context, graph, {.storage = StorageChoice::buffer}, input), ErrorCode::unsupported,
                      "storage buffer range", "--storage image2d", "--precision fp16", "tiles");
}

// The statistics of a row are 16 bytes, those of halves too.
TEST(LargeTensors, SuggestNoPrecisionThatIsTaken) {
  OnnxModel model;
  model.input("x", {3, int64_t{kRange / 16 + 1}});
  model.node("Softmax", {"x"}, {"s"}, attributes({{"axis", int64_t{0}}})).node("Relu", {"s"}, {"y"});
  model.output("y");
  try {
    compile(model.graph(), small_buffers()->caps(),
            {.precision = Precision::fp16, .storage = StorageChoice::buffer});
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("storage buffer range"), std::string::npos) << text;
    EXPECT_EQ(text.find("--precision fp16"), std::string::npos) << text;
  }
}

TEST(LargeLayers, AreRefusedByNameWhereTheyCannotBeSplit) {
  OnnxModel model;
  model.input("x", {1, 128, 4, 4}).initializer("w", random_tensor({128, 64, 3, 3}, 1));
  model.node("Conv", {"x", "w"}, {"y"}, attributes({{"group", int64_t{2}}}), "grouped").output("y");
  EXPECT_VELLUM_ERROR(compile(model.graph(), small_buffers()->caps(), {.storage = StorageChoice::buffer}),
                      ErrorCode::unsupported, "grouped", std::to_string(kRange));
}

}  // namespace
}  // namespace vellum::test
