#include "plan/memory_plan.hpp"

#include <algorithm>
#include <sstream>

#include "program/divide.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

bool is_mixed(const UsageRecords& usage) {
  const auto is_buffer = [](const auto& record) {
    return std::holds_alternative<planner::Bytes>(record.size);
  };
  const auto buffers = std::count_if(usage.records.begin(), usage.records.end(), is_buffer);
  return buffers != 0 && static_cast<size_t>(buffers) != usage.records.size();
}

std::vector<MemoryNeed> needs_of(const UsageRecords& usage, const MemoryRules& rules) {
  const bool mixed = is_mixed(usage);
  std::vector<MemoryNeed> needs;
  for (const auto& record : usage.records)
    needs.push_back(arena_need(object_desc(record.size), rules, mixed));
  return needs;
}

// What every device allows an image.
constexpr uint32_t kWidestImage = 4096;

// The extents with more slices side by side, as long as that makes the image lower.
std::vector<planner::Texture2D> other_extents(TensorDesc desc) {
  std::vector<planner::Texture2D> extents;
  if (desc.fold == 0) return extents;
  for (uint32_t height = desc.extent().height;;) {
    desc.fold *= 2;
    const Extent3 extent = desc.extent();
    if (extent.width > kWidestImage || extent.height == height) return extents;
    height = extent.height;
    extents.push_back(std::get<planner::Texture2D>(planner_size(object_desc(desc))));
  }
}

void apply_placement(MemoryPlan& plan, Placement placement) {
  for (size_t i = 0; i < plan.objects.size(); ++i) plan.objects[i].place = placement.places[i];
  plan.planned_bytes = placement.total_bytes();
  plan.arenas = std::move(placement.arenas);
}

// Returns the bytes with every tensor in memory of its own, including tensors that are views here.
uint64_t naive_bytes(const Program& program, const MemoryPlan& plan, const MemoryRules& rules, bool mixed,
                     uint64_t alignment) {
  uint64_t total = 0;
  for (TensorId id = 0; id < program.tensors.size(); ++id) {
    const VirtualTensor& tensor = program.tensors[id];
    if (!plan.lifetimes[id].planned()) continue;
    const bool is_part = tensor.alias_of != kNoTensor &&
                         tensor.desc.byte_size() < program.tensors[tensor.alias_of].desc.byte_size();
    if (tensor.alias_of != kNoTensor && !is_part) continue;  // another shape of the same bytes
    total += round_up(arena_need(object_desc(tensor.desc), rules, mixed).bytes, alignment);
  }
  return total;
}

void plan_shared(MemoryPlan& plan, const Program& program, const UsageRecords& usage,
                 const PlanMemoryOptions& options, const MemoryRules& rules) {
  const auto strategy = options.mode == MemoryMode::naive
                            ? planner::ObjectStrategy::naive
                            : planner::object_strategy_from_name(options.strategy);
  planner::PlanOptions plan_options = object_plan_options(usage, rules);
  plan_options.search_budget = options.search_budget;
  const planner::ObjectPlan assignment = planner::plan_objects(usage.records, strategy, plan_options);
  planner::validate(usage.records, assignment, plan_options);
  plan.strategy = planner::name(strategy);
  const bool mixed = is_mixed(usage);
  plan.naive_bytes = naive_bytes(program, plan, rules, mixed, 1);
  plan.lower_bound_bytes = assignment.lower_bound;
  std::vector<MemoryNeed> needs;
  for (const planner::Size& size : assignment.objects) {
    needs.push_back(arena_need(object_desc(size), rules, mixed));
    plan.objects.push_back({object_desc(size), needs.back(), {}, {}});
  }
  for (size_t i = 0; i < usage.tensors.size(); ++i)
    plan.object_of[usage.tensors[i]] = assignment.object_of[i];
  apply_placement(plan, place_side_by_side(needs, rules));
}

