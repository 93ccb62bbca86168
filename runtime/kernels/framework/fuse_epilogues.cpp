#include "kernels/framework/fuse_epilogues.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/tensor.hpp"
#include "kernels/framework/finish_dispatch.hpp"
#include "kernels/framework/tensor_uses.hpp"
#include "program/macros.hpp"

namespace vellum {
namespace {

// Shaders that store their results by store_result(), unless one of the macros is defined. The layer of
// WITH_LAYER, which may share the memory of an operand, is stored before operands are read.
struct Producer {
  std::string_view shader, without = {}, nor = {};
};
constexpr Producer kProducers[] = {{"binary", "FIXED_PAIR"},
                                   {"conv", "RANGE"},
                                   {"conv_pointwise", "MEAN", "WITH_LAYER"},
                                   {"conv_separable"},
                                   {"matmul", "Y_SCALARS"},
                                   {"norm_rows"},
                                   {"pad_linear"},
                                   {"pool"},
                                   {"resize", "Y_LINEAR"},
                                   {"strided_copy"},
                                   {"strided_texels"}};

bool is_producer(const Dispatch& dispatch) {
  return !find_macro(dispatch.defines, "EPILOGUE") && !dispatch.copy &&
         std::ranges::any_of(kProducers, [&](const Producer& producer) {
           return producer.shader == dispatch.shader && !find_macro(dispatch.defines, producer.without) &&
                  !find_macro(dispatch.defines, producer.nor);
         });
}

// An elementwise function of two tensors of the shape and layout of y, or the PRelu of `a`, of that shape and
// layout, with the slopes `b` of channels.
struct Function {
  std::string_view name;
  Binding a, b, y;
  bool has_slopes = false;
};

// Returns whether each element has the same position in both.
bool positions_are_equal(const TensorDesc& a, const TensorDesc& b) {
  if (a.layout != b.layout || !holds_floats(a.element) || !holds_floats(b.element)) return false;
  return a.layout == Layout::linear ? element_count(a.shape) == element_count(b.shape)
                                    : nchw(a.shape) == nchw(b.shape);
}

// Returns whether `b` has one element for each channel of `y`, in the layout channels4.
bool is_of_channels(const TensorDesc& b, const TensorDesc& y) {
  if (b.layout != Layout::channels4 || y.layout != Layout::channels4 || !holds_floats(b.element))
    return false;
  return nchw(b.shape) == std::array<int64_t, 4>{1, nchw(y.shape)[1], 1, 1};
}

std::optional<Function> function_of(const Program& program, const Dispatch& dispatch) {
  if (dispatch.shader != "binary" || dispatch.bindings.size() != 3) return std::nullopt;
  const std::string* function = find_macro(dispatch.defines, "FUNCTION");
  const std::string* activation = find_macro(dispatch.defines, "ACTIVATION");
  if (!function || !activation || *activation != "none") return std::nullopt;
  if (find_macro(dispatch.defines, "ACTIVATION_SCALED") || find_macro(dispatch.defines, "FIXED_PAIR"))
    return std::nullopt;
  const bool has_slopes = *function == "PRelu";
  if (!has_slopes && *function != "Add" && *function != "Sub" && *function != "Mul") return std::nullopt;
  const Binding &a = dispatch.bindings[0], &b = dispatch.bindings[1], &y = dispatch.bindings[2];
  const auto desc = [&](const Binding& binding) -> const TensorDesc& {
    return program.tensors[binding.tensor].desc;
  };
  if (!positions_are_equal(desc(a), desc(y))) return std::nullopt;
  if (!(has_slopes ? is_of_channels(desc(b), desc(y)) : positions_are_equal(desc(b), desc(y))))
    return std::nullopt;
  return Function{*function, a, b, y, has_slopes};
}

class Epilogues {
 public:
  Epilogues(Program& program, const DeviceCaps& caps, const WrongKernels* wrong)
      : program_(program), caps_(caps), wrong_(wrong), uses_(program) {}

  size_t fuse() {
    size_t removed = 0;
    for (size_t t = 0; t < program_.tasks.size(); ++t) {
      const std::optional<Dispatch>& dispatch = program_.tasks[t].dispatch;
      const auto function = dispatch ? function_of(program_, *dispatch) : std::nullopt;
      if (!function || !(fuse(t, *function, true) || fuse(t, *function, false))) continue;
      program_.tasks[t].dispatch.reset();
      ++removed;
    }
    std::erase_if(program_.tasks, [](const Task& task) { return !task.dispatch && !task.host; });
    return removed;
  }

