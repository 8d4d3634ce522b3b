/* SIGINT, SIGTERM and SIGHUP: the first one asks the library to stop, which leaves the output as it was;
 * a second one, or a second's wait (the library may be inside a long read), removes the temporary files
 * and ends the process at once. */
#include "app.h"
#include "io/io.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* A signal goes to any thread, so that what its handler tells the others is atomic. */
static atomic_int received;
static atomic_bool held;

static void leave(int signal_number)
{
    ftb_file_remove_temporaries();
    _exit(APP_SIGNAL + signal_number);
}

static void on_signal(int signal_number)
{
    int none = 0;
    if (signal_number == SIGALRM)
        leave(atomic_load(&received));
    if (!atomic_compare_exchange_strong(&received, &none, signal_number))
        leave(signal_number);
    if (atomic_load(&held))
        return;
    FtB_Context_cancel(NULL);
    alarm(1);
}

void app_signals_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    for (size_t s = 0; s < sizeof numbers / sizeof *numbers; s++)
        if (numbers[s] == SIGALRM || (sigaction(numbers[s], NULL, &old) == 0 && old.sa_handler != SIG_IGN))
            sigaction(numbers[s], &action, NULL); /* what nohup or a shell's & ignores stays ignored */
    signal(SIGPIPE, SIG_IGN);                     /* a write then fails with EPIPE */
    signal(SIGXFSZ, SIG_IGN);                     /* and one past the file size limit with EFBIG */
}

void app_signals_hold(bool hold) { atomic_store(&held, hold); }

int app_signal(void) { return atomic_load(&received); }
