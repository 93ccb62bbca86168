#include "exec/device_tensors.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace vellum {

namespace {

// For debuggers: the tensors in order of first use, "conv1, relu3".
std::string names_of(const Program& program, const SharedObject& object) {
  std::string names;
  for (const TensorId id : object.tensors) names += (names.empty() ? "" : ", ") + program.tensors[id].name;
  return names;
}

}  // namespace

MemoryRules device_rules(const std::shared_ptr<gpu::Context>& context) {
  // Planners ask again and again, and where Vulkan has no maintenance4 each answer costs an image.
  using Key = std::tuple<Storage, ElementType, uint32_t, uint32_t, uint32_t, uint64_t>;
  const auto known = std::make_shared<std::map<Key, MemoryNeed>>();
  const auto need = [context, known](const ObjectDesc& object) -> MemoryNeed {
    const auto [width, height, depth] = object.extent;
    const bool buffer = object.kind == Storage::buffer;
    const Key key{object.kind, object.element, width, height, depth, buffer ? object.bytes : 0};
    if (const auto found = known->find(key); found != known->end()) return found->second;
    const gpu::MemoryRequirements found =
        buffer ? gpu::buffer_requirements(*context, object.bytes)
               : gpu::image_requirements(*context, image_desc(object.kind, object.element, object.extent));
    return (*known)[key] = {found.size, found.alignment, found.memory_type_bits};
  };
  return {need, context->caps().buffer_image_granularity, context->caps().max_allocation_bytes};
}

DeviceTensors::DeviceTensors(std::shared_ptr<gpu::Context> context, const Program& program,
                             const MemoryPlan& plan, std::shared_ptr<gpu::MemoryBudget> memory_budget,
                             std::shared_ptr<StateMemory> state)
    : context_(std::move(context)),
      program_(&program),
      plan_(&plan),
      memory_budget_(std::move(memory_budget)),
      state_(std::move(state)) {
  if (!state_ && !program.states.empty())
    state_ = std::make_shared<StateMemory>(context_, program, memory_budget_);
  make_inputs_and_outputs();
}

void DeviceTensors::make_objects(std::span<const std::shared_ptr<gpu::Arena>> arenas) {
  Slots objects;
  objects.reserve(plan_->objects.size());
  for (const SharedObject& object : plan_->objects) {
    DeviceSlot& slot = objects.emplace_back();
    if (object.kind == Storage::buffer)
      slot.buffer = std::make_unique<gpu::Buffer>(context_, object.bytes);
    else
      slot.image =
          std::make_unique<gpu::Image>(context_, image_desc(object.kind, object.element, object.extent));
    slot.bind(arenas[object.place.arena], object.place.offset);
    if (context_->has_debug_labels()) slot.set_name(*context_, names_of(*program_, object));
  }
  objects_ = std::make_shared<const Slots>(std::move(objects));
}

void DeviceTensors::make_inputs_and_outputs() {
  Slots slots(program_->tensors.size());
  std::vector<DeviceSlot*> inputs, outputs;
  for (TensorId id = 0; id < slots.size(); ++id) {
    const TensorRole role = program_->tensors[id].role;
    if (program_->root(id) != id || (role != TensorRole::input && role != TensorRole::output)) continue;
    slots[id] = make_slot(context_, program_->tensors[id].desc);
    slots[id].set_name(*context_, program_->tensors[id].name);
    (role == TensorRole::input ? inputs : outputs).push_back(&slots[id]);
  }
  const gpu::MemoryPurpose purpose(gpu::MemoryCategory::in_out, memory_budget_);
  in_out_bytes_ = bind_together(context_, std::move(inputs), gpu::MemoryKind::upload, purpose) +
                  bind_together(context_, std::move(outputs), gpu::MemoryKind::readback, purpose);
  own_ = std::make_shared<const Slots>(std::move(slots));
}

std::shared_ptr<gpu::Arena> DeviceTensors::in_out_arena() const {
  for (const DeviceSlot& slot : *own_)
    if (slot.buffer || slot.image) return slot.arena();
  return nullptr;
}

const DeviceSlot& DeviceTensors::slot(TensorId id) const {
  const uint32_t object = plan_->object_of[id];
  const TensorId root = program_->root(id);
  if (program_->tensors[root].role == TensorRole::state) {
    const auto state = std::ranges::find(program_->states, root, &StateTensor::tensor);
    return state_->slot(static_cast<size_t>(state - program_->states.begin()));
  }
  const DeviceSlot& slot = object != kNoObject ? objects_->at(object) : own_->at(root);
  if (!slot.buffer && !slot.image)
    throw Error(ErrorCode::internal, "tensor '" + program_->tensors[id].name + "' has no memory");
  return slot;
}

gpu::BoundResource DeviceTensors::resource(TensorId id) const {
  const TensorId root = program_->root(id);
  if (program_->tensors[root].role == TensorRole::weight) return weights_->resource(root);
  return slot(id).resource(program_->tensors[id].desc.byte_size(), program_->offset(id));
}

const gpu::Buffer& DeviceTensors::buffer(TensorId id) const {
  const DeviceSlot& found = slot(id);
  if (!found.buffer || program_->offset(id) != 0)
    throw Error(ErrorCode::internal, "tensor '" + program_->tensors[id].name + "' has no buffer of its own");
  return *found.buffer;
}

const gpu::Image& DeviceTensors::object_image(uint32_t object) const { return *objects_->at(object).image; }

}  // namespace vellum
