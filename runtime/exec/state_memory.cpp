#include "exec/state_memory.hpp"

#include <algorithm>
#include <utility>

#include "exec/host_values.hpp"
#include "graph/byte_rows.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/context.hpp"
#include "vulkan/staging.hpp"
#include "vulkan/transfer.hpp"

namespace vellum {
namespace {

std::vector<TensorDesc> descs_of(const Program& program) {
  std::vector<TensorDesc> descs;
  for (const StateTensor& state : program.states) descs.push_back(program.tensors[state.tensor].desc);
  return descs;
}

std::vector<StateRows> rows_of_states(const Program& program) {
  std::vector<StateRows> rows;
  for (const StateTensor& state : program.states) rows.push_back(state.rows);
  return rows;
}

HostTensor as_stored(const StateRows& rows, const HostTensor& values) {
  if (rows.format == RowFormat::floats) return values;
  return rows.format == RowFormat::scaled_bytes ? to_byte_rows(values, rows.channels) : pack_bytes(values);
}

HostTensor from_stored(const StateRows& rows, const HostTensor& stored, DType dtype) {
  if (rows.format == RowFormat::floats) return stored;
  return rows.format == RowFormat::scaled_bytes ? cast(from_byte_rows(stored, rows.channels), dtype)
                                                : unpack_bytes(stored, dtype);
}

std::vector<std::string> names_of_states(const Program& program) {
  std::vector<std::string> names;
  for (const StateTensor& state : program.states) names.push_back(program.tensors[state.tensor].name);
  return names;
}

// Records copies or fills between the runs before and the runs after, and waits for them.
template <typename Record>
void run_between(const std::shared_ptr<gpu::Context>& context, const Record& record) {
  gpu::CommandBuffer commands(context);
  commands.begin(true);
  commands.barrier(gpu::kComputeReadWrite | gpu::kTransferWrite, gpu::kTransferRead | gpu::kTransferWrite);
  record(commands);
  commands.barrier(gpu::kTransferWrite, gpu::kComputeReadWrite | gpu::kTransferRead | gpu::kTransferWrite);
  commands.end();
  gpu::submit_and_wait(*context, commands);
}

}  // namespace

StateMemory::StateMemory(std::shared_ptr<gpu::Context> context, const Program& program,
                         std::shared_ptr<gpu::MemoryBudget> memory_budget)
    : StateMemory(std::move(context), descs_of(program), rows_of_states(program), names_of_states(program),
                  std::move(memory_budget)) {
  fill_with_zeros();
}

StateMemory::StateMemory(std::shared_ptr<gpu::Context> context, std::vector<TensorDesc> descs,
                         std::vector<StateRows> rows, std::vector<std::string> names,
                         std::shared_ptr<gpu::MemoryBudget> memory_budget)
    : context_(std::move(context)),
      descs_(std::move(descs)),
      rows_(std::move(rows)),
      names_(std::move(names)),
      memory_budget_(std::move(memory_budget)),
      slots_(descs_.size()) {
  std::vector<DeviceSlot*> slots;
  for (size_t i = 0; i < descs_.size(); ++i) {
    slots_[i] = make_slot(context_, descs_[i]);
    slots_[i].set_name(*context_, names_[i]);
    slots.push_back(&slots_[i]);
  }
  bytes_ = bind_together(context_, std::move(slots), gpu::MemoryKind::device,
                         {gpu::MemoryCategory::state, memory_budget_});
}

bool StateMemory::has_descs_of(const Program& program) const {
  return descs_ == descs_of(program) && rows_ == rows_of_states(program);
}

bool StateMemory::has_descs_of(const StateMemory& other) const {
  return descs_ == other.descs_ && rows_ == other.rows_;
}

std::shared_ptr<StateMemory> StateMemory::copy() const {
  std::shared_ptr<StateMemory> made(new StateMemory(context_, descs_, rows_, names_, nullptr));
  made->copy_from(*this);
  return made;
}

void StateMemory::copy_from(const StateMemory& other) {
  run_between(context_, [&](gpu::CommandBuffer& commands) {
    for (size_t i = 0; i < slots_.size(); ++i)
      commands.copy(*other.slots_[i].buffer, 0, *slots_[i].buffer, 0, descs_[i].byte_size());
  });
}

void StateMemory::fill_with_zeros() {
  run_between(context_, [&](gpu::CommandBuffer& commands) {
    for (const DeviceSlot& slot : slots_) commands.fill(*slot.buffer, 0, slot.buffer->size(), 0);
  });
}

void StateMemory::write(size_t state, const HostTensor& values) {
  const TensorDesc& desc = descs_[state];
  std::vector<std::byte> bytes(desc.byte_size());
  write_linear(desc, as_stored(rows_[state], values), bytes);
  gpu::Uploader uploader(context_, staged_bytes(bytes.size()), {.memory_budget = memory_budget_});
  uploader.upload(*slots_[state].buffer, 0, bytes);
  uploader.finish();
}

HostTensor StateMemory::read(size_t state, DType dtype) const {
  const TensorDesc& desc = descs_[state];
  const bool in_words = rows_[state].format != RowFormat::floats;
  const HostTensor stored = read_linear(desc, {in_words ? DType::i32 : dtype, desc.shape},
                                        gpu::download(context_, *slots_[state].buffer, memory_budget_));
  return from_stored(rows_[state], stored, dtype);
}

}  // namespace vellum
