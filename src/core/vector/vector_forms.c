/* Contents of sparse vectors, and from one form to another. */
#include "core/vector/vector_forms.h"

#include "core/search.h"

#define PARTS 64                 /* of a pass over all places by several threads */
#define FEW 16                   /* places of an entry: from here on a list */
#define SLICE (INT64_C(1) << 16) /* values of a step of a cast */

const char *ftb_form_name(ftb_vector_form form)
{
    return form == FTB_VECTOR_LIST ? "list" : form == FTB_VECTOR_BITMAP ? "bitmap" : "dense";
}

ftb_vector_form ftb_vector_form_of(int64_t size, int64_t nvals)
{
    return nvals <= size / FEW ? FTB_VECTOR_LIST : nvals < size ? FTB_VECTOR_BITMAP : FTB_VECTOR_DENSE;
}

void ftb_vector_clear(ftb_vector *v)
{
    ftb_delete(v->index);
    ftb_delete(v->present);
    ftb_delete(v->values);
    *v = (ftb_vector){.form = FTB_VECTOR_LIST};
}

GrB_Info ftb_vector_room(ftb_vector *v, FtB_Context ctx, ftb_vector_form form, FtB_Type type, int64_t size,
                         int64_t nvals)
{
    const bool list = form == FTB_VECTOR_LIST, bitmap = form == FTB_VECTOR_BITMAP;
    const size_t each = FtB_Type_size(type);
    *v = (ftb_vector){.form = form, .type = type, .size = size, .nvals = bitmap ? 0 : list ? nvals : size};
    v->index = list ? ftb_new(ctx, nvals, sizeof *v->index) : NULL;
    v->present = bitmap ? ftb_new0(ctx, size, 1) : NULL;
    v->values = bitmap ? ftb_new0(ctx, size, each) : ftb_new(ctx, list ? nvals : size, each);
    if (v->values && (!list || v->index) && (!bitmap || v->present))
        return GrB_SUCCESS;
    const GrB_Info info = ftb_nomem();
    ftb_vector_clear(v);
    return info;
}

/* ---- bitmaps and lists */

static int64_t part_start(int64_t count, int part, int parts)
{
    return count / parts * part + ftb_min(part, count % parts);
}

static int64_t count_places(const uint8_t *present, int64_t first, int64_t end)
{
    int64_t count = 0;
    for (int64_t i = first; i < end; i++)
        count += present[i];
    return count;
}

static void list_places(const uint8_t *present, int64_t first, int64_t end, int64_t *to)
{
    for (int64_t i = first; i < end; i++)
        if (present[i])
            *to++ = i;
}

int64_t ftb_vector_list(FtB_Context ctx, const uint8_t *present, int64_t size, int64_t *list)
{
    const int threads = ftb_threads_for(ctx, size / 8), parts = threads == 1 ? 1 : PARTS;
    int64_t start[PARTS + 1] = {0};
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < parts; part++)
        start[part + 1] =
            count_places(present, part_start(size, part, parts), part_start(size, part + 1, parts));
    for (int part = 0; part < parts; part++)
        start[part + 1] += start[part];
    if (!list)
        return start[parts];
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < parts; part++)
        list_places(present, part_start(size, part, parts), part_start(size, part + 1, parts),
                    list + start[part]);
    return start[parts];
}

void ftb_vector_mark(FtB_Context ctx, uint8_t *present, const int64_t *list, int64_t count)
{
#pragma omp parallel for num_threads(ftb_threads_for(ctx, count)) schedule(static)
    for (int64_t t = 0; t < count; t++)
        present[list[t]] = 1;
}

int64_t ftb_vector_find(const ftb_vector *v, int64_t i)
{
    if (v->form != FTB_VECTOR_LIST)
        return v->form == FTB_VECTOR_DENSE || v->present[i] ? i : -1;
    const int64_t at = ftb_first_not_below(v->index, v->nvals, i);
    return at < v->nvals && v->index[at] == i ? at : -1;
}

/* ---- from form to form */

/* Values at places list[0], list[1], ... of `wide` to or from those of `packed`, side by side. */
static void move_values(FtB_Context ctx, char *packed, char *wide, const int64_t *list, int64_t count,
                        size_t each, bool pack)
{
#pragma omp parallel for num_threads(ftb_threads_for(ctx, count)) schedule(static)
    for (int64_t t = 0; t < count; t++) {
        char *near = packed + (size_t)t * each, *far = wide + (size_t)list[t] * each;
        memcpy(pack ? near : far, pack ? far : near, each);
    }
}

