#include "problem.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "arithmetic.hpp"

namespace vellum::planner::detail {
namespace {

[[noreturn]] void refuse(size_t record, const std::string& why) {
  throw PlanError("record " + std::to_string(record) + ": " + why);
}

using Dims = std::array<uint64_t, 3>;

Dims dims_of(const Size& size) {
  if (const auto* bytes = std::get_if<Bytes>(&size)) return {bytes->bytes, 1, 1};
  if (const auto* flat = std::get_if<Texture2D>(&size)) return {flat->width, flat->height, 1};
  const auto& solid = std::get<Texture3D>(size);
  return {solid.width, solid.height, solid.depth};
}

TexelFormat format_of(const Size& size) {
  if (const auto* flat = std::get_if<Texture2D>(&size)) return flat->format;
  if (const auto* solid = std::get_if<Texture3D>(&size)) return solid->format;
  return {0, 1};
}

uint64_t checked_bytes(const Size& size, size_t index, const PlanOptions& options) {
  uint64_t bytes = 0;
  try {
    bytes = byte_size(size);
    if (bytes != 0 && options.object_bytes) bytes = options.object_bytes(size);
  } catch (const PlanError& error) {
    refuse(index, error.what());
  }
  if (bytes == 0) refuse(index, "size is zero");
  const auto aligned = checked_align(bytes, options.alignment);
  if (!aligned)
    refuse(index, "size does not fit 64 bits once aligned to " + std::to_string(options.alignment));
  return *aligned;
}

Item checked_item(const TensorUsageRecord& record, size_t index, const PlanOptions& options) {
  if (record.first_task < 0)
    refuse(index, "first task " + std::to_string(record.first_task) + " is negative");
  if (record.last_task < record.first_task) {
    refuse(index, "last task " + std::to_string(record.last_task) + " is before first task " +
                      std::to_string(record.first_task));
  }
  Item item;
  item.record = static_cast<uint32_t>(index);
  item.first = record.first_task;
  item.last = record.last_task;
  item.extent.dims = dims_of(record.size);
  item.bytes = checked_bytes(record.size, index, options);
  for (const Texture2D& other : record.other_extents) {
    if (!std::holds_alternative<Texture2D>(record.size) || format_of(record.size) != other.format)
      refuse(index, "another extent of another kind or format");
    item.bytes = std::min(item.bytes, checked_bytes(other, index, options));
  }
  return item;
}

std::vector<Item> checked_items(std::span<const TensorUsageRecord> records, const PlanOptions& options) {
  if (!std::has_single_bit(options.alignment)) {
    throw PlanError("alignment " + std::to_string(options.alignment) + " is not a power of two");
  }
  if (records.size() >= std::numeric_limits<uint32_t>::max()) throw PlanError("too many records");
  std::vector<Item> items;
  items.reserve(records.size());
  uint64_t sum = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    items.push_back(checked_item(records[i], i, options));
    const auto next = checked_add(sum, items.back().bytes);
    if (!next) refuse(i, "the sum of all sizes up to this record does not fit 64 bits");
    sum = *next;
  }
  return items;
}

Size size_of_dims(const RecordClass& records, const Dims& dims) {
  const auto dim = [&](size_t axis) { return static_cast<uint32_t>(dims[axis]); };
  if (records.kind == 0) return Bytes{dims[0]};
  if (records.kind == 1) return Texture2D{dim(0), dim(1), records.format};
  return Texture3D{dim(0), dim(1), dim(2), records.format};
}

uint64_t bytes_of_dims(const RecordClass& records, const Dims& dims) {
  std::optional<uint64_t> bytes = records.format.bytes_per_texel;
  for (const uint64_t dim : dims) {
    if (bytes) bytes = checked_multiply(*bytes, dim);
  }
  if (bytes && records.object_bytes) bytes = records.object_bytes(size_of_dims(records, dims));
  if (bytes) bytes = checked_align(*bytes, records.alignment);
  return bytes.value_or(std::numeric_limits<uint64_t>::max());
}

struct SizedDims {
  Dims dims{0, 0, 0};
  uint64_t bytes = 0;
};

// Returns the smallest object with this extent; of equals the narrowest.
SizedDims smallest_object(const RecordClass& records, const Extent& extent) {
  if (extent.heights.empty()) return {extent.dims, bytes_of_dims(records, extent.dims)};
  SizedDims least{{0, 0, 0}, std::numeric_limits<uint64_t>::max()};
  uint64_t above = kNoHeight;
  for (size_t i = 0; i < extent.heights.size(); ++i) {
    if (extent.heights[i] == above) continue;  // wider and no lower
    above = extent.heights[i];
    const Dims dims{records.widths[i], above, 1};
    const uint64_t bytes = bytes_of_dims(records, dims);
    if (least.dims[0] == 0 || bytes < least.bytes) least = {dims, bytes};
  }
  return least;
}

// Whether some record of the class has other extents: then all have heights.
void add_choices(RecordClass& records, std::span<const TensorUsageRecord> all) {
  const auto has_choice = [&](const Item& item) { return !all[item.record].other_extents.empty(); };
  if (std::none_of(records.items.begin(), records.items.end(), has_choice)) return;
  std::vector<uint64_t>& widths = records.widths;
  for (const Item& item : records.items) {
    widths.push_back(item.extent.dims[0]);
    for (const Texture2D& other : all[item.record].other_extents) widths.push_back(other.width);
  }
  std::sort(widths.begin(), widths.end());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  for (Item& item : records.items) {
    std::vector<uint64_t>& heights = item.extent.heights;
    heights.assign(widths.size(), kNoHeight);
    const auto allow = [&](uint64_t width, uint64_t height) {
      for (size_t i = widths.size(); i-- > 0 && widths[i] >= width;)
        heights[i] = std::min(heights[i], height);
    };
    allow(item.extent.dims[0], item.extent.dims[1]);
    for (const Texture2D& other : all[item.record].other_extents) allow(other.width, other.height);
    item.extent.dims = {0, 0, 0};
  }
}

}  // namespace

