/* Compiled code that later processes find again: a folder of its user's, $XDG_CACHE_HOME/featblas or
 * ~/.cache/featblas, of files that are named by what they were made of. Processes may share it: a file is
 * written under a name of its own and then renamed, so that it is whole or not there. Nobody else can put
 * code there: the folder is made for its user alone, and a folder or a file that others own or may write is
 * not used. FEATBLAS_CACHE=0 turns it off. Nothing here fails: what is not there is made. */
#ifndef FTB_CODE_CACHE_H
#define FTB_CODE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define FTB_CODE_PATH 1200
#define FTB_CODE_MOST (INT64_C(256) << 20) /* bytes of all files */

/* What stands for these texts, which are told apart where they end; NULL is none. */
void ftb_code_key(uint64_t key[2], const char *const *texts, int count);
/* The file of what these texts make, such as ".../0123456789abcdef0123456789abcdef.so"; false: there is no
 * place for it. */
bool ftb_code_path(char path[FTB_CODE_PATH], const char *const *texts, int count, const char *ending);
/* Whether a file may be run: there, no link, this user's, and nobody else's to write. Notes that it was used.
 */
bool ftb_code_usable(const char *path);
/* A file that somebody made beside `path` becomes it. What was used longest ago is dropped where there is too
 * much. */
bool ftb_code_keep(const char *made, const char *path);
/* A file of this user's alone, which is not there yet, of some bytes and some more behind them; false: it is
 * still not there. */
bool ftb_code_put(const char *path, const void *bytes, int64_t count, const void *tail, int64_t more);
/* Keeps bytes; and such a file's, followed by 0, freed with ftb_raw_delete; NULL: it is not there, not
 * usable or damaged. */
void ftb_code_write(const char *path, const void *bytes, int64_t count);
void *ftb_code_read(const char *path, int64_t *count);
/* Drops what was used longest ago until the files of `path`'s folder have `most` bytes at most. */
void ftb_code_trim(const char *path, int64_t most);

#endif
