#include "exec/cooperative_check.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "exec/executor.hpp"
#include "kernels/conv/cooperative_tile.hpp"
#include "kernels/framework/lowering.hpp"
#include "vellum/error.hpp"
#include "vulkan/crash_marks.hpp"

namespace vellum {
namespace {

// -3 ... 3: sums of 160 products stay below 2048, up to which halves hold every whole number.
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
constexpr int64_t kRows = 76, kColumns = 52, kSummed = 160;

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

// The tiles of cooperative matrices among the candidates.
std::set<std::string> tiles_among(const std::vector<Choice>& choices) {
  std::set<std::string> tiles;
  for (const Choice& choice : choices)
    for (const KernelName& candidate : choice.candidates)
      if (candidate.algorithm == kCooperativeAlgorithm) tiles.insert(candidate.text());
  return tiles;
}

// By cooperative matrices, though something else would be quicker for so small a product: of constant weights
// with each tile, of computed factors, which another shader multiplies in the same way, with one.
std::vector<Program> lower_cooperatively(const Graph& graph, const ProductForm& form,
                                         const DeviceCaps& caps) {
  std::vector<Choice> choices;
  LoweringOptions options{.precision = Precision::fp16, .choices = &choices};
  lower(graph, caps, options);
  options.choices = nullptr;
  std::vector<Program> programs;
  for (const std::string& tile : tiles_among(choices)) {
    TuningTable table;
    for (const Choice& choice : choices)
      table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}, {tile, 1.0}};
    options.tuning = &table;
    programs.push_back(lower(graph, caps, options));
    if (!form.constant) break;
  }
  return programs;
}

bool is_right(const std::shared_ptr<gpu::Context>& context, const ProductForm& form) {
  std::vector<HostTensor> inputs = factors(form);
  const Graph graph = product_of(inputs, form);
  if (form.constant) inputs.pop_back();
  std::vector<Program> programs = lower_cooperatively(graph, form, context->caps());
  if (programs.empty() || !uses_cooperative_matrices(programs.front()))
    throw Error(ErrorCode::unsupported, "no kernel multiplies by cooperative matrices");
  const std::vector<float> want = evaluate(graph, inputs).front().to_floats();
  return std::ranges::all_of(programs, [&](Program& program) {
    Executor executor(context, compile_program(context, std::move(program)));
    for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
    executor.run();
    return executor.output(0).to_floats() == want;
  });
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
    std::ranges::move(lower_cooperatively(product_of(factors(form), form), form, caps),
                      std::back_inserter(programs));
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
