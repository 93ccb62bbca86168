// The floating-point type in which host references compute: double for float64 tensors, otherwise float. A
// graph whose tensors are all float64 is evaluated in double throughout; tests use that as the exact result.
#pragma once

#include <type_traits>
#include <vector>

#include "graph/element.hpp"
#include "graph/operators/elementwise/activation.hpp"

namespace vellum {

template <typename Real>
inline constexpr DType kRealType = std::is_same_v<Real, double> ? DType::f64 : DType::f32;

// Calls visitor(ElementTag<Real>) with the type in which tensors of `dtype` are computed.
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

// Applies the activation as apply() does, in double.
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
