// What a session holds. The files session.cpp and submit.cpp share it.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/impl.hpp"
#include "exec/executor.hpp"
#include "exec/runs_in_flight.hpp"

namespace vellum {

// Error(not_found) with what there is. kind: "input" or "output".
size_t position(const std::vector<TensorInfo>& infos, std::string_view name, const char* kind);

// Executors for each of the last combinations of input shapes, the newest first; of those for one
// combination, the first is run()'s, and all of them are submit()'s.
struct Session::Impl {
  using Executors = std::vector<std::unique_ptr<Executor>>;

  Device device;
  Model model;
  SessionOptions options;
  std::shared_ptr<WeightSource> weights;
  std::list<std::pair<std::vector<Shape>, Executors>> executors;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<bool> input_set;
  std::map<size_t, Tensor> waiting;  // inputs that were set with another shape than the newest executor has
  std::vector<std::string> warnings;
  // Runs that were submitted. Their lock guards all of this against other threads that submit.
  std::shared_ptr<RunsInFlight> runs;
  bool outputs_taken = false;  // submit() has written over what the last run() left

  Impl(const Device& on, const Model& of, const SessionOptions& given);
  ~Impl();

  Executor* active() const { return executors.empty() ? nullptr : executors.front().second.front().get(); }
  Executor& ready() const;
  Executor& last_run() const;
  std::vector<Shape> wanted_shapes() const;
  Executors make_executors(const std::vector<Shape>& shapes) const;
  Executors make_executors(CompiledModel compiled) const;
  void activate(const RunsInFlight::Lock& lock, const std::vector<Shape>& shapes);
  Executors make_room_and_executors(const std::vector<Shape>& shapes);
  void carry_over(Executor* from, Executor& to);
  void set_input(size_t index, const Tensor& tensor);
  void tell_output_shapes();
  uint64_t weights_bytes() const;
  RunsInFlight::Lock settled() const;  // no run is in flight

  bool has_shapes_of(std::span<const InputValues> given) const;
  void activate(const RunsInFlight::Lock& lock, std::span<const InputValues> given);
  RunInFlight& begin_run(std::span<const InputValues> given);
  RunInFlight& submit(std::span<const InputValues> given, std::span<const OutputValues> to, bool keep);
};

}  // namespace vellum
