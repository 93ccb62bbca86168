// Rewrites shaders so that reads beyond the end of a buffer or image give arbitrary values.
#pragma once

#include "worst_device/spirv_module.hpp"

namespace vellum::test {

// Floats are NaN, and so are the halves in integers. Loads from storage buffers, storage images and texel
// buffers, and fetches from sampled images; atomic operations and writes are left as they are.
void read_garbage_out_of_bounds(SpirvModule& module);

}  // namespace vellum::test
