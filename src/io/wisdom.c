/* Wisdom in files: written whole or not at all, read strictly. */
#include "plan/wisdom.h"
#include "io/io.h"

#include <errno.h>

#define MOST_BYTES ((FTB_WISDOM_MOST + 3) * FTB_WISDOM_LINE)

static FtB_Context chosen(FtB_Context ctx) { return ctx ? ctx : ftb_context(); }

static GrB_Info check_path(const char *path)
{
    return path ? GrB_SUCCESS : ftb_fail(GrB_NULL_POINTER, "path: NULL; expected a file's name");
}

static GrB_Info write_lines(ftb_file *file, const ftb_wisdom_text *all)
{
    char line[FTB_WISDOM_LINE];
    GrB_Info info = ftb_file_write(file, line, ftb_wisdom_print_head(line, sizeof line));
    if (info == GrB_SUCCESS && all->calibrated)
        info = ftb_file_write(file, line, ftb_wisdom_print_costs(line, sizeof line, &all->costs));
    for (int64_t t = 0; t < all->count && info == GrB_SUCCESS; t++)
        info = ftb_file_write(file, line, ftb_wisdom_print(line, sizeof line, &all->entries[t]));
    if (info == GrB_SUCCESS)
        info = ftb_file_write(file, line, ftb_wisdom_print_tail(line, sizeof line, all->count));
    return info;
}

GrB_Info FtB_Wisdom_save(FtB_Context ctx, const char *path)
{
    ftb_wisdom_text all = {0};
    ftb_file *file = NULL;
    ctx = chosen(ctx);
    GrB_Info info = check_path(path);
    if (info != GrB_SUCCESS)
        return info;
    FTB_CHECK(ftb_wisdom_list(&all, ctx));
    FTB_CHECK(ftb_file_create(&file, ctx, path));
    FTB_CHECK(write_lines(file, &all));
    info = ftb_file_commit(&file);
done:
    ftb_file_discard(&file);
    ftb_delete(all.entries);
    return info;
}

static GrB_Info read_bytes(char *text, int64_t *size, const char *path)
{
    char buffer[128];
    FILE *file = fopen(path, "rb");
    if (!file)
        return ftb_fail(FTB_IO, "%s: cannot be read: %s", path, strerror_r(errno, buffer, sizeof buffer));
    *size = (int64_t)fread(text, 1, MOST_BYTES + 1, file);
    int error = ferror(file) ? errno : 0;
    fclose(file);
    if (error)
        return ftb_fail(FTB_IO, "%s: cannot be read: %s", path, strerror_r(error, buffer, sizeof buffer));
    if (*size > MOST_BYTES)
        return ftb_fail(FTB_FORMAT, "%s: more than %lld bytes; expected wisdom of at most %d cases", path,
                        (long long)MOST_BYTES, FTB_WISDOM_MOST);
    return GrB_SUCCESS;
}

static GrB_Info complain(const char *path, const ftb_wisdom_fault *fault)
{
    char head[FTB_WISDOM_LINE];
    if (fault->expected)
        return ftb_fail(FTB_FORMAT, "%s:%lld:%lld: expected %s", path, (long long)fault->line,
                        (long long)fault->column,
                        fault->expected[0] == ' ' ? fault->expected + 1 : fault->expected);
    ftb_wisdom_print_head(head, sizeof head);
    char *here = strchr(head, '\n') + 1;
    here[strcspn(here, "\n")] = 0;
    return ftb_fail(GrB_INVALID_VALUE, "%s:%lld:%lld: measured on another machine; this one is '%s'", path,
                    (long long)fault->line, (long long)fault->column, here);
}

GrB_Info FtB_Wisdom_load(FtB_Context ctx, const char *path)
{
    ftb_wisdom_text all = {0};
    ftb_wisdom_fault fault;
    char *text = NULL;
    int64_t size = 0;
    ctx = chosen(ctx);
    GrB_Info info = check_path(path);
    if (info != GrB_SUCCESS)
        return info;
    text = ftb_new(ctx, MOST_BYTES + 1, 1);
    all.entries = ftb_new(ctx, FTB_WISDOM_MOST, sizeof *all.entries);
    if (!text || !all.entries) {
        info = ftb_nomem();
        goto done;
    }
    FTB_CHECK(read_bytes(text, &size, path));
    info = ftb_wisdom_read(&all, text, size, &fault)
               ? ftb_wisdom_add(ctx, all.entries, all.count, all.calibrated ? &all.costs : NULL)
               : complain(path, &fault);
done:
    ftb_delete(text);
    ftb_delete(all.entries);
    return info;
}

GrB_Info FtB_Wisdom_forget(FtB_Context ctx)
{
    ftb_wisdom_forget(chosen(ctx));
    return GrB_SUCCESS;
}
