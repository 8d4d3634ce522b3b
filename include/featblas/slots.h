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

#ifdef __cplusplus
#define FTB_SLOT_WRAP(suffix, type, kind)                                                                    \
    static inline FtB_Arg FTB_ARG(type x) { return FtB_Arg_make(kind, x, 0, 0); }
FTB_SLOT_OBJECTS(FTB_SLOT_WRAP)
static inline FtB_Arg FTB_ARG(double x) { return FtB_Arg_make(FTB_KIND_REAL, nullptr, x, 0); }
static inline FtB_Arg FTB_ARG(int x) { return FtB_Arg_make(FTB_KIND_INTEGER, nullptr, 0, x); }
static inline FtB_Arg FTB_ARG(long x) { return FtB_Arg_make(FTB_KIND_INTEGER, nullptr, 0, x); }
static inline FtB_Arg FTB_ARG(long long x) { return FtB_Arg_make(FTB_KIND_INTEGER, nullptr, 0, x); }
static inline FtB_Arg FTB_ARG(decltype(nullptr)) { return FtB_Arg_make(FTB_KIND_NONE, nullptr, 0, 0); }
static inline FtB_Arg FTB_ARG(FtB_Arg x) { return x; }
#else
#define FTB_SLOT_WRAP(suffix, type, kind)                                                                    \
    static inline FtB_Arg FtB_Arg_##suffix(type x) { return FtB_Arg_make(kind, x, 0, 0); }
FTB_SLOT_OBJECTS(FTB_SLOT_WRAP)
static inline FtB_Arg FtB_Arg_null(const void *x)
{
    (void)x;
    return FtB_Arg_make(FTB_KIND_NONE, NULL, 0, 0);
}
static inline FtB_Arg FtB_Arg_real(double x) { return FtB_Arg_make(FTB_KIND_REAL, NULL, x, 0); }
static inline FtB_Arg FtB_Arg_integer(long long x) { return FtB_Arg_make(FTB_KIND_INTEGER, NULL, 0, x); }
static inline FtB_Arg FtB_Arg_self(FtB_Arg x) { return x; }
#define FTB_SLOT_CASE(suffix, type, kind)                                                                    \
    type:                                                                                                    \
    FtB_Arg_##suffix,
#define FTB_ARG(x)                                                                                           \
    _Generic((x), FTB_SLOT_OBJECTS(FTB_SLOT_CASE) char *: FtB_Arg_text, void *: FtB_Arg_null,      \
        float: FtB_Arg_real, double: FtB_Arg_real, int: FtB_Arg_integer, long: FtB_Arg_integer,    \
        long long: FtB_Arg_integer, FtB_Arg: FtB_Arg_self)(x)
#endif
#undef FTB_SLOT_WRAP

#define FTB_BIND(name, x)                                                                                    \
    {                                                                                                        \
        name, FTB_ARG(x)                                                                                     \
    }
#ifndef __cplusplus
#define FTB_BINDINGS(...)                                                                                    \
    ((const FtB_Binding[]){__VA_ARGS__}), (sizeof((const FtB_Binding[]){__VA_ARGS__}) / sizeof(FtB_Binding))
#define FtB_Semiring_bind(bound, s, ...) (FtB_Semiring_bind)(bound, s, FTB_BINDINGS(__VA_ARGS__))
#define FtB_Op_bind(bound, op, ...) (FtB_Op_bind)(bound, op, FTB_BINDINGS(__VA_ARGS__))
#define FTB_PROJECT_OPTIONS(...)                                                                             \
    (&(const FtB_Project_options){.size = sizeof(FtB_Project_options), __VA_ARGS__})
#define FTB_READ_OPTIONS(...) (&(const FtB_Read_options){.size = sizeof(FtB_Read_options), __VA_ARGS__})
#endif

#define FtB_Descriptor_set(d, field, value) (FtB_Descriptor_set)(d, field, FTB_ARG(value))
#define FtB_mxm(C, M, accum, semiring, A, B, desc)                                                           \
    (FtB_mxm)(FTB_ARG(C), FTB_ARG(M), FTB_ARG(accum), FTB_ARG(semiring), FTB_ARG(A), FTB_ARG(B),             \
              FTB_ARG(desc))
#define FtB_mxm_arg(C, E, M, semiring, A, B, desc)                                                           \
    (FtB_mxm_arg)(FTB_ARG(C), FTB_ARG(E), FTB_ARG(M), FTB_ARG(semiring), FTB_ARG(A), FTB_ARG(B),             \
                  FTB_ARG(desc))
#define FtB_mxm_plan(plan, C, M, accum, semiring, A, B, desc, effort)                                        \
    (FtB_mxm_plan)(plan, FTB_ARG(C), FTB_ARG(M), FTB_ARG(accum), FTB_ARG(semiring), FTB_ARG(A), FTB_ARG(B),  \
                   FTB_ARG(desc), effort)
#define FtB_apply(C, M, accum, op, A, desc)                                                                  \
    (FtB_apply)(FTB_ARG(C), FTB_ARG(M), FTB_ARG(accum), FTB_ARG(op), FTB_ARG(A), FTB_ARG(desc))
#define FtB_select(C, M, accum, op, A, desc)                                                                 \
    (FtB_select)(FTB_ARG(C), FTB_ARG(M), FTB_ARG(accum), FTB_ARG(op), FTB_ARG(A), FTB_ARG(desc))
#define FtB_select_topk(C, M, accum, k, A, desc)                                                             \
    (FtB_select_topk)(FTB_ARG(C), FTB_ARG(M), FTB_ARG(accum), k, FTB_ARG(A), FTB_ARG(desc))
#define FtB_eWiseAdd(C, M, accum, op, A, B, desc)                                                            \
    (FtB_eWiseAdd)(FTB_ARG(C), FTB_ARG(M), FTB_ARG(accum), FTB_ARG(op), FTB_ARG(A), FTB_ARG(B), FTB_ARG(desc))
#define FtB_eWiseMult(C, M, accum, op, A, B, desc)                                                           \
    (FtB_eWiseMult)(FTB_ARG(C), FTB_ARG(M), FTB_ARG(accum), FTB_ARG(op), FTB_ARG(A), FTB_ARG(B),             \
                    FTB_ARG(desc))
#define FtB_reduce(y, M, accum, monoid, A, desc)                                                             \
    (FtB_reduce)(FTB_ARG(y), FTB_ARG(M), FTB_ARG(accum), FTB_ARG(monoid), FTB_ARG(A), FTB_ARG(desc))
#define FtB_reduce_scalar(s, type, monoid, A) (FtB_reduce_scalar)(s, type, FTB_ARG(monoid), FTB_ARG(A))
#define FtB_project(C, R, weight, options) (FtB_project)(FTB_ARG(C), FTB_ARG(R), FTB_ARG(weight), options)
#define FtB_project_plan(plan, C, R, weight, options, effort)                                                \
    (FtB_project_plan)(plan, FTB_ARG(C), FTB_ARG(R), FTB_ARG(weight), options, effort)

#endif
