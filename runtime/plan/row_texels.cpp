#include "plan/row_texels.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/lifetimes.hpp"
#include "program/divide.hpp"
#include "program/macros.hpp"

namespace vellum {
namespace {

constexpr size_t kMostRowTrials = 32;  // each plans the whole program

// An access that may go to the image: shader, and name of the tensor there.
struct Accessor {
  std::string_view shader, tensor;
  std::string_view with = {}, without = {};  // macros that must or must not be defined
};

// Kernels that write the elements of a tensor four at a time (LINEAR_OUT in shaders/common/tensor.glsl).
constexpr Accessor kWriters[] = {{"attention", "y", {}, "Y_SCALARS"},
                                 {"attention_merge", "y", {}, "Y_SCALARS"},
                                 {"binary", "y", "LINEAR_LAYOUT"},
                                 {"concat_linear", "y", "ALIGNED"},
                                 {"gather", "y"},
                                 {"norm_linear", "y"},
                                 {"norm_rows", "y", "LINEAR_LAYOUT"},
                                 {"pad_linear", "y"},
                                 {"rotate_channels", "y"},
                                 {"softmax_linear", "y"},
                                 {"strided_copy", "y"},
                                 {"strided_texels", "y", "Y_LINEAR"},
                                 {"to_linear", "y"},
                                 {"transpose", "y", "Y_LINEAR"},
                                 {"unary", "y", "LINEAR_LAYOUT"}};

// Kernels that read them as LINEAR_IN or QUADS_IN.
constexpr Accessor kReaders[] = {{"attention_pack", "x", "X_LINEAR", "BYTE_ROWS"},
                                 {"attention_pack", "x1", "X_LINEAR"},
                                 {"attention_pack", "x2", "X_LINEAR"},
                                 {"binary", "a", "LINEAR_LAYOUT"},
                                 {"binary", "b", "LINEAR_LAYOUT"},
                                 {"binary", "operand", "LINEAR_LAYOUT"},
                                 {"concat_linear", "x0"},
                                 {"concat_linear", "x1"},
                                 {"concat_linear", "x2"},
                                 {"concat_linear", "x3"},
                                 {"concat_linear", "x4"},
                                 {"concat_linear", "x5"},
                                 {"concat_linear", "x6"},
                                 {"concat_linear", "x7"},
                                 {"gather", "x"},
                                 {"matmul_pack", "x"},
                                 {"norm_linear", "x"},
                                 {"norm_rows", "operand", "LINEAR_LAYOUT"},
                                 {"norm_rows", "x", "LINEAR_LAYOUT"},
                                 {"norm_statistics", "x"},
                                 {"pad_linear", "operand"},
                                 {"rotate_channels", "x"},
                                 {"softmax_linear", "x"},
                                 {"softmax_statistics", "x"},
                                 {"strided_copy", "operand"},
                                 {"strided_copy", "x"},
                                 {"strided_texels", "x", "X_LINEAR"},
                                 {"to_channels4", "x"},
                                 {"unary", "x", "LINEAR_LAYOUT"}};

bool is_among(std::span<const Accessor> accessors, const Dispatch& dispatch, const Binding& binding) {
  return std::ranges::any_of(accessors, [&](const Accessor& accessor) {
    return accessor.shader == dispatch.shader && accessor.tensor == binding.name &&
           (accessor.with.empty() || find_macro(dispatch.defines, accessor.with)) &&
           (accessor.without.empty() || !find_macro(dispatch.defines, accessor.without));
  });
}

bool is_matrix_of_texels(const VirtualTensor& tensor) {
  const TensorDesc& desc = tensor.desc;
  if (!has_planned_memory(tensor) || desc.storage != Storage::image2d || desc.fold > 0) return false;
  const auto [n, c, h, w] = nchw(desc.shape);
  return h * w == 1 && c % 4 == 0 && holds_floats(desc.element);
}

// A conversion between a linear tensor and an image; both are roots.
struct Conversion {
  size_t task = 0;
  TensorId linear = kNoTensor, image = kNoTensor;
  bool to_image = false;
};

// Removes conversions from a program one by one.
class RowTexels {
 public:
  RowTexels(Program& program, const RowTexelLimits& limits)
      : program_(program), limits_(limits), tasks_(program.tensors.size()) {
    for (size_t t = 0; t < program.tasks.size(); ++t) {
      visit_accesses(program.tasks[t], [&](TensorId id, Access) {
        std::vector<size_t>& tasks = tasks_[program.root(id)];
        if (tasks.empty() || tasks.back() != t) tasks.push_back(t);
      });
    }
  }

