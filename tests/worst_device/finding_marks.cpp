#include "worst_device/finding_marks.hpp"

#include <utility>

#include "worst_device/spirv_entry.hpp"

namespace vellum::test {

FindingMarks::FindingMarks(SpirvModule& module, SpirvBuilder& builder, uint32_t slot)
    : module_(module),
      builder_(builder),
      slot_(slot),
      found_(builder.private_variable(builder.uint_type())) {}

void FindingMarks::mark(std::vector<Instruction>& to, uint32_t condition, Finding finding) {
  const uint32_t type = builder_.uint_type();
  const uint32_t bit =
      builder_.add(to, spirv::kSelect, type, {condition, number(static_cast<uint32_t>(finding)), number(0)});
  const uint32_t before = builder_.add(to, spirv::kLoad, type, {found_});
  const uint32_t after = builder_.add(to, spirv::kBitwiseOr, type, {before, bit});
  to.push_back({spirv::kStore, {found_, after}});
}

uint32_t FindingMarks::log_variable() {
  const uint32_t array = builder_.add_type(spirv::kTypeArray, {builder_.uint_type(), number(kFindingSlots)});
  const uint32_t block = builder_.add_type(spirv::kTypeStruct, {array});
  const uint32_t log = builder_.variable(spirv::kStorageBuffer, block);
  builder_.decorate({array, spirv::kArrayStride, sizeof(uint32_t)});
  builder_.decorate({block, spirv::kBlock});
  builder_.decorate_member({block, 0, spirv::kOffset, 0});
  builder_.decorate({log, spirv::kDescriptorSet, kFindingSet});
  builder_.decorate({log, spirv::kBinding, 0});
  return log;
}

// Most invocations find nothing and write nothing.
void FindingMarks::finish(std::vector<Instruction> before) {
  const uint32_t type = builder_.uint_type(), log = log_variable();
  const uint32_t word_type = builder_.make_type(spirv::kTypePointer, {spirv::kStorageBuffer, type});
  before.insert(before.begin(), {spirv::kStore, {found_, number(0)}});
  std::vector<Instruction> after;
  const uint32_t found = builder_.add(after, spirv::kLoad, type, {found_});
  const uint32_t any = builder_.add(after, spirv::kINotEqual, builder_.bool_type(1), {found, number(0)});
  const uint32_t report = module_.new_id(), end = module_.new_id();
  constexpr uint32_t kAtomicOr = 241;
  after.push_back({spirv::kSelectionMerge, {end, 0}});
  after.push_back({spirv::kBranchConditional, {any, report, end}});
  after.push_back({spirv::kLabel, {report}});
  const uint32_t word = builder_.add(after, spirv::kAccessChain, word_type, {log, number(0), number(slot_)});
  builder_.add(after, kAtomicOr, type, {word, number(spirv::kScopeDevice), number(0), found});
  after.push_back({spirv::kBranch, {end}});
  after.push_back({spirv::kLabel, {end}});
  wrap_entry_point(module_, std::move(before), std::move(after));
}

}  // namespace vellum::test
