/* Reading and writing files. Usage: bench_io [entries, in millions] [repetitions] [folder]
 *
 * A matrix of random entries with reals of one decimal, as ratings are, is written to a folder (default:
 * TMPDIR or /tmp) in every format and read back, with one thread and with two, in turn; medians of the wall
 * clock and of the CPU time of all threads. "shuffled" is the Matrix Market file with its lines in random
 * order; "dense" are as many numbers of FP32 in rows of 64. The line "copy" writes and reads the same bytes
 * with plain system calls: the file system's speed. */
#include "support/calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 15
#define NROWS 138493
#define NCOLS 26744

static FtB_Matrix make_matrix(int64_t entries)
{
    int64_t *I = malloc((size_t)entries * 8), *J = malloc((size_t)entries * 8);
    double *X = malloc((size_t)entries * 8);
    FtB_Matrix A;
    if (!I || !J || !X)
        exit(1);
    for (int64_t e = 0; e < entries; e++) {
        I[e] = (int64_t)(bench_bits() % NROWS);
        J[e] = (int64_t)(bench_bits() % NCOLS);
        X[e] = (double)(1 + bench_bits() % 50) / 10;
    }
    bench_check(FtB_Matrix_build(&A, FTB_FP64, NROWS, NCOLS, 1, entries, I, J, X, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

static FtB_Block make_block(int64_t values)
{
    FtB_Block X;
    void *data;
    bench_check(FtB_Block_new(&X, values / 64 + 1, 64, FTB_FP32));
    bench_check(FtB_Block_shape(X, NULL, NULL, NULL, NULL, &data));
    for (int64_t k = 0; k < values; k++)
        ((float *)data)[k] = (float)((double)(int64_t)bench_bits() * 0x1p-63);
    return X;
}

static double size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (double)st.st_size : 0;
}

/* The same Matrix Market file with its entries' lines in random order. */
static void shuffle_lines(const char *from, const char *to)
{
    FILE *f = fopen(from, "r"), *g = fopen(to, "w");
    size_t size = (size_t)size_of(from), count = 0, room = 1 << 20;
    char *text = malloc(size + 1), **line = malloc(room * sizeof *line);
    if (!f || !g || !text || !line || fread(text, 1, size, f) != size)
        exit(1);
    text[size] = '\0';
    for (char *p = text; *p; p = strchr(p, '\n') + 1) {
        if (count == room && !(line = realloc(line, (room *= 2) * sizeof *line)))
            exit(1);
        line[count++] = p;
    }
    for (size_t n = count - 1; n > 2; n--) { /* the first two are the header */
        size_t other = 2 + (size_t)(bench_bits() % (n - 1));
        char *swap = line[n];
        line[n] = line[other];
        line[other] = swap;
    }
    for (size_t n = 0; n < count; n++)
        fwrite(line[n], 1, (size_t)(strchr(line[n], '\n') + 1 - line[n]), g);
    fclose(f);
    fclose(g);
    free(text);
    free(line);
}

/* ---- what is timed */

typedef struct job {
    const char *what, *file;
    bool write, dense;
    double wall[2][MOST], cpu[2][MOST]; /* with one thread, with two */
} job;

static void copy_bytes(const char *path, bool write_it, char *buffer, int64_t bytes)
{
    int fd = open(path, write_it ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0600);
    for (int64_t done = 0; fd >= 0 && done < bytes;) {
        size_t piece = 1 << 20;
        ssize_t n = write_it ? write(fd, buffer, piece) : read(fd, buffer, piece);
        if (n <= 0)
            break;
        done += n;
    }
    if (fd < 0 || close(fd) != 0)
        exit(1);
}

static void run(job *j, const char *folder, FtB_Matrix A, FtB_Block X, int threads, int repetition,
                int64_t copy)
{
    char path[512];
    static char buffer[1 << 20];
    FtB_Matrix B = NULL;
    FtB_Block Y = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, j->file);
    bench_check(FtB_Context_set_threads(NULL, threads));
    if (j->write)
        remove(path); /* some file systems wait for the disk when a file is replaced */
    double wall = bench_now(), cpu = bench_cpu();
    if (strcmp(j->file, "copy") == 0)
        copy_bytes(path, j->write, buffer, copy);
    else if (j->dense && j->write)
        bench_check(FtB_Block_write(X, path, FTB_FORMAT_AUTO, 0));
    else if (j->dense)
        bench_check(FtB_Block_read(&Y, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_FP32)));
    else if (j->write)
        bench_check(FtB_Matrix_write(A, path, FTB_FORMAT_AUTO, NULL, NULL, 0));
    else
        bench_check(FtB_Matrix_read(&B, NULL, NULL, path, NULL));
    j->wall[threads - 1][repetition] = bench_now() - wall;
    j->cpu[threads - 1][repetition] = bench_cpu() - cpu;
    FtB_Matrix_free(&B);
    FtB_Block_free(&Y);
}

