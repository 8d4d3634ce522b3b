/* What every part of the library uses: status, counted memory, types, and the objects' insides. */
#ifndef FTB_CORE_H
#define FTB_CORE_H

#include "core/buffer.h"
#include "core/degrees.h"
#include "featblas.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define FTB_INT32_LIMIT INT64_C(0x7fffffff) /* ncols from here up: columns are int64 */
/* These evaluate their arguments twice. */
#define ftb_min(a, b) ((a) < (b) ? (a) : (b))
#define ftb_max(a, b) ((a) > (b) ? (a) : (b))

/* ---- status (status.c) */

/* Sets this thread's message and returns `info`. The message ends without a full stop. */
GrB_Info ftb_fail(GrB_Info info, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts text in front of the message of the call that just failed; returns `info`. */
GrB_Info ftb_wrap_error(GrB_Info info, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- context (context.c): reference-counted */

struct FtB_Context_opaque {
    atomic_llong refs;
    int threads;   /* 0: all cores */
    int64_t limit; /* bytes, 0: none */
    uint64_t seed;
    bool deterministic;
    FtB_Precision precision;
    bool relaxed;
    bool no_sync;           /* files are renamed before they are on the disk */
    double measure_seconds; /* 0: the default */
    char *tmpdir;           /* NULL: default */
    FtB_Progress_function progress;
    void *progress_arg;
    _Atomic int64_t now, peak; /* counted bytes */
    atomic_int cancelled;
    _Atomic int64_t progress_ns; /* when progress was last called */
    atomic_flag reporting;       /* held by the thread that is inside the callback */
    pthread_mutex_t wisdom_lock;
    struct ftb_wisdom *wisdom;                  /* plan/wisdom.h; raw memory, counted; NULL: none */
    _Atomic(const struct ftb_backend *) device; /* that work is placed on; NULL: the host */
    void *stream;                               /* of the device, the caller's; NULL: the library's own */
    _Atomic int64_t moved[2];                   /* bytes, by ftb_direction */
    pthread_mutex_t spare_lock;
    struct ftb_spare *spares;    /* spare.h; NULL: none, as at the end of every context */
    _Atomic int64_t spare_bytes; /* of them, which are counted */
    _Atomic int64_t spare_most;  /* in use without them, since there are users */
    atomic_int spare_users;
    atomic_bool reuse; /* the caller is one of them */
    int64_t spare_round;
};

FtB_Context ftb_context(void);                   /* the engaged one, or the default; never NULL */
FtB_Context ftb_context_retain(FtB_Context ctx); /* returns ctx */
void ftb_context_release(FtB_Context ctx);
int ftb_threads(FtB_Context ctx); /* >= 1; 1 in a forked child */
/* The calling thread is one of ours that works ahead of the caller's: with so many threads at most, and
 * without calling back; a cancellation that it sees is for the caller's to clear. */
void ftb_work_ahead(int threads);
/* Starts a thread that takes no signals, which are for the program's own. */
bool ftb_thread_start(pthread_t *thread, void *(*work)(void *), void *arg);
/* Threads for a pass over so many entries: what does not pay for waking the others is not split. */
int ftb_threads_for(FtB_Context ctx, int64_t entries);
int ftb_threads_for_values(FtB_Context ctx, int64_t values); /* of a block, in its order */
bool ftb_deterministic(FtB_Context ctx);      /* what bits depend on is decided as on a fixed machine */
FtB_Precision ftb_precision(FtB_Context ctx); /* that operands of FP32 may be rounded to */
bool ftb_relaxed(FtB_Context ctx);            /* bits may differ from run to run */
bool ftb_forked(void);                        /* this process is a fork of the one that loaded the library */
int64_t ftb_memory_left(FtB_Context ctx);     /* bytes; INT64_MAX without a limit */
/* FTB_CANCELLED (message set) if the context was cancelled or progress says so; call per chunk,
 * from one thread. total 0: unknown. */
GrB_Info ftb_progress(FtB_Context ctx, double done, double total, const char *what);
double ftb_measure_seconds(FtB_Context ctx); /* of trials of FTB_MEASURE, in all */
double ftb_seconds(void);                    /* of a clock that only runs forward */
bool ftb_cancelled(FtB_Context ctx);         /* cheap; for use inside parallel loops */
/* FTB_CANCELLED, with its message, if the context was cancelled. */
GrB_Info ftb_check_cancelled(FtB_Context ctx);
/* Whether a part of a loop is to be left out, which *stopped remembers: another thread's call, such as one of
 * a caller that a loader works ahead of, may take the cancellation before the loop has ended. */
bool ftb_stops(FtB_Context ctx, atomic_bool *stopped);
GrB_Info ftb_check_stopped(FtB_Context ctx, const atomic_bool *stopped); /* FTB_CANCELLED if one was, too */
void ftb_cancel_clear(FtB_Context ctx); /* by the public call that returns FTB_CANCELLED */

/* ---- memory (alloc.c): counted in a context (NULL: the engaged one), which every allocation keeps
 * alive; 64-byte aligned; NULL on failure with the thread's message set; ftb_nomem() then returns
 * GrB_OUT_OF_MEMORY or FTB_LIMIT. count 0 gives a valid pointer. */

void *ftb_new(FtB_Context ctx, int64_t count, size_t size);  /* uninitialised */
void *ftb_new0(FtB_Context ctx, int64_t count, size_t size); /* zeroed */
/* Bytes of a cache line, which data are aligned to. What each thread has of its own and writes to again and
 * again is `_Alignas(FTB_LINE)`: two threads that write to one line wait for each other (a sample took 1.25 x
 * the time on two threads for that alone). */
#define FTB_LINE 64
/* Grows or shrinks in place of *p, which is only changed on success. false: failed, *p still valid. */
bool ftb_resize(FtB_Context ctx, void **p, int64_t count, size_t size);
void ftb_delete(void *p);           /* NULL is allowed */
int64_t ftb_size_of(const void *p); /* bytes that were asked for */
char *ftb_strdup(FtB_Context ctx, const char *s);
GrB_Info ftb_nomem(void);
/* A variable of the environment that names code, or where code is: NULL, too, in a program that runs with
 * more rights than who started it (set-user-id). */
const char *ftb_getenv_code(const char *name);
/* Uncounted memory from the allocator in use, for what a context itself is made of. */
void *ftb_raw_new(size_t bytes);
void ftb_raw_delete(void *p);
/* Counts bytes that others hold for us (mapped files and the like). false: over the limit. */
bool ftb_count(FtB_Context ctx, int64_t bytes);
void ftb_uncount(FtB_Context ctx, int64_t bytes);

/* ---- types (type.c) */

bool ftb_type_valid(FtB_Type type);
bool ftb_type_integer(FtB_Type type); /* signed or unsigned; not BOOL */
bool ftb_type_float(FtB_Type type);
int ftb_type_bits(FtB_Type type); /* 1 for BOOL */
/* The type that arithmetic on `type` is done in: BOOL, INT64, UINT64, FP32 or FP64. */
FtB_Type ftb_type_compute(FtB_Type type);
/* dst[i] = (dt) src[i], by GraphBLAS's rules: to BOOL is != 0, float to integer truncates and
 * saturates (NaN gives 0), integers wrap, to FP16/BF16 rounds to nearest even. dst may be src. */
void ftb_cast(void *dst, FtB_Type dt, const void *src, FtB_Type st, int64_t count);
/* The first of `count` values that `to` cannot hold, -1: it holds them all. Of integers that is what is not
 * whole or beyond their range, of reals what is finite and would become infinite; reals round, and BOOL holds
 * everything. */
int64_t ftb_find_unfit(FtB_Type to, const void *values, FtB_Type from, int64_t count);
/* A value as messages show it: "300", "1e+300". Returns text, of FTB_WORDS bytes (words.h). */
char *ftb_value_text(char *text, const void *values, FtB_Type type, int64_t at);
double ftb_get_real(const void *values, FtB_Type type, int64_t at);
int64_t ftb_get_integer(const void *values, FtB_Type type, int64_t at);

/* ---- pattern (pattern.c): immutable, reference-counted, shared by matrices */

/* What a device's verbs have made of a pattern, once, for themselves: a list, freed with it. Who makes it
 * adds it under the pattern's lock, and then does not change it. */
typedef struct ftb_derived {
    struct ftb_derived *next;
    const void *kind; /* an address of its maker's */
    int64_t key;      /* which of that kind */
    int64_t counts[6];
    ftb_buffer *buffers[2];
    void (*forget)(struct ftb_derived *of); /* before it is freed with the pattern; NULL: nobody minds */
} ftb_derived;

typedef struct ftb_pattern {
    atomic_llong refs;
    FtB_Context ctx;
    int64_t nrows, ncols, nvals;
    bool wide;             /* columns are int64_t (ncols > 2^31 - 1), else int32_t */
    bool multi;            /* parallel edges may be present (rule keep) */
    const int64_t *rowptr; /* nrows + 1; NULL: rows are listed, and nobody has asked for it */
    const void *colidx;    /* nvals, ascending in each row */
    ftb_buffer *rowptr_owner, *colidx_owner;
    struct ftb_pattern *listed; /* the rows that have entries, alone (hypersparse.h); NULL: all are held */
    const int64_t *numbers;     /* of such rows: row r is numbers[r] of all_rows; NULL: row r is row r */
    int64_t all_rows;
    ftb_buffer *numbers_owner;
    const int64_t *columns; /* the same of columns */
    ftb_buffer *columns_owner;
    pthread_mutex_t lock;             /* guards what follows: derived forms, built once */
    struct ftb_pattern *transpose;    /* holds no reference back; the pattern itself if it is symmetric */
    int64_t *transpose_from;          /* nvals: entry of this pattern that became the transpose's entry */
    struct ftb_partition *partitions; /* source partitions, one per width (partition.h) */
    ftb_derived *derived;
    struct ftb_pattern *both;     /* of listed rows: these and the columns that have entries, numbered */
    struct ftb_pattern *diagonal; /* with every (i, i); holds no reference back */
    ftb_degrees degrees;
    bool counted;            /* degrees are known */
    struct ftb_whole *whole; /* of a hop of a sample: what it was picked of (whole.h); else NULL */
    atomic_llong
        products; /* with blocks, that were planned for one use: what a partition may save is learned */
    atomic_llong would_save; /* nanoseconds that programs and vectors would have saved with the transpose */
} ftb_pattern;

/* Adopts the buffers (also on failure: then they are released). */
ftb_pattern *ftb_pattern_new(FtB_Context ctx, int64_t nrows, int64_t ncols, ftb_buffer *rowptr,
                             ftb_buffer *colidx);
/* All rows of a pattern of numbered ones, which is adopted, also on failure; NULL is allowed. */
ftb_pattern *ftb_pattern_of_listed(ftb_pattern *listed);
ftb_pattern *ftb_pattern_empty(FtB_Context ctx, int64_t nrows, int64_t ncols);
ftb_pattern *ftb_pattern_retain(ftb_pattern *p);
void ftb_pattern_release(ftb_pattern *p); /* NULL is allowed */
struct ftb_backend;
/* Its arrays on a device, as verbs of `where` read them; they go there once. */
GrB_Info ftb_pattern_ask_at(ftb_pattern *p, const struct ftb_backend *where, const int64_t **rowptr,
                            const void **colidx);
/* What was made of p of that kind and key; else `make` makes it under p's lock: counts, and buffers, which
 * are released where it fails. */
typedef GrB_Info (*ftb_derived_make)(ftb_derived *to, ftb_pattern *p, const void *arg);
GrB_Info ftb_derived_ask(const ftb_derived **found, ftb_pattern *p, const void *kind, int64_t key,
                         ftb_derived_make make, const void *arg);
/* Takes out and frees what nobody uses or will look at, without telling. */
void ftb_derived_drop(ftb_pattern *p, const ftb_derived *of);
/* The transpose (borrowed from p, built on first use, parallel; p itself if that is symmetric), and where its
 * entries came from (NULL: not wanted, which saves 8 bytes an entry). */
GrB_Info ftb_pattern_transpose(ftb_pattern *p, ftb_pattern **transpose, const int64_t **from);
/* Whether that is there already. */
bool ftb_pattern_transposed(ftb_pattern *p, bool from);
/* A pattern with exactly one entry (i, i) in every row: p itself, or one borrowed from p, built on first use.
 * p has a column for each row. */
GrB_Info ftb_pattern_diagonal(ftb_pattern *p, ftb_pattern **with);
/* How many entries (i, i) p has, counted on first use; where those of row i are: from *first to before *end.
 */
GrB_Info ftb_pattern_loops(ftb_pattern *p, int64_t *count);
void ftb_pattern_own(const ftb_pattern *p, int64_t i, int64_t *first, int64_t *end);
const ftb_degrees *ftb_pattern_degrees(ftb_pattern *p); /* counted on first use */

static inline int64_t ftb_col(const ftb_pattern *p, int64_t e)
{
    return p->wide ? ((const int64_t *)p->colidx)[e] : ((const int32_t *)p->colidx)[e];
}
static inline size_t ftb_col_size(int64_t ncols) { return ncols > FTB_INT32_LIMIT ? 8 : 4; }
/* Cuts rows into parts of about equal entries + rows (of patterns with row pointers a and b; b may be NULL):
 * part p is the rows from cut p to cut p + 1. */
int64_t ftb_rows_cut(int64_t nrows, const int64_t *a, const int64_t *b, int64_t part, int64_t parts);
static inline int64_t ftb_pattern_cut(const ftb_pattern *p, int64_t part, int64_t parts)
{
    return ftb_rows_cut(p->nrows, p->rowptr, NULL, part, parts);
}

/* count copies of a value of `size` bytes: of what is there already, while that is in L1. */
static inline void ftb_fill(void *to, int64_t count, const void *value, size_t size)
{
    const size_t bytes = count > 0 ? (size_t)count * size : 0, near = size << 10;
    size_t more = size;
    if (bytes > 0)
        memcpy(to, value, size);
    for (size_t done = size; done < bytes; done += more) {
        more = ftb_min(done < near ? done : near, bytes - done);
        memcpy((char *)to + done, to, more);
    }
}

/* ---- sorting (sort.c) */

/* Sorts n words stably by their bits low .. high - 1 (all bits from `low` up when n is small: bits from
 * `high` up must be 0). Returns the array, of the two, that holds the result. */
uint64_t *ftb_sort(uint64_t *a, uint64_t *scratch, int64_t n, int low, int high);
/* The same by so many threads, or eight. */
uint64_t *ftb_sort_by(uint64_t *a, uint64_t *scratch, int64_t n, int low, int high, int threads);

/* ---- objects (matrix.c, block.c, ...). Handles carry a magic number so that a wrong or freed
 * handle gives GrB_UNINITIALIZED_OBJECT most of the time instead of a crash. */

#define FTB_MAGIC_MATRIX 0x4654424d
#define FTB_MAGIC_BLOCK 0x46544242
#define FTB_MAGIC_SEMIRING 0x46544253
#define FTB_MAGIC_OP 0x4654424f
#define FTB_MAGIC_DESCRIPTOR 0x46544244
#define FTB_MAGIC_PLAN 0x46544250
#define FTB_MAGIC_SINK 0x4654424b
#define FTB_MAGIC_LABELS 0x4654424c

struct FtB_Matrix_opaque {
    uint32_t magic;
    FtB_Context ctx;
    FtB_Type type;
    int64_t width;
    ftb_pattern *pattern;
    ftb_buffer *values;                /* nvals x width of `type`; NULL when width is 0 */
    struct ftb_draw_tables *tables[2]; /* (draw_tables.h), under the pattern's lock; NULL: there are none */
};

struct FtB_Block_opaque {
    uint32_t magic;
    FtB_Context ctx;
    FtB_Type type;
    int64_t nrows, ncols, ld, heads; /* heads: 1 unless a head view */
    ftb_buffer *owner;
    int64_t offset; /* bytes, of the first value in the owner's memory */
};

struct FtB_Labels_opaque {
    uint32_t magic;
    FtB_Context ctx;
    atomic_llong refs;
    int64_t count;
    const int64_t *offset; /* count + 1, into bytes; every label ends with a NUL inside its range */
    const char *bytes;
};

/* Where X's first value is, or will be, on the host: to be read once asked for. */
static inline void *ftb_block_address(const struct FtB_Block_opaque *X)
{
    return (char *)X->owner->host + X->offset;
}
/* X's first value on the host, once asked for; ftb_values: A's, NULL where the width is 0. */
static inline void *ftb_block_data(const struct FtB_Block_opaque *X)
{
    return (char *)ftb_buffer_data(X->owner) + X->offset;
}
static inline void *ftb_values(FtB_Matrix A) { return A->values ? ftb_buffer_data(A->values) : NULL; }

/* Whether X is all of its owner's memory. */
static inline bool ftb_block_whole(FtB_Block X)
{
    return X->offset == 0 && X->ld == X->ncols &&
           X->nrows * X->ncols * (int64_t)FtB_Type_size(X->type) == X->owner->bytes;
}

/* Makes a matrix that adopts one reference of pattern and values (also on failure). */
GrB_Info ftb_matrix_make(FtB_Matrix *A, FtB_Context ctx, FtB_Type type, int64_t width, ftb_pattern *pattern,
                         ftb_buffer *values);
/* A's entries by another pattern of them, which it adopts (also on failure). Nothing of A is written. */
GrB_Info ftb_matrix_view(FtB_Matrix *V, FtB_Matrix A, ftb_pattern *pattern);
/* A second handle of a matrix: the same pattern and values. */
GrB_Info ftb_matrix_share(FtB_Matrix *B, FtB_Matrix A);
/* Refuses, naming the call, what no matrix can be. */
GrB_Info ftb_matrix_check_shape(const char *call, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width);
/* Makes a block over memory of `owner`, of which it adopts one reference (also on failure). */
GrB_Info ftb_block_view(FtB_Block *X, FtB_Context ctx, FtB_Type type, int64_t nrows, int64_t ncols,
                        int64_t ld, ftb_buffer *owner);
/* Gives C the content of T (pattern, width; values cast to C's type); T is consumed on success. */
GrB_Info ftb_matrix_become(FtB_Matrix C, FtB_Matrix T);
/* Checks row pointers (nrows + 1, from 0, not falling) and columns (int64_t if `wide`, else int32_t) of CSR
 * arrays; *ascending: strictly, in every row. `call` begins the messages. */
GrB_Info ftb_csr_check(const char *call, FtB_Context ctx, int64_t nrows, int64_t ncols, const int64_t *rowptr,
                       const void *colidx, bool wide, bool *ascending);
/* A matrix with a sorted copy of checked CSR arrays; duplicates are refused. */
GrB_Info ftb_csr_sorted(FtB_Matrix *A, FtB_Type type, int64_t nrows, int64_t ncols, int64_t width,
                        const int64_t *rowptr, const void *colidx, bool wide, const void *values);
/* Makes T = A read transposed, sharing nothing with A but the cached pattern. */
GrB_Info ftb_matrix_transpose(FtB_Matrix *T, FtB_Matrix A);

/* Adopts bytes and offset (ftb_new()ed; also on failure). */
GrB_Info ftb_labels_make(FtB_Labels *labels, FtB_Context ctx, int64_t count, int64_t *offset, char *bytes);
FtB_Labels ftb_labels_retain(FtB_Labels labels); /* NULL is allowed */

/* ---- arguments (arg.c): unwrap a slot and say what was wrong with it, by its name. Optional ones
 * give NULL for an empty slot. */

const char *ftb_kind_name(FtB_Kind kind); /* "an FtB_Matrix", "text", ... */
GrB_Info ftb_arg_matrix_anywhere(FtB_Matrix *A, FtB_Arg arg, const char *name, bool optional);
GrB_Info ftb_arg_block_anywhere(FtB_Block *X, FtB_Arg arg, const char *name, bool optional);
/* The same, and the values are asked for on the host, for reading. */
GrB_Info ftb_arg_matrix(FtB_Matrix *A, FtB_Arg arg, const char *name, bool optional);
/* A matrix that may list its rows (hypersparse.h); the others give one with row pointers. */
GrB_Info ftb_arg_matrix_listed_anywhere(FtB_Matrix *A, FtB_Arg arg, const char *name, bool optional);
GrB_Info ftb_arg_matrix_listed(FtB_Matrix *A, FtB_Arg arg, const char *name, bool optional);
GrB_Info ftb_arg_block(FtB_Block *X, FtB_Arg arg, const char *name, bool optional);

typedef struct ftb_flags { /* a descriptor, read */
    bool transpose0, transpose1, structural, complement, replace;
    double fill;
    FtB_Plan plan;
} ftb_flags;
GrB_Info ftb_arg_descriptor(ftb_flags *flags, FtB_Arg arg);

#define FTB_CHECK(expression) /* inside functions with a done: label and `info` */                           \
    if ((info = (expression)) != GrB_SUCCESS)                                                                \
    goto done

#endif