uint64_t RecordClass::bytes_of(const Extent& extent) const { return smallest_object(*this, extent).bytes; }

Size RecordClass::size_of(const Extent& extent) const {
  return size_of_dims(*this, smallest_object(*this, extent).dims);
}

Extent cover(const Extent& a, const Extent& b) {
  if (b.heights.empty() && !a.heights.empty()) return a;  // b is Extent{}
  Extent both = b;
  for (size_t i = 0; i < a.dims.size(); ++i) both.dims[i] = std::max(a.dims[i], b.dims[i]);
  for (size_t i = 0; i < a.heights.size(); ++i) both.heights[i] = std::max(a.heights[i], b.heights[i]);
  return both;
}

std::vector<RecordClass> classify(std::span<const TensorUsageRecord> records, const PlanOptions& options) {
  const std::vector<Item> items = checked_items(records, options);
  std::vector<RecordClass> classes;
  std::map<std::tuple<size_t, uint32_t, uint32_t>, size_t> class_of;
  for (const Item& item : items) {
    const Size& size = records[item.record].size;
    const TexelFormat format = format_of(size);
    const auto [found, is_new] =
        class_of.try_emplace({size.index(), format.id, format.bytes_per_texel}, classes.size());
    if (is_new) classes.push_back({size.index(), format, options.alignment, {}, options.object_bytes, {}});
    classes[found->second].items.push_back(item);
  }
  for (RecordClass& each : classes) add_choices(each, records);
  return classes;
}

RecordClass as_bytes(std::span<const TensorUsageRecord> records, const PlanOptions& options) {
  RecordClass all;
  all.alignment = options.alignment;
  all.items = checked_items(records, options);
  for (Item& item : all.items) item.extent.dims = {item.bytes, 1, 1};
  return all;
}

}  // namespace vellum::planner::detail
