#include "worst_device/shared_races.hpp"

#include <map>
#include <utility>

namespace vellum::test {
namespace {

// The last reader or writer of an element is a word: the number of barriers before, and who it was. Numbers
// of invocations begin with 1, so that a word of zero is nobody's.
constexpr uint32_t kWhoBits = 12, kWhoMask = 0xfff, kSeveral = 0xfff, kAtomic = 0xffe;

class RaceChecks {
 public:
  RaceChecks(SpirvModule& module, SpirvBuilder& builder, FindingMarks& marks)
      : module_(module), builder_(builder), marks_(marks) {}

  std::vector<Instruction> run() {
    for (const Instruction& i : module_.instructions) note(i);
    if (watched_.empty()) return {};
    const uint32_t index = builder_.make_builtin(spirv::kLocalInvocationIndex, type());
    now_ = builder_.private_variable(type());
    for (auto& [variable, watched] : watched_) watch(watched);
    for (Instruction& i : std::exchange(module_.instructions, {})) rewrite(std::move(i));
    module_.instructions = std::move(body_);
    return beginning(index);
  }

 private:
  struct Watched {
    uint32_t count = 1;
    bool is_array = false;
    uint32_t writers = 0, readers = 0;  // shared arrays of words
  };
  // A pointer into a shared variable.
  struct Place {
    uint32_t variable = 0, index = 0;  // the index is 0 for a variable that is no array
  };

  uint32_t type() { return builder_.uint_type(); }
  uint32_t number(uint32_t value) { return builder_.constant(type(), value); }
  uint32_t op(uint32_t opcode, uint32_t a, uint32_t b) { return builder_.add(body_, opcode, type(), {a, b}); }
  uint32_t test(uint32_t opcode, uint32_t a, uint32_t b) {
    return builder_.add(body_, opcode, builder_.bool_type(1), {a, b});
  }
  uint32_t load(uint32_t variable) { return builder_.add(body_, spirv::kLoad, type(), {variable}); }

  void note(const Instruction& i) {
    const std::vector<uint32_t>& o = i.operands;
    if (i.opcode == spirv::kExecutionMode && o[1] == spirv::kLocalSize) invocations_ = o[2] * o[3] * o[4];
    if (i.opcode != spirv::kVariable || o[2] != spirv::kStorageWorkgroup) return;
    Watched watched;
    const SpirvType* content = builder_.type(builder_.type(o[0])->operands[1]);
    if (content->opcode == spirv::kTypeArray) {
      const auto length = builder_.constant_value(content->operands[1]);
      if (!length) return;
      watched.count = *length;
      watched.is_array = true;
    }
    watched_[o[1]] = watched;
    places_[o[1]] = {o[1], 0};
  }

  void watch(Watched& watched) {
    const uint32_t words = builder_.add_type(spirv::kTypeArray, {type(), number(watched.count)});
    watched.writers = builder_.variable(spirv::kStorageWorkgroup, words);
    watched.readers = builder_.variable(spirv::kStorageWorkgroup, words);
  }

  void rewrite(Instruction i) {
    const std::vector<uint32_t>& o = i.operands;
    const bool is_chain = i.opcode == spirv::kAccessChain || i.opcode == spirv::kInBoundsAccessChain;
    if (is_chain && places_.contains(o[2])) {
      Place place = places_.at(o[2]);
      if (place.index == 0 && watched_.at(place.variable).is_array) place.index = o[3];
      places_[o[1]] = place;
    }
    if (i.opcode == spirv::kLoad && places_.contains(o[2])) read(places_.at(o[2]));
    if (i.opcode == spirv::kStore && places_.contains(o[0])) write(places_.at(o[0]), me());
    if (i.opcode == spirv::kAtomicStore && places_.contains(o[0])) write(places_.at(o[0]), atomic());
    if (i.opcode >= spirv::kAtomicLoad && i.opcode <= spirv::kAtomicLast && i.opcode != spirv::kAtomicStore &&
        places_.contains(o[2]))
      write(places_.at(o[2]), atomic());
    const bool is_barrier = i.opcode == spirv::kControlBarrier;
    body_.push_back(std::move(i));
    if (is_barrier)
      body_.push_back({spirv::kStore, {now_, op(spirv::kIAdd, load(now_), number(1u << kWhoBits))}});
  }

