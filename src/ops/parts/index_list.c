/* Lists of rows, columns and places (index_list.h). One that ascends is its own order; any other is sorted as
 * the columns of a row are. */
#include "ops/parts/index_list.h"

static GrB_Info check(const ftb_index_list *list, const char *name, int64_t extent, bool *ascends)
{
    *ascends = true;
    for (int64_t t = 0; t < list->count; t++) {
        if (list->at[t] < 0 || list->at[t] >= extent)
            return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "%s[%lld] is %lld; expected 0 to %lld", name,
                            (long long)t, (long long)list->at[t], (long long)extent - 1);
        *ascends = *ascends && (t == 0 || list->at[t - 1] <= list->at[t]);
    }
    return GrB_SUCCESS;
}

static GrB_Info sort(ftb_index_list *list, FtB_Context ctx, int64_t extent)
{
    const int64_t count = list->count;
    int64_t *zeros = ftb_new0(ctx, count, sizeof *zeros), *places = ftb_new(ctx, count, sizeof *places);
    list->own[0] = ftb_new(ctx, count, sizeof *list->own[0]);
    list->own[1] = ftb_new(ctx, count, sizeof *list->own[1]);
    FtB_Matrix row = NULL;
    GrB_Info info = zeros && places && list->own[0] && list->own[1] ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_build(&row, FTB_BOOL, 1, extent, 0, count, zeros, list->at, NULL, FTB_DUP_KEEP,
                                places);
    if (info == GrB_SUCCESS) {
        const ftb_pattern *p = row->pattern;
        ftb_cast(list->own[0], FTB_INT64, p->colidx, p->wide ? FTB_INT64 : FTB_INT32, count);
        for (int64_t t = 0; t < count; t++)
            list->own[1][places[t]] = t;
        list->sorted = list->own[0];
        list->from = list->own[1];
    }
    FtB_Matrix_free(&row);
    ftb_delete(zeros);
    ftb_delete(places);
    return info;
}

GrB_Info ftb_index_list_take(ftb_index_list *list, FtB_Context ctx, FtB_Arg arg, const char *name,
                             int64_t extent)
{
    bool ascends;
    *list = (ftb_index_list){.count = extent};
    if (arg.kind == FTB_KIND_NONE)
        return GrB_SUCCESS;
    if (arg.kind != FTB_KIND_IDS)
        return ftb_fail(GrB_INVALID_VALUE, "%s is %s; expected an FtB_Ids or NULL", name,
                        ftb_kind_name(arg.kind));
    if (arg.integer < 0)
        return ftb_fail(GrB_INVALID_VALUE, "%s: a list of %lld numbers", name, (long long)arg.integer);
    if (arg.integer > 0 && !arg.handle)
        return ftb_fail(GrB_NULL_POINTER, "%s: at is NULL; expected %lld numbers", name,
                        (long long)arg.integer);
    static const int64_t nothing = 0;
    list->at = arg.handle ? arg.handle : &nothing;
    list->count = arg.integer;
    GrB_Info info = check(list, name, extent, &ascends);
    list->sorted = list->at;
    return info == GrB_SUCCESS && !ascends ? sort(list, ctx, extent) : info;
}

GrB_Info ftb_index_list_once(const ftb_index_list *list, const char *name)
{
    for (int64_t t = 1; list->at && t < list->count; t++)
        if (list->sorted[t] == list->sorted[t - 1])
            return ftb_fail(GrB_INVALID_VALUE, "%s has %lld twice, at %lld and %lld; expected it once", name,
                            (long long)list->sorted[t], (long long)(list->from ? list->from[t - 1] : t - 1),
                            (long long)(list->from ? list->from[t] : t));
    return GrB_SUCCESS;
}

void ftb_index_list_clear(ftb_index_list *list)
{
    ftb_delete(list->own[0]);
    ftb_delete(list->own[1]);
    *list = (ftb_index_list){.at = NULL};
}
