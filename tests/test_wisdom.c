/* Wisdom: what was measured is used again for the same case and no other, saved and read back as it was,
 * changes no bit where none may change, and is refused whole where a file is damaged or another machine's. */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "plan/wisdom.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define ROWS 120
enum { FEATURES = 32, ROOM = 65536 };
#define OF_OBJECTS FTB_PLAN_GPU_SPMM /* kinds of calls; a GPU's: test_gpu_cusparse.c */

static char path[] = "/tmp/featblas-wisdom-XXXXXX";

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* ---- planned calls */

typedef struct operands {
    FtB_Matrix A, S;
    FtB_Block X, C;
} operands;

static GrB_Info make(operands *o, rng *r)
{
    GrB_Info info;
    *o = (operands){.A = rng_matrix(r, FTB_FP32, ROWS, ROWS, 1, 0.2)};
    FTB_CHECK(FtB_Matrix_new(&o->S, FTB_FP32, ROWS, ROWS, 1));
    FTB_CHECK(FtB_Block_new(&o->C, ROWS, FEATURES, FTB_FP32));
    FTB_CHECK(FtB_Block_new(&o->X, ROWS, FEATURES, FTB_FP32));
    for (int64_t t = 0; t < ROWS * FEATURES; t++)
        ((float *)block_values(o->X))[t] = (float)rng_unit(r);
done:
    return info;
}

static void clear(operands *o)
{
    FtB_Matrix_free(&o->A);
    FtB_Matrix_free(&o->S);
    FtB_Block_free(&o->X);
    FtB_Block_free(&o->C);
}

/* A plan of one of the operations. */
static GrB_Info plan_of(FtB_Plan *plan, const operands *o, ftb_plan_kind op, FtB_Effort effort)
{
    if (op == FTB_PLAN_SPGEMM)
        return FtB_mxm_plan(plan, o->S, NULL, NULL, FTB_PLUS_TIMES, o->A, o->A, NULL, effort);
    if (op == FTB_PLAN_SPMM)
        return FtB_mxm_plan(plan, o->C, NULL, NULL, "plus : src", o->A, o->X, NULL, effort);
    if (op == FTB_PLAN_SDDMM)
        return FtB_mxm_plan(plan, o->S, o->A, NULL, FTB_PLUS_DOT, o->X, o->X, FTB_DESC_RST1, effort);
    return FtB_attention_plan(plan, o->C, o->A, NULL, FTB_PLUS_DOT, o->X, o->X, o->X, NULL, NULL, effort);
}

static bool from_wisdom(const operands *o, ftb_plan_kind op)
{
    FtB_Plan plan;
    assert_ok(plan_of(&plan, o, op, FTB_ESTIMATE));
    bool found = planned_says(plan, "<- measured, from wisdom") &&
                 (op == FTB_PLAN_SPGEMM || planned_says(plan, "measured   "));
    FtB_Plan_free(&plan);
    return found;
}

