// The table of operators, from operators.def.
#include <algorithm>
#include <array>

#include "graph/operator.hpp"
#include "graph/operators/contrib.hpp"
#include "vellum/error.hpp"

namespace vellum {

// Several types may share a maker; a function may be declared twice.
#define VELLUM_OPERATOR(type, maker, lowering) std::shared_ptr<const Operator> maker(const NodeSpec& spec);
#include "graph/operators.def"
#undef VELLUM_OPERATOR

namespace {

struct OperatorRow {
  std::string_view type;
  MakeOperator maker;
};

constexpr OperatorRow kOperators[] = {
#define VELLUM_OPERATOR(type, maker, lowering) {#type, maker},
#include "graph/operators.def"
#undef VELLUM_OPERATOR
    {"", nullptr}};

}  // namespace

MakeOperator find_operator(std::string_view type) {
  for (const OperatorRow& row : kOperators) {
    if (row.type == type) return row.maker;
  }
  return find_contrib_operator(type);
}

std::shared_ptr<const Operator> make_operator(const NodeSpec& spec) {
  const MakeOperator maker = spec.type.empty() ? nullptr : find_operator(spec.type);
  if (maker == nullptr) {
    throw Error(ErrorCode::unsupported, "operator '" + spec.type + "' is not supported");
  }
  const Attributes none;
  NodeSpec with_attributes = spec;
  if (spec.attributes == nullptr) with_attributes.attributes = &none;
  // A hint for memory planning that operators had before opset 6.
  if (spec.opset < 6) with_attributes.attributes->ignore("consumed_inputs");
  auto made = maker(with_attributes);
  const auto unread = with_attributes.attributes->unread();
  if (!unread.empty()) {
    throw Error(ErrorCode::unsupported, "attribute '" + unread.front() + "' of " + spec.type + " (opset " +
                                            std::to_string(spec.opset) + ") is not supported");
  }
  return made;
}

std::vector<std::string_view> operator_types() {
  std::vector<std::string_view> types;
  for (const OperatorRow& row : kOperators) {
    if (row.maker != nullptr) types.push_back(row.type);
  }
  for (const std::string_view type : contrib_operator_types()) types.push_back(type);
  std::sort(types.begin(), types.end());
  return types;
}

}  // namespace vellum
