/* GraphBLAS's built-in objects: which there are, and what each is made of, by name. What a row computes is
 * said where expressions are (expr/grb.c).
 *
 * An object is known by its handle, which GraphBLAS keeps in a variable of the object's name. A table's
 * variables are looked up when the first object of its kind is seen; those that this GraphBLAS lacks stay
 * unknown. */
#include "core/graphblas/bridge.h"

/* clang-format off */
#define INTEGERS(X, ...)                                                                                     \
    X(INT8, __VA_ARGS__) X(INT16, __VA_ARGS__) X(INT32, __VA_ARGS__) X(INT64, __VA_ARGS__)                   \
    X(UINT8, __VA_ARGS__) X(UINT16, __VA_ARGS__) X(UINT32, __VA_ARGS__) X(UINT64, __VA_ARGS__)
#define TYPES(X, ...) INTEGERS(X, __VA_ARGS__) X(FP32, __VA_ARGS__) X(FP64, __VA_ARGS__)
#define ALL(X, id) TYPES(X, id) X(BOOL, id)

/* ---- monoids: X(type, operator) */

#define MONOID(type, id) {"GrB_" #id "_MONOID_" #type, FTB_##type, FTB_GRB_##id, 0},
#define GXB_MONOID(type, id) {"GxB_" #id "_" #type "_MONOID", FTB_##type, FTB_GRB_##id, 0},
static const ftb_grb_row monoids[] = {
    TYPES(MONOID, PLUS) TYPES(MONOID, TIMES) TYPES(MONOID, MIN) TYPES(MONOID, MAX)
    MONOID(BOOL, LOR) MONOID(BOOL, LAND) MONOID(BOOL, LXOR) MONOID(BOOL, LXNOR)
    TYPES(GXB_MONOID, PLUS) TYPES(GXB_MONOID, TIMES) TYPES(GXB_MONOID, MIN) TYPES(GXB_MONOID, MAX)
    ALL(GXB_MONOID, ANY)
    GXB_MONOID(BOOL, LOR) GXB_MONOID(BOOL, LAND) GXB_MONOID(BOOL, LXOR) GXB_MONOID(BOOL, LXNOR)
    GXB_MONOID(BOOL, EQ)
};

/* ---- binary operators: X(type, operator) */

#define OP(type, id) {"GrB_" #id "_" #type, FTB_##type, 0, FTB_GRB_##id},
#define GXB_OP(type, id) {"GxB_" #id "_" #type, FTB_##type, 0, FTB_GRB_##id},
#define ONEB(type, id) {"GrB_ONEB_" #type, FTB_##type, 0, FTB_GRB_##id},
#define TRUTH(id) {"GrB_" #id, FTB_BOOL, 0, FTB_GRB_##id},
static const ftb_grb_row binary[] = {
    ALL(OP, FIRST) ALL(OP, SECOND) ALL(ONEB, PAIR) ALL(OP, MIN) ALL(OP, MAX)
    ALL(OP, PLUS) ALL(OP, MINUS) ALL(OP, TIMES) ALL(OP, DIV)
    ALL(OP, EQ) ALL(OP, NE) ALL(OP, GT) ALL(OP, LT) ALL(OP, GE) ALL(OP, LE)
    INTEGERS(OP, BOR) INTEGERS(OP, BAND) INTEGERS(OP, BXOR) INTEGERS(OP, BXNOR)
    TRUTH(LOR) TRUTH(LAND) TRUTH(LXOR) TRUTH(LXNOR)
    ALL(GXB_OP, PAIR) ALL(GXB_OP, ANY) ALL(GXB_OP, RMINUS) ALL(GXB_OP, RDIV)
    ALL(GXB_OP, ISEQ) ALL(GXB_OP, ISNE) ALL(GXB_OP, ISGT) ALL(GXB_OP, ISLT) ALL(GXB_OP, ISGE)
    ALL(GXB_OP, ISLE) ALL(GXB_OP, LOR) ALL(GXB_OP, LAND) ALL(GXB_OP, LXOR)
};

/* ---- semirings: X(type, monoid, operator) */

