#include "worst_device/execution_order.hpp"

#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "worst_device/spirv_builder.hpp"

namespace vellum::test {
namespace {

class OrderChange {
 public:
  OrderChange(SpirvModule& module, WorkgroupOrder workgroups, bool reverse_invocations)
      : module_(module), builder_(module), workgroups_(workgroups) {
    for (const Instruction& i : module.instructions) {
      if (i.opcode == spirv::kEntryPoint) entry_ = i.operands[1];
      if (i.opcode == spirv::kExecutionMode && i.operands[1] == spirv::kLocalSize)
        size_ = {i.operands[2], i.operands[3], i.operands[4]};
    }
    reversed_ = reverse_invocations &&
                !builder_.has_capability(spirv::kCapabilitySubgroups, spirv::kCapabilitySubgroupQuad);
  }

  void run() {
    number_workgroups();
    number_invocations();
    if (replaced_.empty()) return;
    for (Instruction& i : module_.instructions) replace(i);
    insert_into_entry();
    builder_.finish();
  }

 private:
  uint32_t vector_type() { return builder_.uint_vector_type(3); }
  uint32_t load(uint32_t number) {
    return builder_.add(body_, spirv::kLoad, vector_type(), {builder_.make_builtin(number, vector_type())});
  }
  uint32_t op(uint32_t opcode, uint32_t a, uint32_t b) {
    return builder_.add(body_, opcode, builder_.uint_type(), {a, b});
  }
  uint32_t op3(uint32_t opcode, uint32_t a, uint32_t b) {
    return builder_.add(body_, opcode, vector_type(), {a, b});
  }
  uint32_t part(uint32_t vector, uint32_t index) {
    return builder_.add(body_, spirv::kCompositeExtract, builder_.uint_type(), {vector, index});
  }
  uint32_t number(uint32_t value) { return builder_.constant(builder_.uint_type(), value); }
  uint32_t vector(uint32_t x, uint32_t y, uint32_t z) {
    return builder_.add(body_, spirv::kCompositeConstruct, vector_type(), {x, y, z});
  }

  // A variable that is read in place of the built-in.
  void store(uint32_t built_in, uint32_t type, uint32_t value) {
    const std::optional<uint32_t> known = builder_.builtin(built_in);
    if (!known) return;
    const uint32_t variable = builder_.private_variable(type);
    body_.push_back({spirv::kStore, {variable, value}});
    replaced_[*known] = variable;
  }

  // 127 and 131 are primes, so that a multiple of all numbers by one of them is a permutation modulo a count
  // that it does not divide.
  uint32_t mixed(uint32_t index, uint32_t count) {
    const uint32_t bool_type = builder_.bool_type(1);
    const auto usable = [&](uint32_t prime, uint32_t otherwise) {
      const uint32_t rest = op(spirv::kUMod, count, number(prime));
      const uint32_t divides = builder_.add(body_, spirv::kIEqual, bool_type, {rest, number(0)});
      return builder_.add(body_, spirv::kSelect, builder_.uint_type(), {divides, otherwise, number(prime)});
    };
    const uint32_t factor = usable(127, usable(131, number(1)));
    return op(spirv::kUMod, op(spirv::kIMul, index, factor), count);
  }

  uint32_t mixed_workgroup(uint32_t id, uint32_t counts) {
    const uint32_t x = part(counts, 0), y = part(counts, 1), z = part(counts, 2);
    const uint32_t plane = op(spirv::kIMul, x, y);
    const uint32_t row = op(spirv::kIMul, part(id, 1), x);
    const uint32_t before = op(spirv::kIMul, part(id, 2), plane);
    const uint32_t index = op(spirv::kIAdd, part(id, 0), op(spirv::kIAdd, row, before));
    const uint32_t other = mixed(index, op(spirv::kIMul, plane, z));
    return vector(op(spirv::kUMod, other, x), op(spirv::kUMod, op(spirv::kUDiv, other, x), y),
                  op(spirv::kUDiv, other, plane));
  }

  void number_workgroups() {
    if (workgroups_ == WorkgroupOrder::as_numbered) return;
    if (!builder_.builtin(spirv::kWorkgroupId) && !builder_.builtin(spirv::kGlobalInvocationId)) return;
    const uint32_t id = load(spirv::kWorkgroupId), counts = load(spirv::kNumWorkgroups);
    workgroup_ = workgroups_ == WorkgroupOrder::mixed
                     ? mixed_workgroup(id, counts)
                     : op3(spirv::kISub, op3(spirv::kISub, counts, builder_.splat(vector_type(), 1)), id);
    store(spirv::kWorkgroupId, vector_type(), workgroup_);
  }

  void number_invocations() {
    uint32_t local = 0;
    if (reversed_) {
      if (builder_.builtin(spirv::kLocalInvocationIndex)) {
        const uint32_t variable = *builder_.builtin(spirv::kLocalInvocationIndex);
        const uint32_t index = builder_.add(body_, spirv::kLoad, builder_.uint_type(), {variable});
        store(spirv::kLocalInvocationIndex, builder_.uint_type(),
              op(spirv::kISub, number(size_[0] * size_[1] * size_[2] - 1), index));
      }
      local = op3(spirv::kISub, vector(number(size_[0] - 1), number(size_[1] - 1), number(size_[2] - 1)),
                  load(spirv::kLocalInvocationId));
      store(spirv::kLocalInvocationId, vector_type(), local);
    }
    if ((local == 0 && workgroup_ == 0) || !builder_.builtin(spirv::kGlobalInvocationId)) return;
    if (local == 0) local = load(spirv::kLocalInvocationId);
    if (workgroup_ == 0) workgroup_ = load(spirv::kWorkgroupId);
    const uint32_t size = vector(number(size_[0]), number(size_[1]), number(size_[2]));
    store(spirv::kGlobalInvocationId, vector_type(),
          op3(spirv::kIAdd, op3(spirv::kIMul, workgroup_, size), local));
  }

  void replace(Instruction& i) {
    const bool is_chain = i.opcode == spirv::kAccessChain || i.opcode == spirv::kInBoundsAccessChain;
    if (!is_chain && i.opcode != spirv::kLoad) return;
    const auto found = replaced_.find(i.operands[2]);
    if (found == replaced_.end()) return;
    i.operands[2] = found->second;
    if (is_chain)
      i.operands[0] = builder_.make_type(spirv::kTypePointer, {spirv::kStoragePrivate, builder_.uint_type()});
  }

  // After the variables of the entry point's first block.
  void insert_into_entry() {
    bool is_entry = false;
    for (auto i = module_.instructions.begin(); i != module_.instructions.end(); ++i) {
      if (i->opcode == spirv::kFunction) is_entry = i->operands[1] == entry_;
      if (!is_entry || i->opcode != spirv::kLabel) continue;
      ++i;
      while (i->opcode == spirv::kVariable) ++i;
      module_.instructions.insert(i, std::make_move_iterator(body_.begin()),
                                  std::make_move_iterator(body_.end()));
      return;
    }
  }

  SpirvModule& module_;
  SpirvBuilder builder_;
  const WorkgroupOrder workgroups_;
  bool reversed_ = false;
  uint32_t entry_ = 0, workgroup_ = 0;
  std::array<uint32_t, 3> size_{1, 1, 1};
  std::vector<Instruction> body_;
  std::map<uint32_t, uint32_t> replaced_;
};

}  // namespace

void change_order(SpirvModule& module, WorkgroupOrder workgroups, bool reverse_invocations) {
  OrderChange(module, workgroups, reverse_invocations).run();
}

}  // namespace vellum::test
