/* The table of formats: every row is whole, tells itself from the others, reads back what it writes, and is
 * what the command lists. */
#include "support/check.h"
#include "support/command.h"
#include "support/compare.h"
#include "support/temporary.h"

#include "core/core.h"
#include "io/format.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 5, COLS = 7, NVALS = 9 };
static const int64_t I[NVALS] = {0, 0, 1, 1, 2, 3, 3, 4, 4}, J[NVALS] = {0, 6, 1, 2, 3, 4, 6, 0, 5};
static const double values[NVALS] = {1, 2, 3, 7, 0, 5, 1, 100, 4};

/* The values of the public enum are for ever. */
static void constants(void **state)
{
    (void)state;
    static const FtB_Format all[] = {FTB_FORMAT_AUTO, FTB_MTX, FTB_TSV, FTB_CSV, FTB_NPZ,
                                     FTB_CSR,         FTB_NPY, FTB_SG,  FTB_WSG};
    for (int f = 0; f < 9; f++)
        assert_int_equal(all[f], f);
    assert_null(ftb_format_of(FTB_FORMAT_AUTO));
    assert_null(ftb_format_of((FtB_Format)-1));
    assert_null(ftb_format_of((FtB_Format)99));
}

static void whole(const ftb_format *f)
{
    char name[64];
    size_t length = 0, endings = 0;
    assert_ptr_equal(ftb_format_of(f->value), f);
    if (!f->codec->matrix && !f->codec->block && !f->codec->sink && !f->codec->write_block)
        fail_msg("%s: is neither read nor written", f->name);
    assert_true(f->codec->rank > 0);
    assert_true(f->title[0] != '\0');
    assert_true(!f->codec->is_block || (f->codec->block && f->codec->matrix));
    assert_true(f->codec->magic[0] || f->codec->text || f->codec->tells); /* how would it be recognised? */
    for (const char *e = ftb_ending_next(f, NULL, &length); e;
         e = ftb_ending_next(f, e, &length), endings++) {
        const ftb_format *found;
        assert_true(e[0] == '.' && length > 1);
        snprintf(name, sizeof name, "some.x%.*s", (int)length, e);
        assert_int_equal(ftb_format_ending(&found, name), length); /* no other row has it */
        assert_ptr_equal(found, f);
        name[7] = (char)(name[7] & ~0x20);
        assert_int_equal(ftb_format_by_ending(name), f->value);
        assert_int_equal(ftb_format_by_ending(name + 6), FTB_FORMAT_AUTO); /* nothing but an ending */
    }
    assert_true(endings > 0);
}

static void rows(void **state)
{
    (void)state;
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f)) {
        whole(f);
        for (const ftb_format *g = ftb_format_next(f); g; g = ftb_format_next(g)) {
            assert_string_not_equal(f->name, g->name);
            assert_string_not_equal(f->title, g->title);
            assert_int_not_equal(f->codec->rank, g->codec->rank);
            for (int m = 0; m < 2 && f->codec->magic[m]; m++)
                for (int n = 0; n < 2 && g->codec->magic[n]; n++)
                    assert_int_not_equal(
                        strncmp(f->codec->magic[m], g->codec->magic[n],
                                ftb_min(strlen(f->codec->magic[m]), strlen(g->codec->magic[n]))),
                        0);
        }
    }
}

/* ---- what is written is read back */

static void matrix_of(const ftb_format *f, FtB_Type type, int64_t width)
{
    uint64_t typed[NVALS] = {0};
    FtB_Matrix A, B;
    ftb_cast(typed, type, values, FTB_FP64, NVALS);
    assert_ok(FtB_Matrix_build(&A, type, ROWS, COLS, width, NVALS, I, J, width ? typed : NULL, FTB_DUP_ERROR,
                               NULL));
    assert_ok(FtB_Matrix_write(A, temp_path("x"), f->value, NULL, NULL, 0));
    for (int told = 0; told < 2; told++) {
        FtB_Format found = FTB_FORMAT_AUTO;
        assert_ok(FtB_Matrix_read(&B, NULL, NULL, temp_path("x"),
                                  FTB_READ_OPTIONS(.format = told ? f->value : FTB_FORMAT_AUTO,
                                                   .found = &found, .type = width ? type : 0)));
        assert_same(A, B);
        assert_int_equal(found, f->value);
        FtB_Matrix_free(&B);
    }
    FtB_Matrix_free(&A);
}

static void block_of(const ftb_format *f, FtB_Type type)
{
    uint64_t typed[NVALS] = {0};
    FtB_Block X, Y;
    ftb_cast(typed, type, values, FTB_FP64, NVALS);
    assert_ok(FtB_Block_wrap(&X, typed, 3, 3, 3, type));
    assert_ok(FtB_Block_write(X, temp_path("x"), f->value, 0));
    for (int told = 0; told < 2; told++) {
        FtB_Format found = FTB_FORMAT_AUTO;
        assert_ok(FtB_Block_read(&Y, temp_path("x"),
                                 FTB_BLOCK_READ_OPTIONS(.format = told ? f->value : FTB_FORMAT_AUTO,
                                                        .found = &found, .type = type)));
        assert_true(Y->nrows == 3 && Y->ncols == 3 && Y->type == type);
        assert_memory_equal(block_values(X), block_values(Y), NVALS * FtB_Type_size(type));
        assert_int_equal(found, f->value);
        FtB_Block_free(&Y);
    }
    FtB_Block_free(&X);
}