  // The variable holds the number of barriers and the own number.
  uint32_t me() { return load(now_); }
  uint32_t time() { return op(spirv::kBitwiseAnd, load(now_), number(~kWhoMask)); }
  uint32_t atomic() { return op(spirv::kBitwiseOr, time(), number(kAtomic)); }

  uint32_t word_of(uint32_t array, const Place& place) {
    const uint32_t pointer = builder_.make_type(spirv::kTypePointer, {spirv::kStorageWorkgroup, type()});
    return builder_.add(body_, spirv::kAccessChain, pointer,
                        {array, place.index == 0 ? number(0) : place.index});
  }
  uint32_t atomic_op(uint32_t opcode, uint32_t word, uint32_t value) {
    return builder_.add(body_, opcode, type(), {word, number(spirv::kScopeWorkgroup), number(0), value});
  }
  uint32_t atomic_load(uint32_t word) {
    return builder_.add(body_, spirv::kAtomicLoad, type(), {word, number(spirv::kScopeWorkgroup), number(0)});
  }

  // Whether the word is another's since the last barrier.
  uint32_t is_of_another(uint32_t word, uint32_t own) {
    const uint32_t difference = op(spirv::kBitwiseXor, word, own);
    const uint32_t same_time = test(spirv::kULessThan, difference, number(1u << kWhoBits));
    return test(spirv::kLogicalAnd, same_time, test(spirv::kINotEqual, difference, number(0)));
  }

  void read(const Place& place) {
    const Watched& watched = watched_.at(place.variable);
    const uint32_t own = me();
    const uint32_t writer = atomic_load(word_of(watched.writers, place));
    marks_.mark(body_, is_of_another(writer, own), Finding::conflicting_accesses);
    const uint32_t readers = word_of(watched.readers, place);
    const uint32_t before = atomic_op(spirv::kAtomicExchange, readers, own);
    const uint32_t several = op(spirv::kBitwiseOr, own, number(kSeveral));
    const uint32_t now =
        builder_.add(body_, spirv::kSelect, type(), {is_of_another(before, own), several, own});
    atomic_op(spirv::kAtomicUMax, readers, now);
  }

  void write(const Place& place, uint32_t own) {
    const Watched& watched = watched_.at(place.variable);
    const uint32_t reader = atomic_load(word_of(watched.readers, place));
    const uint32_t writer = atomic_op(spirv::kAtomicExchange, word_of(watched.writers, place), own);
    const uint32_t either = test(spirv::kLogicalOr, is_of_another(reader, own), is_of_another(writer, own));
    marks_.mark(body_, either, Finding::conflicting_accesses);
  }

  // Nobody has accessed anything. Each invocation clears the elements that are its own number apart.
  std::vector<Instruction> beginning(uint32_t index_variable) {
    body_.clear();
    const uint32_t index = load(index_variable);
    for (const auto& [variable, watched] : watched_)
      for (uint32_t first = 0; first < watched.count; first += invocations_) {
        // Invocations beyond the end clear the last element once more.
        const uint32_t element = op(spirv::kIAdd, index, number(first));
        const uint32_t inside = test(spirv::kULessThan, element, number(watched.count));
        const uint32_t clamped =
            builder_.add(body_, spirv::kSelect, type(), {inside, element, number(watched.count - 1)});
        for (const uint32_t words : {watched.writers, watched.readers})
          body_.push_back({spirv::kStore, {word_of(words, {variable, clamped}), number(0)}});
      }
    const uint32_t first_time = number((1u << kWhoBits) + 1);
    body_.push_back({spirv::kStore, {now_, op(spirv::kIAdd, index, first_time)}});
    const uint32_t workgroup = number(spirv::kScopeWorkgroup);
    body_.push_back(
        {spirv::kControlBarrier, {workgroup, workgroup, number(spirv::kAcquireReleaseWorkgroup)}});
    return std::move(body_);
  }

  SpirvModule& module_;
  SpirvBuilder& builder_;
  FindingMarks& marks_;
  std::vector<Instruction> body_;
  std::map<uint32_t, Watched> watched_;  // by variable
  std::map<uint32_t, Place> places_;     // by pointer
  uint32_t now_ = 0;                     // a private variable
  uint32_t invocations_ = 1;
};

}  // namespace

std::vector<Instruction> find_shared_races(SpirvModule& module, SpirvBuilder& builder, FindingMarks& marks) {
  return RaceChecks(module, builder, marks).run();
}

}  // namespace vellum::test
