/* Numbers in texts have a point where the program's locale has a comma. */
#include "support/check.h"
#include "support/rng.h"
#include "support/temporary.h"

#include "plan/machine.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* A German locale, made in the test's folder where the system has the sources; false: it has not. */
static bool enter_commas(void)
{
    char command[512];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s >/dev/null 2>&1",
             temp_path("de_DE.UTF-8"));
    if (system(command) < 0)
        return false;
    char folder[256];
    snprintf(folder, sizeof folder, "%s", temp_path(""));
    setenv("LOCPATH", folder, 1);
    const bool made = setlocale(LC_ALL, "de_DE.UTF-8") && localeconv()->decimal_point[0] == ',';
    snprintf(command, sizeof command, "rm -rf %s", temp_path("de_DE.UTF-8"));
    return system(command) == 0 && made;
}

static FtB_Matrix A;
static FtB_Block X, C;

static void print_all(const char *name)
{
    FtB_Semiring s;
    FtB_Plan plan;
    FILE *file = fopen(temp_path(name), "w");
    assert_non_null(file);
    assert_ok(FtB_Semiring_new(&s, "plus : exp(-0.25 * src) * 1.5e-7 + 0.1"));
    assert_ok(FtB_Semiring_explain(s, file));
    assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, s, A, X, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Plan_explain(plan, file));
    ftb_machine_write(ftb_machine_standard(), file);
    FtB_Plan_free(&plan);
    FtB_Semiring_free(&s);
    assert_int_equal(fclose(file), 0);
}

static void explained(void **state)
{
    (void)state;
    rng r = rng_new();
    A = rng_matrix(&r, FTB_FP32, 50, 50, 1, 0.3);
    assert_ok(FtB_Block_new(&X, 50, 8, FTB_FP32));
    assert_ok(FtB_Block_new(&C, 50, 8, FTB_FP32));
    print_all("point");
    if (!enter_commas()) {
        print_message("no locale with decimal commas: skipped\n");
        skip();
    }
    print_all("comma");
    char number[32], *point = read_bytes("point", NULL), *comma = read_bytes("comma", NULL);
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5"); /* the locale is what it should be, and still there */
    assert_string_equal(point, comma);
    assert_non_null(strstr(comma, "0.25"));
    free(point);
    free(comma);
    ftb_machine_facts facts = *ftb_machine_standard();
    const char *wrong = NULL;
    int line = 0;
    write_string("machine", "l1_rate = 12.5\n");
    FILE *file = fopen(temp_path("machine"), "r");
    assert_true(ftb_machine_read(&facts, file, &line, &wrong));
    fclose(file);
    assert_true(facts.l1_rate == 12.5e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(explained)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    return failed;
}
