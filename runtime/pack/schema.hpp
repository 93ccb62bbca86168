// The generated readers of bundles. Only this folder includes it.
#pragma once

#include <vellum_pack_generated.h>
