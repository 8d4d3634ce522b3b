/* Numbers in texts have a point, whatever the program's locale says. */
#ifndef FTB_LOCALE_H
#define FTB_LOCALE_H

#include <locale.h>

locale_t ftb_c_locale(void); /* (locale_t)0 if there is none to be had */
/* From here on this thread prints and reads in the C locale, up to ftb_locale_leave with what this returned.
 */
locale_t ftb_locale_enter(void);
void ftb_locale_leave(locale_t before);

#endif
