#include "plan/synchronisation.hpp"

#include <algorithm>
#include <sstream>

#include "program/byte_range.hpp"

namespace vellum {
namespace {

// The memory of a tensor: bytes of an arena, or of an allocation of its own (inputs, outputs, weights).
struct Region {
  bool planned;
  uint32_t index;  // of the arena, or the tensor
  ByteRange bytes;

  bool overlaps(const Region& other) const {
    return planned == other.planned && index == other.index && bytes.overlaps(other.bytes);
  }
};

class HazardTracker {
 public:
  HazardTracker(const Program& program, const MemoryPlan& plan) : program_(program), plan_(plan) {}

  bool needs_barrier(TensorId id, Access access) const {
    const Region r = region(id);
    const auto overlaps = [&](const Region& other) { return r.overlaps(other); };
    return std::any_of(written_.begin(), written_.end(), overlaps) ||
           (access != Access::read && std::any_of(read_.begin(), read_.end(), overlaps));
  }
  void note(TensorId id, Access access) {
    if (access != Access::write) read_.push_back(region(id));
    if (access != Access::read) written_.push_back(region(id));
  }
  void clear() {
    read_.clear();
    written_.clear();
  }

 private:
  Region region(TensorId id) const {
    const uint32_t index = plan_.object_of[id];
    const TensorDesc& desc = program_.tensors[id].desc;
    const uint64_t offset = program_.offset(id);
    if (index == kNoObject) return {false, program_.root(id), {offset, offset + desc.byte_size()}};
    const SharedObject& object = plan_.objects[index];
    const uint64_t begin = object.place.offset + offset;
    // The layout of an image's bytes is known to the device alone: all of them count.
    const bool buffer = object.kind == Storage::buffer;
    return {true, object.place.arena, {begin, begin + (buffer ? desc.byte_size() : object.need.bytes)}};
  }

  const Program& program_;
  const MemoryPlan& plan_;
  std::vector<Region> read_, written_;
};

}  // namespace

std::vector<TaskSync> synchronise(const Program& program, const MemoryPlan& plan) {
  std::vector<TaskSync> syncs(program.tasks.size());
  HazardTracker hazards(program, plan);
  // The task of the last barrier, or the first task after a wait for the queue. An object that a task
  // discards without a hazard has not been used since then, so its transition joins that barrier. This keeps
  // independent branches without a barrier between them.
  size_t opening = 0;
  for (size_t t = 0; t < program.tasks.size(); ++t) {
    if (program.tasks[t].host) {  // the host waits for the queue
      hazards.clear();
      opening = t + 1;
      continue;
    }
    const Dispatch& dispatch = *program.tasks[t].dispatch;
    TaskSync& sync = syncs[t];
    std::vector<uint32_t> discarded;
    for (const Binding& binding : dispatch.bindings) {
      sync.barrier |= hazards.needs_barrier(binding.tensor, binding.access);
      const uint32_t object = plan.object_of[binding.tensor];
      // An in-place output is not a new tensor: the image's content is its input.
      const bool begins = object != kNoObject && binding.access != Access::read &&
                          program.tensors[program.root(binding.tensor)].in_place_of == kNoTensor &&
                          plan.lifetimes[binding.tensor].first == static_cast<int64_t>(t);
      if (begins && plan.objects[object].kind != Storage::buffer) discarded.push_back(object);
    }
    if (sync.barrier) {
      hazards.clear();
      opening = t;
    }
    std::vector<uint32_t>& begun = syncs[opening].discarded_objects;
    begun.insert(begun.end(), discarded.begin(), discarded.end());
    for (const Binding& binding : dispatch.bindings) hazards.note(binding.tensor, binding.access);
  }
  return syncs;
}

std::string to_text(const std::vector<TaskSync>& barriers, const Program& program) {
  std::ostringstream out;
  size_t count = 0;
  for (size_t t = 0; t < barriers.size(); ++t) {
    if (!barriers[t].needs_command()) continue;
    out << "before task " << t << " '" << node_name(program.tasks[t]) << "'";
    if (!barriers[t].barrier) out << ", without waiting";
    for (size_t i = 0; i < barriers[t].discarded_objects.size(); ++i)
      out << (i == 0 ? ", discards objects " : " ") << barriers[t].discarded_objects[i];
    out << "\n";
    ++count;
  }
  out << count << " barriers for " << barriers.size() << " tasks\n";
  return out.str();
}

}  // namespace vellum
