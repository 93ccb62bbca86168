#include "api/region_runner.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "api/impl.hpp"

namespace vellum {
namespace {

constexpr uint32_t kCachedShapes = 8;

// 8, 10, 12, 14, 16, 20, 24, ...
int64_t round_up_rows(int64_t rows) {
  constexpr uint64_t kFewest = 8;
  const uint64_t wanted = std::max<uint64_t>(static_cast<uint64_t>(rows), kFewest);
  const uint64_t step = std::bit_floor(wanted) / 4;
  return static_cast<int64_t>((wanted + step - 1) / step * step);
}

// Returns the first dimension of all late inputs; nothing if it differs.
std::optional<int64_t> common_rows(const DeviceRegion& region, std::span<const Tensor* const> inputs) {
  std::optional<int64_t> rows;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!region.is_late[i]) continue;
    if (inputs[i]->shape().empty() || (rows && *rows != inputs[i]->shape()[0])) return std::nullopt;
    rows = inputs[i]->shape()[0];
  }
  return rows;
}

// Returns the tensor with `rows` rows: padded with zeros, or without its last rows.
Tensor with_rows(const Tensor& tensor, int64_t rows) {
  Shape shape = tensor.shape();
  shape[0] = rows;
  Tensor result(tensor.dtype(), std::move(shape));
  std::memset(result.mutable_data(), 0, result.byte_size());
  std::memcpy(result.mutable_data(), tensor.data(), std::min(result.byte_size(), tensor.byte_size()));
  return result;
}

// Tensors of the run before are kept, so that what has the same address then has the same values.
bool same_shapes(const std::vector<Tensor>& before, const std::vector<Tensor>& now) {
  return std::ranges::equal(before, now, {}, &Tensor::shape, &Tensor::shape);
}

// Returns the number of rows to run in place of `rows`.
int64_t rows_to_run(const DeviceRegion& region, std::span<const Tensor* const> inputs, int64_t rows) {
  const int64_t rounded = round_up_rows(rows);
  std::vector<TensorType> types;
  for (size_t i = 0; i < inputs.size(); ++i) {
    types.push_back(inputs[i]->type());
    if (region.is_late[i]) types.back().shape[0] = rounded;
  }
  return region.keeps_rows(region.body_for(types)) ? rounded : rows;
}

}  // namespace

RegionRunner::RegionRunner(Device device, const SessionOptions& options)
    : device_(std::move(device)), options_(options) {
  options_.input_shapes.clear();
  options_.input_values.clear();
  options_.memory_pool = {};
  options_.in_flight = 1;
  options_.cached_shapes = kCachedShapes;
  options_.memory_budget = options_.weights_budget = 0;
  options_.profile = options_.check_finite = false;
  options_.repeat_every = 0;
  options_.state.clear();
}

RegionRunner::Prepared& RegionRunner::session_for(const DeviceRegion& region,
                                                  const std::vector<Tensor>& inputs) {
  const auto found = sessions_.find(&region);
  if (found != sessions_.end()) return found->second;
  Graph open = region.body;
  SessionOptions options = options_;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Value& input = open.values[open.inputs[i]];
    input.type = {inputs[i].dtype(), Shape(inputs[i].shape().size(), kUnknownDim)};
    input.type_known = true;
    options.input_shapes[input.name] = inputs[i].shape();
  }
  const Model model = Handles::model(std::make_shared<const Model::Impl>(std::move(open)));
  return sessions_.emplace(&region, Prepared{Session(device_, model, options), {}}).first->second;
}

std::vector<Tensor> RegionRunner::run(const DeviceRegion& region, std::span<const Tensor* const> inputs) {
  if (std::ranges::any_of(inputs, [](const Tensor* input) { return input->elements() == 0; }))
    return region.evaluate(inputs);
  const std::optional<int64_t> rows = common_rows(region, inputs);
  const int64_t running = rows ? rows_to_run(region, inputs, *rows) : 0;
  std::vector<Tensor> given;
  for (size_t i = 0; i < inputs.size(); ++i)
    given.push_back(rows && running != *rows && region.is_late[i] ? with_rows(*inputs[i], running)
                                                                  : *inputs[i]);
  const std::scoped_lock lock(mutex_);
  Prepared& prepared = session_for(region, given);
  std::map<std::string, Tensor> feeds;
  const std::vector<Tensor> before = std::exchange(prepared.inputs, {});
  for (size_t i = 0; i < given.size(); ++i)
    if (!same_shapes(before, given) || before[i].data() != given[i].data())
      feeds[region.body.values[region.body.inputs[i]].name] = given[i];
  std::map<std::string, Tensor> found = prepared.session.run(feeds);
  prepared.inputs = std::move(given);
  std::vector<Tensor> outputs;
  for (const ValueId id : region.body.outputs) {
    Tensor& output = found.at(region.body.values[id].name);
    outputs.push_back(rows && running != *rows ? with_rows(output, *rows) : std::move(output));
  }
  return outputs;
}

}  // namespace vellum
