// Einsum of two tensors as a matrix product, between Transposes and Reshapes.
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

}  // namespace

bool decompose_einsum(Decomposition& d) {
  std::vector<OperatorInput> inputs;
  for (size_t i = 0; i < d.node().inputs.size(); ++i)
    inputs.push_back({true, d.input_type(i), d.constant(i)});
  const Einsum::Terms terms = d.op<Einsum>().terms(inputs);
  if (inputs.size() != 2) return false;
  const Shape &a = d.input_type(0).shape, &b = d.input_type(1).shape;
  const auto p = as_product(terms, a, b);
  if (!p) return false;
  const std::string &a_term = terms.inputs[0], &b_term = terms.inputs[1];
  const auto matrices = [&](size_t i, const std::string& term, const std::string& rows,
                            const std::string& columns) {
    const Shape& shape = d.input_type(i).shape;
    const ValueId sorted =
        d.add("Transpose", {d.input(i)}, {{"perm", positions(p->batch + rows + columns, term)}});
    Ints dims = batch_dims(p->batch, term, shape);
    dims.insert(dims.end(), {count(rows, term, shape), count(columns, term, shape)});
    return d.add("Reshape", {sorted, d.add_ints(dims)});
  };
  const ValueId product =
      d.add("MatMul", {matrices(0, a_term, p->rows, p->summed), matrices(1, b_term, p->summed, p->columns)});
  const std::string order = p->batch + p->rows + p->columns;
  Ints shape;
  for (const char label : order)
    shape.push_back(has(a_term, label) ? a[a_term.find(label)] : b[b_term.find(label)]);
  const ValueId sorted = d.add("Reshape", {product, d.add_ints(shape)});
  d.add_to({d.output(0)}, "Transpose", {sorted}, {{"perm", positions(terms.output, order)}});
  return true;
}

}  // namespace vellum
