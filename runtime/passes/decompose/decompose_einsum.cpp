// Einsum of two tensors as a matrix product, between Transposes and Reshapes; of more as one of two after
// another.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "graph/operators/matmul/einsum.hpp"
#include "passes/decompose/decomposition.hpp"

namespace vellum {
namespace {

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

bool repeats(const std::string& labels) {
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels.find(labels[i]) != i) return true;
  return false;
}

// The positions of the labels of `order` in `term`.
Ints positions(const std::string& order, const std::string& term) {
  Ints result;
  for (const char label : order) result.push_back(static_cast<int64_t>(term.find(label)));
  return result;
}

// The labels of a product's dimensions: `batch` in both inputs and the output, `rows` in the first input and
// the output, `columns` in the second and the output, `summed` in both inputs alone.
struct Product {
  std::string batch, rows, columns, summed;
};

// Nothing where a label of one input alone is summed, or where a dimension of 1 broadcasts.
std::optional<Product> as_product(const Einsum::Terms& terms, const Shape& a, const Shape& b) {
  if (terms.inputs.size() != 2 || repeats(terms.inputs[0]) || repeats(terms.inputs[1])) return std::nullopt;
  Product p;
  for (size_t i = 0; i < a.size(); ++i) {
    const char label = terms.inputs[0][i];
    const auto at = terms.inputs[1].find(label);
    const bool shared = at != std::string::npos, kept = has(terms.output, label);
    if ((!shared && !kept) || (shared && a[i] != b[at])) return std::nullopt;
    (!shared ? p.rows : kept ? p.batch : p.summed) += label;
  }
  for (const char label : terms.inputs[1]) {
    if (has(terms.inputs[0], label)) continue;
    if (!has(terms.output, label)) return std::nullopt;
    p.columns += label;
  }
  return p;
}

int64_t count(const std::string& labels, const std::string& term, const Shape& shape) {
  int64_t result = 1;
  for (const char label : labels) result = checked_multiply(result, shape[term.find(label)]);
  return result;
}

// The lengths of the batch's dimensions in MatMul: each its own while they and a matrix have four dimensions
// at most, leading ones of 1 aside, which is how attention over heads is recognised; else their product.
Shape batch_dims(const std::string& batch, const std::string& term, const Shape& shape) {
  constexpr size_t kMost = 2;
  Shape dims;
  for (const char label : batch) dims.push_back(shape[term.find(label)]);
  while (dims.size() > kMost && dims.front() == 1) dims.erase(dims.begin());
  if (dims.empty() || dims.size() > kMost) dims = {count(batch, term, shape)};
  return dims;
}

struct Operand {
  ValueId value = kNoValue;
  std::string term;
  Shape shape;
};

Ints dims_of(const std::string& labels, const Operand& operand) {
  Ints dims;
  for (const char label : labels) dims.push_back(operand.shape[operand.term.find(label)]);
  return dims;
}

// The labels of the batch and of the rows that stay as they are, each multiplied by one element of b.
Operand add_scaling(Decomposition& d, const Product& p, const Operand& a, const Operand& b) {
  const std::string order = p.batch + p.rows;
  const ValueId x = d.add("Transpose", {a.value}, {{"perm", positions(order, a.term)}});
  const ValueId factors = d.add("Transpose", {b.value}, {{"perm", positions(p.batch, b.term)}});
  Ints dims = dims_of(p.batch, b);
  dims.insert(dims.end(), p.rows.size(), 1);
  const ValueId y = d.add("Mul", {x, d.add("Reshape", {factors, d.add_ints(dims)})});
  return {y, order, dims_of(order, a)};
}

// The product of two operands, with its labels in the order batch, rows, columns.
Operand add_product(Decomposition& d, const Product& p, const Operand& a, const Operand& b) {
  if (p.summed.empty() && p.columns.empty() && !p.batch.empty()) return add_scaling(d, p, a, b);
  if (p.summed.empty() && p.rows.empty() && !p.batch.empty())
    return add_scaling(d, {p.batch, p.columns, {}, {}}, b, a);
  const auto matrices = [&](const Operand& x, const std::string& rows, const std::string& columns) {
    const ValueId sorted =
        d.add("Transpose", {x.value}, {{"perm", positions(p.batch + rows + columns, x.term)}});
    Ints dims = batch_dims(p.batch, x.term, x.shape);
    dims.insert(dims.end(), {count(rows, x.term, x.shape), count(columns, x.term, x.shape)});
    return d.add("Reshape", {sorted, d.add_ints(dims)});
  };
  const ValueId product = d.add("MatMul", {matrices(a, p.rows, p.summed), matrices(b, p.summed, p.columns)});
  Ints shape = dims_of(p.batch + p.rows, a);
  const Ints columns = dims_of(p.columns, b);
  shape.insert(shape.end(), columns.begin(), columns.end());
  return {d.add("Reshape", {product, d.add_ints(shape)}), p.batch + p.rows + p.columns, shape};
}

// The labels of both operands that the output or another operand has.
std::string labels_to_keep(const std::vector<Operand>& operands, size_t i, size_t j,
                           const std::string& output) {
  std::string kept;
  for (const char label : operands[i].term + operands[j].term) {
    bool needed = has(output, label);
    for (size_t k = 0; k < operands.size(); ++k)
      needed = needed || (k != i && k != j && has(operands[k].term, label));
    if (needed && !has(kept, label)) kept += label;
  }
  return kept;
}

// Two operands, and what is left of their labels when they are multiplied.
struct Pair {
  size_t first = 0, second = 0;
  std::string kept;
  int64_t elements = 0;
};

// The pair whose product is the smallest.
Pair smallest_pair(const std::vector<Operand>& operands, const std::string& output,
                   const std::map<char, int64_t>& sizes) {
  std::optional<Pair> best;
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = i + 1; j < operands.size(); ++j) {
      Pair pair{i, j, labels_to_keep(operands, i, j, output), 1};
      for (const char label : pair.kept) pair.elements = checked_multiply(pair.elements, sizes.at(label));
      if (!best || pair.elements < best->elements) best = pair;
    }
  return *best;
}

