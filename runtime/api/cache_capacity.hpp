// Models whose growing caches are state (passes/caches/growing_caches.hpp).
#pragma once

#include <optional>

#include "api/impl.hpp"

namespace vellum {

// Returns the model with caches of options.state_capacity tokens; the model itself if the option is 0. The
// models that are returned for equal options are one while any of them lives, so that sessions share its
// weights.
Model with_cache_capacity(const Model& model, const SessionOptions& options);

// A mask of fewer tokens than growing caches have room for (an input {batch, open} whose name has
// "attention_mask"), with zeros after its tokens; nothing for other inputs and masks.
std::optional<Tensor> mask_of_all_tokens(const TensorInfo& declared, const Tensor& tensor, uint32_t capacity);

}  // namespace vellum
