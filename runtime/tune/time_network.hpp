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

struct MeasuredStorages {
  StorageProblem problem;
  StorageChoice image = StorageChoice::image2d;  // the images it speaks of
};

// What each operator takes with what it reads and writes in images and in buffers, measured in whole
// networks: all values in either, and every other one. Images are image3d where a network of these is clearly
// quicker than one of image2d, which is looked at where that is not much slower than buffers. `make` makes an
// executor with timestamps for what holds each value.
MeasuredStorages measure_storages(
    const Graph& graph,
    const std::function<std::unique_ptr<Executor>(const std::vector<StorageChoice>&)>& make);

std::vector<StorageChoice> to_storages(const InImages& in_images, StorageChoice image);

}  // namespace vellum
