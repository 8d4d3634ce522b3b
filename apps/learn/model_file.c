/* Models in safetensors files. Tensors have the names and the orientation of PyG's layers
 * ("conv1.lin.weight", outputs x inputs), texts under "featblas." have what is in no tensor. Of files of
 * others, layers are found by how their tensors' names end, and ordered by the last number before that. */
#include "learn/model.h"

#include "app.h"
#include "nn/nn.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_ROOM 256

/* ---- one parameter as a tensor */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0 && (n == m || name[n - m - 1] == '.');
}

/* The name without its layer: "lin.weight" of "conv1.lin.weight". */
static const char *own_name(FtB_Parameter p) { return strchr(p->name, '.') + 1; }

/* Weights are stored outputs x inputs; all others as they are. */
static bool turned(FtB_Parameter p) { return ends_with(p->name, "weight"); }

static int shape_of(const model *m, int at, int64_t shape[FTB_TENSOR_RANK])
{
    FtB_Parameter p = m->parameters[at];
    const int64_t size = p->value->nrows * p->value->ncols;
    if (turned(p)) {
        shape[0] = p->value->ncols;
        shape[1] = p->value->nrows;
        return 2;
    }
    if (strncmp(own_name(p), "att", 3) == 0) {
        bool last = m->layer_of[at] + 1 == m->o.layers;
        shape[0] = 1;
        shape[1] = last ? m->o.out_heads : m->o.heads;
        shape[2] = size / shape[1];
        return 3;
    }
    shape[0] = size;
    return 1;
}

static float *value_at(FtB_Parameter p, int64_t row, int64_t col)
{
    return (float *)ftb_block_data(p->value) + row * p->value->ld + col;
}

static GrB_Info put(FtB_Tensors t, const char *name, const model *m, int at)
{
    FtB_Parameter p = m->parameters[at];
    int64_t shape[FTB_TENSOR_RANK];
    const int rank = shape_of(m, at, shape);
    FtB_Block X = NULL;
    if (!turned(p))
        return FtB_Tensors_set(t, name, p->value, rank, shape);
    GrB_Info info = FtB_Block_new(&X, shape[0], shape[1], FTB_FP32);
    for (int64_t i = 0; info == GrB_SUCCESS && i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++)
            ((float *)ftb_block_data(X))[i * X->ld + j] = *value_at(p, j, i);
    if (info == GrB_SUCCESS)
        info = FtB_Tensors_set(t, name, X, rank, shape);
    FtB_Block_free(&X);
    return info;
}

/* "7 x 16", "16", "a number" */
static const char *shape_text(char *text, size_t room, int rank, const int64_t *shape)
{
    size_t at = (size_t)snprintf(text, room, "%s", rank == 0 ? "a number" : "");
    for (int d = 0; d < rank && at < room; d++)
        at += (size_t)snprintf(text + at, room - at, "%s%" PRId64, d > 0 ? " x " : "", shape[d]);
    return text;
}

static bool same_shape(int rank, const int64_t *shape, int wanted_rank, const int64_t *wanted)
{
    bool same = rank == wanted_rank || (rank == 0 && wanted_rank == 1 && wanted[0] == 1);
    for (int d = 0; d < rank && same; d++)
        same = shape[d] == wanted[d];
    return same;
}

/* The parameter's values from a tensor of that name. */
static int take(const model *m, int at, FtB_Tensors t, const char *name)
{
    FtB_Parameter p = m->parameters[at];
    int64_t shape[FTB_TENSOR_RANK], wanted[FTB_TENSOR_RANK];
    char is[128], expected[128];
    const int wanted_rank = shape_of(m, at, wanted);
    int rank, code = APP_OK;
    FtB_Block X;
    GrB_Info info = FtB_Tensors_get(&X, t, name, &rank, shape);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_INPUT);
    if (!same_shape(rank, shape, wanted_rank, wanted))
        code = app_fail(APP_INPUT, "%s: tensor %s is %s; expected %s", FtB_Tensors_source(t), name,
                        shape_text(is, sizeof is, rank, shape),
                        shape_text(expected, sizeof expected, wanted_rank, wanted));
    else if (X->type != FTB_FP32 && X->type != FTB_FP64 && X->type != FTB_FP16 && X->type != FTB_BF16)
        code = app_fail(APP_INPUT, "%s: tensor %s is of %s; expected floating-point weights",
                        FtB_Tensors_source(t), name, FtB_Type_name(X->type));
    for (int64_t e = 0; code == APP_OK && e < X->nrows * X->ncols; e++) {
        double value = ftb_get_real(ftb_block_data(X), X->type, e / X->ncols * X->ld + e % X->ncols);
        if (turned(p))
            *value_at(p, e % X->ncols, e / X->ncols) = (float)value;
        else
            *value_at(p, e / p->value->ncols, e % p->value->ncols) = (float)value;
        if (!isfinite((float)value))
            code = app_fail(APP_INPUT, "%s: tensor %s has a value that is not finite", FtB_Tensors_source(t),
                            name);
    }
    FtB_Block_free(&X);
    return code;
}

