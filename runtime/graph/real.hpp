// The floating point that host references compute in: double where tensors are float64, else float. A graph
// all of whose tensors are float64 is evaluated in double throughout, which the tests take for the exact
// result.
#pragma once

#include <type_traits>
#include <vector>

#include "graph/element.hpp"
#include "graph/operators/elementwise/activation.hpp"

namespace vellum {

template <typename Real>
inline constexpr DType kRealType = std::is_same_v<Real, double> ? DType::f64 : DType::f32;

// Calls visitor(ElementTag<Real>) with the type that tensors of `dtype` are computed in.
template <typename Visitor>
decltype(auto) visit_real(DType dtype, Visitor&& visitor) {
  if (dtype == DType::f64) return visitor(ElementTag<double>{});
  return visitor(ElementTag<float>{});
}

template <typename Real>
std::vector<Real> to_reals(const HostTensor& tensor) {
  const HostTensor converted = cast(tensor, kRealType<Real>);
  const auto elements = converted.template as<Real>();
  return {elements.begin(), elements.end()};
}

// apply() in double.
double apply_in_double(const Activation& activation, double x);

template <typename Real>
Real apply_real(const Activation& activation, Real x) {
  if constexpr (std::is_same_v<Real, double>) {
    return apply_in_double(activation, x);
  } else {
    return apply(activation, x);
  }
}

}  // namespace vellum
