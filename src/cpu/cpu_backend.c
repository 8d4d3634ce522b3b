/* The host's row in the table of backends: its memory needs no asking, and drivers are its verbs. */
#include "cpu/cpu_backend.h"

const ftb_backend ftb_cpu = {.name = "cpu", .about = "the processor's cores"};
