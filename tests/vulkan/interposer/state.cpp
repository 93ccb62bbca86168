#include "vulkan/interposer/state.hpp"

#include <optional>

namespace vellum::test::interposed {
namespace {

std::optional<State>& stored() {
  static std::optional<State> the_state(std::in_place);
  return the_state;
}

}  // namespace

State& state() { return *stored(); }
void reset_state() { stored().emplace(); }

}  // namespace vellum::test::interposed
