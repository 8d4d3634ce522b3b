/* A loop that touches no memory comes by no hook, and would never end: as a compiler makes of one that waits
 * for a plain variable. Once a second of the thread's time somebody looks whether steps are still made. */
#include "simt_machine.h"

#include <csignal>
#include <ctime>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace simt
{

namespace
{

int64_t steps_seen;

/* Where no step was made for so long, the lane is in its own code, and nothing is left half-done. */
void look(int)
{
    if (now.running && now.steps == steps_seen) {
        fault(SIMT_ENDLESS,
              "%s is in a loop that touches no memory: what others change must be volatile, or read by an "
              "atomic operation",
              place_of(*now.running).c_str());
        abandon();
    }
    steps_seen = now.steps;
}

} // namespace

Watch::Watch()
{
    steps_seen = -1;
    struct sigaction act = {};
    act.sa_handler = look;
    act.sa_flags = SA_RESTART | SA_NODEFER; /* it may never return */
    sigaction(SIGVTALRM, &act, &before);
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGVTALRM;
    event.sigev_notify_thread_id = gettid();
    running = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0;
    const itimerspec each = {{1, 0}, {1, 0}};
    if (running)
        timer_settime(timer, 0, &each, nullptr);
}

Watch::~Watch()
{
    if (running)
        timer_delete(timer);
    sigaction(SIGVTALRM, &before, nullptr);
}

} // namespace simt
