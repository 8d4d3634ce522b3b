/* Structs of options: one rule for their size in every call that takes one, as the headers declare them; and
 * layers and optimisers refuse what they do not read. */
#include "support/check.h"

#include "featblas_nn.h"
#include "support/tapes.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = SMALL_VERTICES, D = 4 };

typedef struct fixture {
    FtB_Matrix A, C;
    FtB_Block X, Y;
    FtB_Parameter p;
    FtB_Layer layer;
    FtB_Optimizer adam;
    const char *edges, *rows; /* files */
} fixture;

/* ---- sizes */

/* EACH(call, struct, macro, the call with `o`): what it makes is freed. */
#define CALLS(EACH)                                                                                          \
    EACH(FtB_attention, Attention, FTB_ATTENTION_OPTIONS,                                                    \
         (FtB_attention)(FTB_ARG(f->Y), FTB_ARG(f->A), FtB_Arg_none(), FTB_ARG(FTB_PLUS_DOT), FTB_ARG(f->X), \
                         FTB_ARG(f->X), FTB_ARG(f->X), o, FtB_Arg_none()))                                   \
    EACH(FtB_attention_grad, Attention, FTB_ATTENTION_OPTIONS, attention_grad(f, o))                         \
    EACH(FtB_attention_plan, Attention, FTB_ATTENTION_OPTIONS, attention_plan(f, o))                         \
    EACH(FtB_project, Project, FTB_PROJECT_OPTIONS,                                                          \
         (FtB_project)(FTB_ARG(f->C), FTB_ARG(f->A), FTB_ARG("count"), o))                                   \
    EACH(FtB_project_plan, Project, FTB_PROJECT_OPTIONS, project_plan(f, o))                                 \
    EACH(FtB_Matrix_read, Read, FTB_READ_OPTIONS, matrix_read(f, o))                                         \
    EACH(FtB_Block_read, Block_read, FTB_BLOCK_READ_OPTIONS, block_read(f, o))                               \
    EACH(FtB_init, Init, FTB_INIT_OPTIONS, FtB_init(f->X, FTB_INIT_NORMAL, 1, o))                            \
    EACH(FtB_Layer_new, Layer, FTB_LAYER_OPTIONS, layer_new(o))                                              \
    EACH(FtB_Optimizer_new, Optimizer, FTB_OPTIMIZER_OPTIONS, optimizer_new(o))                              \
    EACH(FtB_Optimizer_add, Group, FTB_GROUP_OPTIONS, FtB_Optimizer_add(f->adam, NULL, 0, o))                \
    EACH(FtB_Optimizer_add_layer, Group, FTB_GROUP_OPTIONS, add_layer(f, o))                                 \
    EACH(FtB_Optimizer_schedule, Schedule, FTB_SCHEDULE_OPTIONS, FtB_Optimizer_schedule(f->adam, o))         \
    EACH(FtB_Stopper_new, Stopper, FTB_STOPPER_OPTIONS, stopper_new(f, o))

static GrB_Info attention_grad(const fixture *f, const FtB_Attention_options *o)
{
    FtB_Block lse, dV;
    FtB_Attention_options with_lse = *FTB_ATTENTION_OPTIONS(.seed = 0);
    assert_ok(FtB_Block_new(&lse, N, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&dV, N, D, FTB_FP32));
    with_lse.lse = lse;
    assert_ok(FtB_attention(f->Y, f->A, NULL, FTB_PLUS_DOT, f->X, f->X, f->X, &with_lse, NULL));
    with_lse.size = o ? o->size : sizeof with_lse; /* what is smaller has no lse, and is refused for that */
    GrB_Info info =
        FtB_attention_grad(NULL, NULL, dV, f->X, f->A, FTB_PLUS_DOT, f->X, f->X, f->X, f->Y, &with_lse, NULL);
    FtB_Block_free(&lse);
    FtB_Block_free(&dV);
    return info;
}

static GrB_Info attention_plan(const fixture *f, const FtB_Attention_options *o)
{
    FtB_Plan plan = NULL;
    GrB_Info info =
        FtB_attention_plan(&plan, f->Y, f->A, NULL, FTB_PLUS_DOT, f->X, f->X, f->X, o, NULL, FTB_ESTIMATE);
    FtB_Plan_free(&plan);
    return info;
}

