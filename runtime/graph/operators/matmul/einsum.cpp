#include "graph/operators/matmul/einsum.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

namespace vellum {

namespace {

// Labels of dimensions under an ellipsis: digits, the last dimension being '0', so that terms align at the
// end.
constexpr size_t kMostEllipsisDimensions = 10;

std::string ellipsis_labels(size_t count) {
  std::string labels;
  for (size_t i = count; i-- > 0;) labels += static_cast<char>('0' + i);
  return labels;
}

std::string expand(const std::string& term, size_t ellipsis_rank) {
  const auto dots = term.find("...");
  if (dots == std::string::npos) return term;
  return term.substr(0, dots) + ellipsis_labels(ellipsis_rank) + term.substr(dots + 3);
}

void check_letters(const std::string& term, const std::string& equation) {
  std::string letters = term;
  if (const auto dots = letters.find("..."); dots != std::string::npos) letters.erase(dots, 3);
  if (!std::all_of(letters.begin(), letters.end(), [](unsigned char c) { return std::isalpha(c) != 0; })) {
    refuse_model("equation '" + equation + "' cannot be read");
  }
}

std::vector<std::string> split_terms(const std::string& left) {
  std::vector<std::string> terms(1);
  for (const char c : left) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  return terms;
}

// Without "->": the dimensions that occur once, in alphabetical order, after those of an ellipsis.
std::string implicit_output(const std::vector<std::string>& terms) {
  std::map<char, int> counts;
  bool ellipsis = false;
  for (const std::string& term : terms) {
    ellipsis = ellipsis || term.find('.') != std::string::npos;
    for (const char c : term) {
      if (c != '.') ++counts[c];
    }
  }
  std::string output = ellipsis ? "..." : "";
  for (const auto& [label, count] : counts) {
    if (count == 1) output += label;
  }
  return output;
}

using Sizes = std::map<char, int64_t>;

// The size of each label; a dimension of 1 broadcasts.
Sizes label_sizes(const Einsum::Terms& terms, Inputs inputs) {
  Sizes sizes;
  for (size_t i = 0; i < terms.inputs.size(); ++i) {
    for (size_t d = 0; d < terms.inputs[i].size(); ++d) {
      const int64_t dim = inputs[i].type.shape[d];
      auto [entry, added] = sizes.emplace(terms.inputs[i][d], dim);
      if (added || entry->second == dim || dim == 1) continue;
      if (entry->second != 1) {
        refuse_model("dimension '" + std::string(1, terms.inputs[i][d]) + "' is " +
                     std::to_string(entry->second) + " and " + std::to_string(dim));
      }
      entry->second = dim;
    }
  }
  return sizes;
}

Shape shape_of(const std::string& labels, const Sizes& sizes) {
  Shape shape;
  for (const char label : labels) shape.push_back(sizes.at(label));
  return shape;
}

// Returns the stride of an input for each label. A repeated label ("ii") has the stride of the diagonal.
std::vector<int64_t> label_strides(const std::string& labels, const std::string& term, const Shape& shape) {
  const auto dense = row_major_strides(shape);
  std::vector<int64_t> strides(labels.size(), 0);
  for (size_t d = 0; d < term.size(); ++d) {
    const auto at = labels.find(term[d]);
    if (shape[d] != 1) strides[at] += dense[d];
  }
  return strides;
}

}  // namespace

Einsum::Terms Einsum::terms(Inputs inputs) const {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  const auto arrow = text.find("->");
  auto left = split_terms(text.substr(0, arrow));
  if (left.size() != inputs.size()) {
    refuse_model("equation '" + equation + "' has " + std::to_string(left.size()) + " terms for " +
                 std::to_string(inputs.size()) + " inputs");
  }
  const std::string right = arrow == std::string::npos ? implicit_output(left) : text.substr(arrow + 2);
  check_letters(right, equation);
  Terms result;
  size_t most = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    check_letters(left[i], equation);
    const size_t rank = input_type(inputs, i, "Inputs").shape.size();
    const bool dots = left[i].find("...") != std::string::npos;
    const size_t named = left[i].size() - (dots ? 3 : 0);
    if (dots ? named > rank || rank - named > kMostEllipsisDimensions : named != rank) {
      refuse_model("term '" + left[i] + "' does not fit an input of shape " +
                   to_string(inputs[i].type.shape));
    }
    most = std::max(most, dots ? rank - named : 0);
    result.inputs.push_back(expand(left[i], rank - named));
  }
  result.output = expand(right, most);
  std::string all;
  for (const std::string& term : result.inputs) all += term;
  for (const char label : result.output) {
    if (all.find(label) == std::string::npos ||
        std::count(result.output.begin(), result.output.end(), label) != 1) {
      refuse_model("the output of equation '" + equation + "' does not fit its inputs");
    }
  }
  for (const char label : all) {
    if ((result.output + result.summed).find(label) == std::string::npos) result.summed += label;
  }
  return result;
}

