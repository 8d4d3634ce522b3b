/* Slots: macros of the functions' own names that wrap each argument in an FtB_Arg. */
#ifndef FEATBLAS_SLOTS_H
#define FEATBLAS_SLOTS_H

/** Makes an FtB_Arg from fields. @param kind which. @param handle object or text. @param real value.
 *  @param integer value. */
static inline FtB_Arg FtB_Arg_make(FtB_Kind kind, const void *handle, double real, int64_t integer)
{
    FtB_Arg arg;
    arg.kind = handle || kind == FTB_KIND_REAL || kind == FTB_KIND_INTEGER ? kind : FTB_KIND_NONE;
    arg.handle = handle;
    arg.real = real;
    arg.integer = integer;
    return arg;
}

/* One row per kind of object: X(suffix, C type, kind). */
#define FTB_SLOT_OBJECTS(X)                                                                                  \
    X(matrix, FtB_Matrix, FTB_KIND_MATRIX)                                                                   \
    X(block, FtB_Block, FTB_KIND_BLOCK)                                                                      \
    X(vector, FtB_Vector, FTB_KIND_VECTOR)                                                                   \
    X(semiring, FtB_Semiring, FTB_KIND_SEMIRING)                                                             \
    X(op, FtB_Op, FTB_KIND_OP)                                                                               \
    X(descriptor, FtB_Descriptor, FTB_KIND_DESCRIPTOR)                                                       \
    X(sink, FtB_Sink, FTB_KIND_SINK)                                                                         \
    X(plan, FtB_Plan, FTB_KIND_PLAN)                                                                         \
    X(text, const char *, FTB_KIND_TEXT)                                                                     \
    X(grb_semiring, GrB_Semiring, FTB_KIND_GRB_SEMIRING)                                                     \
    X(grb_monoid, GrB_Monoid, FTB_KIND_GRB_MONOID)                                                           \
    X(grb_binary, GrB_BinaryOp, FTB_KIND_GRB_BINARY)                                                         \
    X(grb_descriptor, GrB_Descriptor, FTB_KIND_GRB_DESCRIPTOR)

/** An empty slot. */
static inline FtB_Arg FtB_Arg_none(void) { return FtB_Arg_make(FTB_KIND_NONE, NULL, 0, 0); }
static inline FtB_Arg FtB_Arg_real(double x) { return FtB_Arg_make(FTB_KIND_REAL, NULL, x, 0); }
static inline FtB_Arg FtB_Arg_integer(long long x) { return FtB_Arg_make(FTB_KIND_INTEGER, NULL, 0, x); }
static inline FtB_Arg FtB_Arg_natural(unsigned long long x)
{
    return x <= INT64_MAX ? FtB_Arg_integer((long long)x) : FtB_Arg_real((double)x);
}
/** NULL; other untyped pointers have no kind, and are refused. @param x pointer. */
static inline FtB_Arg FtB_Arg_untyped(const void *x)
{
    return x ? FtB_Arg_make(FTB_KIND_UNKNOWN, x, 0, 0) : FtB_Arg_none();
}
/** A list, also an empty one. @param x list. */
static inline FtB_Arg FtB_Arg_ids(FtB_Ids x)
{
    FtB_Arg arg = FtB_Arg_none();
    arg.kind = FTB_KIND_IDS;
    arg.handle = x.at;
    arg.integer = x.count;
    return arg;
}
/** A list of @p count numbers. @param at the first. @param count how many. */
static inline FtB_Ids FtB_Ids_of(const int64_t *at, int64_t count)
{
    FtB_Ids ids;
    ids.at = at;
    ids.count = count;
    return ids;
}
static inline FtB_Arg FtB_Arg_self(FtB_Arg x) { return x; }
/** A slot that takes objects only: 0 is NULL there, as in all of C. @param x argument. */
static inline FtB_Arg FtB_Arg_slot(FtB_Arg x)
{
    return x.kind == FTB_KIND_INTEGER && x.integer == 0 ? FtB_Arg_none() : x;
}

