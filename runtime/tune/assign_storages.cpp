#include "tune/assign_storages.hpp"

#include <algorithm>

namespace vellum {
namespace {

double cost_of(const StorageProblem::Operator& op, const InImages& in_images) {
  const auto of_outputs = [&](bool input) {
    if (op.outputs.empty()) return op.cost[input][input];
    double sum = 0;
    for (const size_t value : op.outputs) sum += op.cost[input][in_images[value]];
    return sum / static_cast<double>(op.outputs.size());
  };
  if (op.inputs.empty()) return of_outputs(!op.outputs.empty() && in_images[op.outputs.front()]);
  double sum = 0;
  for (const size_t value : op.inputs) sum += of_outputs(in_images[value]);
  return sum / static_cast<double>(op.inputs.size());
}

// Values that operators [begin, begin + count) write; those that none writes belong to the first reader.
class Search {
 public:
  explicit Search(const StorageProblem& problem) : problem_(problem), turned_by_(problem.operators.size()) {
    std::vector<bool> seen(problem.values, false);
    const auto add = [&](size_t op, const std::vector<size_t>& values) {
      for (const size_t value : values) {
        if (!seen[value]) turned_by_[op].push_back(value);
        seen[value] = true;
      }
    };
    for (size_t op = 0; op < problem.operators.size(); ++op) {
      add(op, problem.operators[op].inputs);
      add(op, problem.operators[op].outputs);
    }
  }

  InImages from(bool images) const {
    InImages best(problem_.values, images);
    double least = cost(problem_, best);
    for (bool better = true; better;) {
      better = false;
      for (size_t length = turned_by_.size(); length > 0; length = next_shorter(length))
        for (size_t begin = 0; begin + length <= turned_by_.size(); ++begin)
          better = try_run(begin, length, best, least) || better;
      for (const StorageProblem::Operator& op : problem_.operators)
        better = try_neighbours(op, best, least) || better;
    }
    return best;
  }

 private:
  // Each of the short ones, by halves of the long ones.
  static size_t next_shorter(size_t length) { return length > 16 ? length / 2 : length - 1; }

  bool take_if_less(InImages turned, InImages& best, double& least) const {
    const double costs = cost(problem_, turned);
    if (!(costs < least * (1 - 1e-9))) return false;  // not for the rounding of sums
    least = costs;
    best = std::move(turned);
    return true;
  }

  // All combinations of the values of one operator; of its first few, where it joins many.
  bool try_neighbours(const StorageProblem::Operator& op, InImages& best, double& least) const {
    std::vector<size_t> values = op.inputs;
    values.insert(values.end(), op.outputs.begin(), op.outputs.end());
    values.resize(std::min<size_t>(values.size(), 4));
    bool better = false;
    for (size_t bits = 0; bits < size_t{1} << values.size(); ++bits) {
      InImages turned = best;
      for (size_t i = 0; i < values.size(); ++i) turned[values[i]] = (bits >> i & 1) != 0;
      better = take_if_less(std::move(turned), best, least) || better;
    }
    return better;
  }

  bool try_run(size_t begin, size_t length, InImages& best, double& least) const {
    for (const bool to : {false, true}) {
      InImages turned = best;
      for (size_t op = begin; op < begin + length; ++op)
        for (const size_t value : turned_by_[op]) turned[value] = to;
      if (take_if_less(std::move(turned), best, least)) return true;
    }
    return false;
  }

  const StorageProblem& problem_;
  std::vector<std::vector<size_t>> turned_by_;
};

}  // namespace

double cost(const StorageProblem& problem, const InImages& in_images) {
  double sum = 0;
  for (const StorageProblem::Operator& op : problem.operators) sum += cost_of(op, in_images);
  return sum;
}

InImages assign_storages(const StorageProblem& problem) {
  const Search search(problem);
  InImages buffers = search.from(false), images = search.from(true);
  return cost(problem, images) < cost(problem, buffers) ? images : buffers;
}

}  // namespace vellum
