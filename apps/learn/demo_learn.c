/* The demo's graph neural network: two graph convolutions on Zachary's karate club, one-hot features. */
#include "app.h"
#include "components.h"
#include "demo.h"
#include "featblas_nn.h"
#include "gen/karate_club.h"
#include "picture.h"

#include <math.h>

enum { HIDDEN = 16, CLUBS = 2, EPOCHS = 100, SHOWN = 10, BAR = 60 };

/* Both leaders, and a friend of each. */
static const uint8_t told[KARATE_MEMBERS] = {
    [KARATE_INSTRUCTOR] = 1, [KARATE_INSTRUCTOR + 1] = 1, [KARATE_OFFICER - 1] = 1, [KARATE_OFFICER] = 1};
enum { TOLD = 4, REST = KARATE_MEMBERS - TOLD };

typedef struct learner {
    FtB_Matrix graph, features;
    FtB_Layer layers[2];
    FtB_Tape tape;
    FtB_Optimizer adam;
    FtB_Var hidden, scores, loss;
} learner;

static GrB_Info make_data(learner *l)
{
    int64_t self[KARATE_MEMBERS];
    for (int v = 0; v < KARATE_MEMBERS; v++)
        self[v] = v;
    GrB_Info info = FtB_Matrix_wrap_csr(&l->graph, FTB_FP32, KARATE_MEMBERS, KARATE_MEMBERS, 0, karate_rowptr,
                                        karate_colidx, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_build(&l->features, FTB_FP32, KARATE_MEMBERS, KARATE_MEMBERS, 0, KARATE_MEMBERS,
                                self, self, NULL, FTB_DUP_ERROR, NULL);
    return info;
}

static GrB_Info make_model(learner *l)
{
    GrB_Info info = FtB_Layer_new(&l->layers[0], "gcn", KARATE_MEMBERS, HIDDEN,
                                  FTB_LAYER_OPTIONS(.name = "conv1", .seed = 1));
    if (info == GrB_SUCCESS)
        info =
            FtB_Layer_new(&l->layers[1], "gcn", HIDDEN, CLUBS, FTB_LAYER_OPTIONS(.name = "conv2", .seed = 1));
    if (info == GrB_SUCCESS)
        info = FtB_Optimizer_new(&l->adam, FTB_ADAM, FTB_OPTIMIZER_OPTIONS(.lr = 0.01, .weight_decay = 5e-4));
    for (int k = 0; k < 2 && info == GrB_SUCCESS; k++)
        info = FtB_Optimizer_add_layer(l->adam, l->layers[k], NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Tape_new(&l->tape, 1);
    if (info != GrB_SUCCESS)
        return info;
    l->hidden = FtB_keep(FtB_relu(FtB_gcn(l->layers[0], l->graph, FtB_input(l->tape, l->features))));
    l->scores = FtB_gcn(l->layers[1], l->graph, FtB_dropout(l->hidden, 0.5));
    l->loss = FtB_cross_entropy(l->scores, karate_club, told);
    return FtB_Tape_status(l->tape);
}

/* How many of those whose club it was not told are put where they went; which is the last one that is not. */
static GrB_Info count_right(const learner *l, int *right, int *wrong)
{
    FtB_Block Y = NULL;
    void *values;
    GrB_Info info = FtB_evaluate(&Y, l->scores);
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(Y, NULL, NULL, NULL, NULL, &values);
    *right = 0;
    *wrong = -1;
    for (int v = 0; v < KARATE_MEMBERS && info == GrB_SUCCESS; v++) {
        const float *y = (const float *)values + (ptrdiff_t)v * CLUBS;
        if (told[v])
            continue;
        if ((y[1] > y[0]) == karate_club[v])
            ++*right;
        else
            *wrong = v;
    }
    FtB_Block_free(&Y);
    return info;
}

/* The loss as a bar: a guess between two clubs costs log 2, half of the longest. */
static void print_epoch(int epoch, double loss, int right)
{
    printf("   %5d  %5d of %d  %8.3f  ", epoch, right, REST, loss);
    for (int k = 0; k < BAR && k < loss / M_LN2 * BAR / 2; k++)
        putchar('#');
    putchar('\n');
}

static GrB_Info train(const learner *l, int *right, int *wrong)
{
    GrB_Info info = GrB_SUCCESS;
    double loss = 0;
    for (int epoch = 1; epoch <= EPOCHS && info == GrB_SUCCESS; epoch++) {
        info = FtB_backward(l->loss);
        if (info == GrB_SUCCESS)
            info = FtB_scalar(&loss, l->loss);
        if (info == GrB_SUCCESS)
            info = FtB_Optimizer_step(l->adam);
        if (info != GrB_SUCCESS || (epoch != 1 && epoch % SHOWN != 0))
            continue;
        info = count_right(l, right, wrong);
        if (info == GrB_SUCCESS)
            print_epoch(epoch, loss, *right);
    }
    return info;
}

/* Members by two principal components of what the first layer made of them. */
static int draw(const learner *l, const char *path)
{
    double x[KARATE_MEMBERS], y[KARATE_MEMBERS], share = 0;
    const draw_points points = {.title = "Zachary's karate club",
                                .subtitle =
                                    "A graph convolutional network, two principal components; colours: "
                                    "0 followed the instructor, 1 the officers",
                                .count = KARATE_MEMBERS,
                                .x = x,
                                .y = y,
                                .classes = karate_club,
                                .nclasses = CLUBS};
    draw_request request = {.kind = DRAW_POINTS, .points = &points};
    FtB_Block Y = NULL, H = NULL;
    GrB_Info info = FtB_evaluate(&Y, l->scores);
    if (info == GrB_SUCCESS)
        info = FtB_value(&H, l->hidden);
    if (info == GrB_SUCCESS)
        info = components(x, y, &share, H);
    FtB_Block_free(&H);
    FtB_Block_free(&Y);
    return info == GrB_SUCCESS ? picture_write(&request, path) : app_library_error(info, APP_FAILURE);
}

int demo_learn(const char *picture)
{
    learner l = {0};
    int right = 0, wrong = -1;
    printf(
        "3. Zachary's karate club: 34 members, 78 friendships (Zachary 1977)\n\n"
        "   Instructor and president fell out, and the club split. A graph convolutional network is told\n"
        "   whom these two and a friend of each followed, and learns the other %d from the friendships.\n\n"
        "   epoch     correct      loss\n",
        REST);
    /* One thread: so small a graph is done before a second one has woken up. */
    GrB_Info info = FtB_Context_set_threads(NULL, 1);
    if (info == GrB_SUCCESS)
        info = make_data(&l);
    if (info == GrB_SUCCESS)
        info = make_model(&l);
    if (info == GrB_SUCCESS)
        info = train(&l, &right, &wrong);
    int code = app_library_error(info, APP_FAILURE);
    if (code == APP_OK)
        printf(
            "\n   %d of %d (%.1f %%) are where they went.%s\n\n", right, REST, 100.0 * right / REST,
            wrong == 8 && right == REST - 1
                ? " The other, number 9, stood by the president, but was\n"
                  "   three weeks from an examination, which only the instructor would hold: Zachary's own "
                  "model\n   missed him too."
                : "");
    if (code == APP_OK)
        code = draw(&l, picture);
    FtB_Optimizer_free(&l.adam);
    FtB_Tape_free(&l.tape);
    FtB_Layer_free(&l.layers[0]);
    FtB_Layer_free(&l.layers[1]);
    FtB_Matrix_free(&l.features);
    FtB_Matrix_free(&l.graph);
    return code;
}