  // Removes at most `most` conversions, from task `first` on. Sets `first` to the task after the last one.
  // Returns their number. remove_tasks() comes next.
  size_t remove(size_t& first, size_t most) {
    size_t removed = 0;
    for (; first < program_.tasks.size() && removed < most; ++first) {
      const auto conversion = conversion_of(first);
      if (!conversion || !is_possible(*conversion) || !replace_accesses(*conversion)) continue;
      program_.tasks[first].dispatch.reset();
      ++removed;
    }
    return removed;
  }

  // Removes the tasks of the conversions.
  void remove_tasks() {
    std::erase_if(program_.tasks, [](const Task& task) { return !task.dispatch && !task.host; });
  }

 private:
  std::optional<Conversion> conversion_of(size_t t) const {
    const std::optional<Dispatch>& dispatch = program_.tasks[t].dispatch;
    if (!dispatch || dispatch->op != "Convert" || dispatch->bindings.size() != 2) return std::nullopt;
    const TensorId x = dispatch->bindings[0].tensor, y = dispatch->bindings[1].tensor;
    const bool to_image = dispatch->shader == "to_channels4";
    if (!to_image && dispatch->shader != "to_linear") return std::nullopt;
    const Conversion found{t, program_.root(to_image ? x : y), to_image ? y : x, to_image};
    const VirtualTensor &linear = program_.tensors[found.linear], &image = program_.tensors[found.image];
    const bool fits = is_matrix_of_texels(image) && program_.root(found.image) == found.image &&
                      has_planned_memory(linear) && linear.desc.layout == Layout::linear &&
                      linear.desc.element == image.desc.element &&
                      linear.desc.byte_size() == image.desc.byte_size();
    return fits ? std::optional(found) : std::nullopt;
  }

  // Returns whether both tensors may be one. Writes must come before the conversion, to the tensor that it
  // reads.
  bool is_possible(const Conversion& conversion) const {
    const TensorId read = conversion.to_image ? conversion.linear : conversion.image;
    for (const TensorId root : {conversion.linear, conversion.image})
      for (const size_t t : tasks_[root]) {
        const Task& task = program_.tasks[t];
        if (t == conversion.task || (!task.dispatch && !task.host)) continue;
        bool allowed = root != conversion.linear || task.dispatch.has_value();
        visit_accesses(task, [&](TensorId id, Access access) {
          if (program_.root(id) == root)
            allowed &= access == Access::read || (root == read && t < conversion.task);
        });
        if (!allowed) return false;
      }
    return true;
  }

  // Makes all tasks access the image. Returns false, and changes nothing, if one of them cannot.
  bool replace_accesses(const Conversion& conversion) {
    std::vector<std::pair<size_t, Dispatch>> replaced;
    for (const size_t t : tasks_[conversion.linear]) {
      if (t == conversion.task || !program_.tasks[t].dispatch) continue;
      Dispatch dispatch = *program_.tasks[t].dispatch;
      for (Binding& binding : dispatch.bindings) {
        if (program_.root(binding.tensor) != conversion.linear) continue;
        if (!may_access(dispatch, binding)) return false;
        access(dispatch, binding, conversion.image);
      }
      if (!keeps_limits(dispatch)) return false;
      replaced.emplace_back(t, std::move(dispatch));
    }
    std::vector<size_t>& tasks = tasks_[conversion.image];
    for (auto& [t, dispatch] : replaced) {
      program_.tasks[t].dispatch = std::move(dispatch);
      tasks.push_back(t);
    }
    return true;
  }

  bool may_access(const Dispatch& dispatch, const Binding& binding) const {
    const VirtualTensor& tensor = program_.tensors[binding.tensor];
    const bool has_whole_texels = tensor.desc.layout == Layout::linear &&
                                  program_.offset(binding.tensor) % (4 * size_of(tensor.desc.element)) == 0;
    // The constants of the grids of bytes are the last push constants.
    const bool has_bytes = std::ranges::any_of(dispatch.bindings, [&](const Binding& other) {
      return program_.tensors[other.tensor].desc.element == ElementType::q8;
    });
    if (!has_whole_texels || has_bytes || binding.access == Access::read_write) return false;
    return binding.access == Access::write ? is_among(kWriters, dispatch, binding)
                                           : is_among(kReaders, dispatch, binding);
  }

