#include "problem.hpp"

#include <algorithm>
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

Extent extent_of(const Size& size) {
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
  item.extent = extent_of(record.size);
  uint64_t bytes = 0;
  try {
    bytes = byte_size(record.size);
    if (bytes != 0 && options.object_bytes) bytes = options.object_bytes(record.size);
  } catch (const PlanError& error) {
    refuse(index, error.what());
  }
  if (bytes == 0) refuse(index, "size is zero");
  const auto aligned = checked_align(bytes, options.alignment);
  if (!aligned)
    refuse(index, "size does not fit 64 bits once aligned to " + std::to_string(options.alignment));
  item.bytes = *aligned;
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

}  // namespace

uint64_t RecordClass::bytes_of(const Extent& extent) const {
  std::optional<uint64_t> bytes = format.bytes_per_texel;
  for (const uint64_t dim : extent) {
    if (bytes) bytes = checked_multiply(*bytes, dim);
  }
  if (bytes && object_bytes) bytes = object_bytes(size_of(extent));
  if (bytes) bytes = checked_align(*bytes, alignment);
  return bytes.value_or(std::numeric_limits<uint64_t>::max());
}

Size RecordClass::size_of(const Extent& extent) const {
  const auto dim = [&](size_t axis) { return static_cast<uint32_t>(extent[axis]); };
  if (kind == 0) return Bytes{extent[0]};
  if (kind == 1) return Texture2D{dim(0), dim(1), format};
  return Texture3D{dim(0), dim(1), dim(2), format};
}

Extent cover(const Extent& a, const Extent& b) {
  return {std::max(a[0], b[0]), std::max(a[1], b[1]), std::max(a[2], b[2])};
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
    if (is_new) classes.push_back({size.index(), format, options.alignment, {}, options.object_bytes});
    classes[found->second].items.push_back(item);
  }
  return classes;
}

RecordClass as_bytes(std::span<const TensorUsageRecord> records, const PlanOptions& options) {
  RecordClass all;
  all.alignment = options.alignment;
  all.items = checked_items(records, options);
  for (Item& item : all.items) item.extent = {item.bytes, 1, 1};
  return all;
}

}  // namespace vellum::planner::detail