static void is_used(void **state)
{
    (void)state;
    rng r = rng_new();
    operands o, other;
    assert_ok(make(&o, &r));
    assert_ok(make(&other, &r));
    for (ftb_plan_kind op = 0; op < OF_OBJECTS; op++) {
        FtB_Plan found, used;
        assert_false(from_wisdom(&o, op));
        assert_ok(plan_of(&found, &o, op, FTB_MEASURE));
        assert_false(planned_says(found, "from wisdom"));
        assert_true(from_wisdom(&o, op));
        assert_false(from_wisdom(&other, op)); /* other entries */
        assert_ok(plan_of(&used, &o, op, FTB_ESTIMATE));
        for (int n = 0; n < 2; n++) {
            static const char *const names[][2] = {{"relabel", "hot"}, {"segment", "tile"}};
            const char *name = names[op != FTB_PLAN_SPGEMM][n];
            assert_true(planned_figure(found, name) == planned_figure(used, name));
        }
        assert_true(op != FTB_PLAN_SPMM || planned_figure(found, "parts") == planned_figure(used, "parts"));
        assert_ok(FtB_Plan_set(used, "threads", "1"));
        assert_false(planned_says(used, "from wisdom")); /* by hand now */
        FtB_Plan_free(&found);
        FtB_Plan_free(&used);
        ftb_isa_force(FTB_ISA_BASELINE);
        assert_true(from_wisdom(&o, op) == (ftb_isa_force(-1) == FTB_ISA_BASELINE));
        assert_ok(FtB_Context_set_threads(NULL, 3));
        assert_true(op != FTB_PLAN_SPMM || !from_wisdom(&o, FTB_PLAN_SPMM));
        assert_ok(FtB_Context_set_threads(NULL, 0));
    }
    assert_ok(FtB_Wisdom_forget(NULL));
    for (ftb_plan_kind op = 0; op < OF_OBJECTS; op++)
        assert_false(from_wisdom(&o, op));
    clear(&o);
    clear(&other);
}

/* Sparse x block is planned as wisdom says. */
static void assert_chosen(const operands *o, int64_t segment, int64_t parts)
{
    FtB_Plan plan;
    assert_ok(plan_of(&plan, o, FTB_PLAN_SPMM, FTB_ESTIMATE));
    assert_true(planned_figure(plan, "partitioned") > 0);
    assert_true(planned_figure(plan, "segment") == (double)segment);
    assert_true(planned_figure(plan, "parts") == (double)parts);
    FtB_Plan_free(&plan);
}

static ftb_choice unlikely(ftb_plan_kind kind, int turn)
{
    if (kind == FTB_PLAN_SPGEMM)
        return (ftb_choice){.family = turn > 2 ? FTB_SPGEMM_HASH : FTB_SPGEMM_HASH | FTB_SPGEMM_RENAMED};
    const bool spmm = kind == FTB_PLAN_SPMM;
    return (ftb_choice){.family = spmm ? (int)FTB_SPMM_PARTITIONED : (int)FTB_SDDMM_SEGMENTS,
                        .segment = 5 * turn,
                        .tile = 1 + 15 * (turn == 2),
                        .parts = !spmm      ? 0
                                 : turn > 2 ? FTB_MOST_PARTS
                                            : 7,
                        .ordered = spmm && turn > 2,
                        .nanoseconds = 1};
}

/* Whatever wisdom says, calls without a plan have the same bits: attention does not read it, and what the
 * others take from it moves none. */
