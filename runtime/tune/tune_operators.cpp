#include "tune/tune_operators.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "exec/executor.hpp"
#include "tune/one_node.hpp"
#include "tune/repeat_until_converged.hpp"
#include "vellum/error.hpp"
#include "vulkan/timestamps.hpp"

namespace vellum {
namespace {

// A candidate that takes this many times as long as the quickest of its algorithm is given up after its first
// runs, and after the first round. (Of its algorithm: options may forbid another.)
constexpr double kHopelessAtOnce = 1.5, kHopeless = 1.1;
// The rest runs in turns, so that what else the machine does meets all alike, and the least time counts.
constexpr std::chrono::milliseconds kTimeForRounds{1000};

std::vector<OperatorKind> kinds_of(const std::vector<Choice>& choices) {
  std::vector<OperatorKind> kinds;
  std::map<std::string, size_t> known;
  for (const Choice& choice : choices) {
    const auto [entry, is_new] = known.emplace(choice.signature, kinds.size());
    if (!is_new)
      ++kinds[entry->second].nodes;
    else
      kinds.push_back({.choice = choice, .nodes = 1, .times = {}});
  }
  return kinds;
}

bool knows_all(const CandidateTimes& times, const Choice& choice) {
  return std::all_of(choice.candidates.begin(), choice.candidates.end(),
                     [&](const KernelName& name) { return times.contains(name.text()); });
}

// One operator, computed with one candidate after the other.
class Measurement {
 public:
  Measurement(const Graph& network, const LoweringOptions& options, const Choice& choice,
              OperatorTuning& tuning)
      : node_(network.nodes[choice.node]), choice_(choice), tuning_(tuning), options_(options) {
    one_ = one_node(network, node_);
    options_.value_storages = storages_of(one_, options.value_storages);
    timestamps_ = gpu::timestamps_supported(*tuning.context);
  }

  // Whether the operator meets the same choice on its own: inputs in two layouts cannot be had.
  bool prepare() {
    for (const bool channels4 : {true, false}) {
      options_.inputs_to_channels4 = channels4;
      options_.tuning = nullptr;
      std::vector<Choice> choices;
      options_.choices = &choices;
      lower(one_.graph, tuning_.context->caps(), options_);
      options_.choices = nullptr;
      for (const Choice& own : choices)
        if (own.signature == choice_.signature) {
          own_first_ = own.candidates.front().text();
          return true;
        }
    }
    return false;
  }

  // Those without a kernel that the device computes wrongly.
  std::vector<KernelName> right_candidates() {
    if (!tuning_.are_right) return choice_.candidates;
    std::vector<Program> programs;
    for (const KernelName& candidate : choice_.candidates) {
      programs.emplace_back();
      try {
        programs.back() = program_with(candidate);
      } catch (const Error&) {  // of which try_candidate() warns
      }
    }
    const std::vector<bool> are_right = tuning_.are_right(programs);
    std::vector<KernelName> right;
    for (size_t i = 0; i < programs.size(); ++i) {
      if (are_right[i])
        right.push_back(choice_.candidates[i]);
      else
        tuning_.warnings.push_back(describe(node_) + ": '" + choice_.candidates[i].text() +
                                   "' has a kernel that the device computes wrongly and is left aside");
    }
    return right;
  }

  CandidateTimes measure() {
    for (const KernelName& candidate : choice_.candidates) {
      if (tuning_.is_late()) break;
      try_candidate(candidate);
    }
    drop_slower_than(kHopelessAtOnce);
    if (running_.size() > 1)
      repeat_until_converged(kTimeForRounds, [&] {
        for (Running& running : running_) time(running);
        drop_slower_than(kHopeless);
        double sum = 0;
        for (const Running& running : running_) sum += times_.at(running.candidate.text());
        return sum;
      });
    return std::move(times_);
  }

 private:
  struct Running {
    KernelName candidate;
    std::unique_ptr<Executor> executor;
  };

  Program program_with(const KernelName& candidate) const {
    TuningTable table;
    CandidateTimes& times = table.operators[choice_.signature];
    times[own_first_] = 2;
    times[candidate.text()] = 1;
    LoweringOptions options = options_;
    options.tuning = &table;
    return lower(one_.graph, tuning_.context->caps(), options);
  }

  std::unique_ptr<Executor> make_executor(const KernelName& candidate) {
    auto executor =
        std::make_unique<Executor>(tuning_.context, compile_program(tuning_.context, program_with(candidate)),
                                   ExecutorOptions{.timestamps = timestamps_});
    set_some_inputs(*executor);
    return executor;
  }

