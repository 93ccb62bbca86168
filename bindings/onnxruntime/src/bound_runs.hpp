// Runs of a session with device tensors (device_memory.hpp): recordings that bind the application's memory.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_memory.hpp"
#include "vellum/vellum.hpp"
#include "vellum/vulkan.hpp"

namespace vellum::ort {

// One thread at a time, which has exclusive use of the session.
class BoundRuns {
 public:
  // The session is prepared, and outlives this object. decides_shapes: for each input, whether its values
  // decide shapes. Such inputs are not bound.
  BoundRuns(Session& session, const Device& device, const std::vector<bool>& decides_shapes);

  // Runs with device tensors among the inputs and outputs bound in place, and copies the others. `inputs`
  // lists all inputs, in the session's order. Returns false, with nothing computed, if no tensor can be
  // bound: there is none of this device, the host does part of the work, or tensors overlap.
  bool run(std::span<const InputValues> inputs, std::span<const OutputValues> outputs);
  // Returns a line for the log if the last run had a new set of tensors: whether it uses them in place or
  // copies them. Empty if the set was known.
  const std::string& news() const { return news_; }

 private:
  struct Bindings {
    std::vector<BufferBinding> inputs, outputs;
    std::vector<std::shared_ptr<const DeviceBlock>> blocks;  // of the inputs, then of the outputs
    size_t input_blocks = 0;
    std::string key;  // which tensors, and which memory; empty: none
  };
  struct Recorded {
    std::string key;
    Recording recording;
  };

  Bindings find_bindings(std::span<const InputValues> inputs, std::span<const OutputValues> outputs) const;
  std::optional<DevicePlace> bindable(const BufferLayout& layout, const void* address) const;
  const Recording* recording_for(const Bindings& bindings);  // null: these cannot be bound

  Session& session_;
  const Device device_;
  // The requirements of each tensor on a buffer. usage == 0: the tensor cannot be bound.
  std::vector<BufferLayout> inputs_;
  std::map<std::string, BufferLayout> outputs_;
  std::list<Recorded> recorded_;    // the most recently used one first
  std::list<std::string> refused_;  // keys
  std::string news_;
};

}  // namespace vellum::ort