#ifdef __cplusplus
/* Options leave fields out, which are zero then; g++ -Wextra would warn of each of them at the caller's. */
#pragma GCC system_header
#include <initializer_list>

#define FTB_SLOT_WRAP(suffix, type, kind)                                                                    \
    static inline FtB_Arg FtB_Arg_of(type x) { return FtB_Arg_make(kind, x, 0, 0); }
FTB_SLOT_OBJECTS(FTB_SLOT_WRAP)
static inline FtB_Arg FtB_Arg_of(double x) { return FtB_Arg_real(x); }
static inline FtB_Arg FtB_Arg_of(int x) { return FtB_Arg_integer(x); }
static inline FtB_Arg FtB_Arg_of(long x) { return FtB_Arg_integer(x); }
static inline FtB_Arg FtB_Arg_of(long long x) { return FtB_Arg_integer(x); }
static inline FtB_Arg FtB_Arg_of(unsigned x) { return FtB_Arg_natural(x); }
static inline FtB_Arg FtB_Arg_of(unsigned long x) { return FtB_Arg_natural(x); }
static inline FtB_Arg FtB_Arg_of(unsigned long long x) { return FtB_Arg_natural(x); }
static inline FtB_Arg FtB_Arg_of(decltype(nullptr)) { return FtB_Arg_none(); }
static inline FtB_Arg FtB_Arg_of(FtB_Arg x) { return x; }
static inline FtB_Arg FtB_Arg_of(FtB_Ids x) { return FtB_Arg_ids(x); }
/* A template, so that NULL, an integer to compilers, comes without a warning. */
template <typename T> static inline FtB_Arg FTB_ARG(const T &x) { return FtB_Arg_of(x); }
#else
#define FTB_SLOT_WRAP(suffix, type, kind)                                                                    \
    static inline FtB_Arg FtB_Arg_##suffix(type x) { return FtB_Arg_make(kind, x, 0, 0); }
FTB_SLOT_OBJECTS(FTB_SLOT_WRAP)
#define FTB_SLOT_CASE(suffix, type, kind)                                                                    \
    type:                                                                                                    \
    FtB_Arg_##suffix,
#define FTB_ARG(x)                                                                                           \
    _Generic((x),                                                                                            \
        FTB_SLOT_OBJECTS(FTB_SLOT_CASE) char *: FtB_Arg_text,                                                \
        void *: FtB_Arg_untyped,                                                                             \
        const void *: FtB_Arg_untyped,                                                                       \
        float: FtB_Arg_real,                                                                                 \
        double: FtB_Arg_real,                                                                                \
        bool: FtB_Arg_integer,                                                                               \
        short: FtB_Arg_integer,                                                                              \
        int: FtB_Arg_integer,                                                                                \
        long: FtB_Arg_integer,                                                                               \
        long long: FtB_Arg_integer,                                                                          \
        unsigned: FtB_Arg_natural,                                                                           \
        unsigned long: FtB_Arg_natural,                                                                      \
        unsigned long long: FtB_Arg_natural,                                                                 \
        FtB_Ids: FtB_Arg_ids,                                                                                \
        FtB_Arg: FtB_Arg_self)(x)
#endif
#undef FTB_SLOT_WRAP
#define FTB_SLOT(x) FtB_Arg_slot(FTB_ARG(x))

#define FTB_BIND(name, x)                                                                                    \
    {                                                                                                        \
        name, FTB_ARG(x)                                                                                     \
    }
/* FTB_LIST(type, ...): a list as functions take it, FTB_OPTIONS_OF(type, ...): options with their size. In
 * C++ a function that takes a list has an overload for one. */