  void access(Dispatch& dispatch, Binding& binding, TensorId image) const {
    const TensorDesc& desc = program_.tensors[image].desc;
    const uint64_t first_texel = program_.offset(binding.tensor) / (4 * size_of(desc.element));
    binding.tensor = image;
    binding.texel_buffer = false;
    binding.sampled = binding.access == Access::read && !limits_.reads_storage_images;
    binding.same_position = false;
    dispatch.copy.reset();
    for (auto& [macro, value] : dispatch.defines)
      if (macro == "STORAGE_" + binding.name)
        value = std::string(kRowsOfTexels) + storage_macro(desc, binding);
    append(dispatch, {{binding.name + "_row_slices", static_cast<uint32_t>(slices(nchw(desc.shape)[1]))},
                      {binding.name + "_first_texel", static_cast<uint32_t>(first_texel)}});
  }

  // Appends integers to the push constants, or defines them as macros if the push constants have no space.
  void append(Dispatch& dispatch, const std::vector<std::pair<std::string, uint32_t>>& fields) const {
    constexpr std::string_view kMacro = "APPENDED_PARAMETERS";
    const auto insert = [&](const std::string& macro, std::string value) {
      const auto after =
          std::ranges::lower_bound(dispatch.defines, macro, {}, &std::pair<std::string, std::string>::first);
      return dispatch.defines.insert(after, {macro, std::move(value)});
    };
    const size_t bytes = dispatch.push_constants.bytes().size() + fields.size() * sizeof(uint32_t);
    if (bytes > limits_.push_constant_bytes) {
      for (const auto& [field, value] : fields) insert(field, std::to_string(value));
      return;
    }
    auto declared = std::ranges::find(dispatch.defines, kMacro, &std::pair<std::string, std::string>::first);
    if (declared == dispatch.defines.end()) declared = insert(std::string(kMacro), {});
    for (const auto& [field, value] : fields) {
      declared->second += (declared->second.empty() ? "int " : " int ") + field + ";";
      dispatch.push_constants.append(value);
    }
  }

  bool keeps_limits(const Dispatch& dispatch) const {
    uint32_t storage = 0, sampled = 0;
    for (const Binding& binding : dispatch.bindings) {
      const bool is_image = program_.tensors[binding.tensor].desc.storage != Storage::buffer;
      if (is_image || binding.texel_buffer) ++(binding.sampled ? sampled : storage);
    }
    return storage <= limits_.storage_images && sampled <= limits_.sampled_images;
  }

  Program& program_;
  const RowTexelLimits& limits_;
  std::vector<std::vector<size_t>> tasks_;  // by root: the tasks that access it
};

// Removes at most `most` conversions from task `first` on.
size_t remove_conversions(Program& program, const RowTexelLimits& limits, size_t& first, size_t most) {
  RowTexels rows(program, limits);
  const size_t removed = rows.remove(first, most);
  rows.remove_tasks();
  first -= removed;
  return removed;
}

}  // namespace

RowTexelLimits row_texel_limits(const DeviceCaps& caps) {
  return {.storage_images = caps.max_storage_images_per_stage,
          .sampled_images = caps.max_sampled_images_per_stage,
          .reads_storage_images = caps.reads_images_as_storage,
          .push_constant_bytes = caps.max_push_constant_bytes};
}

std::vector<std::pair<std::string_view, std::string_view>> row_texel_accesses() {
  std::vector<std::pair<std::string_view, std::string_view>> accesses;
  for (const std::span<const Accessor> accessors :
       {std::span<const Accessor>(kWriters), std::span<const Accessor>(kReaders)})
    for (const Accessor& accessor : accessors) accesses.emplace_back(accessor.shader, accessor.tensor);
  return accesses;
}

size_t access_row_texels(Program& program, const RowTexelLimits& limits,
                         const std::function<uint64_t(Program&)>& bytes) {
  if (limits.storage_images == 0) return 0;
  size_t first = 0, total = 0;
  Program all = program;
  const size_t possible = remove_conversions(all, limits, first, SIZE_MAX);
  if (possible == 0) return 0;
  uint64_t least = bytes(program);
  if (bytes(all) <= least) {
    program = std::move(all);
    return possible;
  }
  const size_t at_once = (possible + kMostRowTrials - 1) / kMostRowTrials;
  for (first = 0;;) {
    Program trial = program;
    size_t next = first;
    const size_t removed = remove_conversions(trial, limits, next, at_once);
    if (removed == 0) return total;
    if (const uint64_t now = bytes(trial); now <= least) {
      least = now;
      total += removed;
      program = std::move(trial);
      first = next;
    } else {
      first = next + removed;  // the tasks are still there
    }
  }
}

}  // namespace vellum
