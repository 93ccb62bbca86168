// Models whose growing caches are state (passes/caches/growing_caches.hpp).
#pragma once

#include <list>
#include <optional>
#include <span>
#include <vector>

#include "api/impl.hpp"

namespace vellum {

// Returns the model with caches of options.state_capacity tokens, or `model` itself if the option is 0. Calls
// with equal options return the same model as long as it exists, so that sessions share its weights.
Model with_cache_capacity(const Model& model, const SessionOptions& options);

// Returns the shape of an attention mask that covers the whole capacity of the growing caches. `declared`:
// the input; `shape`: the shape that the caller gave. Returns nothing unless the input is a mask with fewer
// tokens: its name contains "attention_mask" and its shape is {batch, open}. Throws Error(invalid_argument)
// for more tokens than the capacity.
std::optional<Shape> whole_mask_shape(const TensorInfo& declared, std::span<const int64_t> shape,
                                      uint32_t capacity);
// Returns the values of a mask with zeros appended to each row.
Tensor whole_mask(DType dtype, const Shape& whole_shape, std::span<const std::byte> values);

// The inputs of a run, with masks of the whole capacity. `given` must outlive this object.
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
