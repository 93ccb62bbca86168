#include "worst_device/out_of_bounds.hpp"

#include <map>
#include <utility>
#include <vector>

#include "worst_device/spirv_builder.hpp"

namespace vellum::test {
namespace {

class BoundsChange {
 public:
  explicit BoundsChange(SpirvModule& module) : module_(module), builder_(module) {}

  void run() {
    std::vector<Instruction> before = std::exchange(module_.instructions, {});
    for (Instruction& i : before) rewrite(std::move(i));
    module_.instructions = std::move(body_);
    if (queries_images_) builder_.make_capability(spirv::kCapabilityImageQuery);
    builder_.finish();
  }

 private:
  // An element of an array at the end of a buffer.
  struct Element {
    uint32_t buffer = 0, member = 0, index = 0;
  };

  void rewrite(Instruction i) {
    if (i.opcode == spirv::kAccessChain || i.opcode == spirv::kInBoundsAccessChain) note_element(i);
    if (i.opcode == spirv::kLoad && elements_.contains(i.operands[2])) return load(std::move(i));
    if (i.opcode == spirv::kImageRead || i.opcode == spirv::kImageFetch) return read_image(std::move(i));
    body_.push_back(std::move(i));
  }

  void note_element(const Instruction& i) {
    const SpirvType* pointer = builder_.type(builder_.type_of(i.operands[2]));
    if (!pointer || pointer->opcode != spirv::kTypePointer || i.operands.size() < 5) return;
    const SpirvType* buffer = builder_.type(pointer->operands[1]);
    const auto member = builder_.constant_value(i.operands[3]);
    if (!buffer || buffer->opcode != spirv::kTypeStruct || !member) return;
    const SpirvType* array = builder_.type(buffer->operands[*member]);
    if (array && array->opcode == spirv::kTypeRuntimeArray)
      elements_[i.operands[1]] = {i.operands[2], *member, i.operands[4]};
  }

  bool has_garbage(uint32_t type) const {
    const SpirvType* found = builder_.type(type);
    if (found && found->opcode == spirv::kTypeVector) found = builder_.type(found->operands[0]);
    return found && (found->opcode == spirv::kTypeFloat || found->opcode == spirv::kTypeInt) &&
           found->operands[0] == 32;
  }

  // Gives `result` the value where the condition holds, and garbage elsewhere.
  void select(uint32_t type, uint32_t result, uint32_t condition, uint32_t value) {
    constexpr uint32_t kNaN = 0x7fff7fff;  // also of two halves
    const uint32_t count = builder_.components(type);
    if (count > 1)
      condition = builder_.add(body_, spirv::kCompositeConstruct, builder_.bool_type(count),
                               std::vector<uint32_t>(count, condition));
    body_.push_back({spirv::kSelect, {type, result, condition, value, builder_.splat(type, kNaN)}});
  }

  void load(Instruction i) {
    const uint32_t type = i.operands[0], result = i.operands[1];
    const Element element = elements_.at(i.operands[2]);
    if (!has_garbage(type)) return body_.push_back(std::move(i));
    const uint32_t loaded = i.operands[1] = module_.new_id();
    body_.push_back(std::move(i));
    const uint32_t length =
        builder_.add(body_, spirv::kArrayLength, builder_.uint_type(), {element.buffer, element.member});
    const uint32_t inside =
        builder_.add(body_, spirv::kULessThan, builder_.bool_type(1), {element.index, length});
    select(type, result, inside, loaded);
  }

  void read_image(Instruction i) {
    const uint32_t type = i.operands[0], result = i.operands[1], image = i.operands[2];
    const uint32_t coordinates = i.operands[3], coordinate_type = builder_.type_of(coordinates);
    const SpirvType* image_type = builder_.type(builder_.type_of(image));
    if (!has_garbage(type) || coordinate_type == 0 || !image_type || image_type->opcode != spirv::kTypeImage)
      return body_.push_back(std::move(i));
    constexpr uint32_t kBufferDimension = 5, kWithSampler = 1;
    const bool has_levels =
        image_type->operands[5] == kWithSampler && image_type->operands[1] != kBufferDimension;
    const uint32_t read = i.operands[1] = module_.new_id();
    body_.push_back(std::move(i));
    queries_images_ = true;
    const uint32_t size = has_levels ? builder_.add(body_, spirv::kImageQuerySizeLod, coordinate_type,
                                                    {image, builder_.constant(builder_.uint_type(), 0)})
                                     : builder_.add(body_, spirv::kImageQuerySize, coordinate_type, {image});
    const uint32_t count = builder_.components(coordinate_type);
    uint32_t inside = builder_.add(body_, spirv::kULessThan, builder_.bool_type(count), {coordinates, size});
    if (count > 1) inside = builder_.add(body_, spirv::kAll, builder_.bool_type(1), {inside});
    select(type, result, inside, read);
  }

  SpirvModule& module_;
  SpirvBuilder builder_;
  std::vector<Instruction> body_;
  std::map<uint32_t, Element> elements_;  // by the pointer
  bool queries_images_ = false;
};

}  // namespace

void read_garbage_out_of_bounds(SpirvModule& module) { BoundsChange(module).run(); }

}  // namespace vellum::test
