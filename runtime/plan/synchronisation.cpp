#include "plan/synchronisation.hpp"

#include <set>

namespace vellum {
namespace {

// What a tensor's bytes lie in: a shared object, or memory of its own (inputs, outputs, weights).
struct Resource {
  bool shared;
  uint32_t index;
  auto operator<=>(const Resource&) const = default;
};

class HazardTracker {
 public:
  HazardTracker(const Program& program, const MemoryPlan& plan) : program_(program), plan_(plan) {}

  Resource resource(TensorId id) const {
    return plan_.object_of[id] != kNoObject ? Resource{true, plan_.object_of[id]} : Resource{false, program_.root(id)};
  }
  bool needs_barrier(TensorId id, Access access) const {
    const Resource r = resource(id);
    return written_.count(r) || (access != Access::read && read_.count(r));
  }
  void note(TensorId id, Access access) {
    if (access != Access::write) read_.insert(resource(id));
    if (access != Access::read) written_.insert(resource(id));
  }
  void clear() {
    read_.clear();
    written_.clear();
  }

 private:
  const Program& program_;
  const MemoryPlan& plan_;
  std::set<Resource> read_, written_;
};

}  // namespace

std::vector<TaskSync> synchronise(const Program& program, const MemoryPlan& plan) {
  std::vector<TaskSync> syncs(program.tasks.size());
  HazardTracker hazards(program, plan);
  for (size_t t = 0; t < program.tasks.size(); ++t) {
    if (program.tasks[t].host) {  // the queue is waited for on both sides of a host call
      hazards.clear();
      continue;
    }
    const Dispatch& dispatch = *program.tasks[t].dispatch;
    TaskSync& sync = syncs[t];
    for (const Binding& binding : dispatch.bindings) {
      sync.barrier |= hazards.needs_barrier(binding.tensor, binding.access);
      const uint32_t object = plan.object_of[binding.tensor];
      const bool begins = object != kNoObject && binding.access != Access::read &&
                          plan.lifetimes[binding.tensor].first == static_cast<int64_t>(t);
      if (begins && plan.objects[object].kind != Storage::buffer) sync.discarded_objects.push_back(object);
    }
    if (sync.barrier) hazards.clear();
    for (const Binding& binding : dispatch.bindings) hazards.note(binding.tensor, binding.access);
  }
  return syncs;
}

}  // namespace vellum