static void moves_no_bits(void **state)
{
    (void)state;
    rng r = rng_new();
    operands o;
    float first[3][ROWS * FEATURES];
    float product[ROWS * ROWS];
    assert_ok(make(&o, &r));
    const size_t bytes = sizeof first[0], scores = (size_t)o.A->pattern->nvals * sizeof(float);
    for (int turn = 0; turn < 4; turn++) {
        ftb_wisdom_text all;
        if (turn == 1)
            for (ftb_plan_kind op = 0; op < OF_OBJECTS; op++) {
                FtB_Plan plan;
                assert_ok(plan_of(&plan, &o, op, FTB_MEASURE));
                FtB_Plan_free(&plan);
            }
        assert_ok(ftb_wisdom_list(&all, ftb_context()));
        assert_int_equal(all.count, turn ? OF_OBJECTS : 0);
        for (int t = 0; t < all.count && turn > 1; t++) /* choices that nobody would measure */
            all.entries[t].choice = unlikely((ftb_plan_kind)all.entries[t].when.kind, turn);
        for (int t = 0; t < all.count && turn > 1; t++)
            assert_ok(ftb_wisdom_add(ftb_context(), &all.entries[t], 1, NULL));
        ftb_delete(all.entries);
        if (turn > 1)
            assert_chosen(&o, 5 * turn, turn > 2 ? FTB_MOST_PARTS : 7);
        assert_ok(FtB_mxm(o.C, NULL, NULL, "plus : src", o.A, o.X, NULL));
        turn ? assert_memory_equal(block_values(o.C), first[0], bytes)
             : (void)memcpy(first[0], block_values(o.C), bytes);
        assert_ok(FtB_mxm(o.S, o.A, NULL, FTB_PLUS_DOT, o.X, o.X, FTB_DESC_RST1));
        turn ? assert_memory_equal(matrix_values(o.S), first[1], scores)
             : (void)memcpy(first[1], matrix_values(o.S), scores);
        assert_ok(FtB_attention(o.C, o.A, NULL, FTB_PLUS_DOT, o.X, o.X, o.X, NULL, NULL));
        turn ? assert_memory_equal(block_values(o.C), first[2], bytes)
             : (void)memcpy(first[2], block_values(o.C), bytes);
        assert_ok(FtB_mxm(o.S, NULL, NULL, FTB_PLUS_TIMES, o.A, o.A, NULL));
        const size_t sums = (size_t)o.S->pattern->nvals * sizeof(float);
        turn ? assert_memory_equal(matrix_values(o.S), product, sums)
             : (void)memcpy(product, matrix_values(o.S), sums);
        FtB_Matrix_free(&o.S);
        assert_ok(FtB_Matrix_new(&o.S, FTB_FP32, ROWS, ROWS, 1));
    }
    assert_ok(FtB_Wisdom_forget(NULL));
    clear(&o);
}

/* What the context knows of its only case becomes this. */
static void know(ftb_choice choice)
{
    ftb_wisdom_text all;
    assert_ok(ftb_wisdom_list(&all, ftb_context()));
    assert_int_equal(all.count, 1);
    all.entries[0].choice = choice;
    assert_ok(ftb_wisdom_add(ftb_context(), all.entries, 1, NULL));
    ftb_delete(all.entries);
}

/* FTB_MEASURE looks again where something is known, and remembers what it finds now. */
static void measured_again(void **state)
{
    (void)state;
    rng r = rng_new();
    operands o;
    assert_ok(make(&o, &r));
    for (ftb_plan_kind op = 0; op < OF_OBJECTS; op++) {
        FtB_Plan plan;
        ftb_wisdom_text all;
        assert_ok(plan_of(&plan, &o, op, FTB_MEASURE));
        FtB_Plan_free(&plan);
        ftb_choice slow = unlikely(op, 2);
        slow.nanoseconds = INT64_MAX;
        know(slow);
        assert_ok(plan_of(&plan, &o, op, FTB_MEASURE));
        FtB_Plan_free(&plan);
        assert_ok(ftb_wisdom_list(&all, ftb_context()));
        assert_int_equal(all.count, 1);
        assert_true(all.entries[0].choice.nanoseconds < INT64_MAX);
        ftb_delete(all.entries);
        assert_ok(FtB_Wisdom_forget(NULL));
    }
    clear(&o);
}

/* What is set by hand overrules what wisdom or a trial chose, as it does what the rule chose. */
static void overruled(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 300, 600, 1, 0.1), S;
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 600, 600, 1));
    for (int turn = 0; turn < 4; turn++) {
        const FtB_Effort effort = turn % 2 ? FTB_MEASURE : FTB_ESTIMATE;
        FtB_Plan plan;
        assert_ok(FtB_mxm_plan(&plan, S, NULL, NULL, FTB_PLUS_PAIR, A, A, FTB_DESC_T0, FTB_MEASURE));
        FtB_Plan_free(&plan);
        know((ftb_choice){.family = turn / 2 ? FTB_SPGEMM_RENAMED : 0});
        assert_ok(FtB_mxm_plan(&plan, S, NULL, NULL, FTB_PLUS_PAIR, A, A, FTB_DESC_T0, effort));
        assert_true(effort == FTB_MEASURE || planned_figure(plan, "relabel") == turn / 2);
        assert_ok(FtB_Plan_set(plan, "hot", "512"));
        assert_true(planned_figure(plan, "hot") == 512 && planned_figure(plan, "relabel") == 1);
        assert_fails(GrB_INVALID_VALUE, "expected 1, since", FtB_Plan_set(plan, "relabel", "0"));
        assert_ok(FtB_Plan_set(plan, "hot", "0"));
        assert_ok(FtB_Plan_set(plan, "relabel", "0"));
        assert_fails(GrB_INVALID_VALUE, "expected 0, since", FtB_Plan_set(plan, "hot", "512"));
        FtB_Plan_free(&plan);
        assert_ok(FtB_Wisdom_forget(NULL));
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&S);
}

