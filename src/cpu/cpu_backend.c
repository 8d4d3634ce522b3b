/* The host's row in the table of backends: its memory needs no asking, and drivers are its verbs. */
#include "cpu/cpu_backend.h"

static GrB_Info facts(const ftb_backend *b, ftb_device_facts *found)
{
    (void)b;
    *found = (ftb_device_facts){.units = ftb_threads(NULL)};
    return GrB_SUCCESS;
}

const ftb_backend ftb_cpu = {.name = "cpu", .about = "the processor's cores", .facts = facts};
