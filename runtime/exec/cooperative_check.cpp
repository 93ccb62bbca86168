#include "exec/cooperative_check.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "exec/executor.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "kernels/conv/cooperative_tile.hpp"
#include "kernels/framework/lowering.hpp"
#include "vellum/error.hpp"
#include "vulkan/crash_marks.hpp"

namespace vellum {
namespace {

// `count` whole numbers from `least` on.
HostTensor whole_numbers(Shape shape, uint32_t factor, int count, int least) {
  HostTensor tensor(DType::f32, std::move(shape));
  uint32_t i = 0;
  for (float& value : tensor.mutable_as<float>())
    value = static_cast<float>(static_cast<int>(++i * factor % 7919 % static_cast<uint32_t>(count)) + least);
  return tensor;
}

// a * b, of b known before, or of both computed, perhaps transposed. Of halves: -3 ... 3, so that sums of 160
// products stay below 2048, up to which halves hold every whole number. Of bytes: any; those of b begin with
// b_least.
struct ProductForm {
  MatrixFactors factors = MatrixFactors::halves;
  bool constant = false, transposed = false;
  int b_least = -3;

  bool of_bytes() const { return factors == MatrixFactors::bytes; }
};
constexpr ProductForm kForms[] = {{.constant = true},
                                  {},
                                  {.transposed = true},
                                  {.factors = MatrixFactors::bytes, .constant = true, .b_least = -128},
                                  {.factors = MatrixFactors::bytes, .constant = true, .b_least = -60}};

// Sizes that no tile divides.
constexpr int64_t kRows = 76, kColumns = 52, kSummed = 160;

std::vector<HostTensor> factors(const ProductForm& form) {
  const int count = form.of_bytes() ? 256 : 7, a_least = form.of_bytes() ? -128 : -3;
  Shape a{kRows, kSummed}, b{kSummed, kColumns};
  if (form.transposed) a = {kSummed, kRows}, b = {kColumns, kSummed};
  return {whole_numbers(a, 31, count, a_least), whole_numbers(b, 57, count, form.b_least)};
}

// Stores the value in bytes.
ValueId rounded(Graph& graph, ValueId value) {
  auto rounding = std::make_shared<Unary>();
  rounding->activation = {.step = 1.0f, .least = -128, .most = 127};
  const ValueId result = graph.add_value("rounded", graph.values[value].type, true);
  graph.nodes.push_back({"FakeQuantize", std::move(rounding), {value}, {result}});
  return result;
}

Graph product_of(const std::vector<HostTensor>& inputs, const ProductForm& form) {
  Graph graph;
  const ValueId a = graph.add_value("a", inputs[0].type(), true);
  const ValueId factor = form.of_bytes() ? rounded(graph, a) : a;
  const ValueId b =
      form.constant ? graph.add_constant("b", inputs[1]) : graph.add_value("b", inputs[1].type(), true);
  Attributes attributes;
  for (const char* name : {"transA", "transB"}) attributes.set(name, int64_t{form.transposed});
  const NodeSpec spec{
      .type = "Gemm", .name = "check", .opset = 13, .attributes = &attributes, .input_present = {true, true}};
  Node node{spec.name, make_operator(spec), {factor, b}, {}};
  node.outputs = {graph.add_value("y", {DType::f32, {kRows, kColumns}}, true)};
  graph.inputs = {a};
  if (!form.constant) graph.inputs.push_back(b);
  graph.outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  return graph;
}

// The tiles of such cooperative matrices among the candidates.
std::set<std::string> tiles_among(const std::vector<Choice>& choices, MatrixFactors factors) {
  const std::string algorithm =
      factors == MatrixFactors::bytes ? kByteMatrixAlgorithm : kCooperativeAlgorithm;
  std::set<std::string> tiles;
  for (const Choice& choice : choices)
    for (const KernelName& candidate : choice.candidates)
      if (candidate.algorithm == algorithm) tiles.insert(candidate.text());
  return tiles;
}

// By cooperative matrices, though something else would be quicker for so small a product: of constant weights
// with each tile, of computed factors, which another shader multiplies in the same way, with one.
std::vector<Program> lower_cooperatively(const Graph& graph, const ProductForm& form,
                                         const DeviceCaps& caps) {
  std::vector<Choice> choices;
  LoweringOptions options{.precision = form.of_bytes() ? Precision::fp32 : Precision::fp16,
                          .choices = &choices};
  lower(graph, caps, options);
  options.choices = nullptr;
  std::vector<Program> programs;
  for (const std::string& tile : tiles_among(choices, form.factors)) {
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
  return uses_cooperative_matrices(program, MatrixFactors::halves) ||
         uses_cooperative_matrices(program, MatrixFactors::bytes);
}

bool uses_cooperative_matrices(const Program& program, MatrixFactors factors) {
  const bool bytes = factors == MatrixFactors::bytes;
  return std::ranges::any_of(program.tasks, [&](const Task& task) {
    return task.dispatch && task.dispatch->shader.ends_with("_cooperative") &&
           task.dispatch->shader.ends_with("_bytes_cooperative") == bytes;
  });
}

std::vector<Program> programs_of_cooperative_check(const DeviceCaps& caps) {
  std::vector<Program> programs;
  for (const ProductForm& form : kForms)
    std::ranges::move(lower_cooperatively(product_of(factors(form), form), form, caps),
                      std::back_inserter(programs));
  return programs;
}

bool CooperativeCheck::passes(const std::shared_ptr<gpu::Context>& context, MatrixFactors factors) {
  const bool bytes = factors == MatrixFactors::bytes;
  Result& result = bytes ? bytes_ : halves_;
  std::call_once(result.once, [&] {
    std::string why = "are wrong";
    gpu::CrashMarks& marks = context->crash_marks();
    const gpu::Attempt attempt{
        bytes ? gpu::AttemptKind::cooperative_byte_product : gpu::AttemptKind::cooperative_product, "",
        bytes ? "multiplied cooperative matrices of bytes" : "multiplied cooperative matrices"};
    try {
      if (marks.has_crashed(attempt.kind))
        why = "ended an earlier process, or lost the device";
      else
        result.passed = gpu::attempt_dispatch(
            marks, {&attempt, 1}, [&] { return cooperative_products_are_right(context, factors); });
    } catch (const Error& error) {
      why = std::string("fail: ") + error.what();
    }
    if (!result.passed)
      context->log(LogLevel::warning, context->caps().name + ": products of cooperative matrices" +
                                          (bytes ? " of bytes " : " ") + why +
                                          "; other kernels run in their place");
  });
  return result.passed;
}

bool CooperativeCheck::removes_wrong(const std::shared_ptr<gpu::Context>& context, const Program& program,
                                     DeviceCaps& caps) {
  bool removed = false;
  for (const MatrixFactors factors : {MatrixFactors::halves, MatrixFactors::bytes})
    if (uses_cooperative_matrices(program, factors) && !passes(context, factors)) {
      remove_products(caps, factors);
      removed = true;
    }
  return removed;
}

bool cooperative_products_are_right(const std::shared_ptr<gpu::Context>& context, MatrixFactors factors) {
  return std::ranges::all_of(
      kForms, [&](const ProductForm& form) { return form.factors != factors || is_right(context, form); });
}

}  // namespace vellum
