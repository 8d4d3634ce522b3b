/* Standard normal numbers by the inverse of their distribution function: Wichura, "Algorithm AS 241: the
 * percentage points of the normal distribution", Applied Statistics 37, 1988. Its rational functions take
 * correctly rounded operations only, so that the bits are the same on every machine, and one draw gives one
 * number. Its branch for p < e^-25 is not needed: 32 bits stay above 2^-33. */
#include "gen/gen.h"

#include <math.h>

static double ratio(const double above[8], const double below[8], double r)
{
    double a = above[7], b = below[7];
    for (int k = 6; k >= 0; k--) {
        a = a * r + above[k];
        b = b * r + below[k];
    }
    return a / b;
}

double gen_normal(uint32_t x)
{
    static const double middle[2][8] = {
        {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
         45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727},
        {1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
         39307.895800092710610, 28729.085735721942674, 5226.4952788528545610}};
    static const double tail[2][8] = {
        {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
         1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833,
         7.74545014278341407640e-4},
        {1, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550, 0.148103976427480074590,
         0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
    const double p = ((double)x + 0.5) * 0x1p-32, q = p - 0.5;
    if (fabs(q) <= 0.425)
        return q * ratio(middle[0], middle[1], 0.180625 - q * q);
    const double z = ratio(tail[0], tail[1], sqrt(-gen_logarithm(q < 0 ? p : 1 - p)) - 1.6);
    return q < 0 ? -z : z;
}
