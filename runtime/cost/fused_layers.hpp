// Kernels for several layers on GPUs: tiles with which they take less time than kernels for each layer, by
// predicted time. Included by this folder alone.
#pragma once

#include <vector>

#include "cost/device_policy.hpp"

namespace vellum {

// DevicePolicy::separable_tiles() and expand_tiles().
std::vector<SeparableTile> quick_separable_tiles(const DeviceCaps& caps, const SeparableDemand& demand);
std::vector<ExpandTile> quick_expand_tiles(const DeviceCaps& caps, const ExpandDemand& demand);

// DevicePolicy::expands_rather().
bool expand_gains_more(const DeviceCaps& caps, const ExpandDemand& before, const SeparableDemand& after);

// DevicePolicy::computes_gates_last().
bool gates_gain_as_last(const DeviceCaps& caps, int64_t products, int64_t invocations);
// DevicePolicy::gate_slices_ahead().
int64_t gate_loads_ahead(const DeviceCaps& caps);

// DevicePolicy::merges_branches().
bool branches_gain(const DeviceCaps& caps, const TileDemand& narrow, const TileDemand& wide);

}  // namespace vellum
