#include "exec/streamed_weights.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "exec/device_slot.hpp"
#include "plan/weight_stream.hpp"
#include "program/byte_range.hpp"
#include "vellum/error.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/context.hpp"
#include "vulkan/transfer.hpp"

namespace vellum {
namespace {

// A weight's place on the device. Others may lie there at other times.
struct Slot {
  std::string key;
  DeviceSlot device;
  ByteRange bytes;  // of the arena
  PackedWeight host;
  bool there = false;  // its bytes are on the device
};

}  // namespace

// Shared by the programs of one session.
struct StreamedWeights::Pool {
  std::shared_ptr<gpu::Context> context;
  StreamOptions options;
  FixedConstants constants;
  PackedWeights packed;
  gpu::Uploader uploader;
  std::weak_ptr<gpu::Arena> arena;
  std::vector<std::weak_ptr<Slot>> slots;
  bool running = false;  // one of the programs; between runs: an error cut the last one short

  Pool(const std::shared_ptr<gpu::Context>& device, const StreamOptions& stream_options, FixedConstants known)
      : context(device),
        options(stream_options),
        constants(known),
        packed(stream_options.packed, std::move(known),
               [log = device.get()](LogLevel level, std::string_view message) { log->log(level, message); }),
        uploader(device, stream_options.piece_bytes(),
                 {.staging_buffers = StreamOptions::kPieces,
                  .beside_compute = true,
                  .memory_budget = stream_options.memory_budget}) {}

  uint64_t limit() const { return std::min(options.budget, context->caps().max_allocation_bytes); }
  std::shared_ptr<gpu::Arena> arena_for(uint64_t bytes, uint32_t types);
  std::shared_ptr<Slot> place(std::unique_ptr<Slot> slot, const std::shared_ptr<gpu::Arena>& in);
  void upload(Slot& slot);
  void recover();
};

std::shared_ptr<gpu::Arena> StreamedWeights::Pool::arena_for(uint64_t bytes, uint32_t types) {
  std::shared_ptr<gpu::Arena> shared = arena.lock();
  if (!shared) {
    if (bytes > options.budget) throw Error(ErrorCode::internal, "weights were planned beyond their budget");
    shared =
        std::make_shared<gpu::Arena>(context, bytes, types, gpu::MemoryKind::device,
                                     gpu::MemoryPurpose(gpu::MemoryCategory::weights, options.memory_budget));
    arena = shared;
  }
  return shared;
}

// Two programs that have the same weight at the same offset share one slot.
std::shared_ptr<Slot> StreamedWeights::Pool::place(std::unique_ptr<Slot> slot,
                                                   const std::shared_ptr<gpu::Arena>& in) {
  std::erase_if(slots, [](const auto& known) { return known.expired(); });
  for (const auto& known : slots)
    if (auto same = known.lock();
        same && same->bytes.begin == slot->bytes.begin && same->key == slot->key)
      return same;
  std::shared_ptr<Slot> placed = std::move(slot);
  placed->device.bind(in, placed->bytes.begin);
  slots.push_back(placed);
  return placed;
}

void StreamedWeights::Pool::upload(Slot& slot) {
  for (const auto& known : slots)
    if (auto other = known.lock(); other && other->bytes.overlaps(slot.bytes)) other->there = false;
  if (slot.device.image)
    uploader.upload(*slot.device.image, slot.host.bytes);
  else
    uploader.upload(*slot.device.buffer, 0, slot.host.bytes);
  slot.host.rest();
  slot.there = true;
}

// After a run that was cut short: nobody knows what has arrived, and the device may still be at work.
void StreamedWeights::Pool::recover() {
  if (!running) return;
  uploader.discard();
  context->wait_idle();
  uploader.wait();
  for (const auto& known : slots)
    if (const auto slot = known.lock()) slot->there = false;
  running = false;
}

namespace {

class ProgramStream : public ProgramWeights, public WeightStream {
 public:
  ProgramStream(const Program& program, std::shared_ptr<StreamedWeights::Pool> pool);
  ~ProgramStream() override;

  gpu::BoundResource resource(TensorId id) const override;
  std::vector<std::shared_ptr<gpu::Arena>> arenas() const override;
  WeightStream* stream() override { return slots_.empty() ? nullptr : this; }
  WeightBytes bytes() const override { return bytes_; }

  std::vector<int64_t> segments() const override;
  void begin_run() override;
  const gpu::Semaphore* load(size_t segment, Progress& progress) override;
  void load_ahead(size_t segment, Progress& progress) override;
  void end_run() override;

 private:
  void load_pinned();
  void load_next(Progress& progress);

