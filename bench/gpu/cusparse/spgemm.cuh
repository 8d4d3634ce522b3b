/* C = A B of sparse matrices by cuSPARSE: its steps with the memory that each asks for, and the check of a
 * result. */
#pragma once

#include "handle.cuh"
#include "values.cuh"

namespace facts::sparse
{

/* Of offsets and columns: 32 bits each, 64-bit offsets, or 64 bits each. */
enum class Width { W32, W64_OFFSETS, W64 };

struct Operand {
    Operand(const Graph &g, uint64_t seed);
    DeviceGraph graph;
    Values values;
};

/* An operand as cuSPARSE gets it, with its indices widened where that is asked for. */
struct Described {
    Described(const Operand &o, Width width);
    Buffer<int64_t> wide_rowptr, wide_colidx;
    SparseMatrix matrix;
};

struct Method {
    const char *name;
    cusparseSpGEMMAlg_t algorithm;
    float chunk;   /* of the intermediate products, that ALG3 has in memory at a time */
    bool reuse;    /* the other interface: structure first, then values as often as wanted */
    bool estimate; /* asks for memory by cusparseSpGEMM_estimateMemory */
};

struct SparseResult {
    int64_t nrows = 0, ncols = 0, nvals = 0;
    Width width = Width::W32;
    Buffer<unsigned char> rowptr, colidx, values;
};

/* What a product took: filled as far as it came, also when a step fails. */
struct SpgemmFacts {
    double seconds = 0;          /* in cuSPARSE's calls, without allocation */
    double symbolic_seconds = 0; /* of these, before the values: of the reuse interface */
    double allocation_seconds = 0;
    int64_t products_told = -1; /* cuSPARSE's count of intermediate products */
    int64_t nvals = -1;         /* cuSPARSE's count of the result's entries */
    size_t asked = 0;           /* largest workspace that a step asked for */
    size_t peak = 0;            /* most device memory at a time, with the result, without the operands */
    Fields fields() const;
};

/* Throws when a step fails; `facts` then tells how far it came. */
void multiply(const Handle &handle, const Operand &a, const Operand &b, const Method &method, Width width,
              SparseResult &c, SpgemmFacts &facts);

/* Offsets, the number of entries and the values of some rows against plain loops: {"error", x}, {"sorted",
 * ...}. Not noticed: a wrong row that is not among them, if the offsets are in order. */
Fields check_product(const Operand &a, const Operand &b, const SparseResult &c, bool toy);

} // namespace facts::sparse
