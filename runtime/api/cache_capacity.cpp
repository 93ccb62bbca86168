#include "api/cache_capacity.hpp"

#include <cstring>
#include <utility>

#include "api/tensor_names.hpp"
#include "graph/state_pairs.hpp"
#include "passes/caches/growing_caches.hpp"

namespace vellum {

Model with_cache_capacity(const Model& model, const SessionOptions& options) {
  const std::shared_ptr<const Model::Impl>& source = impl(model);
  if (options.state_capacity == 0 || has_cache_length(source->graph)) return model;
  if (options.state.empty())
    throw Error(ErrorCode::invalid_argument, "state_capacity is given, but no state");
  const std::string state = by_tensor_name(model, options.state);
  const std::lock_guard lock(source->with_capacity_mutex);
  std::weak_ptr<const Model::Impl>& known = source->with_capacity[{state, options.state_capacity}];
  if (const auto made = known.lock()) return Handles::model(made);
  auto made = std::make_shared<Model::Impl>(
      add_cache_length(source->graph, state_pairs(source->graph, state), options.state_capacity));
  made->packed = source->packed;
  known = made;
  return Handles::model(std::move(made));
}

std::optional<Tensor> mask_of_all_tokens(const TensorInfo& declared, const Tensor& tensor,
                                         uint32_t capacity) {
  const Shape& shape = tensor.shape();
  const bool is_open = declared.shape.size() == 2 && declared.shape[1] == kUnknownDim;
  if (capacity == 0 || !is_open || declared.name.find("attention_mask") == std::string::npos)
    return std::nullopt;
  if (shape.size() == 2 && shape[1] > int64_t{capacity})
    throw Error(ErrorCode::invalid_argument,
                "input '" + declared.name + "' is of " + std::to_string(shape[1]) +
                    " tokens; the caches have room for " + std::to_string(capacity));
  if (tensor.dtype() != declared.dtype || shape.size() != 2 || element_count(shape) == 0 ||
      shape[1] >= int64_t{capacity})
    return std::nullopt;
  Tensor whole(tensor.dtype(), {shape[0], int64_t{capacity}});
  const size_t row = tensor.byte_size() / static_cast<size_t>(shape[0]),
               stride = whole.byte_size() / static_cast<size_t>(shape[0]);
  for (size_t i = 0; i < static_cast<size_t>(shape[0]); ++i)
    std::memcpy(whole.mutable_data() + i * stride, tensor.data() + i * row, row);
  return whole;
}

}  // namespace vellum