// A product of two operands of a list, which takes their place at its end.
struct Step {
  size_t first = 0, second = 0;
  Product product;
};

void replace_pair(std::vector<Operand>& operands, const Step& step, Operand result) {
  operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(step.second));
  operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(step.first));
  operands.push_back(std::move(result));
}

// The products that leave one operand; none where one of them is no matrix product, or large.
std::vector<Step> plan_products(std::vector<Operand> operands, const std::string& output) {
  constexpr int64_t kMostElements = int64_t{1} << 24;
  std::map<char, int64_t> sizes;
  for (const Operand& operand : operands)
    for (size_t i = 0; i < operand.shape.size(); ++i) {
      int64_t& size = sizes[operand.term[i]];
      size = std::max(size, operand.shape[i]);
    }
  std::vector<Step> steps;
  while (operands.size() > 1) {
    const bool last = operands.size() == 2;
    const Pair pair = smallest_pair(operands, output, sizes);
    const Operand &a = operands[pair.first], &b = operands[pair.second];
    const auto p = as_product({{a.term, b.term}, last ? output : pair.kept, {}}, a.shape, b.shape);
    if (!p || (!last && pair.elements > kMostElements)) return {};
    steps.push_back({pair.first, pair.second, *p});
    Operand result{kNoValue, p->batch + p->rows + p->columns, {}};
    for (const char label : result.term) result.shape.push_back(sizes.at(label));
    replace_pair(operands, steps.back(), std::move(result));
  }
  return steps;
}

}  // namespace

bool decompose_einsum(Decomposition& d) {
  std::vector<OperatorInput> inputs;
  for (size_t i = 0; i < d.node().inputs.size(); ++i)
    inputs.push_back({true, d.input_type(i), d.constant(i)});
  const Einsum::Terms terms = d.op<Einsum>().terms(inputs);
  if (inputs.size() < 2) return false;
  std::vector<Operand> operands;
  for (size_t i = 0; i < inputs.size(); ++i)
    operands.push_back({d.input(i), terms.inputs[i], d.input_type(i).shape});
  const std::vector<Step> steps = plan_products(operands, terms.output);
  if (steps.empty()) return false;
  for (const Step& step : steps)
    replace_pair(operands, step, add_product(d, step.product, operands[step.first], operands[step.second]));
  const Operand& product = operands.front();
  d.add_to({d.output(0)}, "Transpose", {product.value}, {{"perm", positions(terms.output, product.term)}});
  return true;
}

}  // namespace vellum
