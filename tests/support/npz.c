#include "support/npz.h"

#include "support/check.h"
#include "support/temporary.h"

#include <stdlib.h>
#include <zip.h>

void make_npz(const char *name, const member *members, int count, bool deflated)
{
    int error;
    zip_t *z = zip_open(temp_path(name), ZIP_CREATE | ZIP_TRUNCATE, &error);
    char *bytes[8];
    assert_non_null(z);
    assert_true(count <= 8);
    for (int m = 0; m < count; m++) {
        size_t text = strlen(members[m].header) + 1, head = members[m].version > 1 ? 12 : 10;
        size_t size = head + text + members[m].bytes;
        char *p = bytes[m] = calloc(size, 1);
        memcpy(p, "\x93NUMPY", 6);
        p[6] = (char)members[m].version;
        p[8] = (char)text;
        memcpy(p + head, members[m].header, text - 1);
        p[head + text - 1] = '\n';
        if (members[m].bytes > 0)
            memcpy(p + head + text, members[m].data, members[m].bytes);
        zip_source_t *source = zip_source_buffer(z, p, size, 0);
        zip_int64_t at = zip_file_add(z, members[m].name, source, 0);
        assert_true(at >= 0);
        zip_set_file_compression(z, (zip_uint64_t)at, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    assert_int_equal(zip_close(z), 0);
    for (int m = 0; m < count; m++)
        free(bytes[m]);
}