  void try_candidate(const KernelName& candidate) {
    try {
      Running running{candidate, make_executor(candidate)};
      running.executor->run();  // drivers compile at the first dispatch
      if (!is_right(*running.executor)) {
        tuning_.warnings.push_back(describe(node_) + ": '" + candidate.text() +
                                   "' gives other results than '" + choice_.candidates.front().text() +
                                   "' and is left aside");
        return;
      }
      for (int i = 0; i < 2; ++i) time(running);
      if (times_.at(candidate.text()) <= kHopelessAtOnce * least_.at(candidate.algorithm))
        running_.push_back(std::move(running));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_lost) throw;
      tuning_.warnings.push_back(describe(node_) + ": '" + candidate.text() +
                                 "' cannot be measured: " + error.what());
    }
  }

  bool is_right(const Executor& executor) {
    std::vector<HostTensor> outputs;
    for (size_t i = 0; i < executor.program().outputs.size(); ++i) outputs.push_back(executor.output(i));
    if (first_outputs_) return same_results(*first_outputs_, outputs, options_.precision);
    first_outputs_ = std::move(outputs);
    return true;
  }

  void time(Running& running) {
    // A kernel that is quicker than the clock's step counts as a nanosecond.
    const double microseconds = std::max(1e-3, 1e3 * run_and_time(*running.executor, timestamps_));
    double& best = times_.try_emplace(running.candidate.text(), microseconds).first->second;
    best = std::min(best, microseconds);
    double& least = least_.try_emplace(running.candidate.algorithm, best).first->second;
    least = std::min(least, best);
  }

  // The first stays, for all others are compared with it.
  void drop_slower_than(double factor) {
    std::erase_if(running_, [&](const Running& running) {
      return running.candidate != choice_.candidates.front() &&
             times_.at(running.candidate.text()) > factor * least_.at(running.candidate.algorithm);
    });
  }

  const Node& node_;
  const Choice& choice_;
  OperatorTuning& tuning_;
  LoweringOptions options_;
  OneNode one_;
  bool timestamps_ = false;
  std::string own_first_;
  std::optional<std::vector<HostTensor>> first_outputs_;
  CandidateTimes times_;
  std::vector<Running> running_;
  std::map<std::string, double> least_;  // by algorithm
};

void tune_kind(const Graph& graph, const LoweringOptions& options, OperatorKind& kind, OperatorTuning& tuning,
               TuningTable& table) {
  const auto entry = table.operators.find(kind.choice.signature);
  if (entry != table.operators.end()) kind.times = entry->second;
  kind.known = knows_all(kind.times, kind.choice);
  if (kind.choice.candidates.size() < 2 || (kind.known && !tuning.again) || tuning.is_late()) return;
  Measurement measurement(graph, options, kind.choice, tuning);
  if (!measurement.prepare()) return;
  std::vector<KernelName> right = measurement.right_candidates();
  if (right.empty()) return;  // sessions compute it in another storage or on the host
  kind.choice.candidates = std::move(right);
  kind.known = knows_all(kind.times, kind.choice);
  if (kind.choice.candidates.size() < 2 || (kind.known && !tuning.again)) return;
  CandidateTimes times = measurement.measure();
  // Half of the candidates do not decide.
  if (tuning.is_late() && times.size() < kind.choice.candidates.size()) return;
  // Times measured with other options stay.
  for (const auto& [candidate, time] : times) kind.times[candidate] = time;
  kind.measured = true;
  table.operators[kind.choice.signature] = kind.times;
}

}  // namespace

bool same_results(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b, Precision precision) {
  const double tolerance = precision == Precision::fp16 ? 2e-2 : 1e-3;
  for (size_t i = 0; i < a.size(); ++i) {
    const std::vector<float> x = a[i].to_floats(), y = b[i].to_floats();
    double largest = 1e-6, difference = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k]))) continue;
      if (!std::isfinite(x[k]) || !std::isfinite(y[k])) return false;
      difference = std::max(difference, std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k])));
    }
    for (const float value : x)
      if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
    if (difference > tolerance * largest) return false;
  }
  return true;
}

std::vector<OperatorKind> tune_operators(const Graph& graph, const LoweringOptions& options,
                                         OperatorTuning& tuning, TuningTable& table) {
  std::vector<Choice> choices;
  LoweringOptions recorded = options;
  recorded.tuning = nullptr;
  recorded.choices = &choices;
  lower(graph, tuning.context->caps(), recorded);
  std::vector<OperatorKind> kinds = kinds_of(choices);
  size_t done = 0;
  for (OperatorKind& kind : kinds) {
    tune_kind(graph, options, kind, tuning, table);
    kind.choice.taken = quickest(&table, kind.choice.signature, kind.choice.candidates);
    if (tuning.progress) tuning.progress(++done, kinds.size(), kind);
  }
  return kinds;
}

}  // namespace vellum
