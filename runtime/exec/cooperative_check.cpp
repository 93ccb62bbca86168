#include "exec/cooperative_check.hpp"

#include <algorithm>

#include "exec/executor.hpp"
#include "kernels/conv/cooperative_tile.hpp"
#include "kernels/framework/lowering.hpp"
#include "vellum/error.hpp"
#include "vulkan/crash_marks.hpp"

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

// a * b, of b known before, or of both computed, perhaps transposed.
struct ProductForm {
  bool constant = false, transposed = false;
};
constexpr ProductForm kForms[] = {{.constant = true}, {}, {.transposed = true}};

// Sizes that no tile divides.
constexpr int64_t kRows = 76, kColumns = 52, kSummed = 96;

std::vector<HostTensor> factors(const ProductForm& form) {
  if (form.transposed) return {small_numbers({kSummed, kRows}, 31), small_numbers({kColumns, kSummed}, 57)};
  return {small_numbers({kRows, kSummed}, 31), small_numbers({kSummed, kColumns}, 57)};
}

Graph product_of(const std::vector<HostTensor>& inputs, const ProductForm& form) {
  Graph graph;
  const ValueId a = graph.add_value("a", inputs[0].type(), true);
  const ValueId b =
      form.constant ? graph.add_constant("b", inputs[1]) : graph.add_value("b", inputs[1].type(), true);
  Attributes attributes;
  for (const char* name : {"transA", "transB"}) attributes.set(name, int64_t{form.transposed});
  const NodeSpec spec{
      .type = "Gemm", .name = "check", .opset = 13, .attributes = &attributes, .input_present = {true, true}};
  Node node{spec.name, make_operator(spec), {a, b}, {}};
  node.outputs = {graph.add_value("y", {DType::f32, {kRows, kColumns}}, true)};
  graph.inputs = {a};
  if (!form.constant) graph.inputs.push_back(b);
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
    times[choice.candidates.front().text()] = 2.0;
    for (const KernelName& candidate : choice.candidates)
      if (candidate.algorithm == kCooperativeAlgorithm) times[candidate.text()] = 1.0;
  }
  options.choices = nullptr;
  options.tuning = &table;
  return lower(graph, caps, options);
}

bool is_right(const std::shared_ptr<gpu::Context>& context, const ProductForm& form) {
  std::vector<HostTensor> inputs = factors(form);
  const Graph graph = product_of(inputs, form);
  if (form.constant) inputs.pop_back();
  Program program = lower_cooperatively(graph, context->caps());
  if (!uses_cooperative_matrices(program))
    throw Error(ErrorCode::unsupported, "no kernel multiplies by cooperative matrices");
  Executor executor(context, compile_program(context, std::move(program)));
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  return executor.output(0).to_floats() == evaluate(graph, inputs).front().to_floats();
}

}  // namespace

bool uses_cooperative_matrices(const Program& program) {
  return std::ranges::any_of(program.tasks, [](const Task& task) {
    return task.dispatch && task.dispatch->shader.ends_with("_cooperative");
  });
}

std::vector<Program> programs_of_cooperative_check(const DeviceCaps& caps) {
  std::vector<Program> programs;
  for (const ProductForm& form : kForms)
    programs.push_back(lower_cooperatively(product_of(factors(form), form), caps));
  return programs;
}

bool CooperativeCheck::passes(const std::shared_ptr<gpu::Context>& context) {
  std::call_once(once_, [&] {
    std::string why = "are wrong";
    gpu::CrashMarks& marks = context->crash_marks();
    const gpu::Attempt attempt{gpu::AttemptKind::cooperative_product, "", "multiplied cooperative matrices"};
    try {
      if (marks.has_crashed(attempt.kind))
        why = "ended an earlier process, or lost the device";
      else
        passed_ = gpu::attempt_dispatch(marks, {&attempt, 1},
                                        [&] { return cooperative_products_are_right(context); });
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
  return std::ranges::all_of(kForms, [&](const ProductForm& form) { return is_right(context, form); });
}

}  // namespace vellum