static void copy_bytes(FtB_Context ctx, void *to, const void *from, int64_t bytes)
{
    const int64_t slices = (bytes + SLICE - 1) / SLICE;
#pragma omp parallel for num_threads(ftb_threads_for(ctx, bytes / 8)) schedule(static)
    for (int64_t s = 0; s < slices; s++)
        memcpy((char *)to + s * SLICE, (const char *)from + s * SLICE,
               (size_t)ftb_min(SLICE, bytes - s * SLICE));
}

static void fill_list(FtB_Context ctx, ftb_vector *to, const ftb_vector *from)
{
    if (from->form == FTB_VECTOR_BITMAP)
        ftb_vector_list(ctx, from->present, from->size, to->index);
    else
        for (int64_t i = 0; i < from->size; i++)
            to->index[i] = i;
    move_values(ctx, to->values, from->values, to->index, to->nvals, FtB_Type_size(to->type), true);
}

static void fill_places(FtB_Context ctx, ftb_vector *to, const ftb_vector *from)
{
    const size_t each = FtB_Type_size(to->type);
    if (from->form == FTB_VECTOR_LIST)
        move_values(ctx, from->values, to->values, from->index, from->nvals, each, false);
    else
        copy_bytes(ctx, to->values, from->values, from->size * (int64_t)each);
    if (!to->present)
        return;
    if (from->form == FTB_VECTOR_LIST)
        ftb_vector_mark(ctx, to->present, from->index, from->nvals);
    else if (from->present)
        copy_bytes(ctx, to->present, from->present, from->size);
    else
        memset(to->present, 1, (size_t)from->size);
    to->nvals = from->nvals;
}

GrB_Info ftb_vector_as(ftb_vector *to, FtB_Context ctx, const ftb_vector *from, ftb_vector_form form)
{
    GrB_Info info = ftb_vector_room(to, ctx, form, from->type, from->size, from->nvals);
    if (info != GrB_SUCCESS)
        return info;
    if (form == FTB_VECTOR_LIST && from->form == FTB_VECTOR_LIST) {
        copy_bytes(ctx, to->index, from->index, from->nvals * (int64_t)sizeof *to->index);
        copy_bytes(ctx, to->values, from->values, from->nvals * (int64_t)FtB_Type_size(from->type));
    } else if (form == FTB_VECTOR_LIST)
        fill_list(ctx, to, from);
    else
        fill_places(ctx, to, from);
    return GrB_SUCCESS;
}

GrB_Info ftb_vector_like(ftb_vector *v, FtB_Context ctx, const ftb_vector *from, FtB_Type type)
{
    GrB_Info info = ftb_vector_room(v, ctx, from->form, type, from->size, from->nvals);
    if (info != GrB_SUCCESS)
        return info;
    if (v->index)
        copy_bytes(ctx, v->index, from->index, from->nvals * (int64_t)sizeof *v->index);
    if (v->present)
        copy_bytes(ctx, v->present, from->present, from->size);
    v->nvals = from->nvals;
    return GrB_SUCCESS;
}

GrB_Info ftb_vector_settle(ftb_vector *v, FtB_Context ctx)
{
    const ftb_vector_form form = ftb_vector_form_of(v->size, v->nvals);
    if (form == v->form)
        return GrB_SUCCESS;
    if (form == FTB_VECTOR_DENSE && v->form == FTB_VECTOR_BITMAP) {
        ftb_delete(v->present);
        v->present = NULL;
        v->form = form;
        return GrB_SUCCESS;
    }
    ftb_vector other;
    GrB_Info info = ftb_vector_as(&other, ctx, v, form);
    if (info != GrB_SUCCESS)
        return info;
    ftb_vector_clear(v);
    *v = other;
    return GrB_SUCCESS;
}

GrB_Info ftb_vector_cast(ftb_vector *v, FtB_Context ctx, FtB_Type type)
{
    const int64_t count = v->form == FTB_VECTOR_LIST ? v->nvals : v->size;
    const size_t from = FtB_Type_size(v->type), to = FtB_Type_size(type);
    if (type == v->type)
        return GrB_SUCCESS;
    char *cast = ftb_new(ctx, count, to);
    if (!cast)
        return ftb_nomem();
    const int64_t slices = (count + SLICE - 1) / SLICE;
#pragma omp parallel for num_threads(ftb_threads_for_values(ctx, count)) schedule(static)
    for (int64_t s = 0; s < slices; s++)
        ftb_cast(cast + (size_t)(s * SLICE) * to, type, (const char *)v->values + (size_t)(s * SLICE) * from,
                 v->type, ftb_min(SLICE, count - s * SLICE));
    ftb_delete(v->values);
    v->values = cast;
    v->type = type;
    return GrB_SUCCESS;
}
