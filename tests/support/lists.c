#include "support/lists.h"

#include "support/check.h"
#include "support/compare.h"
#include "support/temporary.h"

#include <stdlib.h>

void expect_read(const char *text, const FtB_Read_options *options, const char *csv, FtB_Type type)
{
    FtB_Matrix A;
    FtB_Labels rows, cols;
    FtB_Type found;
    write_string("list", text);
    assert_ok(FtB_Matrix_read(&A, &rows, &cols, temp_path("list"), options));
    assert_valid(A, options && options->duplicates == FTB_DUP_KEEP);
    assert_ok(FtB_Matrix_shape(A, NULL, NULL, NULL, NULL, &found));
    assert_int_equal(found, type);
    assert_ok(FtB_Matrix_write(A, temp_path("out.csv"), FTB_FORMAT_AUTO, rows, cols, 0));
    char *content = read_bytes("out.csv", NULL);
    assert_string_equal(content, csv);
    free(content);
    FtB_Matrix_free(&A);
    FtB_Labels_free(&rows);
    FtB_Labels_free(&cols);
}

void expect_read_error(GrB_Info code, const char *message, const char *text, const FtB_Read_options *options)
{
    /* What must be replaced by NULL. */
    FtB_Matrix A = (FtB_Matrix)&A;
    FtB_Labels rows = (FtB_Labels)&rows, cols = (FtB_Labels)&cols;
    write_string("list", text);
    assert_fails(code, message, FtB_Matrix_read(&A, &rows, &cols, temp_path("list"), options));
    assert_null(A);
    assert_null(rows);
    assert_null(cols);
}
