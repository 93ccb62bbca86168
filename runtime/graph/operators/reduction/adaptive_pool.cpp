#include "graph/operators/reduction/adaptive_pool.hpp"

#include <algorithm>

#include "graph/real.hpp"

namespace vellum {
namespace {

template <typename Real>
HostTensor pool_planes(const HostTensor& x_tensor, const Shape& shape) {
  const std::vector<Real> x = to_reals<Real>(x_tensor);
  std::vector<Real> y;
  y.reserve(static_cast<size_t>(element_count(shape)));
  const int64_t height = x_tensor.shape()[2], width = x_tensor.shape()[3];
  for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
    for (int64_t i = 0; i < shape[2]; ++i)
      for (int64_t j = 0; j < shape[3]; ++j) {
        const AdaptiveWindow rows = adaptive_window(i, height, shape[2]),
                             columns = adaptive_window(j, width, shape[3]);
        double sum = 0;
        for (int64_t h = rows.begin; h < rows.end; ++h)
          for (int64_t w = columns.begin; w < columns.end; ++w)
            sum += static_cast<double>(x[static_cast<size_t>((plane * height + h) * width + w)]);
        const int64_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
        y.push_back(static_cast<Real>(sum / static_cast<double>(count)));
      }
  return HostTensor::from<Real>(kRealType<Real>, shape, y);
}

}  // namespace

AdaptiveWindow adaptive_window(int64_t index, int64_t inputs, int64_t outputs) {
  return {index * inputs / outputs, ((index + 1) * inputs + outputs - 1) / outputs};
}

int64_t largest_adaptive_window(int64_t inputs, int64_t outputs) {
  int64_t largest = 0;
  for (int64_t i = 0; i < outputs; ++i) {
    const AdaptiveWindow window = adaptive_window(i, inputs, outputs);
    largest = std::max(largest, window.end - window.begin);
  }
  return largest;
}

std::vector<TensorType> AdaptiveAveragePool::infer(Inputs inputs) const {
  TensorType y = float_input_type(inputs, 0, "X");
  if (y.shape.size() != 4) refuse_model("X has shape " + to_string(y.shape) + ", expected four dimensions");
  constexpr int64_t kMost = int64_t{1} << 20, kMostProduct = int64_t{1} << 30;
  if (height < 1 || width < 1) refuse_model("the result has no windows");
  if (y.shape[2] == 0 || y.shape[3] == 0) refuse_model("the windows have no elements");
  // The kernel multiplies positions and sizes in 32 bits.
  if (height > kMost || width > kMost || height * y.shape[2] > kMostProduct ||
      width * y.shape[3] > kMostProduct)
    refuse_unsupported("so large a plane");
  y.shape[2] = height;
  y.shape[3] = width;
  return {y};
}

std::vector<HostTensor> AdaptiveAveragePool::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  HostTensor y;
  visit_real(type.dtype, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    y = pool_planes<Real>(*inputs[0], type.shape);
  });
  return {cast(y, type.dtype)};
}

uint64_t AdaptiveAveragePool::work(Inputs inputs, Outputs outputs) const {
  const Shape& shape = input_type(inputs, 0, "X").shape;
  // A window is at most one element longer than H / height, rounded up.
  const uint64_t taps = saturating_multiply(static_cast<uint64_t>(shape[2] / height + 2),
                                            static_cast<uint64_t>(shape[3] / width + 2));
  return saturating_multiply(static_cast<uint64_t>(element_count(outputs[0].shape)),
                             saturating_multiply(taps, 4));
}

Attributes AdaptiveAveragePool::attributes() const {
  Attributes result;
  result.set("height", height);
  result.set("width", width);
  return result;
}

std::shared_ptr<const Operator> make_adaptive_pool(const NodeSpec& spec) {
  auto op = std::make_shared<AdaptiveAveragePool>();
  op->height = spec.attributes->get_int("height", 1);
  op->width = spec.attributes->get_int("width", 1);
  return op;
}

}  // namespace vellum