static GrB_Info project_plan(const fixture *f, const FtB_Project_options *o)
{
    FtB_Plan plan = NULL;
    GrB_Info info = FtB_project_plan(&plan, f->C, f->A, "count", o, FTB_ESTIMATE);
    FtB_Plan_free(&plan);
    return info;
}

static GrB_Info matrix_read(const fixture *f, const FtB_Read_options *o)
{
    FtB_Matrix A = NULL;
    GrB_Info info = FtB_Matrix_read(&A, NULL, NULL, f->edges, o);
    FtB_Matrix_free(&A);
    return info;
}

static GrB_Info block_read(const fixture *f, const FtB_Block_read_options *o)
{
    FtB_Block X = NULL;
    GrB_Info info = FtB_Block_read(&X, f->rows, o);
    FtB_Block_free(&X);
    return info;
}

static GrB_Info layer_new(const FtB_Layer_options *o)
{
    FtB_Layer layer = NULL;
    GrB_Info info = FtB_Layer_new(&layer, "gcn", D, D, o);
    FtB_Layer_free(&layer);
    return info;
}

static GrB_Info optimizer_new(const FtB_Optimizer_options *o)
{
    FtB_Optimizer made = NULL;
    GrB_Info info = FtB_Optimizer_new(&made, FTB_ADAM, o);
    FtB_Optimizer_free(&made);
    return info;
}

static GrB_Info add_layer(const fixture *f, const FtB_Group_options *o)
{
    FtB_Optimizer made = NULL;
    assert_ok(FtB_Optimizer_new(&made, FTB_ADAM, NULL));
    GrB_Info info = FtB_Optimizer_add_layer(made, f->layer, o);
    FtB_Optimizer_free(&made);
    return info;
}

static GrB_Info stopper_new(const fixture *f, const FtB_Stopper_options *o)
{
    FtB_Stopper s = NULL;
    GrB_Info info = FtB_Stopper_new(&s, &f->p, 1, o);
    FtB_Stopper_free(&s);
    return info;
}

#define DEFINE(name, type, macro, call)                                                                      \
    static GrB_Info use_##name(const fixture *f, const void *options)                                        \
    {                                                                                                        \
        const FtB_##type##_options *o = options;                                                             \
        (void)f;                                                                                             \
        return call;                                                                                         \
    }
CALLS(DEFINE)

