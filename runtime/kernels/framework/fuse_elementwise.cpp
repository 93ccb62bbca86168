#include "kernels/framework/fuse_elementwise.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "graph/tensor.hpp"
#include "kernels/framework/element_functions.hpp"
#include "kernels/framework/elementwise_dispatch.hpp"
#include "kernels/framework/tensor_uses.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

constexpr int64_t kMostElements = 1 << 16;  // of a result: larger ones take longer than their dispatches
constexpr size_t kMostFunctions = 96;       // of a kernel, so that drivers compile it soon
constexpr size_t kMostResults = 16;         // that a kernel stores: an invocation holds all of them
constexpr size_t kMostTasks = 1024;         // between the first function of a kernel and its last

bool has_images(const Program& program) {
  return std::ranges::any_of(program.tensors, [](const VirtualTensor& tensor) {
    return tensor.desc.storage != Storage::buffer && tensor.role != TensorRole::weight;
  });
}

// Functions that one kernel may compute, in the place of the last of them.
struct Group {
  std::vector<size_t> tasks;
  std::vector<ElementFunction> functions;
  std::set<TensorId> read, written;  // roots

  size_t last() const { return tasks.back(); }
};

class ElementwiseFusion {
 public:
  ElementwiseFusion(Program& program, const DeviceCaps& caps, const WrongKernels* wrong)
      : program_(program), caps_(caps), wrong_(wrong), uses_(program) {}

  size_t fuse() {
    for (const Task& task : program_.tasks)
      functions_.push_back(task.dispatch ? small_function(*task.dispatch) : std::nullopt);
    size_t removed = 0;
    for (size_t t = 0; t < program_.tasks.size(); ++t)
      if (functions_[t]) removed += fuse_from(t);
    std::erase_if(program_.tasks, [](const Task& task) { return !task.dispatch && !task.host; });
    return removed;
  }

 private:
  std::optional<ElementFunction> small_function(const Dispatch& dispatch) const {
    auto function = element_function(program_, dispatch);
    if (!function || function->count > kMostElements || function->count == 0) return std::nullopt;
    const VirtualTensor& y = program_.tensors[function->y];
    const bool is_own = y.alias_of == kNoTensor && y.role != TensorRole::state;
    return is_own && uses_.writers_of(function->y).size() == 1 ? std::move(function) : std::nullopt;
  }

  // Returns the function of the task, with operands in roots where these have the same elements.
  std::optional<ElementFunction> function_of(size_t t) const {
    std::optional<ElementFunction> function = functions_[t];
    if (!function || *uses_.tasks_of(function->y).begin() != t) return std::nullopt;
    for (ElementOperand& operand : function->operands) {
      const TensorId root = program_.root(operand.tensor);
      const uint64_t offset = program_.offset(operand.tensor);
      const ElementType element = program_.tensors[operand.tensor].desc.element;
      if (!has_linear_elements(program_.tensors[root].desc) ||
          program_.tensors[root].desc.element != element || offset % size_of(element) != 0)
        continue;
      operand.base += static_cast<int64_t>(offset / size_of(element));
      operand.tensor = root;
      read_before_copy(operand, t);
    }
    return function;
  }

  // Lets the operand be the part of a tensor that a copy took, if no later task writes that tensor.
  void read_before_copy(ElementOperand& operand, size_t reader) const {
    const std::set<size_t>& writers = uses_.writers_of(operand.tensor);
    if (writers.size() != 1 || *writers.begin() >= reader) return;
    const std::optional<Dispatch>& dispatch = program_.tasks[*writers.begin()].dispatch;
    if (!dispatch || !dispatch->copy || dispatch->copy->to != operand.tensor ||
        dispatch->copy->to_offset != 0)
      return;
    const PlainCopy& copy = *dispatch->copy;
    const TensorId root = program_.root(copy.from);
    const TensorDesc &from = program_.tensors[root].desc, &to = program_.tensors[operand.tensor].desc;
    const uint64_t size = size_of(to.element), offset = program_.offset(copy.from) + copy.from_offset;
    if (!has_linear_elements(from) || !from.has_elements_of(to) || offset % size != 0 ||
        copy.bytes != static_cast<uint64_t>(element_count(to.shape)) * size ||
        program_.tensors[root].role == TensorRole::state)
      return;
    if (!uses_.writers_of(root).empty() && *uses_.writers_of(root).rbegin() >= *writers.begin()) return;
    operand.tensor = root;
    operand.base += static_cast<int64_t>(offset / size);
  }

  static void add(Group& group, size_t task, ElementFunction function) {
    for (const ElementOperand& operand : function.operands) group.read.insert(operand.tensor);
    group.written.insert(function.y);
    group.tasks.push_back(task);
    group.functions.push_back(std::move(function));
  }

  // Returns whether only this run reads the tensor: it owns its memory, and is no state.
  bool is_temporary(TensorId id) const {
    const VirtualTensor& tensor = program_.tensors[id];
    return tensor.alias_of == kNoTensor &&
           (tensor.role == TensorRole::intermediate || tensor.role == TensorRole::workspace);
  }

  bool is_weight(TensorId id) const { return program_.tensors[id].role == TensorRole::weight; }

  // Returns whether the function may join the group: it reads a result of the group, element by element, or a
  // tensor that the group reads.
  bool joins(const Group& group, const ElementFunction& function) const {
    bool is_connected = false;
    for (const ElementOperand& operand : function.operands) {
      const TensorId root = program_.root(operand.tensor);
      if (!group.written.contains(root)) {
        is_connected = is_connected || (group.read.contains(operand.tensor) && !is_weight(root));
        continue;
      }
      if (operand.tensor != root || operand.base != 0 || !operand.is_contiguous()) return false;
      is_connected = true;
    }
    return is_connected;
  }

