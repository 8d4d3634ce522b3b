/* What the library knows of GraphBLAS by name and by value, against the GraphBLAS at hand: every name of the
 * tables is found, every name of its header is known or of a family that is not, our types are the header's,
 * and threads that look up at once see the same. */
#include <GraphBLAS.h>

#include "support/check.h"
#include "support/grb_types.h"

#include "core/graphblas/bridge.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* The tables are those of SuiteSparse:GraphBLAS 7.4; others may lack names, or have more. */
#define SAME_VERSION (GxB_IMPLEMENTATION_MAJOR == 7)

static const struct {
    FtB_Kind kind;
    const char *type;
    int64_t least; /* of the rows, this many are in every GraphBLAS that is supported */
} kinds[] = {{FTB_KIND_GRB_SEMIRING, "GrB_Semiring", 124},
             {FTB_KIND_GRB_MONOID, "GrB_Monoid", 44},
             {FTB_KIND_GRB_BINARY, "GrB_BinaryOp", 201},
             {FTB_KIND_GRB_DESCRIPTOR, "GrB_Descriptor", 31}};
#define KINDS (sizeof kinds / sizeof *kinds)

static const ftb_grb_table *table_of(size_t k)
{
    const ftb_grb_table *table = NULL;
    assert_ok(ftb_grb_table_of(&table, kinds[k].kind));
    return table;
}

static void every_name_is_found(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        const ftb_grb_table *table = table_of(k);
        int64_t found = 0;
        for (int64_t r = 0; r < table->count; r++) {
            const char *name = table->rows[r].name;
            bool must = SAME_VERSION || strncmp(name, "GrB_", 4) == 0;
            if (must && !table->at[r])
                fail_msg("%s: not a symbol of this GraphBLAS", name);
            if (!table->at[r])
                continue;
            assert_non_null(*table->at[r]);
            found++;
            int64_t first = ftb_grb_find(table, *table->at[r]); /* GraphBLAS has several names for some */
            assert_in_range(first, 0, r);
            const ftb_grb_row *row = &table->rows[r], *same = &table->rows[first];
            if (kinds[k].kind != FTB_KIND_GRB_DESCRIPTOR && row->type != same->type)
                fail_msg("%s and %s are one object", name, same->name);
        }
        if (found < kinds[k].least)
            fail_msg("%s: %lld known; expected at least %lld", kinds[k].type, (long long)found,
                     (long long)kinds[k].least);
    }
}

static void handles_of_the_header(void **state)
{
    (void)state;
    const ftb_grb_table *table = table_of(0);
    assert_int_equal(table->rows[ftb_grb_find(table, GrB_MIN_PLUS_SEMIRING_INT8)].type, FTB_INT8);
    assert_string_equal(table->rows[ftb_grb_find(table, GrB_LXNOR_LOR_SEMIRING_BOOL)].name,
                        "GrB_LXNOR_LOR_SEMIRING_BOOL");
    assert_int_equal(ftb_grb_find(table_of(1), GrB_MAX_MONOID_FP64) >= 0, true);
    assert_int_equal(ftb_grb_find(table_of(1), GrB_MIN_PLUS_SEMIRING_INT8), -1); /* of another kind */
    assert_int_equal(ftb_grb_find(table_of(2), GrB_DIV_UINT16) >= 0, true);
    int64_t at = 0;
#define SAME(name, r, s, c, t0, t1) assert_int_equal(ftb_grb_find(table_of(3), GrB_DESC_##name), at++);
    FTB_DESCRIPTORS(SAME)
}

/* ---- the header's names */