#ifdef __cplusplus
#define FTB_LIST(type, ...)                                                                                  \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
static inline GrB_Info FtB_Semiring_bind(FtB_Semiring *bound, FtB_Semiring s,
                                         std::initializer_list<FtB_Binding> bindings)
{
    return FtB_Semiring_bind(bound, s, bindings.begin(), bindings.size());
}
static inline GrB_Info FtB_Op_bind(FtB_Op *bound, FtB_Op op, std::initializer_list<FtB_Binding> bindings)
{
    return FtB_Op_bind(bound, op, bindings.begin(), bindings.size());
}
static inline GrB_Info FtB_mxm_grad(FtB_Arg dC, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg M,
                                    FtB_Arg saved, std::initializer_list<FtB_Gradient> gradients,
                                    FtB_Arg desc)
{
    return FtB_mxm_grad(dC, semiring, A, B, M, saved, gradients.begin(), gradients.size(), desc);
}
/* Options name their fields, which C++ has from C++20 on, and compilers before: __extension__ tells
 * -pedantic. */
template <typename T> static inline const T *FtB_options(const T &options) { return &options; }
#define FTB_OPTIONS_OF(type, ...) FtB_options(__extension__ type{.size = sizeof(type), __VA_ARGS__})
#else
#define FTB_LIST(type, ...)                                                                                  \
    ((const type[]){__VA_ARGS__}), (sizeof((const type[]){__VA_ARGS__}) / sizeof(type))
#define FTB_OPTIONS_OF(type, ...) (&(const type){.size = sizeof(type), __VA_ARGS__})
#endif

#define FTB_PROJECT_OPTIONS(...) FTB_OPTIONS_OF(FtB_Project_options, __VA_ARGS__)
#define FTB_READ_OPTIONS(...) FTB_OPTIONS_OF(FtB_Read_options, __VA_ARGS__)
#define FTB_BLOCK_READ_OPTIONS(...) FTB_OPTIONS_OF(FtB_Block_read_options, __VA_ARGS__)
#define FTB_SELECT_OPTIONS(...) FTB_OPTIONS_OF(FtB_Select_options, __VA_ARGS__)
#define FTB_SAMPLE_OPTIONS(...) FTB_OPTIONS_OF(FtB_Sample_options, __VA_ARGS__)
#define FTB_LOADER(...) FTB_OPTIONS_OF(FtB_Loader_options, __VA_ARGS__)
#define FTB_NEGATIVE_OPTIONS(...) FTB_OPTIONS_OF(FtB_Negative_options, __VA_ARGS__)
#define FTB_WALK_OPTIONS(...) FTB_OPTIONS_OF(FtB_Walk_options, __VA_ARGS__)
#define FTB_SUBGRAPH_OPTIONS(...) FTB_OPTIONS_OF(FtB_Subgraph_options, __VA_ARGS__)
#define FTB_SAINT_OPTIONS(...) FTB_OPTIONS_OF(FtB_Saint_options, __VA_ARGS__)
#define FTB_PARTITION_OPTIONS(...) FTB_OPTIONS_OF(FtB_Partition_options, __VA_ARGS__)
#define FTB_CLUSTERS_OPTIONS(...) FTB_OPTIONS_OF(FtB_Clusters_options, __VA_ARGS__)
#define FTB_ATTENTION_OPTIONS(...) FTB_OPTIONS_OF(FtB_Attention_options, __VA_ARGS__)

#define FTB_GRAD(name, output)                                                                               \
    {                                                                                                        \
        name, FTB_ARG(output), false                                                                         \
    }
#define FTB_GRAD_ADD(name, output)                                                                           \
    {                                                                                                        \
        name, FTB_ARG(output), true                                                                          \
    }

#define FtB_Semiring_bind(bound, s, ...) (FtB_Semiring_bind)(bound, s, FTB_LIST(FtB_Binding, __VA_ARGS__))
#define FtB_Op_bind(bound, op, ...) (FtB_Op_bind)(bound, op, FTB_LIST(FtB_Binding, __VA_ARGS__))
#define FtB_Descriptor_set(d, field, value) (FtB_Descriptor_set)(d, field, FTB_ARG(value))
#define FtB_mxm(C, M, accum, semiring, A, B, desc)                                                           \
    (FtB_mxm)(FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), FTB_SLOT(semiring), FTB_SLOT(A), FTB_SLOT(B),       \
              FTB_SLOT(desc))
