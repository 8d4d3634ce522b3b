/* A message's text, made to speak of its feeds. */
#ifndef FTB_MESSAGE_TEXT_H
#define FTB_MESSAGE_TEXT_H

#include "expr/message.h"

/* A copy of the semiring's tree in which block[i], block[j], block[k] and block[e] of bound blocks are names
 * of their own, names are exchanged as `rename` says (pairs, NULL-ended; NULL: none), and a and b are
 * converted to the domain of a GraphBLAS semiring. */
GrB_Info ftb_message_text(ftb_expr **out, const struct FtB_Semiring_opaque *s, const ftb_expr *e,
                          const char *const *rename);
/* What a name is called after renaming. */
const char *ftb_message_renamed(const char *name, const char *const *rename);
/* A copy without conversions of names to the type that they have: so that forms show. *out = NULL: there are
 * none. */
GrB_Info ftb_message_plain(ftb_expr **out, const ftb_message *m);

#endif