  // Returns whether the functions cannot move behind this task, which is not one of them.
  bool is_barrier(const Group& group, size_t t) const {
    if (program_.tasks[t].host) return true;
    for (const TensorId root : uses_.roots_of(t, true))
      if (group.written.contains(root)) return true;
    const std::set<TensorId> overwritten = uses_.roots_of(t, false);
    return std::ranges::any_of(group.read,
                               [&](TensorId id) { return overwritten.contains(program_.root(id)); });
  }

  // Returns the results that tasks outside the group need.
  std::vector<TensorId> stored_by(const Group& group) const {
    std::vector<TensorId> stored;
    for (const ElementFunction& function : group.functions) {
      const std::set<size_t>& tasks = uses_.tasks_of(function.y);
      const bool is_needed = uses_.is_port(function.y) || std::ranges::any_of(tasks, [&](size_t task) {
                               return !std::ranges::binary_search(group.tasks, task);
                             });
      if (is_needed) stored.push_back(function.y);
    }
    return stored;
  }

  bool fits(const Group& group) const {
    const size_t results = stored_by(group).size();
    std::set<TensorId> read;
    for (const TensorId id : group.read)
      if (!group.written.contains(id)) read.insert(id);
    const size_t texels =
        caps_.reads_buffers_as_texels ? std::min<size_t>(read.size(), caps_.max_storage_images_per_stage) : 0;
    return results <= kMostResults && results + read.size() - texels <= caps_.max_storage_buffers_per_stage;
  }

  // Returns the largest group that begins with the function of the task; an empty one if there is no other.
  Group group_from(size_t first) const {
    Group group;
    auto function = function_of(first);
    if (!function) return group;
    size_t best = 0;
    const int64_t count = function->count;
    add(group, first, std::move(*function));
    for (size_t t = first + 1; t < program_.tasks.size() && t < first + kMostTasks; ++t) {
      if (!program_.tasks[t].dispatch && !program_.tasks[t].host) continue;
      auto next = functions_[t] && functions_[t]->count == count ? function_of(t) : std::nullopt;
      if (next && joins(group, *next)) {
        add(group, t, std::move(*next));
        if (fits(group)) best = group.tasks.size();
        if (group.tasks.size() == kMostFunctions) break;
      } else if (is_barrier(group, t)) {
        break;
      }
    }
    group.tasks.resize(best);
    group.functions.resize(best);
    return group;
  }

  // Returns the tensor as a linear one.
  TensorId linear_form(TensorId id) {
    if (program_.tensors[id].desc.layout == Layout::linear) return id;
    const auto known = linear_.find(id);
    if (known != linear_.end()) return known->second;
    VirtualTensor form = program_.tensors[id];
    const auto [n, c, h, w] = nchw(form.desc.shape);
    form.desc = {{n * 4 * slices(c) * h * w}, form.desc.element, Storage::buffer, Layout::linear};
    if (is_weight(id))
      form.origin = {};
    else
      form.alias_of = id;
    program_.tensors.push_back(std::move(form));
    return linear_[id] = static_cast<TensorId>(program_.tensors.size() - 1);
  }

  // Fuses the function of a task with later ones. Returns the number of dispatches that are removed.
  size_t fuse_from(size_t first) {
    const Group group = group_from(first);
    if (group.tasks.size() < 2) return 0;
    std::vector<TensorId> stored = stored_by(group);
    std::vector<ElementFunction> functions = group.functions;
    for (ElementFunction& member : functions) {
      for (ElementOperand& operand : member.operands) operand.tensor = linear_form(operand.tensor);
      member.y = linear_form(member.y);
    }
    for (TensorId& id : stored) id = linear_form(id);
    Dispatch dispatch = elementwise_dispatch(program_, caps_, functions, stored);
    if (wrong_ && wrong_->contains(kernel_id(dispatch).text())) return 0;
    dispatch.name = program_.tasks[group.last()].dispatch->name;
    for (const size_t task : group.tasks) take_away(task), functions_[task].reset();
    program_.tasks[group.last()].dispatch = std::move(dispatch);
    uses_.add(group.last());
    return group.tasks.size() - 1 + take_away_copies(first, group.last());
  }

  void take_away(size_t task) {
    uses_.remove(task);
    program_.tasks[task].dispatch.reset();
  }

  // Removes copies whose results nothing reads any more. Returns how many.
  size_t take_away_copies(size_t first, size_t last) {
    size_t removed = 0;
    for (size_t t = first > kMostTasks ? first - kMostTasks : 0; t < last; ++t) {
      const std::optional<Dispatch>& dispatch = program_.tasks[t].dispatch;
      if (!dispatch || !dispatch->copy) continue;
      const TensorId to = dispatch->copy->to;
      if (!is_temporary(to) || uses_.is_port(to) || uses_.tasks_of(to).size() != 1) continue;
      take_away(t);
      ++removed;
    }
    return removed;
  }

  Program& program_;
  const DeviceCaps& caps_;
  const WrongKernels* wrong_;
  TensorUses uses_;
  std::vector<std::optional<ElementFunction>> functions_;  // by task
  std::map<TensorId, TensorId> linear_;
};

}  // namespace

size_t fuse_elementwise(Program& program, const DeviceCaps& caps, const WrongKernels* wrong) {
  return has_images(program) ? 0 : ElementwiseFusion(program, caps, wrong).fuse();
}

}  // namespace vellum