static char *read_header(void)
{
    FILE *file = fopen(FTB_GRAPHBLAS_HEADER, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

/* Blanks out comments, in place. */
static void drop_comments(char *text)
{
    for (char *s = text; *s; s++) {
        const char *end = strncmp(s, "//", 2) == 0 ? "\n" : strncmp(s, "/*", 2) == 0 ? "*/" : NULL;
        char *stop = end ? strstr(s, end) : NULL;
        if (stop)
            memset(s, ' ', (size_t)(stop - s) + strlen(end) - (*end == '\n'));
    }
}

/* Families that are not known: complex types, bitwise monoids, operators without a text. */
static bool left_out(const char *name)
{
    static const char *const parts[] = {
        "_FC32",        "_FC64",         "GxB_CMPLX_",     "GxB_BAND_",      "GxB_BOR_",     "GxB_BXOR_",
        "GxB_BXNOR_",   "GxB_BGET_",     "GxB_BSET_",      "GxB_BCLR_",      "GxB_BSHIFT_",  "GxB_POW_",
        "GxB_ATAN2_",   "GxB_HYPOT_",    "GxB_FMOD_",      "GxB_REMAINDER_", "GxB_LDEXP_",   "GxB_COPYSIGN_",
        "GxB_FIRSTI_",  "GxB_FIRSTI1_",  "GxB_FIRSTJ_",    "GxB_FIRSTJ1_",   "GxB_SECONDI_", "GxB_SECONDI1_",
        "GxB_SECONDJ_", "GxB_SECONDJ1_", "GxB_IGNORE_DUP",
    };
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        if (strstr(name, parts[p]))
            return true;
    return false;
}

/* "GB_PUBLIC GrB_Semiring a, b, c ;": the names that the table has; fails for one that it should have. */
static int64_t count_known(const ftb_grb_table *table, const char *declaration, const char *end)
{
    int64_t known = 0;
    for (const char *s = declaration; s < end;) {
        size_t length = 0;
        while (isalnum((unsigned char)s[length]) || s[length] == '_')
            length++;
        char name[64];
        if (length > 0 && length < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)length, s);
            int64_t r = 0;
            while (r < table->count && strcmp(table->rows[r].name, name) != 0)
                r++;
            if (r == table->count && SAME_VERSION && !left_out(name))
                fail_msg("%s: of the header, but not in the table", name);
            known += r < table->count;
        }
        s += length + 1;
    }
    return known;
}

static void every_name_of_the_header_is_known(void **state)
{
    (void)state;
    char *text = read_header();
    drop_comments(text);
    for (size_t k = 0; k < KINDS; k++) {
        int64_t known = 0;
        for (char *s = text; (s = strstr(s, "GB_PUBLIC")); s++) {
            char *type = s + strlen("GB_PUBLIC"), *end = strpbrk(type, ";()");
            while (isspace((unsigned char)*type))
                type++;
            size_t length = strlen(kinds[k].type);
            if (end && *end == ';' && strncmp(type, kinds[k].type, length) == 0)
                known += count_known(table_of(k), type + length, end);
        }
        if (SAME_VERSION)
            assert_int_equal(known, table_of(k)->count);
    }
    free(text);
}

static void types_are_the_headers(void **state)
{
    (void)state;
    const grb_value *ours = grb_infos;
#define COMPARE(id)                                                                                          \
    assert_string_equal(ours->name, #id);                                                                    \
    assert_int_equal((ours++)->value, id);
    GRB_INFOS(COMPARE)
    assert_int_equal(grb_info_size, sizeof(GrB_Info));
    assert_int_equal(grb_index_size, sizeof(GrB_Index));
    assert_int_equal(grb_handle_size, sizeof(GrB_Semiring));
    assert_int_equal(FTB_GRB_NONBLOCKING, GrB_NONBLOCKING);
    assert_int_equal(FTB_GRB_CSR, GrB_CSR_FORMAT);
    assert_int_equal(FTB_GRB_COO, GrB_COO_FORMAT);
}

/* ---- threads */

enum { THREADS = 8 };
static pthread_barrier_t ready;

static void *look_up(void *kind)
{
    const ftb_grb_table *table = NULL;
    pthread_barrier_wait(&ready);
    GrB_Info info = ftb_grb_table_of(&table, kinds[*(const size_t *)kind].kind);
    static const char *const none = "";
    return info == GrB_SUCCESS && ftb_grb_find(table, none) == -1 ? *table->at[table->count - 1] : NULL;
}

/* Runs first, so that nothing was looked up before. */
static void threads_at_once(void **state)
{
    (void)state;
    const void *const last[KINDS] = {SAME_VERSION ? (const void *)GxB_ANY_SECONDJ1_INT64 : NULL,
                                     GxB_EQ_BOOL_MONOID, GxB_LXOR_BOOL, GrB_DESC_RSCT0T1};
    pthread_t threads[THREADS];
    size_t which[THREADS];
    assert_int_equal(pthread_barrier_init(&ready, NULL, THREADS), 0);
    for (size_t t = 0; t < THREADS; t++) {
        which[t] = t % KINDS;
        assert_int_equal(pthread_create(&threads[t], NULL, look_up, &which[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) {
        void *found;
        assert_int_equal(pthread_join(threads[t], &found), 0);
        assert_non_null(found);
        if (last[t % KINDS])
            assert_ptr_equal(found, last[t % KINDS]);
    }
    pthread_barrier_destroy(&ready);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_at_once),       cmocka_unit_test(every_name_is_found),
        cmocka_unit_test(handles_of_the_header), cmocka_unit_test(every_name_of_the_header_is_known),
        cmocka_unit_test(types_are_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
