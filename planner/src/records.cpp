#include "vellum/planner/records.hpp"

#include "arithmetic.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum::planner {
namespace {

uint64_t product_or_throw(std::initializer_list<uint64_t> factors) {
  uint64_t product = 1;
  for (const uint64_t factor : factors) {
    const auto next = detail::checked_multiply(product, factor);
    if (!next) throw PlanError("texture extent is too large: its byte count does not fit 64 bits");
    product = *next;
  }
  return product;
}

struct ByteSize {
  uint64_t operator()(const Bytes& size) const { return size.bytes; }
  uint64_t operator()(const Texture2D& size) const {
    return product_or_throw({size.width, size.height, size.format.bytes_per_texel});
  }
  uint64_t operator()(const Texture3D& size) const {
    return product_or_throw({size.width, size.height, size.depth, size.format.bytes_per_texel});
  }
};

}  // namespace

uint64_t byte_size(const Size& size) { return std::visit(ByteSize{}, size); }

}  // namespace vellum::planner
