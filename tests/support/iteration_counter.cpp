#include "support/iteration_counter.hpp"

#include <cctype>
#include <map>
#include <utility>

#include "exec/executor.hpp"
#include "exec/pipeline_keys.hpp"
#include "kernels/framework/elements.hpp"
#include "program/packing.hpp"
#include "shaders/movement/copy_linear.h"
#include "shaders/sources.hpp"
#include "vulkan/glslang_compiler.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/shader_compiler.hpp"

namespace vellum::test {
namespace {

constexpr std::string_view kCounter = "loop_count";

std::string without_comments(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") i = std::min(text.find('\n', i), text.size() - 1);
    result += text[i];
  }
  return result;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The position of the parenthesis that closes the one at `open`.
size_t end_of_parentheses(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return text.size() - 1;
}

// Of `condition`, which may be empty.
std::string counted(std::string_view condition) {
  const bool is_empty = condition.find_first_not_of(" \\\n") == condition.npos;
  return "++counted_iterations > 0u" + (is_empty ? std::string() : " && (" + std::string(condition) + ")");
}

// The head of a loop, from its parenthesis to the one that closes it.
std::string counted_head(std::string_view head, bool is_for) {
  const std::string_view inner = head.substr(1, head.size() - 2);
  if (!is_for) return "(" + counted(inner) + ")";
  size_t first = inner.npos, second = inner.npos;
  int depth = 0;
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] == '(') ++depth;
    if (inner[i] == ')') --depth;
    if (inner[i] == ';' && depth == 0) (first == inner.npos ? first : second) = i;
  }
  return "(" + std::string(inner.substr(0, first)) + "; " +
         counted(inner.substr(first + 1, second - first - 1)) + std::string(inner.substr(second)) + ")";
}

bool is_unrolled(std::string_view before) {
  const size_t last = before.find_last_not_of(' ');
  constexpr std::string_view mark = "[[unroll]]";
  return last != before.npos && before.substr(0, last + 1).ends_with(mark);
}

// With another name for the main function, which the counting one calls.
std::string with_renamed_main(std::string text) {
  for (size_t at = text.find("void main()"); at != text.npos; at = text.find("void main()", at + 1))
    text.replace(at, 11, "void uncounted_main()");
  return text;
}

// The main function, which the counting one calls, and the declarations that both need.
std::string main_with_counter(std::string text) {
  text = with_renamed_main(std::move(text));
  constexpr std::string_view include = "#include \"";
  size_t at = text.find(include);
  while (text.substr(at + include.size()).starts_with("subgroup_arithmetic")) at = text.find(include, at + 1);
  // An include may be within a condition.
  const size_t condition = text.rfind("#if", at);
  if (condition != text.npos && text.find('\n', condition) + 1 == at) at = condition;
  text.insert(at, "uint counted_iterations = 0u;\n");
  return text +
         "\nLINEAR_ATOMIC(loop_count)\nvoid main() {\n  uncounted_main();\n"
         "  atomicMax(loop_count_data[0], counted_iterations);\n}\n";
}

// The texts of shaders with counted loops, by file name.
class CountedSources {
 public:
  const std::string& main_file(const std::string& name) {
    std::string& text = main_files_[name];
    if (text.empty()) text = main_with_counter(with_counted_loops(*find_shader_source(name)));
    return text;
  }
  std::optional<std::string_view> included(std::string_view name) {
    const auto source = find_shader_source(name);
    if (!source) return std::nullopt;
    std::string& text = files_[std::string(name)];
    if (text.empty()) text = with_renamed_main(with_counted_loops(*source));
    return text;
  }

 private:
  std::map<std::string, std::string> main_files_, files_;
};

// The shaders of a program, compiled with counted loops.
class CountedShaders final : public gpu::CompiledShaders {
 public:
  void add(const gpu::ShaderRequest& request) {
    const platform::Sha256Digest digest = gpu::shader_digest(request);
    if (modules_.contains(digest)) return;
    std::string preamble;
    for (const auto& [macro, value] : request.defines) preamble += "#define " + macro + " " + value + "\n";
    modules_[digest] = gpu::compile_glsl(request.name, sources_.main_file(request.name + ".comp"), preamble,
                                         [&](std::string_view name) { return sources_.included(name); });
  }
  std::vector<uint32_t> find(const platform::Sha256Digest& digest) const override {
    const auto found = modules_.find(digest);
    return found == modules_.end() ? std::vector<uint32_t>() : found->second;
  }
  bool are_trusted() const override { return true; }

