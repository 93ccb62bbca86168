// How long a whole network takes, and each of its operators in it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "exec/executor.hpp"
#include "tune/assign_storages.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The least milliseconds of some runs of each, taken in turns.
std::vector<double> least_times(const std::vector<std::unique_ptr<Executor>>& networks);

// What each operator takes with what it reads and writes in images and in buffers, measured in whole
// networks: all values in either, and every other one. `make` makes an executor with timestamps for what
// holds each value.
StorageProblem measure_storages(
    const Graph& graph,
    const std::function<std::unique_ptr<Executor>(const std::vector<StorageChoice>&)>& make);

std::vector<StorageChoice> to_storages(const InImages& in_images);

}  // namespace vellum
