// Products of two computed tensors in bytes have LiteRT's integers, whatever kernel and storage: sums of
// integers are exact, of which floats would put some beside a tie on its wrong side.
#include "graph/operators/matmul/fixed_matmul.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "exec/executor.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "kernels/framework/lowering.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace fixed_matmul_test {

constexpr float kStepA = 0.0173f, kStepB = 0.1f;

Activation rounding(float step, float least, float most) {
  return {.step = step, .least = least, .most = most, .ties_away = true};
}

ValueId rounded_input(Graph& graph, const std::string& name, const Shape& shape, const Activation& steps) {
  auto op = std::make_shared<Unary>();
  op->activation = steps;
  const TensorType type{DType::f32, shape};
  graph.inputs.push_back(graph.add_value(name, type, true));
  const ValueId rounded = graph.add_value(name + "_rounded", type, true);
  graph.nodes.push_back({"FakeQuantize", std::move(op), {graph.inputs.back()}, {rounded}});
  return rounded;
}

struct Case {
  Shape a, b;
  bool transpose_a = false, transpose_b = false;
};

Graph product_of(const Case& test) {
  auto op = std::make_shared<FixedMatMul>();
  op->product.transpose_a = test.transpose_a;
  op->product.transpose_b = test.transpose_b;
  const float y_step = kStepA * kStepB * 3777;
  op->fixed_point = fixed_matmul(kStepA, kStepB, y_step);
  op->activation = rounding(y_step, -128, 127);
  Graph graph;
  const ValueId a = rounded_input(graph, "a", test.a, rounding(kStepA, -100, 155)),
                b = rounded_input(graph, "b", test.b, rounding(kStepB, -128, 127));
  const TensorType types[] = {{DType::f32, test.a}, {DType::f32, test.b}};
  const OperatorInput inputs[] = {{true, types[0], nullptr}, {true, types[1], nullptr}};
  const ValueId y = graph.add_value("y", op->infer(inputs)[0], true);
  graph.nodes.push_back({"FixedMatMul", std::move(op), {a, b}, {y}});
  graph.outputs = {y};
  return graph;
}

TEST(FixedMatMul, HasTheIntegersOfTheReference) {
  const Case cases[] = {{{5, 7}, {7, 3}},
                        {{2, 33, 64}, {2, 64, 40}},               // rows of whole texels
                        {{2, 33, 65}, {2, 65, 41}},               // copied to texels, the result too
                        {{3, 64, 36}, {3, 50, 36}, false, true},  // columns
                        {{3, 36, 64}, {3, 50, 36}, true, true},
                        {{2, 3, 20, 31}, {3, 31, 19}},  // broadcast
                        {{1, 4, 700}, {1, 700, 4}},     // long sums
                        {{4, 1, 300}, {4, 300, 1}}};
  for (const Case& test : cases) {
    const Graph graph = product_of(test);
    const std::vector<HostTensor> inputs{random_tensor(test.a, 1, -2.0f, 3.0f),
                                         random_tensor(test.b, 2, -13.0f, 13.0f)};
    const std::vector<float> want = evaluate(graph, inputs)[0].to_floats();
    for (const LoweringOptions& options :
         {LoweringOptions{.storage = StorageChoice::buffer},
          LoweringOptions{.storage = StorageChoice::image2d},
          LoweringOptions{.precision = Precision::fp16, .storage = StorageChoice::buffer}}) {
      SCOPED_TRACE(to_string(test.a) + " times " + to_string(test.b));
      Executor executor(test_context(),
                        compile_program(test_context(), lower(graph, test_context()->caps(), options)));
      for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
      executor.run();
      const std::vector<float> got = executor.output(0).to_floats();
      ASSERT_EQ(got.size(), want.size());
      // An output of halves rounds its numbers.
      const float y_step = kStepA * kStepB * 3777;
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(integer_of(got[i], y_step), integer_of(want[i], y_step)) << i;
    }
  }
}

}  // namespace fixed_matmul_test
}  // namespace vellum::test
