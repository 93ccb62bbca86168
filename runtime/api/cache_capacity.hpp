// Models whose growing caches are state (passes/caches/growing_caches.hpp).
#pragma once

#include <list>
#include <optional>
#include <span>
#include <vector>

#include "api/impl.hpp"

namespace vellum {

// Returns the model with caches of options.state_capacity tokens; the model itself if the option is 0. The
// models that are returned for equal options are one while any of them lives, so that sessions share its
// weights.
Model with_cache_capacity(const Model& model, const SessionOptions& options);

// Returns the shape of a mask of all tokens for which growing caches have room, if an input has fewer: an
// input {batch, open} whose name has "attention_mask". Nothing for other inputs. Throws
// Error(invalid_argument) for more.
std::optional<Shape> whole_mask_shape(const TensorInfo& declared, std::span<const int64_t> shape,
                                      uint32_t capacity);
// Returns the values of such a mask with zeros after each row.
Tensor whole_mask(DType dtype, const Shape& whole_shape, std::span<const std::byte> values);

// The inputs of a run with whole masks. The given values must live as long.
struct WholeInputs {
  WholeInputs(const std::vector<TensorInfo>& declared, std::span<const InputValues> given, uint32_t capacity);
  WholeInputs(const WholeInputs&) = delete;
  WholeInputs& operator=(const WholeInputs&) = delete;

  std::span<const InputValues> values;

 private:
  std::vector<InputValues> changed_;
  std::list<Tensor> masks_;
};

}  // namespace vellum
