/* Where the files of a data set are, by their names and contents. */
#include "data/dataset_parts.h"
#include "io/format.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool dataset_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

GrB_Info dataset_join(char *path, const char *folder, const char *name)
{
    const size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    const int n = snprintf(path, DATASET_PATH, "%s%s%s", folder, slash, name);
    if (n >= 0 && n < DATASET_PATH)
        return GrB_SUCCESS;
    path[0] = '\0';
    return ftb_fail(GrB_INVALID_VALUE, "%.200s...: a path of more than %d characters", folder,
                    DATASET_PATH - 1);
}

/* folder/stem with an ending of the format, packed or not. */
static bool find_as(char *path, const char *folder, const char *stem, const ftb_format *f)
{
    char name[256];
    size_t length = 0;
    for (const char *e = ftb_ending_next(f, NULL, &length); e; e = ftb_ending_next(f, e, &length))
        for (int packed = 0; packed < 2; packed++) {
            snprintf(name, sizeof name, "%s%.*s%s", stem, (int)length, e, packed ? ".gz" : "");
            if (dataset_join(path, folder, name) == GrB_SUCCESS && is_file(path))
                return true;
        }
    return false;
}

bool dataset_find_file(char *path, const char *folder, const char *stem)
{
    int rank = -1;
    for (;;) { /* formats in the order of their ranks */
        const ftb_format *least = NULL;
        for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f))
            if (ftb_format_rank(f) > rank && (!least || ftb_format_rank(f) < ftb_format_rank(least)))
                least = f;
        if (!least)
            break;
        if (find_as(path, folder, stem, least))
            return true;
        rank = ftb_format_rank(least);
    }
    path[0] = '\0';
    return false;
}

GrB_Info dataset_probe(const char *path, const ftb_format **format, bool *dense)
{
    ftb_input *in = NULL;
    GrB_Info info = ftb_format_open(&in, format, ftb_context(), path, FTB_FORMAT_AUTO);
    if (info == GrB_SUCCESS)
        *dense = ftb_format_is_block(*format, in);
    ftb_input_close(&in);
    return info;
}

/* The only folder in split/; its name says how the vertices were split. */
static GrB_Info find_split(char *path, const char *folder)
{
    char found[256] = "", both[520] = "";
    GrB_Info info = dataset_join(path, folder, "split");
    DIR *dir = info == GrB_SUCCESS ? opendir(path) : NULL;
    char one[DATASET_PATH];
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.' || dataset_join(one, path, entry->d_name) != GrB_SUCCESS ||
            !dataset_is_folder(one))
            continue;
        if (*found)
            snprintf(both, sizeof both, "%s and %.255s", found, entry->d_name);
        snprintf(found, sizeof found, "%.255s", entry->d_name);
    }
    if (dir)
        closedir(dir);
    if (*both)
        return ftb_fail(GrB_INVALID_VALUE, "%s: has the splits %s; --split names one", path, both);
    if (!*found) {
        path[0] = '\0';
        return info;
    }
    memcpy(one, path, strlen(path) + 1);
    return dataset_join(path, one, found);
}

static GrB_Info find_ogb(dataset_files *files, const char *path, const dataset_options *options)
{
    char raw[DATASET_PATH], split[DATASET_PATH];
    GrB_Info info = dataset_join(raw, path, "raw");
    if (info != GrB_SUCCESS || !dataset_find_file(files->graph, raw, "edge"))
        return info;
    files->ogb = true;
    dataset_find_file(files->features, raw, "node-feat");
    dataset_find_file(files->labels, raw, "node-label");
    dataset_find_file(files->count, raw, "num-node-list");
    if (!options->split)
        return find_split(files->split, path);
    info = dataset_join(split, path, "split");
    if (info == GrB_SUCCESS)
        info = dataset_join(files->split, split, options->split);
    if (info == GrB_SUCCESS && !dataset_is_folder(files->split))
        info = ftb_fail(FTB_IO, "%s: there is no such split", files->split);
    return info;
}

static GrB_Info copy(char *path, const char *given)
{
    if (!given)
        return GrB_SUCCESS;
    if (strlen(given) >= DATASET_PATH)
        return ftb_fail(GrB_INVALID_VALUE, "%.200s...: a path of more than %d characters", given,
                        DATASET_PATH - 1);
    memcpy(path, given, strlen(given) + 1);
    return GrB_SUCCESS;
}

GrB_Info dataset_find(dataset_files *files, const char *path, const dataset_options *options)
{
    GrB_Info info = GrB_SUCCESS;
    *files = (dataset_files){.ogb = false};
    if (strcmp(path, "-") == 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "a data set cannot come from standard input: its files are read in turn");
    if (access(path, F_OK) != 0)
        return ftb_fail(FTB_IO, "%s: cannot read: %s", path, strerror(errno));
    if (!dataset_is_folder(path)) {
        FTB_CHECK(copy(files->graph, path));
    } else {
        FTB_CHECK(find_ogb(files, path, options));
        if (!files->ogb) {
            if (!dataset_find_file(files->graph, path, "edges") &&
                !dataset_find_file(files->graph, path, "graph")) {
                char list[FTB_FORMAT_LIST];
                info = ftb_fail(FTB_IO, "%s: holds no graph; expected edges%s, or raw/edge.csv", path,
                                ftb_format_list(list, FTB_READ_MATRIX, true, " or "));
                goto done;
            }
            dataset_find_file(files->features, path, "features");
            if (!dataset_find_file(files->labels, path, "labels"))
                dataset_find_file(files->labels, path, "targets");
            dataset_find_file(files->split, path, "split");
        }
    }
    FTB_CHECK(copy(files->features, options->features));
    FTB_CHECK(copy(files->labels, options->labels));
    if (!files->ogb)
        FTB_CHECK(copy(files->split, options->split));
done:
    return info;
}

bool dataset_reads(const char *path, const dataset_options *options, const char *file)
{
    dataset_files *files = ftb_new(NULL, 1, sizeof *files);
    bool reads = false;
    if (files && dataset_find(files, path, options) == GrB_SUCCESS) {
        char split[DATASET_PATH];
        const char *const all[] = {files->graph, files->features, files->labels, files->count, files->split};
        for (size_t n = 0; n < sizeof all / sizeof *all; n++)
            reads = reads || (*all[n] && ftb_same_file(all[n], file));
        for (int part = 0; files->ogb && *files->split && part < DATASET_PARTS; part++)
            reads = reads || (dataset_find_file(split, files->split, dataset_split_stems[part]) &&
                              ftb_same_file(split, file));
    }
    ftb_delete(files);
    return reads;
}
