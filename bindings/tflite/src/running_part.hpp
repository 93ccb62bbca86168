// A part of a model that Vellum runs for the interpreter.
#pragma once

#include <memory>
#include <vector>

#include "bindings/plugins/fork_guard.hpp"
#include "bindings/plugins/plugin_options.hpp"
#include "bindings/plugins/profile_page.hpp"
#include "claim.hpp"
#include "vellum/vellum.hpp"

namespace vellum::lite {

// Like an interpreter, it may be used by one thread at a time.
class RunningPart {
 public:
  // The device, options and memory of all parts of one delegate.
  struct Shared {
    Device device;
    plugin::PluginOptions options;
    MemoryPool pool;  // not valid() with a budget
  };
  // `number`: the part's number in its model.
  RunningPart(const Shared& shared, ClaimedPart claimed, size_t number);

  const Device& device() const { return shared_.device; }
  // Prepares the session for the shapes of the interpreter's tensors, and resizes the results.
  void prepare(TfLiteContext* context);
  void invoke(TfLiteContext* context);

 private:
  void make_session(const ImportedPart& imported);
  void prepare_session(TfLiteContext* context);
  InputShapes input_shapes(const TfLiteContext* context) const;
  bool shapes_are_late() const;
  void resize_results(TfLiteContext* context) const;

  const plugin::ForkGuard process_;
  const Shared shared_;
  const Part part_;
  const Description open_;
  std::vector<int> inputs_, outputs_;  // tensors of the session's inputs and outputs, states included
  std::unique_ptr<Session> session_;
  bool accepts_all_shapes_ = false;  // the session was made from a part with open shapes
  plugin::ProfilePage profile_page_;
};

}  // namespace vellum::lite
