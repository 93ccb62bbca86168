// Times whole networks, and each of their operators in them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "exec/executor.hpp"
#include "tune/assign_storages.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Returns the minimum time of each network over several runs in turns, in milliseconds.
std::vector<double> least_times(const std::vector<std::unique_ptr<Executor>>& networks);

struct MeasuredStorages {
  StorageProblem problem;
  StorageChoice image = StorageChoice::image2d;  // the kind of images that were measured
};

// Measures the time of each operator with its inputs and outputs in images and in buffers, in whole networks:
// with all values in images, all in buffers, and every other value in an image. Images are image3d if a
// network of these is clearly faster than one of image2d; this is measured if image2d is not much slower than
// buffers. `make` makes an executor with timestamps for the given storages.
MeasuredStorages measure_storages(
    const Graph& graph,
    const std::function<std::unique_ptr<Executor>(const std::vector<StorageChoice>&)>& make);

std::vector<StorageChoice> to_storages(const InImages& in_images, StorageChoice image);

}  // namespace vellum
