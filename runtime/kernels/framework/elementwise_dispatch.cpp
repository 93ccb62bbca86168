#include "kernels/framework/elementwise_dispatch.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/framework/elements.hpp"
#include "kernels/framework/finish_dispatch.hpp"
#include "kernels/framework/grid.hpp"
#include "program/divide.hpp"
#include "shaders/elementwise/elementwise.h"

namespace vellum {
namespace {

std::string text(int64_t number) { return std::to_string(number); }

// Writes the code of the functions. Values are named v0, v1 ... in the order of the functions.
class Code {
 public:
  Code(const Program& program, int64_t count) : program_(program), count_(count) {}

  void add(const ElementFunction& function) {
    std::vector<std::string> values;
    for (const ElementOperand& operand : function.operands) values.push_back(value_of(operand));
    const std::string number = text(static_cast<int64_t>(results_.size())), y = "v" + number;
    for (size_t i = 0; i < function.code.size(); ++i) {
      if (function.code[i] != '$') {
        body_ += function.code[i];
      } else if (const char next = function.code[++i]; next == 'y') {
        body_ += y;
      } else if (next == 'n') {
        body_ += number;
      } else {
        body_ += values[static_cast<size_t>(next - '0')];
      }
    }
    if (program_.tensors[function.y].desc.element == ElementType::f16) {
      body_ += y + " = rounded_result(" + y + "); ";
      has_halves_ = true;
    }
    results_.emplace(function.y, y);
  }

  void store(TensorId tensor) {
    const std::string name = "y" + text(stores_++);
    body_ += "store_" + name + "(i4, " + results_.at(tensor) + "); ";
    declarations_ += "LINEAR_OUT(" + name + ") ";
    outputs_.push_back(writes(name, tensor));
  }

  Dispatch dispatch(const DeviceCaps& caps) {
    std::vector<Binding> bindings;
    for (const Input& input : inputs_) {
      Binding binding = reads(input.name, input.tensor);
      binding.same_position = input.same_position;
      bindings.push_back(std::move(binding));
      declarations_ += (input.only_quads ? "QUADS_IN(" : "LINEAR_IN(") + input.name + ") ";
    }
    bindings.insert(bindings.end(), outputs_.begin(), outputs_.end());
    Dispatch made = make_dispatch("elementwise", grid_1d(caps, divide_up(count_, int64_t{4})),
                                  std::move(bindings), ElementwiseParameters{.count = count_});
    define(made, "TENSORS", declarations_);
    define(made, "BODY", body_);
    if (has_halves_) define(made, "ROUND_TO_HALVES");
    made.appended = std::move(bases_);
    return made;
  }

 private:
  struct Input {
    TensorId tensor;
    std::string name;
    bool same_position = true, only_quads = true;
  };

  Input& input_of(TensorId tensor) {
    const auto found = std::ranges::find(inputs_, tensor, &Input::tensor);
    if (found != inputs_.end()) return *found;
    inputs_.push_back({tensor, "t" + text(static_cast<int64_t>(inputs_.size()))});
    return inputs_.back();
  }

  // Returns the variable of the operand's four elements.
  std::string value_of(const ElementOperand& operand) {
    if (const auto result = results_.find(operand.tensor); result != results_.end()) return result->second;
    const auto key = std::tuple(operand.tensor, operand.base, operand.nest.dims, operand.nest.strides[0]);
    if (const auto known = loaded_.find(key); known != loaded_.end()) return known->second;
    Input& input = input_of(operand.tensor);
    const bool contiguous = operand.is_contiguous();
    input.same_position = input.same_position && contiguous && operand.base == 0;
    const std::string load = load_of(operand, input), name = "o" + text(static_cast<int64_t>(loaded_.size()));
    const bool integers = program_.tensors[operand.tensor].desc.element == ElementType::i32;
    body_ += (integers ? "ivec4 " : "vec4 ") + name + " = " + (integers ? "ivec4(" : "vec4(") + load + "); ";
    return loaded_[key] = name;
  }

