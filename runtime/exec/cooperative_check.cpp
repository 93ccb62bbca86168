#include "exec/cooperative_check.hpp"

#include <algorithm>

#include "exec/executor.hpp"
#include "kernels/lowering.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// -3 ... 3: sums of 96 products stay below 2048, up to which halves hold every whole number.
HostTensor small_numbers(Shape shape, uint32_t factor) {
  HostTensor tensor(DType::f32, std::move(shape));
  uint32_t i = 0;
  for (float& value : tensor.mutable_as<float>())
    value = static_cast<float>(static_cast<int>(++i * factor % 7919 % 7) - 3);
  return tensor;
}

// Of sizes that no tile divides.
Graph product_of(const HostTensor& a, const HostTensor& b) {
  Graph graph;
  const ValueId x = graph.add_value("a", a.type(), true);
  const ValueId w = graph.add_constant("b", b);
  const NodeSpec spec{.type = "Gemm", .name = "check", .opset = 13, .input_present = {true, true}};
  Node node{spec.name, make_operator(spec), {x, w}, {}};
  node.outputs = {graph.add_value("y", {DType::f32, {a.shape()[0], b.shape()[1]}}, true)};
  graph.inputs = {x};
  graph.outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  return graph;
}

// By cooperative matrices, though something else would be quicker for so small a product.
Program lower_cooperatively(const Graph& graph, const DeviceCaps& caps) {
  std::vector<Choice> choices;
  LoweringOptions options{.precision = Precision::fp16, .choices = &choices};
  lower(graph, caps, options);
  TuningTable table;
  for (const Choice& choice : choices) {
    CandidateTimes& times = table.operators[choice.signature];
    times[choice.candidates.front()] = 2.0;
    for (const std::string& candidate : choice.candidates)
      if (candidate.starts_with("cooperative ")) times[candidate] = 1.0;
  }
  options.choices = nullptr;
  options.tuning = &table;
  return lower(graph, caps, options);
}

}  // namespace

bool uses_cooperative_matrices(const Program& program) {
  return std::ranges::any_of(program.tasks, [](const Task& task) {
    return task.dispatch && task.dispatch->shader == "conv_cooperative";
  });
}

bool CooperativeCheck::passes(const std::shared_ptr<gpu::Context>& context) {
  std::call_once(once_, [&] {
    std::string why = "are wrong";
    try {
      passed_ = cooperative_products_are_right(context);
    } catch (const Error& error) {
      why = std::string("fail: ") + error.what();
    }
    if (!passed_)
      context->log(LogLevel::warning, context->caps().name + ": products of cooperative matrices " + why +
                                          "; other kernels run in their place");
  });
  return passed_;
}

bool cooperative_products_are_right(const std::shared_ptr<gpu::Context>& context) {
  const HostTensor a = small_numbers({75, 96}, 31), b = small_numbers({96, 52}, 57);
  const Graph graph = product_of(a, b);
  Program program = lower_cooperatively(graph, context->caps());
  if (!uses_cooperative_matrices(program))
    throw Error(ErrorCode::unsupported, "no kernel multiplies by cooperative matrices");
  Executor executor(context, std::move(program), {});
  executor.set_input(0, a);
  executor.run();
  return executor.output(0).to_floats() == evaluate(graph, std::span(&a, 1)).front().to_floats();
}

}  // namespace vellum