/* Of a plan of wisdom another kernel is set, or segments where rows are best: it is what it would be without.
 */
static void released(void **state)
{
    (void)state;
    static const char *const kernels[][4] = {{NULL, "direct", "rows", "rows"},
                                             {NULL, "partitioned", "segments", "segments"}};
    const ftb_choice rows[] = {{0}, {.family = FTB_SPMM_DIRECT}, {.family = FTB_SDDMM_ROWS}};
    rng r = rng_new();
    operands o;
    assert_ok(make(&o, &r));
    for (int turn = 0; turn < 9; turn++) {
        const ftb_plan_kind op = (ftb_plan_kind)(FTB_PLAN_SPMM + turn % 3);
        FtB_Plan plan[2];
        assert_ok(plan_of(&plan[0], &o, op, FTB_ESTIMATE));
        assert_ok(plan_of(&plan[1], &o, op, FTB_MEASURE));
        FtB_Plan_free(&plan[1]);
        know(turn < 6 ? unlikely(op, 1) : rows[ftb_min(op, FTB_PLAN_SDDMM)]);
        assert_ok(plan_of(&plan[1], &o, op, FTB_ESTIMATE));
        for (int n = 0; n < 2; n++)
            assert_ok(turn < 6 ? FtB_Plan_set(plan[n], "kernel", kernels[turn / 3][op])
                               : FtB_Plan_set(plan[n], "segment", "16"));
        assert_true(planned_figure(plan[0], "segment") == planned_figure(plan[1], "segment"));
        assert_true(planned_figure(plan[0], "tile") == planned_figure(plan[1], "tile"));
        FtB_Plan_free(&plan[0]);
        FtB_Plan_free(&plan[1]);
        assert_ok(FtB_Wisdom_forget(NULL));
    }
    clear(&o);
}

/* ---- files */

static ftb_wisdom_entry some_entry(rng *r)
{
    ftb_wisdom_entry e = {0};
    ftb_wisdom_here(&e.when, (ftb_plan_kind)rng_below(r, FTB_PLAN_KINDS));
    snprintf(e.when.kernel, sizeof e.when.kernel, "kernel_%d", (int)rng_below(r, 1000));
    const ftb_plan_row *row = &ftb_plan_rows[e.when.kind];
    for (int f = 0; f < FTB_CASE_FACTS && row->case_names[f]; f++)
        e.when.fact[f] = (int64_t)(rng_bits(r) >> (1 + rng_below(r, 63)));
    e.when.degrees = rng_bits(r);
    int ways = 0;
    while (row->ways[ways].name)
        ways++;
    const ftb_way *way = &row->ways[rng_below(r, ways)];
    e.choice.family = way->family;
    e.choice.segment = way->segments ? 1 + rng_below(r, FTB_MOST_SEGMENT) : 0;
    e.choice.tile = 1 + rng_below(r, 4096);
    if (way->parts) {
        e.choice.parts = rng_below(r, FTB_MOST_PARTS + 1);
        e.choice.ordered = (int32_t)rng_below(r, 2);
    }
    e.choice.nanoseconds = (int64_t)(rng_bits(r) >> 20);
    return e;
}