  std::string load_of(const ElementOperand& operand, Input& input) {
    const LoopNest& nest = operand.nest;
    const std::vector<int64_t>& strides = nest.strides[0];
    const auto is_zero = [](int64_t stride) { return stride == 0; };
    const auto is_whole = [](int64_t number) { return number % 4 == 0; };
    const bool is_same = std::ranges::all_of(strides, is_zero);
    const bool grouped =
        is_same || operand.is_contiguous() ||
        (is_whole(nest.dims.back()) &&
         (strides.back() == 0 ||
          (strides.back() == 1 && std::all_of(strides.begin(), strides.end() - 1, is_whole))));
    if (grouped && !is_same && (operand.is_contiguous() || strides.back() == 1) && is_whole(operand.base)) {
      const std::string first = operand.is_contiguous() ? "i4" : "(" + offset(nest, "4 * i4") + " >> 2)";
      return "load4_" + input.name + "(" + first + base_text(operand.base / 4) + ")";
    }
    input.only_quads = false;
    const std::string load = "load_" + input.name + "(", base = base_text(operand.base);
    if (is_same) return load + "0" + base + ")";
    if (grouped && strides.back() == 0) return load + offset(nest, "4 * i4") + base + ")";
    std::string all;
    for (int64_t j = 0; j < 4; ++j)
      all += (j ? ", " : "") + load + offset(nest, "min(4 * i4 + " + text(j) + ", count - 1)") + base + ")";
    return all;
  }

  // Offsets of the first element are parameters, so that layers share a pipeline.
  std::string base_text(int64_t base) {
    if (base == 0) return "";
    const std::string name = "base" + text(static_cast<int64_t>(bases_.size()));
    bases_.emplace_back(name, static_cast<int32_t>(base));
    return " + " + name;
  }

  // Returns the offset of an element in the loops, as a variable.
  std::string offset(const LoopNest& nest, const std::string& element) {
    const auto key = std::tuple(nest.dims, nest.strides[0], element);
    if (const auto known = offsets_.find(key); known != offsets_.end()) return known->second;
    std::string sum, rest = "(" + element + ")";
    const auto add = [&](const std::string& index, int64_t stride) {
      if (stride == 0) return;
      sum += (sum.empty() ? "" : " + ") + index + (stride == 1 ? "" : " * " + text(stride));
    };
    for (size_t d = nest.dims.size() - 1; d > 0; --d) {
      const std::string split = "s" + text(splits_++);
      body_ += "ivec2 " + split + " = divide(" + rest + ", " + text(nest.dims[d]) + "); ";
      add(split + ".y", nest.strides[0][d]);
      rest = split + ".x";
    }
    add(rest, nest.strides[0][0]);
    const std::string name = "at" + text(static_cast<int64_t>(offsets_.size()));
    body_ += "int " + name + " = " + sum + "; ";
    return offsets_[key] = name;
  }

  using Numbers = std::vector<int64_t>;

  const Program& program_;
  int64_t count_;
  std::string body_, declarations_;
  std::vector<Input> inputs_;
  std::vector<Binding> outputs_;
  std::map<TensorId, std::string> results_;
  std::map<std::tuple<TensorId, int64_t, Numbers, Numbers>, std::string> loaded_;
  std::map<std::tuple<Numbers, Numbers, std::string>, std::string> offsets_;
  std::vector<AppendedParameter> bases_;
  int64_t splits_ = 0, stores_ = 0;
  bool has_halves_ = false;
};

}  // namespace

Dispatch elementwise_dispatch(const Program& program, const DeviceCaps& caps,
                              std::span<const ElementFunction> functions, std::span<const TensorId> stored) {
  Code code(program, functions.front().count);
  for (const ElementFunction& function : functions) code.add(function);
  for (const TensorId tensor : stored) code.store(tensor);
  Dispatch dispatch = code.dispatch(caps);
  dispatch.op = "Elementwise";
  finish_dispatch(program, caps, dispatch);
  return dispatch;
}

}  // namespace vellum