 private:
  gpu::GlslangProcess glslang_;
  CountedSources sources_;
  std::map<platform::Sha256Digest, std::vector<uint32_t>> modules_;
};

void define_binding(const Program& program, Dispatch& dispatch, size_t number) {
  const Binding& binding = dispatch.bindings[number];
  const TensorDesc& desc = program.tensors[binding.tensor].desc;
  dispatch.defines.emplace_back("STORAGE_" + binding.name, storage_macro(desc, binding));
  dispatch.defines.emplace_back("ELEMENT_" + binding.name, element_macro(desc.element));
  dispatch.defines.emplace_back("BINDING_" + binding.name, std::to_string(number));
  std::ranges::sort(dispatch.defines);
}

// An output of the program that is zero before the dispatch counts in it, and the dispatch that makes it
// zero.
Dispatch add_counter(const DeviceCaps& caps, Program& program, Dispatch& dispatch) {
  const TensorDesc desc{{4}, ElementType::i32, Storage::buffer, Layout::linear};
  const auto add = [&](VirtualTensor tensor) {
    program.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(program.tensors.size() - 1);
  };
  const TensorId zeros = add({"zeros", desc, TensorRole::weight, kNoTensor,
                              [desc] { return pack_ints(desc, std::vector<int64_t>(4, 0)); }});
  const std::string name = "loops " + std::to_string(program.outputs.size());
  const TensorId counter = add({name, desc, TensorRole::output, kNoTensor, {}});
  program.outputs.push_back({name, {DType::i32, {4}}, counter, std::nullopt});
  Dispatch clear = make_dispatch("copy_linear", grid_1d(caps, 1), {reads("x", zeros), writes("y", counter)},
                                 CopyLinearParameters{.count4 = 1});
  clear.name = clear.op = "zeros";
  for (size_t i = 0; i < 2; ++i) define_binding(program, clear, i);
  dispatch.bindings.push_back(reads_and_writes(std::string(kCounter), counter));
  define_binding(program, dispatch, dispatch.bindings.size() - 1);
  return clear;
}

std::string described(const Dispatch& dispatch) {
  std::string text = dispatch.op + " " + dispatch.shader;
  for (const auto& [macro, value] : dispatch.defines)
    if (!macro.starts_with("BINDING_")) text += " " + macro + "=" + value;
  return text;
}

}  // namespace

std::string with_counted_loops(std::string_view glsl) {
  const std::string text = without_comments(glsl);
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || !is_word(text[i - 1]);
    const std::string_view rest = std::string_view(text).substr(i);
    const size_t length = begins && rest.starts_with("for") ? 3 : begins && rest.starts_with("while") ? 5 : 0;
    const size_t open = length > 0 ? text.find_first_not_of(' ', i + length) : text.npos;
    if (open == text.npos || text[open] != '(' || is_unrolled(std::string_view(text).substr(0, i))) {
      result += text[i++];
      continue;
    }
    const size_t close = end_of_parentheses(text, open);
    result += text.substr(i, length) + " " +
              counted_head(std::string_view(text).substr(open, close + 1 - open), length == 3);
    i = close + 1;
  }
  return result;
}

std::vector<CountedLoops> count_iterations(const std::shared_ptr<gpu::Context>& context, Program program,
                                           const std::vector<HostTensor>& inputs) {
  const size_t outputs = program.outputs.size();
  std::vector<CountedLoops> counts;
  std::vector<Task> tasks = std::exchange(program.tasks, {});
  const auto shaders = std::make_shared<CountedShaders>();
  for (Task& task : tasks) {
    if (task.dispatch) {
      counts.push_back({described(*task.dispatch), task.dispatch->iterations});
      task.dispatch->copy.reset();  // no view may take the place of what counts
      program.tasks.push_back({add_counter(context->caps(), program, *task.dispatch), std::nullopt});
      shaders->add(gpu::shader_request(pipeline_key(program, *task.dispatch)));
    }
    program.tasks.push_back(std::move(task));
  }
  context->pipelines().add_precompiled_shaders(shaders);
  Executor executor(context, compile_program(context, std::move(program)));
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  for (size_t i = 0; i < counts.size(); ++i)
    counts[i].counted = static_cast<uint64_t>(executor.output(outputs + i).to_ints().front());
  return counts;
}

}  // namespace vellum::test
