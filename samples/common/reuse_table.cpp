#include "common/reuse_table.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace vellum::samples {
namespace {

template <typename... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), pattern, arguments...);
  return text.data();
}

double kibibytes(uint64_t bytes) { return static_cast<double>(bytes) / 1024; }

std::string extent_of(const ObjectReport& object) {
  if (object.extent[0] == 0) return "";
  std::string extent = format("%ux%u", object.extent[0], object.extent[1]);
  if (object.extent[2] > 1) extent += format("x%u", object.extent[2]);
  return extent;
}

std::string total(const char* what, uint64_t bytes, uint64_t naive) {
  const double share = naive == 0 ? 0.0 : 100.0 * static_cast<double>(bytes) / static_cast<double>(naive);
  return format("%-32s %10.1f KiB %6.1f%%\n", what, kibibytes(bytes), share);
}

}  // namespace

std::string reuse_table(const MemoryReport& report) {
  uint64_t tensors = 0;
  for (const ObjectReport& object : report.objects) tensors += object.reuse_count;
  std::string text =
      format("%llu intermediate tensors in %zu shared objects (strategy %s)\n",
             static_cast<unsigned long long>(tensors), report.objects.size(), report.strategy.c_str());
  text += format("%6s  %-8s %-14s %-8s %14s  %s\n", "object", "kind", "extent", "format", "size",
                 "tensors carried");
  for (const ObjectReport& object : report.objects) {
    text +=
        format("%6u  %-8s %-14s %-8s %10.1f KiB  %u\n", object.id, object.kind.c_str(),
               extent_of(object).c_str(), object.format.c_str(), kibibytes(object.bytes), object.reuse_count);
  }
  text += total("one object per tensor (naive)", report.naive_bytes, report.naive_bytes);
  text += total("shared objects as planned", report.planned_bytes, report.naive_bytes);
  text += total("lower bound of any such plan", report.lower_bound_bytes, report.naive_bytes);
  text += total("allocated from Vulkan", report.allocated_bytes, report.naive_bytes);
  return text;
}

}  // namespace vellum::samples