/* GraphBLAS's names of products with a vector, right of the matrix and left of it. */
#define FtB_mxv(w, M, accum, semiring, A, u, desc) FtB_mxm(w, M, accum, semiring, A, u, desc)
#define FtB_vxm(w, M, accum, semiring, u, A, desc) FtB_mxm(w, M, accum, semiring, u, A, desc)
#define FtB_mxm_arg(C, E, M, semiring, A, B, desc)                                                           \
    (FtB_mxm_arg)(FTB_SLOT(C), FTB_SLOT(E), FTB_SLOT(M), FTB_SLOT(semiring), FTB_SLOT(A), FTB_SLOT(B),       \
                  FTB_SLOT(desc))
#define FtB_mxm_plan(plan, C, M, accum, semiring, A, B, desc, effort)                                        \
    (FtB_mxm_plan)(plan, FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), FTB_SLOT(semiring), FTB_SLOT(A),         \
                   FTB_SLOT(B), FTB_SLOT(desc), effort)
#define FtB_apply(C, M, accum, op, A, desc)                                                                  \
    (FtB_apply)(FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), FTB_SLOT(op), FTB_SLOT(A), FTB_SLOT(desc))
#define FtB_extract(C, M, accum, A, I, J, desc)                                                              \
    (FtB_extract)(FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), FTB_SLOT(A), FTB_SLOT(I), FTB_SLOT(J),          \
                  FTB_SLOT(desc))
/* A may be the number 0. */
#define FtB_assign(C, M, accum, A, I, J, desc)                                                               \
    (FtB_assign)(FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), FTB_ARG(A), FTB_SLOT(I), FTB_SLOT(J),            \
                 FTB_SLOT(desc))
#define FtB_transpose(C, M, accum, A, desc)                                                                  \
    (FtB_transpose)(FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), FTB_SLOT(A), FTB_SLOT(desc))
#define FtB_select(C, M, accum, op, A, desc)                                                                 \
    (FtB_select)(FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), FTB_SLOT(op), FTB_SLOT(A), FTB_SLOT(desc))
#define FtB_select_topk(C, M, accum, k, A, desc)                                                             \
    (FtB_select_topk)(FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), k, FTB_SLOT(A), FTB_SLOT(desc))
#define FtB_eWiseAdd(C, M, accum, op, A, B, desc)                                                            \
    (FtB_eWiseAdd)(FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), FTB_SLOT(op), FTB_SLOT(A), FTB_SLOT(B),        \
                   FTB_SLOT(desc))
#define FtB_eWiseMult(C, M, accum, op, A, B, desc)                                                           \
    (FtB_eWiseMult)(FTB_SLOT(C), FTB_SLOT(M), FTB_SLOT(accum), FTB_SLOT(op), FTB_SLOT(A), FTB_SLOT(B),       \
                    FTB_SLOT(desc))
#define FtB_reduce(y, M, accum, monoid, A, desc)                                                             \
    (FtB_reduce)(FTB_SLOT(y), FTB_SLOT(M), FTB_SLOT(accum), FTB_SLOT(monoid), FTB_SLOT(A), FTB_SLOT(desc))
#define FtB_mxm_grad(dC, semiring, A, B, M, saved, desc, ...)                                                \
    (FtB_mxm_grad)(FTB_SLOT(dC), FTB_SLOT(semiring), FTB_SLOT(A), FTB_SLOT(B), FTB_SLOT(M), FTB_SLOT(saved), \
                   FTB_LIST(FtB_Gradient, __VA_ARGS__), FTB_SLOT(desc))
