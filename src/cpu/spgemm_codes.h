/* Operands of few distinct values, as codes. */
#ifndef FTB_SPGEMM_CODES_H
#define FTB_SPGEMM_CODES_H

#include "verbs/spgemm_product.h"

enum { FTB_CODE_BUCKETS = 1024 }; /* of the hash table that finds codes: mostly empty */

typedef struct ftb_codes {
    double value[FTB_MOST_CODES]; /* ascending, whatever the entries' order */
    int count;
    uint64_t key[FTB_CODE_BUCKETS]; /* bits of the value in each bucket */
    uint8_t code[FTB_CODE_BUCKETS]; /* its code + 1; 0: free */
} ftb_codes;

static inline uint64_t ftb_bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The distinct values of an operand, whose entries are 1 without any; false: there are too many, or a NaN. */
bool ftb_codes_collect(ftb_codes *d, FtB_Matrix A);
/* The code of each entry of A, which has values, in its own order. */
void ftb_codes_encode(uint8_t *codes, const ftb_codes *d, FtB_Matrix A, int threads);

#endif
