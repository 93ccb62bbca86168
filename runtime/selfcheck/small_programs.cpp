#include "selfcheck/small_programs.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "passes/passes.hpp"
#include "selfcheck/row_cases.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

std::set<std::string_view> words_of(std::string_view text) {
  std::set<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.insert(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// The function that a kernel computes, where one shader computes several: "FUNCTION=exp".
std::string function_of(const KernelId& kernel) {
  std::string function;
  for (const std::string_view word : words_of(kernel.variant))
    if (word.starts_with("FUNCTION=") || word.starts_with("REDUCTION=") ||
        (kernel.shader == "unary" && word.starts_with("ACTIVATION=")))
      function.append(word).append(" ");
  return function;
}

// "LINEAR_F32" of "LINEAR_ROWS_IMAGE2D_F32". Kernels that have no small operator with rows of texels are
// checked with buffers.
std::string in_buffer(const std::string& form) {
  return form.starts_with(kRowsOfTexels) ? "LINEAR" + form.substr(form.rfind('_')) : form;
}

// How well a check of `small` says something about `used`; 0: not at all.
size_t similarity(const KernelId& used, const KernelId& small) {
  if (used.shader != small.shader || in_buffer(used.written) != in_buffer(small.written) ||
      function_of(used) != function_of(small))
    return 0;
  constexpr size_t kRows = 10000, kSameCandidate = 1000, kSameForms = 100;
  size_t score = 1;
  if (used.accesses_rows == small.accesses_rows) score += kRows;
  if (used.candidate == small.candidate) score += kSameCandidate;
  if (used.forms == small.forms) score += kSameForms;
  const std::set<std::string_view> a = words_of(used.variant), b = words_of(small.variant);
  for (const std::string_view word : a) score += b.contains(word);
  return score;
}

// That of the operator, rather than of a conversion of its inputs or outputs.
std::string_view main_shader(const SmallProgram& program) {
  const auto found = std::ranges::find_if_not(program.kernels, is_conversion);
  return found == program.kernels.end() ? std::string_view() : found->shader;
}

// "workgroup=8x8" of a kernel whose workgroups have several rows.
std::optional<std::array<uint32_t, 2>> workgroup_of(const KernelId& kernel) {
  for (const std::string_view word : words_of(kernel.variant)) {
    std::array<uint32_t, 2> size{};
    if (std::sscanf(std::string(word).c_str(), "workgroup=%ux%u", &size[0], &size[1]) == 2) return size;
  }
  return std::nullopt;
}

// Runs dispatches that cover a box by workgroups of several rows in workgroups of another shape. Invocations
// beyond the box end at once.
bool change_workgroups(Program& program, const std::array<uint32_t, 2>& size) {
  bool is_changed = false;
  for (Task& task : program.tasks) {
    if (!task.dispatch || !task.dispatch->covers_box || task.dispatch->workgroup_size[1] == 1) continue;
    for (size_t axis = 0; axis < size.size(); ++axis) {
      const uint32_t invocations = task.dispatch->workgroup_size[axis] * task.dispatch->workgroup_count[axis];
      is_changed |= task.dispatch->workgroup_size[axis] != size[axis];
      task.dispatch->workgroup_size[axis] = size[axis];
      task.dispatch->workgroup_count[axis] = (invocations + size[axis] - 1) / size[axis];
    }
  }
  return is_changed;
}

bool uses_form(const std::vector<KernelId>& kernels, std::string_view form) {
  return std::ranges::any_of(
      kernels, [&](const KernelId& kernel) { return kernel.forms.find(form) != kernel.forms.npos; });
}

}  // namespace

SmallPrograms::SmallPrograms(const DeviceCaps& caps, const UsedKernels& used)
    : caps_(caps),
      used_(used),
      operators_(used.size ? sized_operators(*used.size, caps) : small_operators()) {
  graphs_.reserve(operators_.size());
  for (const SmallOperator& small : operators_) graphs_.push_back(optimise(small.graph, {}));
  for (const KernelId& kernel : used.kernels) {
    shaders_.insert(kernel.shader);
    candidates_.insert(kernel.candidate);
  }
  find_programs();
  if (!used.size && std::ranges::any_of(used.kernels, &KernelId::accesses_rows)) find_programs_with_rows();
  for (const KernelId& kernel : used_.kernels) matches_.push_back(best_programs(kernel));
}

std::set<size_t> SmallPrograms::chosen() const {
  std::set<size_t> chosen;
  for (const std::vector<Match>& matches : matches_)
    for (const Match& match : matches) chosen.insert(match.program);
  return chosen;
}

LoweringOptions SmallPrograms::lowering_options(const SmallProgram& program) const {
  return {.precision = used_.precision,
          .storage = program.storage,
          .inputs_to_channels4 = program.inputs_to_channels4,
          .winograd = Winograd::automatic,
          .arithmetic = used_.arithmetic,
          .tuning = &program.table,
          .fold = program.fold};
}

// Those that have a shader of the session's, with the candidates that it takes.
void SmallPrograms::find_programs() {
  struct Form {
    StorageChoice storage;
    uint32_t fold;
  };
  std::vector<Form> forms{{StorageChoice::buffer, 0}};
  if (uses_form(used_.kernels, "=IMAGE2D")) forms.push_back({StorageChoice::image2d, 0});
  if (std::ranges::any_of(used_.kernels, &KernelId::uses_folded_images))
    forms.push_back({StorageChoice::image2d, 2});
  if (uses_form(used_.kernels, "=IMAGE3D")) forms.push_back({StorageChoice::image3d, 0});
  for (size_t i = 0; i < operators_.size(); ++i)
    for (const Form& form : forms)
      for (const bool channels4 : {true, false})
        add_programs({.small = &operators_[i],
                      .graph = &graphs_[i],
                      .storage = form.storage,
                      .inputs_to_channels4 = channels4,
                      .fold = form.fold,
                      .table = {},
                      .kernels = {}});
}

void SmallPrograms::find_programs_with_rows() {
  row_graphs_.reserve(2 * operators_.size());  // programs point to them
  for (size_t i = 0; i < operators_.size(); ++i)
    for (const bool inputs_too : {true, false}) {
      std::optional<Graph> graph = between_products(graphs_[i], operators_[i].inputs, inputs_too);
      if (!graph) continue;
      row_graphs_.push_back(std::move(*graph));
      add_program({.small = &operators_[i],
                   .graph = &row_graphs_.back(),
                   .accesses_rows = true,
                   .storage = StorageChoice::image2d,
                   .inputs_to_channels4 = !inputs_too,
                   .table = {},
                   .kernels = {}},
                  nullptr);
    }
}

void SmallPrograms::add_programs(const SmallProgram& program) {
  std::vector<Choice> choices;
  if (!add_program(program, &choices)) return;
  for (const std::array<uint32_t, 2>& workgroup : workgroups()) {
    SmallProgram other = program;
    other.workgroup = workgroup;
    add_program(other, nullptr);
  }
  for (const Choice& choice : choices)
    for (size_t i = 1; i < choice.candidates.size(); ++i) {
      const std::string name = choice.candidates[i].text();
      const auto takes = [&](const std::string& taken) { return taken.find(name) != taken.npos; };
      if (std::ranges::none_of(candidates_, takes)) continue;
      SmallProgram other = program;
      other.table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}, {name, 1.0}};
      add_program(other, nullptr);
    }
}