#define FtB_softmax(S, A, by) (FtB_softmax)(FTB_SLOT(S), FTB_SLOT(A), by)
#define FtB_softmax_grad(dA, S, dS, by) (FtB_softmax_grad)(FTB_SLOT(dA), FTB_SLOT(S), FTB_SLOT(dS), by)
#define FtB_attention(C, A, accum, semiring, Q, K, V, options, desc)                                         \
    (FtB_attention)(FTB_SLOT(C), FTB_SLOT(A), FTB_SLOT(accum), FTB_SLOT(semiring), FTB_SLOT(Q), FTB_SLOT(K), \
                    FTB_SLOT(V), options, FTB_SLOT(desc))
#define FtB_attention_plan(plan, C, A, accum, semiring, Q, K, V, options, desc, effort)                      \
    (FtB_attention_plan)(plan, FTB_SLOT(C), FTB_SLOT(A), FTB_SLOT(accum), FTB_SLOT(semiring), FTB_SLOT(Q),   \
                         FTB_SLOT(K), FTB_SLOT(V), options, FTB_SLOT(desc), effort)
#define FtB_attention_grad(dQ, dK, dV, dC, A, semiring, Q, K, V, C, options, desc)                           \
    (FtB_attention_grad)(FTB_SLOT(dQ), FTB_SLOT(dK), FTB_SLOT(dV), FTB_SLOT(dC), FTB_SLOT(A),                \
                         FTB_SLOT(semiring), FTB_SLOT(Q), FTB_SLOT(K), FTB_SLOT(V), FTB_SLOT(C), options,    \
                         FTB_SLOT(desc))
/* FtB_gather(Y, X, rows, count), or FtB_gather(Y, X, ids) of an FtB_Ids. */
static inline GrB_Info FtB_gather_ids(FtB_Arg Y, FtB_Arg X, FtB_Ids ids)
{
    return FtB_gather(Y, X, ids.at, ids.count);
}
#define FTB_GATHER_IDS(Y, X, ids) FtB_gather_ids(FTB_SLOT(Y), FTB_SLOT(X), ids)
#define FTB_GATHER_ROWS(Y, X, rows, count) (FtB_gather)(FTB_SLOT(Y), FTB_SLOT(X), rows, count)
#define FTB_GATHER_OF(Y, X, rows, count, name, ...) name
#define FtB_gather(...)                                                                                      \
    FTB_GATHER_OF(__VA_ARGS__, FTB_GATHER_ROWS, FTB_GATHER_IDS, FTB_GATHER_IDS, )(__VA_ARGS__)
#define FtB_select_sample(S, rows, k, key, A, options)                                                       \
    (FtB_select_sample)(FTB_SLOT(S), FTB_SLOT(rows), k, FTB_SLOT(key), FTB_SLOT(A), options)
#define FtB_Loader_new(loader, A, X, labels, seeds, nseeds, options)                                         \
    (FtB_Loader_new)(loader, A, FTB_SLOT(X), labels, seeds, nseeds, options)
#define FtB_sample_negative(S, rows, k, A, options)                                                          \
    (FtB_sample_negative)(FTB_SLOT(S), FTB_SLOT(rows), k, FTB_SLOT(A), options)
#define FtB_scatter(Y, accum, X, rows, count)                                                                \
    (FtB_scatter)(FTB_SLOT(Y), FTB_SLOT(accum), FTB_SLOT(X), rows, count)
#define FtB_reduce_scalar(s, type, monoid, A) (FtB_reduce_scalar)(s, type, FTB_SLOT(monoid), FTB_SLOT(A))
#define FtB_project(C, R, weight, options) (FtB_project)(FTB_SLOT(C), FTB_SLOT(R), FTB_SLOT(weight), options)
#define FtB_project_plan(plan, C, R, weight, options, effort)                                                \
    (FtB_project_plan)(plan, FTB_SLOT(C), FTB_SLOT(R), FTB_SLOT(weight), options, effort)

#endif
