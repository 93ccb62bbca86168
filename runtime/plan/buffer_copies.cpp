#include "plan/buffer_copies.hpp"

#include "cost/device_traits.hpp"

namespace vellum {

bool is_copied_by_command(const Program& program, const Dispatch& dispatch, const DeviceCaps& caps) {
  if (!dispatch.copy || !device_traits(caps).copies_buffers_by_command) return false;
  const auto is_intermediate = [&](TensorId id) {
    return program.tensors[program.root(id)].role == TensorRole::intermediate;
  };
  return is_intermediate(dispatch.copy->from) && is_intermediate(dispatch.copy->to);
}

}  // namespace vellum
