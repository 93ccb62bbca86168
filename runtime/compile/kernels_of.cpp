#include "compile/kernels_of.hpp"

#include <algorithm>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

std::vector<Choice> choices_of(const Graph& graph, const DeviceCaps& caps, const CompileOptions& options,
                               const TuningTable* tuning) {
  std::vector<Choice> choices;
  lower(graph, caps,
        {.precision = options.precision,
         .storage = options.storage,
         .winograd = Winograd::off,
         .arithmetic = options.arithmetic,
         .tuning = tuning,
         .choices = &choices,
         .wrong = options.wrong_kernels.get()});
  return choices;
}

}  // namespace

std::shared_ptr<const TuningTable> kernels_of(const Graph& reference, const Graph& graph,
                                              const DeviceCaps& caps, const CompileOptions& options) {
  const std::vector<Choice> wanted = choices_of(reference, caps, options, nullptr);
  auto table = std::make_shared<TuningTable>();
  const std::vector<Choice> own = choices_of(graph, caps, options, nullptr);
  const auto refuse = [&](size_t node, const std::string& what) {
    throw Error(ErrorCode::unsupported,
                describe(graph.nodes[node]) + ": this size of tile " + what + "; take another one");
  };
  if (own.size() != wanted.size())
    refuse(own.empty() ? 0 : own.front().node, "makes other choices of kernels");
  for (size_t i = 0; i < own.size(); ++i) {
    const KernelName& name = wanted[i].candidates[wanted[i].taken];
    const std::vector<KernelName>& candidates = own[i].candidates;
    if (own[i].node != wanted[i].node ||
        std::find(candidates.begin(), candidates.end(), name) == candidates.end())
      refuse(own[i].node, "has no kernel '" + name.text() + "', which computes the others");
    CandidateTimes& times = table->operators[own[i].signature];
    for (const KernelName& candidate : candidates) times[candidate.text()] = candidate == name ? 1 : 2;
  }
  // Layers with the same signature cannot get different kernels from a table.
  const std::vector<Choice> found = choices_of(graph, caps, options, table.get());
  for (size_t i = 0; i < found.size(); ++i)
    if (!(found[i].candidates[found[i].taken] == wanted[i].candidates[wanted[i].taken]))
      refuse(found[i].node, "cannot be given the kernels of the others");
  return table;
}

}  // namespace vellum
