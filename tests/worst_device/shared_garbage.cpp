#include "worst_device/shared_garbage.hpp"

#include <utility>
#include <vector>

#include "worst_device/spirv_builder.hpp"
#include "worst_device/spirv_entry.hpp"

namespace vellum::test {
namespace {

class SharedGarbage {
 public:
  explicit SharedGarbage(SpirvModule& module) : module_(module), builder_(module) {}

  void run() {
    for (const Instruction& i : module_.instructions) {
      const std::vector<uint32_t>& o = i.operands;
      if (i.opcode == spirv::kExecutionMode && o[1] == spirv::kLocalSize) invocations_ = o[2] * o[3] * o[4];
      if (i.opcode == spirv::kVariable && o[2] == spirv::kStorageWorkgroup) variables_.push_back(o[1]);
    }
    if (variables_.empty()) return;
    index_ = builder_.add(before_, spirv::kLoad, type(),
                          {builder_.make_builtin(spirv::kLocalInvocationIndex, type())});
    for (const uint32_t variable : variables_) fill(variable);
    const uint32_t workgroup = number(spirv::kScopeWorkgroup);
    before_.push_back(
        {spirv::kControlBarrier, {workgroup, workgroup, number(spirv::kAcquireReleaseWorkgroup)}});
    wrap_entry_point(module_, std::move(before_), {});
    builder_.finish();
  }

 private:
  uint32_t type() { return builder_.uint_type(); }
  uint32_t number(uint32_t value) { return builder_.constant(type(), value); }

  bool is_number(uint32_t id) const {
    const SpirvType* found = builder_.type(id);
    if (found && found->opcode == spirv::kTypeVector) found = builder_.type(found->operands[0]);
    return found && (found->opcode == spirv::kTypeFloat || found->opcode == spirv::kTypeInt) &&
           found->operands[0] == 32;
  }

  void fill(uint32_t variable) {
    constexpr uint32_t kNaN = 0x7fff7fff;  // also of two halves
    const uint32_t content = builder_.type(builder_.type_of(variable))->operands[1];
    const SpirvType found = *builder_.type(content);
    if (is_number(content))
      return before_.push_back({spirv::kStore, {variable, builder_.splat(content, kNaN)}});
    if (found.opcode != spirv::kTypeArray || !is_number(found.operands[0])) return;
    const auto count = builder_.constant_value(found.operands[1]);
    if (!count) return;
    const uint32_t pointer =
        builder_.make_type(spirv::kTypePointer, {spirv::kStorageWorkgroup, found.operands[0]});
    const uint32_t garbage = builder_.splat(found.operands[0], kNaN), last = number(*count - 1);
    for (uint32_t first = 0; first < *count; first += invocations_) {
      const uint32_t element = builder_.add(before_, spirv::kIAdd, type(), {index_, number(first)});
      const uint32_t inside =
          builder_.add(before_, spirv::kULessThan, builder_.bool_type(1), {element, number(*count)});
      const uint32_t clamped = builder_.add(before_, spirv::kSelect, type(), {inside, element, last});
      const uint32_t to = builder_.add(before_, spirv::kAccessChain, pointer, {variable, clamped});
      before_.push_back({spirv::kStore, {to, garbage}});
    }
  }

  SpirvModule& module_;
  SpirvBuilder builder_;
  std::vector<Instruction> before_;
  std::vector<uint32_t> variables_;
  uint32_t invocations_ = 1, index_ = 0;
};

}  // namespace

void fill_shared_memory(SpirvModule& module) { SharedGarbage(module).run(); }

}  // namespace vellum::test