static size_t read_file(char *text)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, ROOM, file);
    fclose(file);
    return size;
}

static void write_file(const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static ftb_costs some_costs(rng *r)
{
    ftb_costs costs = ftb_costs_of(ftb_isa());
    for (int c = 0; c < FTB_NCOSTS; c++)
        *ftb_cost_at(&costs, c) *= 0.1 + 10 * rng_unit(r);
    return costs;
}

static void round_trip(void **state)
{
    (void)state;
    rng r = rng_new();
    static char text[ROOM], again[ROOM];
    for (int n = 0; n <= 60; n += 12) {
        ftb_wisdom_text before, after;
        ftb_costs costs = some_costs(&r);
        assert_ok(FtB_Wisdom_forget(NULL));
        for (int t = 0; t < n; t++) {
            ftb_wisdom_entry e = some_entry(&r);
            assert_ok(ftb_wisdom_add(ftb_context(), &e, 1, NULL));
        }
        if (n % 24)
            assert_ok(ftb_wisdom_add(ftb_context(), NULL, 0, &costs));
        assert_ok(ftb_wisdom_list(&before, ftb_context()));
        assert_ok(FtB_Wisdom_save(NULL, path));
        assert_ok(FtB_Wisdom_forget(NULL));
        assert_ok(FtB_Wisdom_load(NULL, path));
        assert_ok(FtB_Wisdom_load(NULL, path)); /* known already */
        assert_ok(ftb_wisdom_list(&after, ftb_context()));
        assert_int_equal(after.count, before.count);
        assert_memory_equal(before.entries, after.entries, (size_t)before.count * sizeof *before.entries);
        assert_true(before.calibrated == (n % 24 != 0) && after.calibrated == before.calibrated);
        for (int c = 0; before.calibrated && c < FTB_NCOSTS; c++) /* to a thousandth of a unit */
            assert_true(fabs(*ftb_cost_at(&before.costs, c) - *ftb_cost_at(&after.costs, c)) <=
                        0.51e-3 * ftb_cost_unit(c));
        size_t size = read_file(text);
        assert_ok(FtB_Wisdom_save(NULL, path));
        assert_int_equal(read_file(again), size);
        assert_memory_equal(text, again, size);
        ftb_delete(before.entries);
        ftb_delete(after.entries);
    }
    assert_ok(FtB_Wisdom_forget(NULL));
}

/* No more than so many cases are kept, and the newest stay. */
static void is_bounded(void **state)
{
    (void)state;
    rng r = rng_new();
    ftb_wisdom_text kept;
    ftb_wisdom_entry e = some_entry(&r);
    int64_t now;
    for (int t = 0; t < FTB_WISDOM_MOST + 100; t++) {
        e.when.fact[0] = t;
        assert_ok(ftb_wisdom_add(ftb_context(), &e, 1, NULL));
    }
    assert_ok(ftb_wisdom_list(&kept, ftb_context()));
    assert_int_equal(kept.count, FTB_WISDOM_MOST);
    assert_int_equal(kept.entries[0].when.fact[0], 100);
    assert_int_equal(kept.entries[kept.count - 1].when.fact[0], FTB_WISDOM_MOST + 99);
    ftb_delete(kept.entries);
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    assert_true(now > 0);
    int64_t with = now;
    assert_ok(FtB_Wisdom_save(NULL, path));
    assert_ok(FtB_Wisdom_forget(NULL));
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    assert_true(with - now < 300000);
    assert_ok(FtB_Wisdom_load(NULL, path));
    assert_ok(FtB_Wisdom_forget(NULL));
}

static void some_file(rng *r, bool calibrated, char *text, size_t *size)
{
    ftb_costs costs = some_costs(r);
    assert_ok(FtB_Wisdom_forget(NULL));
    if (calibrated)
        assert_ok(ftb_wisdom_add(ftb_context(), NULL, 0, &costs));
    for (int t = 0; t < 4; t++) {
        ftb_wisdom_entry e = some_entry(r);
        assert_ok(ftb_wisdom_add(ftb_context(), &e, 1, NULL));
    }
    assert_ok(FtB_Wisdom_save(NULL, path));
    assert_ok(FtB_Wisdom_forget(NULL));
    *size = read_file(text);
    text[*size] = 0;
}

static int64_t cases_known(void)
{
    ftb_wisdom_text all;
    assert_ok(ftb_wisdom_list(&all, ftb_context()));
    ftb_delete(all.entries);
    return all.count + all.calibrated;
}

/* Bytes changed, lost and added: a file is read whole or changes nothing. */
static void damaged(void **state)
{
    (void)state;
    rng r = rng_new();
    static char text[ROOM], bad[ROOM];
    size_t size;
    some_file(&r, true, text, &size);
    for (size_t cut = 0; cut < size; cut += 1 + (size_t)rng_below(&r, 9)) {
        write_file(text, cut);
        assert_int_equal(FtB_Wisdom_load(NULL, path), FTB_FORMAT);
        assert_int_equal(cases_known(), 0);
    }
    for (int t = 0; t < rng_cases(2000); t++) {
        size_t at = (size_t)rng_below(&r, (int64_t)size), length = size;
        memcpy(bad, text, size);
        if (t % 3 == 0)
            bad[at] = (char)rng_bits(&r);
        else if (t % 3 == 1)
            memmove(bad + at, bad + at + 1, --length - at);
        else
            memmove(bad + at + 1, bad + at, length++ - at);
        write_file(bad, length);
        GrB_Info info = FtB_Wisdom_load(NULL, path);
        if (info != GrB_SUCCESS && info != FTB_FORMAT && info != GrB_INVALID_VALUE)
            fail_msg("mutation %d: %d %s", t, info, FtB_error());
        assert_true(info == GrB_SUCCESS ? cases_known() >= 3 : cases_known() == 0);
        assert_true(info == GrB_SUCCESS || strstr(FtB_error(), path));
        assert_ok(FtB_Wisdom_forget(NULL));
    }
}

/* The file with `from` replaced by `to` is refused with these words. */
static void refuse(const char *text, const char *from, const char *to, GrB_Info info, const char *words)
{
    char bad[ROOM];
    const char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    write_file(bad, strlen(bad));
    assert_fails(info, words, FtB_Wisdom_load(NULL, path));
    assert_int_equal(cases_known(), 0);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    static char text[ROOM];
    size_t size;
    some_file(&r, false, text, &size);
    refuse(text, "wisdom 1", "wisdom 2", FTB_FORMAT, ":1:1: expected featblas-wisdom 1");
    refuse(text, " cores=", " cores=9", GrB_INVALID_VALUE,
           ":2:1: measured on another machine; this one is 'machine");
    refuse(text, "isa=", "isa=other_", GrB_INVALID_VALUE, "another machine");
    refuse(text, "end 4", "end 5", FTB_FORMAT, ":7:5: expected the number of cases above");
    refuse(text, "end 4\n", "end 4\n\n", FTB_FORMAT, ":8:1: expected nothing after the end");
    refuse(text, "end 4\n", "sum 4\n", FTB_FORMAT, ":7:1: expected spgemm, spmm, sddmm, attention, gpu_spmm");
    refuse(text, " -> ", " => ", FTB_FORMAT, "expected -> ");
    refuse(text, "nrows=", "rows=", FTB_FORMAT, "expected nrows");
    refuse(text, "nrows=", "nrows=-", FTB_FORMAT, "expected a whole number");
    refuse(text, "nrows=", "nrows=99999999999999999999", FTB_FORMAT, "expected a smaller number");
    refuse(text, "parts=", "parts=99999", FTB_FORMAT, "expected a smaller number");
    refuse(text, "ordered=", "ordered=9", FTB_FORMAT, "expected a smaller number");
    refuse(text, "degrees=", "degrees=x", FTB_FORMAT, "expected 16 hexadecimal digits");
    refuse(text, "kernel=", "kernel=A", FTB_FORMAT, "expected a kernel's name");
    some_file(&r, true, text, &size);
    refuse(text, "costs ", "cost ", FTB_FORMAT, ":3:1: expected spgemm, spmm, sddmm, attention, gpu_spmm");
    refuse(text, " visit=", " visits=", FTB_FORMAT, "expected visit");
    refuse(text, " row=", " row=-", FTB_FORMAT, "expected a whole number");
    refuse(text, " row=", " row=0 row=", FTB_FORMAT, "expected a cost of 1 or more");
    refuse(text, " row=", " row=9999999999999", FTB_FORMAT, "expected a smaller number");
    assert_fails(GrB_NULL_POINTER, "path: NULL", FtB_Wisdom_load(NULL, NULL));
    assert_fails(GrB_NULL_POINTER, "path: NULL", FtB_Wisdom_save(NULL, NULL));
    assert_fails(FTB_IO, "/nowhere/x: cannot be read", FtB_Wisdom_load(NULL, "/nowhere/x"));
    assert_fails(FTB_IO, "/nowhere/x: cannot write", FtB_Wisdom_save(NULL, "/nowhere/x"));
}

/* ---- memory and threads */

static GrB_Info call(void *arg)
{
    FtB_Context ctx = NULL;
    GrB_Info info;
    rng *r = arg;
    ftb_wisdom_entry e = some_entry(r);
    ftb_costs costs = some_costs(r);
    FTB_CHECK(FtB_Context_new(&ctx));
    FTB_CHECK(FtB_Wisdom_load(ctx, path));
    FTB_CHECK(ftb_wisdom_add(ctx, &e, 1, &costs));
    info = FtB_Wisdom_save(ctx, path);
done:
    FtB_Context_free(&ctx);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    static char text[ROOM];
    size_t size;
    some_file(&r, false, text, &size);
    fail_every_allocation(call, NULL, &r);
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_memory_limit(ctx, 10000));
    assert_fails(FTB_LIMIT, "memory limit", FtB_Wisdom_load(ctx, path));
    assert_ok(FtB_Context_free(&ctx));
}

