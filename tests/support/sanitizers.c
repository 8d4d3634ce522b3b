/* What sanitizers are told in every test: allocations that cannot succeed return NULL, as they would
 * without a sanitizer; tests of the library's answer to that need it. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

#ifdef SANITIZED
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }
#endif

typedef int not_an_empty_file;
