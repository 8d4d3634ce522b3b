/* The C locale, for as long as a text is printed or read. */
#include "core/locale.h"

#include <pthread.h>

static locale_t c_locale;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

locale_t ftb_c_locale(void)
{
    pthread_once(&once, make);
    return c_locale;
}

locale_t ftb_locale_enter(void)
{
    locale_t c = ftb_c_locale();
    return c ? uselocale(c) : (locale_t)0;
}

void ftb_locale_leave(locale_t before)
{
    if (before)
        uselocale(before);
}
