/* Chi-square tests of counts. */
#ifndef TESTS_CHI_SQUARE_H
#define TESTS_CHI_SQUARE_H

#include <stdint.h>

/* The value that chi-square with so many degrees of freedom exceeds once in a million times. */
double chi_square_critical(double freedom);
/* Fails where counts are further from their chances, whose sum is 1, than they are once in a million times.
 * Cells that are expected less than five times are taken together; one without a chance has no count. */
void check_chances(const int64_t *count, const double *chance, int64_t cells, const char *what);

#endif