/* ---- names */

/* What others call a tensor of the kind; NULL: the same. */
static const char *other_name(const model_kind *kind, const char *own)
{
    for (size_t a = 0; a < sizeof kind->aliases / sizeof *kind->aliases && kind->aliases[a].own; a++)
        if (strcmp(own, kind->aliases[a].own) == 0)
            return kind->aliases[a].other;
    return NULL;
}

/* Where a tensor of that name is; -1: there is none. */
static int64_t position(FtB_Tensors t, const char *name)
{
    int64_t low = 0, high = FtB_Tensors_count(t);
    while (low < high) { /* names are in the order of bytes */
        int64_t middle = (low + high) / 2;
        if (strcmp(FtB_Tensors_name(t, middle), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < FtB_Tensors_count(t) && strcmp(FtB_Tensors_name(t, low), name) == 0 ? low : -1;
}

/* The tensor of a layer with that prefix ("convs.0.", or "") that holds `own`, in `name`; false: there is
 * none. */
static bool find(char *name, FtB_Tensors t, const model_kind *kind, const char *prefix, const char *own)
{
    snprintf(name, NAME_ROOM, "%s%s", prefix, own);
    if (position(t, name) >= 0)
        return true;
    const char *other = other_name(kind, own);
    if (other) {
        snprintf(name, NAME_ROOM, "%s%s", prefix, other);
        if (position(t, name) >= 0)
            return true;
    }
    snprintf(name, NAME_ROOM, "%s%s", prefix, own);
    return false;
}

static bool state(const char *name)
{
    return strncmp(name, "optimizer.", 10) == 0 || strncmp(name, "resume.", 7) == 0;
}

/* What a layer's names begin with. */
typedef struct prefix {
    char text[NAME_ROOM];
    long number; /* the last one in it, -1: none */
} prefix;

static int compare(const void *a, const void *b)
{
    const prefix *p = a, *q = b;
    return p->number != q->number ? (p->number > q->number) - (p->number < q->number)
                                  : strcmp(p->text, q->text);
}

static prefix prefix_of(const char *name, const char *end)
{
    prefix p = {.number = -1};
    size_t length = strlen(name) - strlen(end), digit;
    snprintf(p.text, sizeof p.text, "%.*s", (int)(length < NAME_ROOM ? length : NAME_ROOM - 1), name);
    for (digit = length; digit > 0 && !isdigit((unsigned char)name[digit - 1]); digit--)
        ;
    while (digit > 0 && isdigit((unsigned char)name[digit - 1]))
        digit--;
    if (isdigit((unsigned char)name[digit]) && digit < length)
        p.number = strtol(name + digit, NULL, 10);
    return p;
}

/* The layers' prefixes in their order; returns how many there are, at most MODEL_LAYERS. */
static int prefixes(prefix *list, FtB_Tensors t, const model_kind *kind)
{
    const char *other = other_name(kind, kind->tensor);
    int count = 0;
    for (int64_t k = 0; k < FtB_Tensors_count(t) && count < MODEL_LAYERS; k++) {
        const char *name = FtB_Tensors_name(t, k);
        if (state(name))
            continue;
        if (ends_with(name, kind->tensor))
            list[count++] = prefix_of(name, kind->tensor);
        else if (other && ends_with(name, other))
            list[count++] = prefix_of(name, other);
    }
    qsort(list, (size_t)count, sizeof *list, compare);
    return count;
}

/* ---- texts */

static const char *const tasks[] = {"classes", "targets", "binary"}, *const row_rules[] = {"none", "row"},
                         *const made[] = {"file", "one-hot", "degree"}, *const switches[] = {"no", "yes"};

typedef struct word_text {
    const char *key;
    const char *const *words;
    int count, value;
} word_text;

enum { ACTIVATION, TASK, ROWS, MADE, UNDIRECTED, BESIDE, WORDS };

static void words_of(word_text list[WORDS], const model_options *o)
{
    list[ACTIVATION] = (word_text){"featblas.activation", model_activations, 3, (int)o->activation};
    list[TASK] = (word_text){"featblas.task", tasks, 3, (int)o->task};
    list[ROWS] = (word_text){"featblas.normalize", row_rules, 2, (int)o->rows};
    list[MADE] = (word_text){"featblas.made-features", made, 3, (int)o->made};
    list[UNDIRECTED] = (word_text){"featblas.undirected", switches, 2, o->undirected};
    list[BESIDE] = (word_text){"featblas.output-heads-beside", switches, 2, o->out_beside};
}

typedef struct number_text {
    const char *key;
    int64_t *whole; /* or: */
    double *real;
    double low, high; /* high: what the option of the same meaning allows */
} number_text;

enum { NUMBERS = 10 };

static void numbers_of(number_text list[NUMBERS], model_options *o)
{
    const number_text all[NUMBERS] = {
        {"featblas.layers", &o->layers, NULL, 1, MODEL_LAYERS - 1},
        {"featblas.features", &o->nfeatures, NULL, 1, INT32_MAX},
        {"featblas.outputs", &o->noutputs, NULL, 1, MODEL_CLASSES_MOST},
        {"featblas.hidden", &o->hidden, NULL, 1, MODEL_HIDDEN},
        {"featblas.heads", &o->heads, NULL, 1, MODEL_HEADS},
        {"featblas.output-heads", &o->out_heads, NULL, 1, MODEL_HEADS},
        {"featblas.hops", &o->hops, NULL, 0, MODEL_HOPS},
        {"featblas.teleport", NULL, &o->teleport, 0, 1},
        {"featblas.output-hidden", &o->out_inner, NULL, 0, MODEL_HIDDEN},
        {"featblas.dropout", NULL, &o->dropout, 0, 1},
    };
    memcpy(list, all, sizeof all);
}

static GrB_Info put_texts(const model_options *options, FtB_Tensors t)
{
    model_options o = *options;
    word_text words[WORDS];
    number_text numbers[NUMBERS];
    char text[64];
    GrB_Info info = FtB_Tensors_set_text(t, "featblas.model", o.kind->name);
    words_of(words, &o);
    numbers_of(numbers, &o);
    for (int w = 0; w < WORDS && info == GrB_SUCCESS; w++)
        info = FtB_Tensors_set_text(t, words[w].key, words[w].words[words[w].value]);
    for (int n = 0; n < NUMBERS && info == GrB_SUCCESS; n++) {
        if (numbers[n].whole)
            snprintf(text, sizeof text, "%" PRId64, *numbers[n].whole);
        else
            snprintf(text, sizeof text, "%.17g", *numbers[n].real);
        info = FtB_Tensors_set_text(t, numbers[n].key, text);
    }
    if (info == GrB_SUCCESS && o.aggregate)
        info = FtB_Tensors_set_text(t, "featblas.aggregate", o.aggregate);
    return info;
}

static int wrong_text(FtB_Tensors t, const char *key)
{
    return app_fail(APP_INPUT, "%s: text %s is '%.40s', which no model has", FtB_Tensors_source(t), key,
                    FtB_Tensors_get_text(t, key));
}

static int word_at(const char *text, const char *const *words, int count)
{
    for (int w = 0; w < count; w++)
        if (strcmp(text, words[w]) == 0)
            return w;
    return -1;
}

int model_number(double *value, FtB_Tensors t, const char *key, model_range range)
{
    const char *text = FtB_Tensors_get_text(t, key);
    char *end = NULL;
    if (!text)
        return APP_OK;
    const double x = strtod(text, &end);
    if (end == text || *end || !(x >= range.low && x <= range.high) || (range.whole && x != floor(x)))
        return app_fail(APP_INPUT, "%s: text %s is '%.40s'; expected a %snumber from %.17g to %.17g",
                        FtB_Tensors_source(t), key, text, range.whole ? "whole " : "", range.low, range.high);
    *value = x;
    return APP_OK;
}

static int read_numbers(model_options *o, FtB_Tensors t)
{
    number_text numbers[NUMBERS];
    numbers_of(numbers, o);
    for (int n = 0; n < NUMBERS; n++) {
        const number_text *as = &numbers[n];
        double value = as->whole ? (double)*as->whole : *as->real;
        if (FtB_Tensors_get_text(t, as->key)) {
            int code = model_number(&value, t, as->key, (model_range){as->low, as->high, as->whole != NULL});
            if (code != APP_OK)
                return code;
        }
        if (as->whole)
            *as->whole = (int64_t)value;
        else
            *as->real = value;
    }
    return APP_OK;
}

static int read_texts(model_options *o, FtB_Tensors t)
{
    word_text words[WORDS];
    words_of(words, o);
    for (int w = 0; w < WORDS; w++) {
        const char *text = FtB_Tensors_get_text(t, words[w].key);
        if (text && (words[w].value = word_at(text, words[w].words, words[w].count)) < 0)
            return wrong_text(t, words[w].key);
    }
    o->activation = (model_activation)words[ACTIVATION].value;
    o->task = (model_task)words[TASK].value;
    o->rows = (model_rows)words[ROWS].value;
    o->made = (dataset_made)words[MADE].value;
    o->undirected = words[UNDIRECTED].value;
    o->out_beside = words[BESIDE].value;
    const char *text = FtB_Tensors_get_text(t, "featblas.aggregate");
    int aggregates;
    model_aggregate_words(&aggregates);
    int at = text ? word_at(text, model_aggregates, aggregates) : 0;
    if (at < 0)
        return wrong_text(t, "featblas.aggregate");
    o->aggregate = text ? model_aggregates[at] : NULL;
    return read_numbers(o, t);
}

/* ---- files of others */

/* Dimension d of a layer's tensor; 0 if there is none. */
static int64_t dimension(FtB_Tensors t, const model_kind *kind, const char *before, const char *own, int rank,
                         int d)
{
    char name[NAME_ROOM];
    int64_t shape[FTB_TENSOR_RANK];
    int found;
    FtB_Block X;
    if (!find(name, t, kind, before, own) || FtB_Tensors_get(&X, t, name, &found, shape) != GrB_SUCCESS)
        return 0;
    FtB_Block_free(&X);
    return found == rank ? shape[d] : 0;
}

static int shapes_of(model_options *o, FtB_Tensors t, const prefix *list, int count)
{
    const char *first = list[0].text, *last = list[count - 1].text;
    const model_kind *kind = o->kind;
    o->layers = count;
    o->nfeatures = dimension(t, kind, first, kind->in, 2, 1);
    const int64_t wide = dimension(t, kind, first, kind->out, 2, 0),
                  out = dimension(t, kind, last, kind->out, 2, 0);
    int64_t bias = dimension(t, o->kind, last, "bias", 1, 0);
    if (strncmp(kind->tensor, "att", 3) == 0) {
        o->heads = dimension(t, o->kind, first, kind->tensor, 3, 1);
        o->out_heads = dimension(t, o->kind, last, kind->tensor, 3, 1);
    }
    if (o->heads < 1 || o->out_heads < 1 || o->nfeatures < 1 || out < 1)
        return app_fail(APP_INPUT, "%s: the tensors of '%s' do not have the shapes of a %s layer",
                        FtB_Tensors_source(t), o->heads < 1 || o->nfeatures < 1 ? first : last,
                        o->kind->name);
    o->hidden = count > 1 ? wide / o->heads : o->hidden;
    o->out_beside = o->kind->attends && o->out_heads > 1 && bias == out;
    o->noutputs = o->kind->attends ? out / o->out_heads : out;
    if (kind->inner)
        o->out_inner = dimension(t, kind, last, kind->in, 2, 0);
    if (count == 1)
        o->heads = o->out_heads;
    return APP_OK;
}

/* That the model's weights may be in the file, before any are made. */
static int check_size(const model_options *o, FtB_Tensors t)
{
    double values = 0;
    for (int64_t k = 0; k < FtB_Tensors_count(t); k++) {
        FtB_Block X;
        GrB_Info info = FtB_Tensors_get(&X, t, FtB_Tensors_name(t, k), NULL, NULL);
        if (info != GrB_SUCCESS)
            return app_library_error(info, APP_INPUT);
        values += (double)X->nrows * (double)X->ncols;
        FtB_Block_free(&X);
    }
    const double least = model_least_size(o);
    return least <= values
               ? APP_OK
               : app_fail(APP_INPUT, "%s: its texts tell of %.17g weights at least; its tensors have %.17g",
                          FtB_Tensors_source(t), least, values);
}

/* The kind that the names of tensors tell; NULL: none. */
static const model_kind *told_kind(FtB_Tensors t, prefix *list)
{
    const model_kind *found = NULL;
    for (const model_kind *k = model_kinds; k < model_kinds + model_nkinds; k++)
        if (k->told > 0 && (!found || k->told < found->told) && prefixes(list, t, k) > 0)
            found = k;
    return found;
}

int model_describe(model_options *o, FtB_Tensors t, const model_kind *kind, int64_t heads)
{
    const char *said = FtB_Tensors_get_text(t, "featblas.model");
    const model_kind *found = said ? model_find(said) : NULL;
    prefix list[MODEL_LAYERS];
    if (said && !found)
        return wrong_text(t, "featblas.model");
    if (said && kind && kind != found)
        return app_fail(APP_INPUT, "%s: holds a model of kind %s; expected %s", FtB_Tensors_source(t), said,
                        kind->name);
    if (!found)
        found = kind ? kind : told_kind(t, list);
    if (!found)
        return app_fail(APP_INPUT,
                        "%s: no tensor has the name of a layer that is known; --model tells the kind",
                        FtB_Tensors_source(t));
    *o = model_defaults(found);
    if (said) {
        const int code = read_texts(o, t);
        return code == APP_OK ? check_size(o, t) : code;
    }
    o->heads = heads > 0 ? heads : o->heads;
    const int count = prefixes(list, t, found);
    if (count == 0)
        return app_fail(APP_INPUT, "%s: no tensor's name ends with %s, as those of a %s do",
                        FtB_Tensors_source(t), found->tensor, found->name);
    const int code = shapes_of(o, t, list, count);
    return code == APP_OK ? check_size(o, t) : code;
}

/* ---- whole models */

GrB_Info model_put(const model *m, FtB_Tensors t)
{
    GrB_Info info = put_texts(&m->o, t);
    for (int p = 0; p < m->nparameters && info == GrB_SUCCESS; p++)
        info = put(t, m->parameters[p]->name, m, p);
    return info;
}

/* GAT of older versions of PyG: weights of targets that are those of sources, stored twice. */
static bool stored_twice(FtB_Tensors t, const char *name)
{
    char other[NAME_ROOM];
    FtB_Block X = NULL, Y = NULL;
    const size_t before = strlen(name) - ftb_min(strlen(name), strlen("lin_dst.weight"));
    snprintf(other, sizeof other, "%.*slin_src.weight", (int)ftb_min(before, NAME_ROOM), name);
    bool same = ends_with(name, "lin_dst.weight") && position(t, other) >= 0 &&
                FtB_Tensors_get(&X, t, name, NULL, NULL) == GrB_SUCCESS &&
                FtB_Tensors_get(&Y, t, other, NULL, NULL) == GrB_SUCCESS && X->nrows == Y->nrows &&
                X->ncols == Y->ncols && X->type == Y->type;
    for (int64_t i = 0; same && i < X->nrows; i++)
        for (int64_t j = 0; same && j < X->ncols; j++)
            same = ftb_get_real(ftb_block_data(X), X->type, i * X->ld + j) ==
                   ftb_get_real(ftb_block_data(Y), Y->type, i * Y->ld + j);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    return same;
}

/* The tensors that nothing was read from, and that no one would miss. */
static bool harmless(FtB_Tensors t, const char *name)
{
    return state(name) || ends_with(name, "num_batches_tracked") || stored_twice(t, name);
}

int model_take(model *m, FtB_Tensors t)
{
    const bool said = FtB_Tensors_get_text(t, "featblas.model") != NULL;
    prefix list[MODEL_LAYERS];
    const int count = prefixes(list, t, m->o.kind);
    bool *taken = calloc((size_t)FtB_Tensors_count(t) + 1, sizeof *taken);
    int code = taken ? APP_OK : app_fail(APP_MEMORY, "out of memory");
    if (code == APP_OK && !said && count != m->o.layers)
        code = app_fail(APP_INPUT, "%s: holds %d layers of a %s; expected %" PRId64, FtB_Tensors_source(t),
                        count, m->o.kind->name, m->o.layers);
    for (int p = 0; p < m->nparameters && code == APP_OK; p++) {
        char name[NAME_ROOM];
        const char *own = own_name(m->parameters[p]), *whole = m->parameters[p]->name;
        if (said)
            snprintf(name, sizeof name, "%s", whole);
        else
            find(name, t, m->o.kind, list[m->layer_of[p]].text, own);
        code = take(m, p, t, name);
        if (code == APP_OK)
            taken[position(t, name)] = true;
    }
    for (int64_t k = 0; k < FtB_Tensors_count(t) && code == APP_OK; k++)
        if (!taken[k] && !harmless(t, FtB_Tensors_name(t, k)))
            code = app_fail(APP_INPUT, "%s: tensor %s belongs to no layer of this %s", FtB_Tensors_source(t),
                            FtB_Tensors_name(t, k), m->o.kind->name);
    free(taken);
    return code;
}
