/* Machine facts: this machine's make sense, descriptions are read and written, wrong ones refused. */
#include "core/isa.h"
#include "plan/bandwidth.h"
#include "plan/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Measuring holds no more than a large array's translation takes, and keeps nothing. */
static int64_t status_kib(const char *key)
{
    char line[256];
    long long kib = -1;
    const size_t length = strlen(key);
    FILE *f = fopen("/proc/self/status", "r");
    while (f && kib < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, key, length) == 0)
            kib = strtoll(line + length, NULL, 10);
    if (f)
        fclose(f);
    return kib;
}

static void test_peak(void **state)
{
    const int64_t peak = status_kib("VmHWM:"), now = status_kib("VmRSS:");
    (void)state;
    if (peak < 0)
        skip();
    assert_true(ftb_machine_measured()->memory_rate > 0);
    assert_true(status_kib("VmHWM:") - peak < 80 << 10);
    assert_true(status_kib("VmRSS:") - now < 8 << 10);
}

static void test_here(void **state)
{
    const ftb_machine_facts *here = ftb_machine_here(), *measured = ftb_machine_measured();
    (void)state;
    assert_true(here->cores >= 1 && here->l1 >= 1024 && here->l2 >= here->l1 && here->memory > here->l2);
    assert_true(measured->cores == here->cores && measured->l2 == here->l2 &&
                measured->near_l3 == here->near_l3);
    assert_true(measured->l1_rate > 0 && measured->l2_rate > 0 && measured->memory_rate > 0);
    assert_ptr_equal(measured, ftb_machine_measured());
}

static void test_force(void **state)
{
    const ftb_machine_facts small = {.cores = 3, .l1 = 1 << 14, .l2 = 1 << 17, .l3 = 0, .memory = 1 << 30};
    (void)state;
    const int64_t l2 = ftb_machine_here()->l2;
    ftb_machine_force(&small);
    assert_int_equal(ftb_machine_here()->l2, 1 << 17);
    assert_int_equal(ftb_machine_measured()->cores, 3);
    ftb_machine_force(NULL);
    assert_int_equal(ftb_machine_here()->l2, l2);
}

static bool same(const ftb_machine_facts *a, const ftb_machine_facts *b)
{
    return a->cores == b->cores && a->l1 == b->l1 && a->l2 == b->l2 && a->l3 == b->l3 &&
           a->near_l3 == b->near_l3 && a->memory == b->memory && a->l1_rate == b->l1_rate &&
           a->l2_rate == b->l2_rate && a->l3_rate == b->l3_rate && a->memory_rate == b->memory_rate;
}

/* Reads a description over `facts`; the line that is wrong, 0 for the whole, -1 if none. */
static int read_text(ftb_machine_facts *facts, const char *text)
{
    int line;
    const char *wrong = NULL;
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs(text, file);
    rewind(file);
    bool ok = ftb_machine_read(facts, file, &line, &wrong);
    assert_true(ok == !wrong);
    fclose(file);
    return ok ? -1 : line;
}

static void test_read(void **state)
{
    ftb_machine_facts m = {.cores = 1, .l1 = 32768, .l2 = 1 << 20, .memory = INT64_C(1) << 33};
    (void)state;
    assert_int_equal(read_text(&m, "# a laptop\ncores = 4\n\nl1=48K\n l2 = 2.5 M # shared\r\nmemory = 16G\n"
                                   "near_l3 = 1\nl2_rate = 87.5\n"),
                     -1);
    assert_true(m.cores == 4 && m.l1 == 48 << 10 && m.l2 == 5 << 19 && m.l3 == 0 && m.near_l3 == 1 &&
                m.memory == INT64_C(16) << 30 && m.l2_rate == 87.5e9 && m.l1_rate == 0);
    const ftb_machine_facts kept = m;
    const struct {
        const char *text;
        int line;
    } wrong[] = {{"cores = 0", 1},        {"cores = 1.5", 1}, {"near_l3 = 2", 1},
                 {"near_l3 = 0.5", 1},    {"\nl2 = much", 2}, {"l2 = 1K", 0},
                 {"l2 = -5", 1},          {"l2", 1},          {"size = 5", 1},
                 {"l2 = 1M 2", 1},        {"l3 = 64K", 0},    {"memory = 1M", 0},
                 {"l2 = 1e300", 1},       {"l2 =", 1},        {"cores = 2\nl2 = 1T", 2},
                 {"memory_rate = 5G", 1}, {"l2 = nan", 1},    {"= 5", 1}};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        if (read_text(&m, wrong[w].text) != wrong[w].line)
            fail_msg("'%s' is not refused at line %d", wrong[w].text, wrong[w].line);
        assert_true(same(&m, &kept));
    }
}

static void test_write(void **state)
{
    ftb_machine_facts m = {.cores = 64,
                           .l1 = 49152,
                           .l2 = 2 << 20,
                           .l3 = 105 << 20,
                           .near_l3 = 1,
                           .memory = INT64_C(1) << 39,
                           .l2_rate = 1.5e11},
                      back = {0};
    char text[1024] = "", plan[256] = "";
    FILE *file = fmemopen(text, sizeof text - 1, "w");
    (void)state;
    ftb_machine_write(&m, file);
    fclose(file);
    assert_int_equal(read_text(&back, text), -1);
    assert_true(same(&m, &back));
    file = fmemopen(plan, sizeof plan - 1, "w");
    ftb_machine_print(&m, file);
    fclose(file);
    assert_string_equal(plan,
                        "64 cores, L1 48 KiB, L2 2048 KiB, L3 105 MiB; one core reads 150 GB/s from L2");
}

/* Every instruction set adds up all floats. */
static void test_read_floats(void **state)
{
    enum { N = 1024 };
    float x[N];
    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 7);
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        if (ftb_isa_force(isa) != isa)
            continue;
        for (int n = 0; n <= N; n += 128) {
            float sum = 0;
            for (int i = 0; i < n; i++)
                sum += x[i];
            assert_true(FTB_PICK(ftb_read_floats)(x, n, 3) == 3 * sum);
        }
    }
    ftb_isa_force(-1);
    assert_true(ftb_measure_read(4096, 1e-4) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peak), cmocka_unit_test(test_here),  cmocka_unit_test(test_force),
        cmocka_unit_test(test_read), cmocka_unit_test(test_write), cmocka_unit_test(test_read_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