void plan_arenas(MemoryPlan& plan, const Program& program, const UsageRecords& usage,
                 const PlanMemoryOptions& options, const MemoryRules& rules) {
  const auto strategy = planner::offset_strategy_from_name(options.strategy);
  const std::vector<MemoryNeed> needs = needs_of(usage, rules);
  planner::PlanOptions plan_options;
  plan_options.search_budget = options.search_budget;
  plan.strategy = planner::name(strategy);
  for (size_t i = 0; i < usage.tensors.size(); ++i) {
    plan.object_of[usage.tensors[i]] = static_cast<uint32_t>(i);
    plan.objects.push_back({object_desc(usage.records[i].size), needs[i], {}, {}});
  }
  apply_placement(plan, place_by_lifetime(usage.records, needs, rules, strategy, plan_options));
  const OffsetProblem problem = offset_problem(usage.records, needs);
  plan_options.alignment = problem.alignment;
  plan.naive_bytes = naive_bytes(program, plan, rules, is_mixed(usage), problem.alignment);
  plan.lower_bound_bytes = planner::offsets_lower_bound(problem.records, plan_options);
}

}  // namespace

std::string_view name(MemoryMode mode) {
  switch (mode) {
    case MemoryMode::shared_objects:
      return "shared-objects";
    case MemoryMode::naive:
      return "naive";
    case MemoryMode::offsets:
      return "offsets";
  }
  return "?";
}

UsageRecords usage_records(const Program& program) {
  UsageRecords usage;
  const std::vector<Lifetime> all = lifetimes(program);
  const std::vector<TensorId> owners = program.owners();
  std::vector<Lifetime> of_owner = all;
  for (TensorId id = 0; id < program.tensors.size(); ++id)
    if (program.root(id) == id && all[id].planned()) {
      Lifetime& whole = of_owner[owners[id]];
      whole = {std::min(whole.first, all[id].first), std::max(whole.last, all[id].last)};
    }
  for (TensorId id = 0; id < program.tensors.size(); ++id) {
    if (owners[id] != id || !all[id].planned()) continue;
    const TensorDesc& desc = program.tensors[id].desc;
    usage.records.push_back(
        {planner_size(object_desc(desc)), of_owner[id].first, of_owner[id].last, other_extents(desc)});
    usage.tensors.push_back(id);
  }
  return usage;
}

planner::PlanOptions object_plan_options(const UsageRecords& usage, const MemoryRules& rules) {
  planner::PlanOptions options;
  options.object_bytes = [rules, mixed = is_mixed(usage)](const planner::Size& size) {
    return arena_need(object_desc(size), rules, mixed).bytes;
  };
  return options;
}

OffsetProblem arena_problem(const UsageRecords& usage, const MemoryRules& rules) {
  return offset_problem(usage.records, needs_of(usage, rules));
}

MemoryPlan plan_memory(const Program& program, const PlanMemoryOptions& options, const MemoryRules& rules) {
  const UsageRecords usage = usage_records(program);
  MemoryPlan plan;
  plan.mode = options.mode;
  plan.lifetimes = lifetimes(program);
  plan.object_of.assign(program.tensors.size(), kNoObject);
  try {
    if (options.mode == MemoryMode::offsets)
      plan_arenas(plan, program, usage, options, rules);
    else
      plan_shared(plan, program, usage, options, rules);
  } catch (const planner::PlanError& error) {
    throw Error(ErrorCode::invalid_argument, error.what());
  }
  const std::vector<TensorId> owners = program.owners();
  for (TensorId id = 0; id < plan.object_of.size(); ++id) {
    plan.object_of[id] = plan.object_of[owners[id]];
    if (plan.object_of[id] != kNoObject && program.root(id) == id && plan.lifetimes[id].planned())
      plan.objects[plan.object_of[id]].tensors.push_back(id);
  }
  for (SharedObject& object : plan.objects)
    std::stable_sort(object.tensors.begin(), object.tensors.end(), [&](TensorId a, TensorId b) {
      return plan.lifetimes[a].first < plan.lifetimes[b].first;
    });
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
      out << " " << texel_format_name(object.element) << " ";
    }
    out << object.need.bytes << " bytes at " << object.place.offset;
    if (plan.arenas.size() > 1) out << " of arena " << object.place.arena;
    out << ", reused " << object.tensors.size() << "x:";
    for (TensorId id : object.tensors)
      out << " " << program.tensors[id].name << "[" << plan.lifetimes[id].first << ".."
          << plan.lifetimes[id].last << "]";
    out << "\n";
  }
  out << "naive " << plan.naive_bytes << " bytes, planned " << plan.planned_bytes << " (" << plan.strategy
      << "), lower bound " << plan.lower_bound_bytes << "\n";
  return out.str();
}

}  // namespace vellum
