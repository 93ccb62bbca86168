#include "plan/memory_plan.hpp"

#include <algorithm>
#include <sstream>

#include "vellum/error.hpp"

namespace vellum {
namespace {

planner::TexelFormat texel_format(ElementType element) {
  return {static_cast<uint32_t>(element), static_cast<uint32_t>(4 * size_of(element))};
}

planner::Size planner_size(const TensorDesc& desc) {
  if (desc.storage == Storage::buffer) return planner::Bytes{desc.byte_size()};
  const Extent3 e = desc.extent();
  if (desc.storage == Storage::image2d) return planner::Texture2D{e.width, e.height, texel_format(desc.element)};
  return planner::Texture3D{e.width, e.height, e.depth, texel_format(desc.element)};
}

SharedObject shared_object(const planner::Size& size) {
  SharedObject object;
  object.bytes = planner::byte_size(size);
  if (const auto* image = std::get_if<planner::Texture2D>(&size)) {
    object.kind = Storage::image2d;
    object.element = static_cast<ElementType>(image->format.id);
    object.extent = {image->width, image->height, 1};
  } else if (const auto* volume = std::get_if<planner::Texture3D>(&size)) {
    object.kind = Storage::image3d;
    object.element = static_cast<ElementType>(volume->format.id);
    object.extent = {volume->width, volume->height, volume->depth};
  }
  return object;
}

template <typename Visit>
void visit_tensors(const Task& task, Visit visit) {
  if (task.dispatch)
    for (const Binding& binding : task.dispatch->bindings) visit(binding.tensor);
  if (task.host) {
    for (TensorId id : task.host->inputs)
      if (id != kNoTensor) visit(id);
    for (TensorId id : task.host->outputs) visit(id);
  }
}

void extend(Lifetime& lifetime, int64_t task) {
  if (!lifetime.planned()) lifetime.first = task;
  lifetime.last = task;
}

}  // namespace

std::string_view name(MemoryMode mode) { return mode == MemoryMode::naive ? "naive" : "shared-objects"; }

std::vector<Lifetime> lifetimes(const Program& program) {
  std::vector<Lifetime> of_root(program.tensors.size());
  for (size_t t = 0; t < program.tasks.size(); ++t)
    visit_tensors(program.tasks[t], [&](TensorId id) {
      const TensorId root = program.root(id);
      const TensorRole role = program.tensors[root].role;
      if (role == TensorRole::intermediate || role == TensorRole::workspace)
        extend(of_root[root], static_cast<int64_t>(t));
    });
  std::vector<Lifetime> all(program.tensors.size());
  for (TensorId id = 0; id < all.size(); ++id) all[id] = of_root[program.root(id)];
  return all;
}

UsageRecords usage_records(const Program& program) {
  UsageRecords usage;
  const std::vector<Lifetime> all = lifetimes(program);
  for (TensorId id = 0; id < program.tensors.size(); ++id) {
    if (program.root(id) != id || !all[id].planned()) continue;
    usage.records.push_back({planner_size(program.tensors[id].desc), all[id].first, all[id].last});
    usage.tensors.push_back(id);
  }
  return usage;
}

MemoryPlan plan_memory(const Program& program, MemoryMode mode, planner::ObjectStrategy strategy, uint64_t alignment) {
  const UsageRecords usage = usage_records(program);
  const planner::PlanOptions options{.alignment = alignment};
  if (mode == MemoryMode::naive) strategy = planner::ObjectStrategy::naive;
  const planner::ObjectPlan assignment = planner::plan_objects(usage.records, strategy, options);
  planner::validate(usage.records, assignment, options);

  MemoryPlan plan;
  plan.mode = mode;
  plan.strategy = planner::name(strategy);
  plan.lifetimes = lifetimes(program);
  plan.naive_bytes = planner::naive_bytes(usage.records, options);
  plan.lower_bound_bytes = planner::objects_lower_bound(usage.records, options);
  plan.planned_bytes = assignment.total_bytes;
  for (const planner::Size& size : assignment.objects) plan.objects.push_back(shared_object(size));
  std::vector<uint32_t> of_root(program.tensors.size(), kNoObject);
  for (size_t i = 0; i < usage.tensors.size(); ++i) {
    of_root[usage.tensors[i]] = assignment.object_of[i];
    plan.objects[assignment.object_of[i]].tensors.push_back(usage.tensors[i]);
  }
  for (SharedObject& object : plan.objects)
    std::stable_sort(object.tensors.begin(), object.tensors.end(), [&](TensorId a, TensorId b) {
      return plan.lifetimes[a].first < plan.lifetimes[b].first;
    });
  plan.object_of.resize(program.tensors.size());
  for (TensorId id = 0; id < plan.object_of.size(); ++id) plan.object_of[id] = of_root[program.root(id)];
  return plan;
}

std::string to_text(const MemoryPlan& plan, const Program& program) {
  std::ostringstream out;
  for (size_t i = 0; i < plan.objects.size(); ++i) {
    const SharedObject& object = plan.objects[i];
    out << i << "  " << name(object.kind) << " ";
    if (object.kind != Storage::buffer) {
      out << object.extent.width << "x" << object.extent.height;
      if (object.kind == Storage::image3d) out << "x" << object.extent.depth;
      out << " rgba" << (object.element == ElementType::f16 ? "16f" : "32f") << " ";
    }
    out << object.bytes << " bytes, reused " << object.tensors.size() << "x:";
    for (TensorId id : object.tensors)
      out << " " << program.tensors[id].name << "[" << plan.lifetimes[id].first << ".." << plan.lifetimes[id].last << "]";
    out << "\n";
  }
  out << "naive " << plan.naive_bytes << " bytes, planned " << plan.planned_bytes << " (" << plan.strategy
      << "), lower bound " << plan.lower_bound_bytes << "\n";
  return out.str();
}

}  // namespace vellum
