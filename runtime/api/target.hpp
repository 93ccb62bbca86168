// The target of a compilation: a device, or the caps of one that is not present.
#pragma once

#include "api/impl.hpp"

namespace vellum {

class Target {
 public:
  // device: null means the minimum of the Android Baseline 2022 profile.
  explicit Target(const Device* device);
  explicit Target(const Caps& caps);

  const DeviceCaps& caps() const { return caps_; }
  const MemoryRules& memory_rules() const { return memory_rules_; }
  // Compiles the model that a session with these options runs. The stages after `last` stay empty. With a
  // memory budget it compiles the configuration that fit_budget() returns.
  CompiledModel compile(const Model& model, const SessionOptions& options,
                        Stage last = Stage::barriers) const;

  // These do the steps of compile() one by one, so that one graph can be compiled several times. A memory
  // budget is ignored.
  CompileOptions compile_options(const SessionOptions& options) const;
  Graph prepare(const Model& model, const CompileOptions& options) const;
  CompiledModel compile(Graph prepared, const CompileOptions& options, Stage last = Stage::barriers) const;

 private:
  std::shared_ptr<Device::Impl> device_;  // null if the target is caps alone
  DeviceCaps caps_;
  MemoryRules memory_rules_;
};

}  // namespace vellum