static const struct {
    const char *name, *type, *macro;
    size_t size;
    GrB_Info (*use)(const fixture *f, const void *options);
} calls[] = {
#define ROW(name, type, macro, call)                                                                         \
    {#name, "FtB_" #type "_options", #macro, sizeof(FtB_##type##_options), use_##name},
    CALLS(ROW)};
#define NCALLS (sizeof calls / sizeof *calls)

static char *header(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/include/%s", getenv("FEATBLAS_SOURCE_DIR"), name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
    fclose(in);
    return text;
}

/* Every function that a header gives a struct of options is among the calls. */
static void all_are_here(void **state)
{
    static const char *const headers[] = {
        "featblas.h",          "featblas_nn.h",        "featblas/objects.h", "featblas/operations.h",
        "featblas/project.h",  "featblas/plan.h",      "featblas/files.h",   "featblas/nn_layers.h",
        "featblas/nn_train.h", "featblas/nn_tensors.h"};
    size_t found = 0;
    (void)state;
    for (size_t h = 0; h < sizeof headers / sizeof *headers; h++) {
        char *text = header(headers[h]);
        for (char *at = text; (at = strstr(at, "_options *options")) != NULL; at++) {
            char *start = at, name[64];
            while (start > text && *start != ';' && *start != '}' && *start != '/')
                start--;
            start = strstr(start, "GrB_Info FtB_");
            assert_true(start && start < at);
            assert_int_equal(sscanf(start, "GrB_Info %63[A-Za-z_0-9](", name), 1);
            size_t k = 0;
            while (k < NCALLS && strcmp(calls[k].name, name) != 0)
                k++;
            if (k == NCALLS)
                fail_msg("%s is not among the calls of this test", name);
            found++;
        }
        free(text);
    }
    assert_int_equal(found, NCALLS);
}

static void sizes(void **state)
{
    fixture f = {.A = small_graph(), .edges = "edges.tsv", .rows = "rows.tsv"};
    (void)state;
    write_string("edges.tsv", "0\t1\n1\t2\n");
    write_string("rows.tsv", "0.5\t0.25\n-1\t2\n");
    char *edges = strdup(temp_path("edges.tsv")), *rows = strdup(temp_path("rows.tsv"));
    f.edges = edges;
    f.rows = rows;
    f.X = drawn_block(N, D, FTB_FP32, 1);
    f.Y = drawn_block(N, D, FTB_FP32, 2);
    f.p = drawn_parameter("p", D, D, FTB_FP32, 3);
    assert_ok(FtB_Matrix_new(&f.C, FTB_FP64, N, N, 1));
    assert_ok(FtB_Layer_new(&f.layer, "gcn", D, D, NULL));
    assert_ok(FtB_Optimizer_new(&f.adam, FTB_ADAM, NULL));
    for (size_t k = 0; k < NCALLS; k++) {
        const size_t size = calls[k].size,
                     wrong[] = {0,       1, 4, sizeof(size_t) + 4, size - 1, size + 1, size + sizeof(size_t),
                                SIZE_MAX};
        size_t *options = calloc(1, size + sizeof(size_t));
        char message[128];
        assert_ok(calls[k].use(&f, NULL));
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            *options = wrong[w];
            snprintf(message, sizeof message, "options: size is %zu", wrong[w]);
            assert_fails(GrB_INVALID_VALUE, message, calls[k].use(&f, options));
            assert_non_null(strstr(FtB_error(), calls[k].macro));
        }
        *options = size;
        assert_ok(calls[k].use(&f, options));
        *options = sizeof(size_t); /* of a version that had no field */
        if (strcmp(calls[k].name, "FtB_attention_grad") != 0)
            assert_ok(calls[k].use(&f, options));
        free(options);
    }
    FtB_Optimizer_free(&f.adam);
    FtB_Layer_free(&f.layer);
    FtB_Parameter_free(&f.p);
    FtB_Matrix_free(&f.A);
    FtB_Matrix_free(&f.C);
    FtB_Block_free(&f.X);
    FtB_Block_free(&f.Y);
    free(edges);
    free(rows);
}

/* ---- what is not read */

/* Whether the list has the name: "heads, average". */
static bool reads(const char *list, const char *name)
{
    char padded[1024], wanted[64];
    snprintf(padded, sizeof padded, ", %s,", list);
    snprintf(wanted, sizeof wanted, ", %s,", name);
    return strstr(padded, wanted) != NULL;
}

#define LAYER_FIELDS(X)                                                                                      \
    X(heads, 2)                                                                                              \
    X(average, true)                                                                                         \
    X(no_bias, true)                                                                                         \
    X(no_self_loops, true)                                                                                   \
    X(aggregate, "mean")                                                                                     \
    X(dropout, 0.5)                                                                                          \
    X(slope, 0.1)                                                                                            \
    X(eps, 0.25)                                                                                             \
    X(train_eps, true)                                                                                       \
    X(hops, 3)                                                                                               \
    X(teleport, 0.25)                                                                                        \
    X(hidden, 3)                                                                                             \
    X(edge_width, 2)                                                                                         \
    X(relations, 2)                                                                                          \
    X(log_degree, 1.5)                                                                                       \
    X(residual, true)                                                                                        \
    X(in_dst, D)                                                                                             \
    X(no_root, true)                                                                                         \
    X(normalize, true)                                                                                       \
    X(batch_norm, true)