std::vector<TensorType> Einsum::infer(Inputs inputs) const {
  const Terms t = terms(inputs);
  const DType dtype = input_type(inputs, 0, "Inputs").dtype;
  for (const OperatorInput& input : inputs) {
    if (input.type.dtype != dtype || dtype == DType::boolean)
      refuse_model("an input is " + to_string(input.type));
  }
  const Sizes sizes = label_sizes(t, inputs);
  element_count(shape_of(t.output + t.summed, sizes));  // throws if the product overflows
  return {{dtype, shape_of(t.output, sizes)}};
}

Einsum::Loops Einsum::loops(Inputs inputs) const {
  const Terms t = terms(inputs);
  const Sizes sizes = label_sizes(t, inputs);
  Loops loops{shape_of(t.output, sizes), shape_of(t.summed, sizes), {}, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    loops.output_strides.push_back(label_strides(t.output + t.summed, t.inputs[i], inputs[i].type.shape));
    auto& strides = loops.output_strides[i];
    loops.summed_strides.emplace_back(strides.begin() + static_cast<std::ptrdiff_t>(t.output.size()),
                                      strides.end());
    strides.resize(t.output.size());
  }
  return loops;
}

namespace {

// At most this many inputs occur in practice. The loops need their number at compile time.
constexpr size_t kMostInputs = 4;

// `Number`: the type of the values' elements, `Sum`: that of the arithmetic.
template <typename Number, typename Sum>
HostTensor contract(const std::vector<HostTensor>& values, const Einsum::Loops& over, const Shape& shape) {
  std::array<std::vector<int64_t>, kMostInputs> outer_strides, inner_strides;
  for (size_t i = 0; i < kMostInputs; ++i) {
    const bool has = i < values.size();
    outer_strides[i] = has ? over.output_strides[i] : std::vector<int64_t>(over.output.size(), 0);
    inner_strides[i] = has ? over.summed_strides[i] : std::vector<int64_t>(over.summed.size(), 0);
  }
  HostTensor y(values[0].dtype(), shape);
  Number* out = y.mutable_as<Number>().data();
  for_each_offset<kMostInputs>(shape, outer_strides, {}, [&](const auto& base) {
    Sum sum = 0;
    for_each_offset<kMostInputs>(over.summed, inner_strides, base, [&](const auto& at) {
      Sum term = 1;
      for (size_t i = 0; i < values.size(); ++i)
        term *= static_cast<Sum>(values[i].template as<Number>()[static_cast<size_t>(at[i])]);
      sum += term;
    });
    *out++ = static_cast<Number>(sum);
  });
  return y;
}

}  // namespace

std::vector<HostTensor> Einsum::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  if (inputs.size() > kMostInputs)
    refuse_unsupported("Einsum of " + std::to_string(inputs.size()) + " inputs");
  const Loops over = loops(known_inputs(inputs));
  const DType wide = is_float(type.dtype) ? DType::f64 : DType::i64;
  std::vector<HostTensor> values;
  for (const HostTensor* input : inputs) values.push_back(cast(*input, wide));
  // Integers wrap around, as numpy's do: in unsigned arithmetic.
  const HostTensor y = wide == DType::f64 ? contract<double, double>(values, over, type.shape)
                                          : contract<int64_t, uint64_t>(values, over, type.shape);
  return {cast(y, type.dtype)};
}

uint64_t Einsum::work(Inputs inputs, Outputs outputs) const {
  const Loops over = loops(inputs);
  // Each iteration advances the offsets of all inputs.
  const uint64_t steps = saturating_multiply(static_cast<uint64_t>(element_count(over.output)),
                                             static_cast<uint64_t>(element_count(over.summed)));
  return saturating_add(elementwise_work(inputs, outputs), saturating_multiply(steps, 16));
}

Attributes Einsum::attributes() const {
  Attributes result;
  result.set("equation", equation);
  return result;
}

std::shared_ptr<const Operator> make_einsum(const NodeSpec& spec) {
  auto op = std::make_shared<Einsum>();
  op->equation = spec.attributes->get_string("equation", "");
  if (op->equation.empty()) refuse_model("attribute 'equation' is missing");
  return op;
}

}  // namespace vellum
