/* Libraries that do not exist (support/fake_cuda), for tests that open them. */
#ifndef TESTS_FAKES_H
#define TESTS_FAKES_H

/* Its path: "fake_cuda", "fake_nvrtc"; valid until the fourth call from now. */
const char *fake_path(const char *name);
/* A function of it for tests goes to *to, which is a pointer to such functions; where tests run on a real GPU
 * (real_gpu.h) what stands in its place. */
void fake_find(const char *library, const char *function, void *to);

#endif
