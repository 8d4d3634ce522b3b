/* A thread that works ahead for a context: what it has begun on a device it ends there, whatever device the
 * context is given meanwhile. (context.c) */
#ifndef FTB_HELD_DEVICE_H
#define FTB_HELD_DEVICE_H

#include "core/backend.h"

/* Until _release, `where`, or the host for NULL, is the device of all contexts that this thread asks for. */
void ftb_device_hold(const ftb_backend *where);
void ftb_device_release(void);

#endif
