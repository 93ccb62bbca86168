#include "worst_device/signed_overflow.hpp"

#include <utility>
#include <vector>

namespace vellum::test {
namespace {

class OverflowChecks {
 public:
  OverflowChecks(SpirvModule& module, SpirvBuilder& builder, FindingMarks& marks)
      : module_(module), builder_(builder), marks_(marks) {}

  void run() {
    for (Instruction& i : std::exchange(module_.instructions, {})) {
      const bool checked =
          (i.opcode == spirv::kIAdd || i.opcode == spirv::kISub || i.opcode == spirv::kIMul) &&
          is_signed(i.operands[0]);
      body_.push_back(i);
      if (checked) check(i);
    }
    module_.instructions = std::move(body_);
  }

 private:
  bool is_signed(uint32_t type) const {
    const SpirvType* found = builder_.type(type);
    if (found && found->opcode == spirv::kTypeVector) found = builder_.type(found->operands[0]);
    return found && found->opcode == spirv::kTypeInt && found->operands[0] == 32 && found->operands[1] == 1;
  }

  uint32_t op(uint32_t opcode, uint32_t type, uint32_t a, uint32_t b) {
    return builder_.add(body_, opcode, type, {a, b});
  }

  // Returns where the sum or difference does not fit: its sign is one that the operands' signs exclude.
  uint32_t sum_overflows(const Instruction& i, uint32_t bools) {
    const uint32_t type = i.operands[0], result = i.operands[1], a = i.operands[2], b = i.operands[3];
    const uint32_t of_a = op(spirv::kBitwiseXor, type, a, result);
    const uint32_t of_b = op(spirv::kBitwiseXor, type, b, i.opcode == spirv::kIAdd ? result : a);
    const uint32_t both = op(spirv::kBitwiseAnd, type, of_a, of_b);
    return op(spirv::kSLessThan, bools, both, builder_.splat(type, 0));
  }

  // Returns where the upper half of the product is not the sign of the lower half.
  uint32_t product_overflows(const Instruction& i, uint32_t bools) {
    const uint32_t type = i.operands[0];
    uint32_t& pair = pairs_[type];
    if (pair == 0) pair = builder_.add_type(spirv::kTypeStruct, {type, type});
    const uint32_t halves = op(spirv::kSMulExtended, pair, i.operands[2], i.operands[3]);
    const uint32_t upper = op(spirv::kCompositeExtract, type, halves, 1);
    const uint32_t sign =
        op(spirv::kShiftRightArithmetic, type, i.operands[1], builder_.splat(type, kSignBit));
    return op(spirv::kINotEqual, bools, upper, sign);
  }

  void check(const Instruction& i) {
    const uint32_t count = builder_.components(i.operands[0]), bools = builder_.bool_type(count);
    uint32_t overflows = i.opcode == spirv::kIMul ? product_overflows(i, bools) : sum_overflows(i, bools);
    if (count > 1) overflows = builder_.add(body_, spirv::kAny, builder_.bool_type(1), {overflows});
    marks_.mark(body_, overflows, Finding::signed_overflow);
  }

  static constexpr uint32_t kSignBit = 31;

  SpirvModule& module_;
  SpirvBuilder& builder_;
  FindingMarks& marks_;
  std::vector<Instruction> body_;
  std::map<uint32_t, uint32_t> pairs_;  // by the type of the products
};

}  // namespace

void find_signed_overflow(SpirvModule& module, SpirvBuilder& builder, FindingMarks& marks) {
  OverflowChecks(module, builder, marks).run();
}

}  // namespace vellum::test
