// The tasks of a program by the tensors that they access, for passes that fuse dispatches.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "program/program.hpp"

namespace vellum {

// A task that accesses a view accesses its root. The program must outlive the object.
class TensorUses {
 public:
  explicit TensorUses(const Program& program);

  // Add and remove a task. A task that changes is removed before and added after.
  void add(size_t task);
  void remove(size_t task);

  // Returns the roots of the tensors that the task accesses, or of those that it writes.
  std::set<TensorId> roots_of(size_t task, bool also_read) const;

  // Return the tasks that access a root, write it, or only read it, in order.
  const std::set<size_t>& tasks_of(TensorId root) const { return uses_[root].tasks; }
  const std::set<size_t>& writers_of(TensorId root) const { return uses_[root].writers; }
  std::vector<size_t> readers_of(TensorId root) const;

  // Returns whether an input or output of the program is the root or a view of it.
  bool is_port(TensorId root) const { return uses_[root].is_port; }
  // Returns whether the tensor has views, or is itself an input or output.
  bool is_viewed(TensorId id) const { return uses_[id].is_viewed; }

 private:
  struct Uses {
    std::set<size_t> tasks, writers;
    bool is_port = false, is_viewed = false;
  };

  void add(size_t task, TensorId id, bool writes);

  const Program& program_;
  std::vector<Uses> uses_;  // by tensor
};

}  // namespace vellum
