// Tables of rotary embeddings for RotateChannels.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Returns for each channel of a head the other channel of its pair, or itself if it is not rotated. `half`:
// the number of pairs. Empty if there are more than the head has channels for.
Ints rotation_partners(int64_t channels, int64_t half, bool interleaved);

// Returns the tables of all positions, (cosines and sines, 1, position, channel), from which a run gathers
// rows. `cosines` and `sines`: (position, pair).
HostTensor rotation_tables(const HostTensor& cosines, const HostTensor& sines, const Ints& partner,
                           bool interleaved);

}  // namespace vellum
