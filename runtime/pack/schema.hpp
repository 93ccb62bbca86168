// The readers of bundles that flatc generates from schema.fbs. Only this folder includes this file.
#pragma once

#include <vellum_pack_generated.h>
