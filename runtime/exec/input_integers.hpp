// Checks the integers that the host sets as inputs of a program.
#pragma once

#include <cstddef>
#include <span>

#include "program/program.hpp"

namespace vellum {

// Throws Error if the values of an input are outside of Port::indices (invalid_argument) or beyond
// Port::limit (unsupported). Inputs without them cost nothing. `values`: of the type of the port.
void check_integers(const Port& port, std::span<const std::byte> values);

// Returns zeros of the type of the port, or the nearest integers that check_integers() takes of it alone.
HostTensor zeros_of(const Port& port);

}  // namespace vellum