// False: the device cannot compute it so.
bool SmallPrograms::add_program(SmallProgram program, std::vector<Choice>* choices) {
  try {
    Program lowered = this->lowered(program, choices);
    if (program.workgroup[0] > 0 && !change_workgroups(lowered, program.workgroup)) return true;
    for (const Task& task : lowered.tasks) {
      if (!task.dispatch) return choices != nullptr;
      const bool is_meant = !used_.size || has_size(lowered, *task.dispatch, *used_.size, caps_);
      program.kernels.push_back(is_meant ? kernel_id(*task.dispatch) : KernelId{});
    }
    if (used_.has_shaders && !used_.has_shaders(lowered)) return choices != nullptr;
  } catch (const Error&) {
    return false;
  }
  const auto is_used = [&](const KernelId& kernel) {
    return !is_conversion(kernel) && shaders_.contains(kernel.shader) &&
           kernel.accesses_rows == program.accesses_rows;
  };
  if (std::ranges::any_of(program.kernels, is_used) || is_for_conversions(*program.small))
    programs_.push_back(std::move(program));
  return true;
}

// Operators without products, beside which conversions are checked in every session that has some.
bool SmallPrograms::is_for_conversions(const SmallOperator& small) const {
  return (small.name == "Relu" || small.name == "Add") &&
         std::ranges::any_of(used_.kernels, [](const KernelId& kernel) { return is_conversion(kernel); });
}

// The most similar kernel. Conversions are in many programs: in some of them another kernel may be wrong,
// so they are taken from programs with different shaders.
std::vector<SmallPrograms::Match> SmallPrograms::best_programs(const KernelId& used) const {
  const size_t wanted = is_conversion(used) ? 3 : 1;
  size_t best = 0;
  std::vector<Match> matches;
  std::set<std::string_view> shaders;
  for (size_t p = 0; p < programs_.size(); ++p)
    for (size_t k = 0; k < programs_[p].kernels.size(); ++k) {
      const size_t score = similarity(used, programs_[p].kernels[k]);
      if (score < best || score == 0) continue;
      if (score > best) {
        matches.clear();
        shaders.clear();
      }
      best = score;
      if (matches.size() < wanted && shaders.insert(main_shader(programs_[p])).second)
        matches.push_back({p, k});
    }
  return matches;
}

Program SmallPrograms::lowered(const SmallProgram& program, std::vector<Choice>* choices) const {
  LoweringOptions options = lowering_options(program);
  options.choices = choices;
  Program lowered = lower(*program.graph, caps_, options);
  if (program.accesses_rows) access_all_rows(lowered, caps_);
  return lowered;
}

Program SmallPrograms::lowered(size_t number) const {
  const SmallProgram& program = programs_[number];
  Program lowered = this->lowered(program, nullptr);
  if (program.workgroup[0] > 0) change_workgroups(lowered, program.workgroup);
  return lowered;
}

std::set<std::array<uint32_t, 2>> SmallPrograms::workgroups() const {
  std::set<std::array<uint32_t, 2>> sizes;
  for (const KernelId& kernel : used_.kernels)
    if (const auto size = workgroup_of(kernel)) sizes.insert(*size);
  return sizes;
}

std::vector<Program> check_programs(const DeviceCaps& caps, const UsedKernels& used) {
  const SmallPrograms small(caps, used);
  std::vector<Program> programs;
  for (const size_t program : small.chosen()) programs.push_back(small.lowered(program));
  return programs;
}

}  // namespace vellum
