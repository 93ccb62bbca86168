#include "passes/rewrite/build.hpp"

#include "graph/operator_support.hpp"
#include "graph/operators/movement/reshape.hpp"

namespace vellum {

std::shared_ptr<const Operator> reshape_to(Shape shape) {
  auto op = std::make_shared<Reshape>();
  op->shape = std::move(shape);
  op->allow_zero = true;
  return op;
}

std::shared_ptr<const Operator> unary_of(UnaryKind kind) {
  auto op = std::make_shared<Unary>();
  op->kind = kind;
  return op;
}

std::shared_ptr<const Operator> binary_of(BinaryKind kind) {
  auto op = std::make_shared<Binary>();
  op->kind = kind;
  return op;
}

std::optional<HostTensor> expand_to_last_dimensions(const HostTensor& constant, const Shape& last) {
  Shape shape = constant.shape();
  while (shape.size() > last.size()) {
    if (shape.front() != 1) return std::nullopt;
    shape.erase(shape.begin());
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && shape[i] != last[i + last.size() - shape.size()]) return std::nullopt;
  }
  return gather_strided(constant, last, broadcast_strides(shape, last), 0);
}

}  // namespace vellum