  const Program& program_;
  std::shared_ptr<StreamedWeights::Pool> pool_;
  std::shared_ptr<gpu::Arena> arena_;
  WeightStreamPlan plan_;
  std::vector<std::shared_ptr<Slot>> slots_;
  std::map<TensorId, uint32_t> slot_of_;
  WeightBytes bytes_;
  std::vector<gpu::Semaphore> arrived_;  // per segment, where the copies have a queue of their own
  std::vector<bool> signalled_;          // per segment: something was copied in this run
  size_t next_ = 0;                      // the segment whose weights are loaded next
  bool unfinished_ = false;              // as Pool::running, of this program
};

ProgramStream::ProgramStream(const Program& program, std::shared_ptr<StreamedWeights::Pool> pool)
    : program_(program), pool_(std::move(pool)) {
  std::vector<std::unique_ptr<Slot>> slots;
  const auto make = [&](TensorId id) -> MemoryNeed {
    auto& slot = slots.emplace_back(std::make_unique<Slot>());
    slot->device = make_slot(pool_->context, program.tensors[id].desc, gpu::Sharing::all_queues);
    const gpu::MemoryRequirements need = slot->device.requirements();
    return {need.size, need.alignment, need.memory_type_bits};
  };
  WeightUses weights =
      weight_uses(program, pool_->constants, make, pool_->context->caps().buffer_image_granularity);
  const std::vector<WeightUse>& uses = weights.uses;
  if (uses.empty()) return;
  slot_of_ = std::move(weights.of_tensor);
  std::vector<const VirtualTensor*> tensors;
  for (const TensorId id : weights.tensors) {
    tensors.push_back(&program.tensors[id]);
    bytes_.in_all += tensors.back()->desc.byte_size();
  }
  const std::shared_ptr<gpu::Arena> taken = pool_->arena.lock();
  plan_ = plan_weight_stream(uses, static_cast<int64_t>(program.tasks.size()),
                             taken ? taken->size() : pool_->limit());
  for (size_t i = 0; i < uses.size(); ++i)
    if (!plan_.pinned[i]) bytes_.streamed += tensors[i]->desc.byte_size();
  std::vector<PackedWeight> packed = pool_->packed.pack(tensors);
  arena_ = pool_->arena_for(plan_.total_bytes, weights.memory_types);
  for (size_t i = 0; i < uses.size(); ++i) {
    Slot& slot = *slots[i];
    slot.key = weights.keys[i];
    slot.bytes = {plan_.offset_of[i], plan_.offset_of[i] + uses[i].bytes};
    slot.host = std::move(packed[i]);
    slots_.push_back(pool_->place(std::move(slots[i]), arena_));
  }
  if (pool_->context->has_transfer_queue())
    for (size_t s = 0; s < plan_.segments.size(); ++s) arrived_.emplace_back(pool_->context);
  signalled_.assign(plan_.segments.size(), false);
}

ProgramStream::~ProgramStream() {
  if (!unfinished_) return;
  try {
    pool_->recover();
  } catch (const Error& error) {
    pool_->context->log(LogLevel::error, error.what());
  }
}

gpu::BoundResource ProgramStream::resource(TensorId id) const {
  const auto found = slot_of_.find(id);
  if (found == slot_of_.end())
    throw Error(ErrorCode::internal, "weight '" + program_.tensors[id].name + "' has no memory");
  return slots_[found->second]->device.resource(program_.tensors[id].desc.byte_size());
}

std::vector<std::shared_ptr<gpu::Arena>> ProgramStream::arenas() const {
  if (!arena_) return {};
  return {arena_};
}

std::vector<int64_t> ProgramStream::segments() const {
  std::vector<int64_t> first_tasks;
  for (const WeightSegment& segment : plan_.segments) first_tasks.push_back(segment.first_task);
  return first_tasks;
}

void ProgramStream::begin_run() {
  pool_->recover();
  // Those that nobody waited for cannot be signalled again.
  if (unfinished_)
    for (gpu::Semaphore& semaphore : arrived_) semaphore = gpu::Semaphore(pool_->context);
  pool_->running = unfinished_ = true;
  next_ = 0;
  signalled_.assign(plan_.segments.size(), false);
}

// In the first run, and where another program has overwritten them.
void ProgramStream::load_pinned() {
  for (size_t i = 0; i < slots_.size(); ++i)
    if (plan_.pinned[i] && !slots_[i]->there) pool_->upload(*slots_[i]);
}

void ProgramStream::load_next(Progress& progress) {
  const size_t segment = next_++;
  const WeightSegment& at = plan_.segments[segment];
  if (segment == 0) load_pinned();
  bool waited = at.free_after < 0;
  for (const uint32_t use : at.loads) {
    Slot& slot = *slots_[use];
    if (slot.there) continue;
    if (!waited) progress.wait_for(static_cast<size_t>(at.free_after));
    waited = true;
    pool_->upload(slot);
  }
  const gpu::Semaphore* arrived = arrived_.empty() ? nullptr : &arrived_[segment];
  signalled_[segment] = pool_->uploader.submit(arrived);
}

const gpu::Semaphore* ProgramStream::load(size_t segment, Progress& progress) {
  while (next_ <= segment) load_next(progress);
  return signalled_[segment] && !arrived_.empty() ? &arrived_[segment] : nullptr;
}

// The next segment in any case, so that the device finds its work ready; then more, as long as nobody waits.
void ProgramStream::load_ahead(size_t segment, Progress& progress) {
  const auto now = static_cast<int64_t>(segment);
  while (next_ < plan_.segments.size() && plan_.segments[next_].free_after < now &&
         (next_ == segment + 1 || !progress.has_run(segment)))
    load_next(progress);
}

void ProgramStream::end_run() {
  pool_->uploader.wait();
  pool_->running = unfinished_ = false;
}

}  // namespace

StreamedWeights::StreamedWeights(const std::shared_ptr<gpu::Context>& context, const StreamOptions& options,
                                 FixedConstants constants)
    : pool_(std::make_shared<Pool>(context, options, std::move(constants))) {}
StreamedWeights::~StreamedWeights() = default;

std::unique_ptr<ProgramWeights> StreamedWeights::acquire(const Program& program, const Progress*) {
  return std::make_unique<ProgramStream>(program, pool_);
}

}  // namespace vellum