 private:
  // Returns the task that computes all of tensor `id`, if only it and task `reader` access the tensor.
  std::optional<size_t> producer_for(TensorId id, size_t reader) const {
    const TensorRole role = program_.tensors[id].role;
    if ((role != TensorRole::intermediate && role != TensorRole::workspace) || uses_.is_viewed(id))
      return std::nullopt;
    const std::set<size_t>& tasks = uses_.tasks_of(id);
    if (program_.root(id) != id || uses_.writers_of(id).size() != 1 || tasks.size() != 2 ||
        *tasks.rbegin() != reader)
      return std::nullopt;
    return *tasks.begin();
  }

  // Returns whether task `t` may read the tensor instead of a later task.
  bool exists_before(TensorId id, size_t t) const {
    const TensorId root = program_.root(id);
    if (program_.tensors[root].role == TensorRole::state) return false;
    const std::set<size_t>& writers = uses_.writers_of(root);
    return writers.empty() || *writers.rbegin() < t;
  }

  // Returns whether task `t` may write y instead of the later task `writer`.
  bool may_write_early(TensorId y, size_t writer) const {
    return program_.root(y) == y && program_.tensors[y].role != TensorRole::state &&
           *uses_.tasks_of(y).begin() == writer && uses_.writers_of(y).size() == 1;
  }

  // Returns `producer` with the epilogue, if the device can run it. `own`: the binding of its result.
  std::optional<Dispatch> with_epilogue(Dispatch producer, size_t own, const Dispatch& binary,
                                        const Function& function, bool result_first) const {
    Binding operand = result_first ? function.b : function.a;
    const std::string form_of = std::exchange(operand.name, "operand");
    producer.bindings[own].tensor = function.y.tensor;
    Macros& macros = producer.defines;
    macros.emplace_back("EPILOGUE",
                        std::string(function.name) + (function.name == "Sub" && !result_first ? "From" : ""));
    if (function.has_slopes) macros.emplace_back("OPERAND_OF_CHANNELS", "1");
    macros.emplace_back("BINDING_operand", std::to_string(producer.bindings.size()));
    for (const std::string kind : {"STORAGE_", "ELEMENT_"})
      macros.emplace_back(kind + "operand", *find_macro(binary.defines, kind + form_of));
    constexpr std::string_view kSampled = "SAMPLED_TEXEL_BUFFERS";
    if (operand.texel_buffer && find_macro(binary.defines, kSampled) && !find_macro(macros, kSampled))
      macros.emplace_back(kSampled, "1");
    std::sort(macros.begin(), macros.end());
    producer.bindings.push_back(std::move(operand));
    if (!can_bind(program_, caps_, producer)) return std::nullopt;
    if (wrong_ && wrong_->contains(kernel_id(producer).text())) return std::nullopt;
    return producer;
  }

  // Fuses the function at task `t` with the task that computes its first or second operand.
  bool fuse(size_t t, const Function& function, bool first) {
    const TensorId result = (first ? function.a : function.b).tensor;
    const TensorId other = (first ? function.b : function.a).tensor, y = function.y.tensor;
    if (function.has_slopes && !first) return false;
    const std::optional<size_t> task = producer_for(result, t);
    if (!task || !program_.tasks[*task].dispatch || !is_producer(*program_.tasks[*task].dispatch))
      return false;
    if (!exists_before(other, *task) || !may_write_early(y, t)) return false;
    TensorDesc from = program_.tensors[result].desc, to = program_.tensors[y].desc;
    if (from.layout == Layout::linear) from.shape = to.shape;
    const ElementType element = program_.tensors[other].desc.element;
    if (from != to || (element == ElementType::f16 && from.element != ElementType::f16)) return false;
    Dispatch& producer = *program_.tasks[*task].dispatch;
    const auto own = std::ranges::find(producer.bindings, result, &Binding::tensor);
    if (own->access != Access::write) return false;
    auto fused = with_epilogue(producer, static_cast<size_t>(own - producer.bindings.begin()),
                               *program_.tasks[t].dispatch, function, first);
    if (!fused) return false;
    uses_.remove(t);
    uses_.remove(*task);
    producer = std::move(*fused);
    uses_.add(*task);
    return true;
  }

  Program& program_;
  const DeviceCaps& caps_;
  const WrongKernels* wrong_;
  TensorUses uses_;
};

}  // namespace

size_t fuse_epilogues(Program& program, const DeviceCaps& caps, const WrongKernels* wrong) {
  return Epilogues(program, caps, wrong).fuse();
}

}  // namespace vellum