static void back(void **state)
{
    (void)state;
    int matrices = 0, blocks = 0;
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f))
        for (FtB_Type type = FTB_BOOL; ftb_type_valid(type); type = (FtB_Type)(type + 1)) {
            const bool graphs = f->value == FTB_SG || f->value == FTB_WSG, /* test_io_serialized.c */
                matrix = ftb_format_can(f, FTB_READ_MATRIX) && ftb_format_can(f, FTB_WRITE_MATRIX) && !graphs,
                       block = ftb_format_can(f, FTB_READ_BLOCK) && ftb_format_can(f, FTB_WRITE_BLOCK);
            if (matrix)
                matrix_of(f, type, 1);
            if (matrix && type == FTB_BOOL && f->value != FTB_NPZ) /* a pattern becomes booleans there */
                matrix_of(f, type, 0);
            if (block)
                block_of(f, type);
            matrices += matrix;
            blocks += block;
        }
    assert_true(matrices >= 5 * 13 && blocks >= 4 * 13);
}

/* What a format cannot do is refused, with a list of those that can. */
static void refused(void **state)
{
    (void)state;
    char list[FTB_FORMAT_LIST];
    FtB_Matrix A;
    FtB_Block X;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, COLS, 0, NVALS, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&X, 2, 2, FTB_FP32));
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f)) {
        FtB_Matrix B;
        if (!ftb_format_can(f, FTB_WRITE_MATRIX))
            assert_fails(GrB_INVALID_VALUE, ftb_format_list(list, FTB_WRITE_MATRIX, true, " or "),
                         FtB_Matrix_write(A, temp_path("y"), f->value, NULL, NULL, 0));
        if (!ftb_format_can(f, FTB_WRITE_BLOCK))
            assert_fails(GrB_INVALID_VALUE, ftb_format_list(list, FTB_WRITE_BLOCK, true, " or "),
                         FtB_Block_write(X, temp_path("y"), f->value, 0));
        if (!ftb_format_can(f, FTB_READ_MATRIX))
            assert_fails(
                GrB_INVALID_VALUE, "no FtB_Format",
                FtB_Matrix_read(&B, NULL, NULL, temp_path("x"), FTB_READ_OPTIONS(.format = f->value)));
    }
    assert_fails(GrB_INVALID_VALUE, ftb_format_list(list, FTB_WRITE_MATRIX, true, " or "),
                 FtB_Matrix_write(A, temp_path("y.dat"), FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
}

/* ---- what the command lists */

/* The words of a list such as "mtx, tsv or csv", up to a semicolon or a full stop: names of the table that
 * can do that, all of them. */
static void listed(const char *subcommand, const char *before, ftb_format_use use)
{
    char *help, *out;
    size_t length;
    int words = 0, known = 0;
    assert_int_equal(command_run((const char *[]){getenv("FEATBLAS_COMMAND"), subcommand, "--help", NULL}),
                     0);
    help = read_bytes("wrote", NULL);
    out = help;
    for (const char *in = help; *in; in++) /* without the line breaks */
        if ((*in != ' ' && *in != '\n') || (out > help && out[-1] != ' '))
            *out++ = *in == '\n' ? ' ' : *in;
    *out = '\0';
    const char *list = strstr(help, before);
    assert_non_null(list);
    list += strlen(before);
    for (const char *end = list + strcspn(list, ";."); list < end; list += length, words++) {
        list += strspn(list, " ,");
        list += strncmp(list, "or ", 3) == 0 ? 3 : 0;
        length = strcspn(list, " ,;.");
        const ftb_format *f = ftb_format_next(NULL);
        while (f && (strlen(f->name) != length || strncmp(f->name, list, length) != 0))
            f = ftb_format_next(f);
        if (!f || !ftb_format_can(f, use))
            fail_msg("featblas %s --help lists '%.*s', which the table has not", subcommand, (int)length,
                     list);
    }
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f))
        known += ftb_format_can(f, use);
    assert_int_equal(words, known);
    free(help);
}

/* A text of lines is one of edges, unless its name is that of a binary format, which it is not then. */
static void named(void **state)
{
    (void)state;
    char name[64];
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f)) {
        size_t length = 0;
        FtB_Matrix A = NULL;
        FtB_Block X = NULL;
        const char *ending = ftb_ending_next(f, NULL, &length);
        snprintf(name, sizeof name, "text%.*s", (int)length, ending);
        write_bytes(name, "1,2\n3,4\n", 8);
        const GrB_Info matrix = FtB_Matrix_read(&A, NULL, NULL, temp_path(name), NULL),
                       block = FtB_Block_read(&X, temp_path(name), NULL);
        assert_int_equal(matrix, ftb_format_text(f) ? GrB_SUCCESS : FTB_FORMAT);
        assert_int_equal(block, matrix);
        FtB_Matrix_free(&A);
        FtB_Block_free(&X);
    }
}

static void helps(void **state)
{
    (void)state;
    if (!getenv("FEATBLAS_COMMAND"))
        skip();
    listed("info", "What the input is: ", FTB_READ_MATRIX);
    listed("project", "Write this format: ", FTB_WRITE_MATRIX);
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f)) {
        const char *const words[] = {
            getenv("FEATBLAS_COMMAND"), "gen", "rmat", "--scale", "3", "-q", "--format", f->name, "-o",
            temp_path("made"),          NULL};
        assert_int_equal(command_run(words), ftb_format_can(f, FTB_WRITE_MATRIX) ? 0 : 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(constants), cmocka_unit_test(rows),
                                       cmocka_unit_test(back),      cmocka_unit_test(refused),
                                       cmocka_unit_test(named),     cmocka_unit_test(helps)};
    command_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
