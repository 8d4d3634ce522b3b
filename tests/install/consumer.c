/* What a stranger's program does first; compiled as C and as C++. */
#include <featblas.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", FTB_VERSION_MAJOR, FTB_VERSION_MINOR, FTB_VERSION_PATCH);
    if (strcmp(FtB_version(), version) != 0) {
        fprintf(stderr, "library %s, header %s\n", FtB_version(), version);
        return 1;
    }
    return 0;
}
