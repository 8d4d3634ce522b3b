/* Generated data sets on disk, as folders that dataset_load() reads. */
#ifndef APP_LABELLED_H
#define APP_LABELLED_H

#include "gen/gen.h"

/* Writes edges.mtx, features.mtx, labels.txt and split.txt into the folder, which is made if need be. Returns
 * an exit code. */
int labelled_save(const char *folder, const gen_labelled *s);

#endif
