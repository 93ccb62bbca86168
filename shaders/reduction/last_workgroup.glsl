// Finds the workgroup that is the last one to come here, and makes visible to it what the others wrote before. Workgroups count
// themselves in an element of `counters`, an atomic counter that an earlier dispatch has set to zero.
//
// Include it after `int lane`. Buffers that hand results over have to be declared `coherent`. tests/memory_model/ checks the
// protocol in Vulkan's memory model.

LINEAR_ATOMIC(counters)
shared bool is_last;

// Returns whether this is the last of the `workgroups` workgroups that count themselves in `counter`. All invocations have to
// call it.
bool is_last_workgroup(int counter, int workgroups) {
  memoryBarrierBuffer();
  barrier();
  if (lane == 0) {
    is_last = atomicAdd(counters_data[counter], 1u) == uint(workgroups - 1);
    // By Vulkan's memory model the writes of other workgroups before their atomics are visible only after a
    // fence in the invocation whose atomic read theirs (a release sequence ends there).
    memoryBarrierBuffer();
  }
  barrier();
  memoryBarrierBuffer();
  return is_last;
}