#define SEMIRING(type, add, multiply)                                                                        \
    {"GrB_" #add "_" #multiply "_SEMIRING_" #type, FTB_##type, FTB_GRB_##add, FTB_GRB_##multiply},
#define GXB(type, add, multiply)                                                                             \
    {"GxB_" #add "_" #multiply "_" #type, FTB_##type, FTB_GRB_##add, FTB_GRB_##multiply},
#define GXB_TYPES(multiply)                                                                                  \
    TYPES(GXB, MIN, multiply) TYPES(GXB, MAX, multiply) TYPES(GXB, PLUS, multiply)                           \
    TYPES(GXB, TIMES, multiply) TYPES(GXB, ANY, multiply)
#define GXB_TRUTHS(multiply)                                                                                 \
    TYPES(GXB, LOR, multiply) TYPES(GXB, LAND, multiply) TYPES(GXB, LXOR, multiply)                          \
    TYPES(GXB, EQ, multiply) TYPES(GXB, ANY, multiply)
#define GXB_BOOL(multiply)                                                                                   \
    GXB(BOOL, LOR, multiply) GXB(BOOL, LAND, multiply) GXB(BOOL, LXOR, multiply)                             \
    GXB(BOOL, EQ, multiply) GXB(BOOL, ANY, multiply)
#define INDEX_TYPES(add, multiply) GXB(INT32, add, multiply) GXB(INT64, add, multiply)
#define INDEX(multiply)                                                                                      \
    INDEX_TYPES(MIN, multiply) INDEX_TYPES(MAX, multiply) INDEX_TYPES(PLUS, multiply)                        \
    INDEX_TYPES(TIMES, multiply) INDEX_TYPES(ANY, multiply)
static const ftb_grb_row semirings[] = {
    TYPES(SEMIRING, PLUS, TIMES) TYPES(SEMIRING, PLUS, MIN)
    TYPES(SEMIRING, MIN, PLUS) TYPES(SEMIRING, MIN, TIMES) TYPES(SEMIRING, MIN, MAX)
    TYPES(SEMIRING, MIN, FIRST) TYPES(SEMIRING, MIN, SECOND)
    TYPES(SEMIRING, MAX, PLUS) TYPES(SEMIRING, MAX, TIMES) TYPES(SEMIRING, MAX, MIN)
    TYPES(SEMIRING, MAX, FIRST) TYPES(SEMIRING, MAX, SECOND)
    SEMIRING(BOOL, LOR, LAND) SEMIRING(BOOL, LAND, LOR) SEMIRING(BOOL, LXOR, LAND) SEMIRING(BOOL, LXNOR, LOR)
    GXB_TYPES(FIRST) GXB_TYPES(SECOND) GXB_TYPES(PAIR) GXB_TYPES(MIN) GXB_TYPES(MAX)
    GXB_TYPES(PLUS) GXB_TYPES(MINUS) GXB_TYPES(RMINUS) GXB_TYPES(TIMES) GXB_TYPES(DIV) GXB_TYPES(RDIV)
    GXB_TYPES(ISEQ) GXB_TYPES(ISNE) GXB_TYPES(ISGT) GXB_TYPES(ISLT) GXB_TYPES(ISGE) GXB_TYPES(ISLE)
    GXB_TYPES(LOR) GXB_TYPES(LAND) GXB_TYPES(LXOR)
    GXB_TRUTHS(EQ) GXB_TRUTHS(NE) GXB_TRUTHS(GT) GXB_TRUTHS(LT) GXB_TRUTHS(GE) GXB_TRUTHS(LE)
    GXB_BOOL(FIRST) GXB_BOOL(SECOND) GXB_BOOL(PAIR) GXB_BOOL(LOR) GXB_BOOL(LAND) GXB_BOOL(LXOR)
    GXB_BOOL(EQ) GXB_BOOL(GT) GXB_BOOL(LT) GXB_BOOL(GE) GXB_BOOL(LE)
    INDEX(FIRSTI) INDEX(FIRSTI1) INDEX(FIRSTJ) INDEX(FIRSTJ1)
    INDEX(SECONDI) INDEX(SECONDI1) INDEX(SECONDJ) INDEX(SECONDJ1)
};
/* clang-format on */

/* ---- descriptors */

#define DESCRIPTOR(name, r, s, c, t0, t1) {"GrB_DESC_" #name, 0, 0, 0},
static const ftb_grb_row descriptors[] = {FTB_DESCRIPTORS(DESCRIPTOR)};

/* ---- look-up */

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
static void *const *at_semirings[COUNT(semirings)], *const *at_monoids[COUNT(monoids)],
                                                        *const *at_binary[COUNT(binary)],
                                                            *const *at_descriptors[COUNT(descriptors)];
static const struct {
    FtB_Kind kind;
    ftb_grb_table table;
} tables[] = {{FTB_KIND_GRB_SEMIRING, {semirings, COUNT(semirings), at_semirings}},
              {FTB_KIND_GRB_MONOID, {monoids, COUNT(monoids), at_monoids}},
              {FTB_KIND_GRB_BINARY, {binary, COUNT(binary), at_binary}},
              {FTB_KIND_GRB_DESCRIPTOR, {descriptors, COUNT(descriptors), at_descriptors}}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool looked_up[COUNT(tables)];

static void look_up(size_t t)
{
    const ftb_grb_table *table = &tables[t].table;
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&looked_up[t], memory_order_relaxed)) {
        for (int64_t r = 0; r < table->count; r++)
            table->at[r] = ftb_grb_symbol(table->rows[r].name);
        atomic_store_explicit(&looked_up[t], true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

GrB_Info ftb_grb_table_of(const ftb_grb_table **table, FtB_Kind kind)
{
    size_t t = 0;
    while (tables[t].kind != kind)
        t++;
    GrB_Info info = ftb_grb_open();
    if (info != GrB_SUCCESS)
        return info;
    if (!atomic_load_explicit(&looked_up[t], memory_order_acquire))
        look_up(t);
    *table = &tables[t].table;
    return GrB_SUCCESS;
}

int64_t ftb_grb_find(const ftb_grb_table *table, const void *handle)
{
    for (int64_t r = 0; r < table->count; r++)
        if (table->at[r] && *table->at[r] == handle)
            return r;
    return -1;
}
