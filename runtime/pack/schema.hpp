// The generated readers of bundles. Included by this folder alone.
#pragma once

#include <vellum_pack_generated.h>