int main(int argc, char **argv)
{
    static job jobs[] = {{.what = "write Matrix Market", .file = "m.mtx", .write = true},
                         {.what = "read Matrix Market", .file = "m.mtx"},
                         {.what = "read, shuffled", .file = "shuffled.mtx"},
                         {.what = "write TSV", .file = "m.tsv", .write = true},
                         {.what = "read TSV", .file = "m.tsv"},
                         {.what = "write npz", .file = "m.npz", .write = true},
                         {.what = "read npz", .file = "m.npz"},
                         {.what = "write raw CSR", .file = "m.csr", .write = true},
                         {.what = "read raw CSR", .file = "m.csr"},
                         {.what = "write dense npy", .file = "d.npy", .write = true, .dense = true},
                         {.what = "read dense npy", .file = "d.npy", .dense = true},
                         {.what = "write dense array", .file = "d.mtx", .write = true, .dense = true},
                         {.what = "read dense array", .file = "d.mtx", .dense = true},
                         {.what = "write dense CSV", .file = "d.csv", .write = true, .dense = true},
                         {.what = "read dense CSV", .file = "d.csv", .dense = true},
                         {.what = "write copy", .file = "copy", .write = true},
                         {.what = "read copy", .file = "copy"}};
    const int njobs = sizeof jobs / sizeof *jobs;
    int64_t entries = (int64_t)((argc > 1 ? atof(argv[1]) : 20) * 1e6);
    int repetitions = argc > 2 ? atoi(argv[2]) : 5;
    const char *base = argc > 3 ? argv[3] : getenv("TMPDIR");
    char folder[400], path[2][512];
    snprintf(folder, sizeof folder, "%s/bench-io-XXXXXX", base ? base : "/tmp");
    if (entries < 1 || repetitions < 1 || repetitions > MOST || !mkdtemp(folder)) {
        fprintf(stderr, "usage: bench_io [entries, in millions] [repetitions, up to %d] [folder]\n", MOST);
        return 2;
    }
    FtB_Matrix A = make_matrix(entries);
    FtB_Block X = make_block(entries);
    snprintf(path[0], sizeof path[0], "%s/m.mtx", folder);
    snprintf(path[1], sizeof path[1], "%s/shuffled.mtx", folder);
    bench_check(FtB_Matrix_write(A, path[0], FTB_FORMAT_AUTO, NULL, NULL, 0));
    shuffle_lines(path[0], path[1]);
    int64_t copy = (int64_t)size_of(path[0]);
    for (int r = 0; r < repetitions; r++)
        for (int threads = 1; threads <= 2; threads++)
            for (int j = 0; j < njobs; j++)
                run(&jobs[j], folder, A, X, threads, r, copy);
    printf("%-20s %8s | %8s %10s | %8s %10s   (MB/s; per second of CPU)\n", "", "MB", "1 thread", "CPU",
           "2 threads", "CPU");
    for (int j = 0; j < njobs; j++) {
        snprintf(path[0], sizeof path[0], "%s/%s", folder, jobs[j].file);
        double mb = size_of(path[0]) / 1e6;
        printf(
            "%-20s %8.0f | %8.0f %10.0f | %9.0f %10.0f\n", jobs[j].what, mb,
            mb / bench_median(jobs[j].wall[0], repetitions), mb / bench_median(jobs[j].cpu[0], repetitions),
            mb / bench_median(jobs[j].wall[1], repetitions), mb / bench_median(jobs[j].cpu[1], repetitions));
    }
    for (int j = 0; j < njobs; j++) {
        snprintf(path[0], sizeof path[0], "%s/%s", folder, jobs[j].file);
        remove(path[0]);
    }
    rmdir(folder);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    return 0;
}
