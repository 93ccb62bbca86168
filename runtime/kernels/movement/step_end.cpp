#include "kernels/movement/step_end.hpp"

#include <string>
#include <vector>

#include "kernels/framework/elements.hpp"
#include "kernels/framework/grid.hpp"
#include "shaders/movement/step_end.h"

namespace vellum {

const size_t kMostEndValues = decltype(StepEndParameters::end_values)::size();

Dispatch end_steps(const DeviceCaps& caps, const StepControl& control, std::span<const int32_t> end_values) {
  Dispatch dispatch = make_dispatch(
      "step_end", grid_1d(caps, 1), {},
      StepEndParameters{.count = control.elements,
                        .first_flag = StepControl::kFirstFlag,
                        .first_workgroup_count = control.first_workgroup_count(),
                        .words = control.words(),
                        .end_count = end_values.size(),
                        .end_values = std::vector<int64_t>(end_values.begin(), end_values.end())});
  for (const std::string tensor : {"value", "control"}) {
    define(dispatch, "STORAGE_" + tensor, "LINEAR");
    define(dispatch, "ELEMENT_" + tensor, element_macro(ElementType::i32));
  }
  define(dispatch, "BINDING_value", "0");
  define(dispatch, "BINDING_control", "1");
  return dispatch;
}

}  // namespace vellum
