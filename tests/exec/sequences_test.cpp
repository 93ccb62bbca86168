// Convolutions in one dimension that a model has as pictures of one column.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "exec/executor.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"
#include "support/small_tensors.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace sequences_test {

using Ints = Attributes::Ints;

// Tokens, two convolutions over them as exporters of TensorFlow write them, and the largest value of each
// channel.
OnnxModel convolutions_of_tokens() {
  OnnxModel m(13);
  m.input("x", {2, 19, 12}).initializer("axis", ints({3}));
  m.initializer("w", random_tensor({10, 12, 5, 1}, 1)).initializer("b", random_tensor({10, 1}, 2));
  m.initializer("v", random_tensor({6, 10, 3, 1}, 3));
  m.node("Unsqueeze", {"x", "axis"}, {"u"});
  m.node("Transpose", {"u"}, {"t"}, attributes({{"perm", Ints{0, 2, 1, 3}}}));
  m.node("Conv", {"t", "w"}, {"a"}).node("Squeeze", {"a", "axis"}, {"s"}).node("Add", {"s", "b"}, {"d"});
  m.node("Relu", {"d"}, {"r"}).node("Unsqueeze", {"r", "axis"}, {"e"});
  m.node("Conv", {"e", "v"}, {"c"}, attributes({{"pads", Ints{1, 0, 1, 0}}, {"strides", Ints{2, 1}}}));
  m.node("GlobalMaxPool", {"c"}, {"y"}).output("y");
  return m;
}

TEST(Sequences, ConvolutionsOfTokens) {
  const auto context = gpu::Context::create(test_context_options());
  const Graph graph = convolutions_of_tokens().graph();
  const HostTensor input = random_tensor({2, 19, 12}, 4);
  const HostTensor want = evaluate(graph, std::vector{input})[0];
  for (const auto storage : {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d}) {
    const CompileOptions options{.storage = storage};
    CompiledModel model = compile(graph, context->caps(), options);
    const auto conversions = std::ranges::count_if(model.program.tasks, [](const Task& task) {
      return task.dispatch && task.dispatch->op == "Convert";
    });
    EXPECT_LE(conversions, 1) << "the convolutions read channels where the tokens are transposed";
    Executor executor(context, std::make_shared<const CompiledModel>(std::move(model)));
    executor.set_input(0, input);
    executor.run();
    EXPECT_TRUE(close(executor.output(0), want, 1e-4));
  }
}

}  // namespace sequences_test
}  // namespace vellum::test