static void set_layer_field(FtB_Layer_options *o, const char *name)
{
#define SET(field, value)                                                                                    \
    if (strcmp(name, #field) == 0)                                                                           \
        o->field = value;
    LAYER_FIELDS(SET)
#undef SET
}

/* Every field of the header's struct, but those that all layers read, is in the list above. */
static void all_fields_are_here(void **state)
{
    static const char *const of_all[] = {"size", "name", "type", "seed"};
    static const char *const known[] = {
#define NAME(field, value) #field,
        LAYER_FIELDS(NAME)
#undef NAME
    };
    char *text = header("featblas/nn_layers.h"), *at = strstr(text, "typedef struct FtB_Layer_options {"),
         *end = strstr(text, "} FtB_Layer_options;"), name[64];
    size_t fields = 0;
    (void)state;
    assert_true(at && end);
    for (char *line = strchr(at, '\n') + 1; line < end; line = strchr(line, '\n') + 1) {
        if (sscanf(line, " const char *%63[a-z_];", name) != 1 &&
            sscanf(line, " %*[A-Za-z_0-9] %63[a-z_];", name) != 1)
            continue;
        bool found = false;
        for (size_t k = 0; k < sizeof of_all / sizeof *of_all; k++)
            found |= strcmp(of_all[k], name) == 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            found |= strcmp(known[k], name) == 0;
        if (!found)
            fail_msg("field %s is not among those of this test", name);
        fields++;
    }
    assert_int_equal(fields, sizeof of_all / sizeof *of_all + sizeof known / sizeof *known);
    free(text);
}

static void layers_refuse(const char *kind, const char *list)
{
    static const char *const fields[] = {
#define NAME(field, value) #field,
        LAYER_FIELDS(NAME)
#undef NAME
    };
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        FtB_Layer layer;
        FtB_Layer_options o = {.size = sizeof o, .relations = strcmp(kind, "rgcn") == 0};
        char message[128];
        set_layer_field(&o, fields[k]);
        GrB_Info info = FtB_Layer_new(&layer, kind, D, D, &o);
        if (reads(list, fields[k])) {
            if (info != GrB_SUCCESS)
                fail_msg("%s, %s: %s", kind, fields[k], FtB_error());
            FtB_Layer_free(&layer);
            continue;
        }
        snprintf(message, sizeof message, "%s: options: %s is set, which %s does not read", kind, fields[k],
                 kind);
        assert_fails(GrB_INVALID_VALUE, message, info);
        assert_null(layer);
    }
}

static void layers(void **state)
{
    (void)state;
#define TRY(name, options, formula) layers_refuse(#name, options);
    FTB_LAYERS(TRY)
#undef TRY
}

#define RULE_FIELDS(X)                                                                                       \
    X(lr, 0.5)                                                                                               \
    X(weight_decay, 0.1)                                                                                     \
    X(momentum, 0.9)                                                                                         \
    X(beta1, 0.8)                                                                                            \
    X(beta2, 0.9)                                                                                            \
    X(eps, 1e-6)                                                                                             \
    X(clip_value, 2)                                                                                         \
    X(clip_norm, 3)

static void optimizers(void **state)
{
    static const char *const common = "lr, weight_decay, clip_value, clip_norm";
    (void)state;
    for (int rule = FTB_SGD; rule <= FTB_ADAMW; rule++) {
        char list[160];
        FtB_Optimizer o;
        snprintf(list, sizeof list, "%s, %s", common,
                 rule == FTB_SGD ? "momentum, nesterov" : "beta1, beta2, eps");
#define TRY(field, value)                                                                                    \
    if (reads(list, #field))                                                                                 \
        assert_ok(FtB_Optimizer_new(&o, (FtB_Update)rule, FTB_OPTIMIZER_OPTIONS(.field = value)));           \
    else                                                                                                     \
        assert_fails(GrB_INVALID_VALUE, "options: " #field " is set, which FTB_",                            \
                     FtB_Optimizer_new(&o, (FtB_Update)rule, FTB_OPTIMIZER_OPTIONS(.field = value)));        \
    FtB_Optimizer_free(&o);
        RULE_FIELDS(TRY)
#undef TRY
        GrB_Info info =
            FtB_Optimizer_new(&o, (FtB_Update)rule, FTB_OPTIMIZER_OPTIONS(.momentum = 0.5, .nesterov = true));
        assert_int_equal(info, rule == FTB_SGD ? GrB_SUCCESS : GrB_INVALID_VALUE);
        FtB_Optimizer_free(&o);
        assert_int_equal(FtB_Optimizer_new(&o, (FtB_Update)rule, FTB_OPTIMIZER_OPTIONS(.nesterov = true)),
                         GrB_INVALID_VALUE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_are_here), cmocka_unit_test(sizes),
                                       cmocka_unit_test(all_fields_are_here), cmocka_unit_test(layers),
                                       cmocka_unit_test(optimizers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