static void *work(void *arg)
{
    operands *o = arg;
    for (int t = 0; t < 30; t++) {
        FtB_Plan plan = NULL;
        GrB_Info info = plan_of(&plan, o, FTB_PLAN_SDDMM, t % 5 == 0 ? FTB_MEASURE : FTB_ESTIMATE);
        FtB_Plan_free(&plan);
        if (info == GrB_SUCCESS && t % 7 == 0)
            info = FtB_Wisdom_load(NULL, path);
        if (info == GrB_SUCCESS && t % 11 == 0)
            info = FtB_Wisdom_forget(NULL);
        if (info != GrB_SUCCESS)
            return o;
    }
    return NULL;
}

static void from_several_threads(void **state)
{
    (void)state;
    rng r = rng_new();
    operands o;
    pthread_t threads[4];
    static char text[ROOM];
    size_t size;
    some_file(&r, false, text, &size);
    assert_ok(make(&o, &r));
    assert_ok(FtB_Context_set_threads(NULL, 1));
    for (int t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, work, &o), 0);
    for (int t = 0; t < 4; t++) {
        void *failed;
        assert_int_equal(pthread_join(threads[t], &failed), 0);
        assert_null(failed);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    assert_ok(FtB_Wisdom_forget(NULL));
    clear(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_used),
        cmocka_unit_test(overruled),
        cmocka_unit_test(released),
        cmocka_unit_test(moves_no_bits),
        cmocka_unit_test(measured_again),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(is_bounded),
        cmocka_unit_test(damaged),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(from_several_threads),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
