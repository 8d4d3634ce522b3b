/* featblas/graphblas_types.h as it is: this file must not see <GraphBLAS.h>. */
#include "support/grb_types.h"

#include "featblas/graphblas_types.h"

#ifdef GRB_VERSION
#error "these are GraphBLAS's own types"
#endif

const grb_value grb_infos[] = {
#define VALUE(name) {#name, (int)(name)},
    GRB_INFOS(VALUE)};
const size_t grb_info_size = sizeof(GrB_Info), grb_index_size = sizeof(GrB_Index),
             grb_handle_size = sizeof(GrB_Semiring);
