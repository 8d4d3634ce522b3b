/* The progress line: "[#########-----]  83 %  1.1e8 products/s  ETA 0:00", on a terminal only. It appears
 * when the work has taken a moment, so that quick runs leave no trace. */
#include "app.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define BAR 30
#define PATIENCE 0.3 /* seconds before the line is first shown */

static struct {
    bool wanted; /* on a terminal, and not quiet */
    bool shown;
    double started; /* when the present stage began */
    double last;    /* when the line was last drawn */
    double done;    /* at the last call: less than before means a new stage */
    char what[32];
} line;

static void print_eta(double seconds)
{
    if (seconds >= 3600)
        fprintf(stderr, "  ETA %.0f:%02d:%02d", floor(seconds / 3600), (int)fmod(seconds / 60, 60),
                (int)fmod(seconds, 60));
    else
        fprintf(stderr, "  ETA %d:%02d", (int)(seconds / 60), (int)fmod(seconds, 60));
}

static void draw(double done, double total, double elapsed)
{
    double rate = elapsed > 0 ? done / elapsed : 0;
    fputs("\r\033[K", stderr);
    if (total > 0) {
        double share = fmin(done / total, 1);
        int filled = (int)(share * BAR);
        fputc('[', stderr);
        for (int at = 0; at < BAR; at++)
            fputc(at < filled ? '#' : '-', stderr);
        fprintf(stderr, "] %3.0f %%", floor(100 * share));
    }
    char number[32];
    fprintf(stderr, "  %s %.*s/s", app_scientific(number, rate, 2), (int)strcspn(line.what, " "), line.what);
    if (total > 0 && rate > 0)
        print_eta(fmax(total - done, 0) / rate);
    fflush(stderr);
    line.shown = true;
}

static bool on_progress(double done, double total, const char *what, void *arg)
{
    (void)arg;
    double now = app_seconds();
    if (done < line.done || strncmp(what, line.what, sizeof line.what - 1) != 0) {
        line.started = now;
        snprintf(line.what, sizeof line.what, "%s", what);
    }
    line.done = done;
    if (now - line.started >= PATIENCE && now - line.last >= 0.1) {
        line.last = now;
        draw(done, total, now - line.started);
    }
    return true;
}

void app_progress_start(void)
{
    line.wanted = isatty(STDERR_FILENO);
    if (line.wanted)
        FtB_Context_progress(NULL, on_progress, NULL);
}

void app_progress_stop(void)
{
    app_progress_clear();
    FtB_Context_progress(NULL, NULL, NULL);
}

void app_progress_note(double eta, const char *format, ...)
{
    va_list args;
    double now = app_seconds();
    if (!line.wanted || now - line.last < 0.1)
        return;
    line.last = now;
    fputs("\r\033[K", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    if (eta >= 0)
        print_eta(eta);
    fflush(stderr);
    line.shown = true;
}

void app_progress_yield(const char *path)
{
    if (strcmp(path, "-") != 0 || !isatty(STDOUT_FILENO))
        return;
    app_progress_stop();
}

void app_progress_clear(void)
{
    if (line.shown)
        fputs("\r\033[K", stderr);
    line.shown = false;
    line.last = -1; /* what comes next is shown at once */
}
