/* Products of two sparse matrices (ref_device.h). */
#ifndef TESTS_ORACLE_REF_SPGEMM_H
#define TESTS_ORACLE_REF_SPGEMM_H

#include "verbs/verbs.h"

GrB_Info ref_spgemm(const ftb_spgemm_product *p, const ftb_spgemm_plan *plan, FtB_Sink sink);

#endif
