#include "graph/operators/reduction/softmax.hpp"

#include <algorithm>
#include <cmath>

#include "graph/real.hpp"

namespace vellum {

Softmax::Extent Softmax::extent(const Shape& shape) const {
  // A scalar counts as one element along one axis.
  const Shape dims = shape.empty() ? Shape{1} : shape;
  // Before opset 13 the axis may be the rank: every row is one element.
  if (flatten && axis == static_cast<int64_t>(dims.size())) return {element_count(dims), 1, 1};
  const size_t at = normalize_axis(axis, dims.size());
  if (flatten) return {product(dims, 0, at), product(dims, at, dims.size()), 1};
  return {product(dims, 0, at), dims[at], product(dims, at + 1, dims.size())};
}

std::string_view Softmax::type() const {
  return kind == SoftmaxKind::softmax       ? "Softmax"
         : kind == SoftmaxKind::log_softmax ? "LogSoftmax"
                                            : "Hardmax";
}

std::vector<TensorType> Softmax::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "input");
  extent(x.shape);
  return {x};
}

namespace {

// Computes one row of `length` elements, `inner` apart. The largest element is subtracted first, so that
// exp() cannot overflow.
template <typename Real>
void softmax_row(SoftmaxKind kind, const Real* in, Real* out, int64_t length, int64_t inner) {
  int64_t largest = 0;
  for (int64_t i = 1; i < length; ++i) {
    if (in[i * inner] > in[largest * inner]) largest = i;
  }
  if (kind == SoftmaxKind::hardmax) {
    for (int64_t i = 0; i < length; ++i) out[i * inner] = i == largest ? Real{1} : Real{0};
    return;
  }
  const double maximum = in[largest * inner];
  double sum = 0.0;
  for (int64_t i = 0; i < length; ++i) sum += std::exp(static_cast<double>(in[i * inner]) - maximum);
  for (int64_t i = 0; i < length; ++i) {
    const double x = static_cast<double>(in[i * inner]) - maximum;
    out[i * inner] = static_cast<Real>(kind == SoftmaxKind::softmax ? std::exp(x) / sum : x - std::log(sum));
  }
}

}  // namespace

std::vector<HostTensor> Softmax::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const Extent size = extent(type.shape);
  return visit_real(type.dtype, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const HostTensor x = cast(*inputs[0], kRealType<Real>);
    HostTensor y(kRealType<Real>, type.shape);
    const Real* in = x.as<Real>().data();
    Real* out = y.mutable_as<Real>().data();
    for (int64_t o = 0; o < size.outer && size.length > 0; ++o) {
      for (int64_t i = 0; i < size.inner; ++i) {
        const int64_t row = o * size.length * size.inner + i;
        softmax_row(kind, in + row, out + row, size.length, size.inner);
      }
    }
    return std::vector{cast(y, type.dtype)};
  });
}

Attributes Softmax::attributes() const {
  Attributes result;
  result.set("axis", axis);
  return result;
}

std::shared_ptr<const Operator> make_softmax(const NodeSpec& spec) {
  auto op = std::make_shared<Softmax>();
  op->kind = spec.type == "Softmax"      ? SoftmaxKind::softmax
             : spec.type == "LogSoftmax" ? SoftmaxKind::log_softmax
                                         : SoftmaxKind::hardmax;
  op->flatten = spec.opset < 13;
  op->axis = spec.attributes->get_int("axis", op->flatten ? 1 : -1);
  return op;
}

}  // namespace vellum
