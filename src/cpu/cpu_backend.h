/* The host's row in the table of backends. */
#ifndef FTB_CPU_BACKEND_H
#define FTB_CPU_BACKEND_H

#include "core/backend.h"

extern const ftb_backend ftb_cpu;

#endif
