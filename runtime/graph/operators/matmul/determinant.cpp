// Det: determinants of square matrices. https://onnx.ai/onnx/operators/onnx__Det.html
#include <cmath>
#include <utility>
#include <vector>

#include "graph/operator_support.hpp"

namespace vellum {
namespace {

struct Determinant : Operator {
  std::string_view type() const override { return "Det"; }

  std::vector<TensorType> infer(Inputs inputs) const override {
    TensorType x = float_input_type(inputs, 0, "X");
    const size_t rank = x.shape.size();
    if (rank < 2 || x.shape[rank - 1] != x.shape[rank - 2])
      refuse_model("X of shape " + to_string(x.shape) + " is not made of square matrices");
    x.shape.resize(rank - 2);
    return {x};
  }

  std::vector<HostTensor> evaluate(HostInputs inputs) const override {
    const TensorType type = infer_known(*this, inputs)[0];
    const auto size = static_cast<size_t>(inputs[0]->shape().back());
    const HostTensor x = cast(*inputs[0], DType::f64);
    std::vector<double> values;
    for (size_t i = 0; i < static_cast<size_t>(element_count(type.shape)); ++i) {
      const double* matrix = x.as<double>().data() + i * size * size;
      values.push_back(eliminate({matrix, matrix + size * size}, size));
    }
    return {HostTensor::from<double>(type.dtype, type.shape, values)};
  }

  uint64_t work(Inputs inputs, Outputs outputs) const override {
    const Shape& shape = inputs[0].type.shape;
    return saturating_multiply(elementwise_work(inputs, outputs),
                               shape.empty() ? 1 : static_cast<uint64_t>(shape.back()));
  }

 private:
  // Gauss's elimination with the largest pivot of each column.
  static double eliminate(std::vector<double> a, size_t size) {
    double determinant = 1;
    for (size_t k = 0; k < size; ++k) {
      size_t pivot = k;
      for (size_t row = k + 1; row < size; ++row)
        if (std::abs(a[row * size + k]) > std::abs(a[pivot * size + k])) pivot = row;
      if (a[pivot * size + k] == 0) return 0;
      if (pivot != k) {
        determinant = -determinant;
        for (size_t column = 0; column < size; ++column)
          std::swap(a[pivot * size + column], a[k * size + column]);
      }
      determinant *= a[k * size + k];
      for (size_t row = k + 1; row < size; ++row) {
        const double factor = a[row * size + k] / a[k * size + k];
        for (size_t column = k; column < size; ++column)
          a[row * size + column] -= factor * a[k * size + column];
      }
    }
    return determinant;
  }
};

}  // namespace

std::shared_ptr<const Operator> make_determinant(const NodeSpec&) { return std::make_shared<Determinant>(); }

}  // namespace vellum
