/*
 * Makes I/O calls fail, for tests: loaded with LD_PRELOAD into one process, and told what to do through a small file that it maps. Only calls on files below
 * one directory count. The n-th of them fails, or all from the n-th on. Children do not inherit it.
 *
 * FAULT_CONTROL is that file: four 32-bit integers, see `struct control`. FAULT_DIR is the directory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

struct control {
  /* Calls that are left until one fails: 1 means the next one. 0: nothing fails. */
  atomic_int countdown;
  /* With which error. */
  atomic_int error;
  /* 1: all calls from then on fail too, until this is 0 again. */
  atomic_int lasting;
  /* How many have failed. */
  atomic_int failed;
};

static struct control *control;
static char directory[PATH_MAX];
static size_t directory_length;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("FAULT_CONTROL");
  const char *dir = getenv("FAULT_DIR");
  int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  unsetenv("LD_PRELOAD");
  if (file == NULL || dir == NULL || realpath(dir, directory) == NULL) return;
  directory_length = strlen(directory);
  int fd = real_open(file, O_RDWR);
  if (fd < 0) return;
  void *map = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map != MAP_FAILED) control = map;
}

static int is_ours(const char *path) {
  return strncmp(path, directory, directory_length) == 0 && (path[directory_length] == '/' || path[directory_length] == 0);
}

static int fails(void) {
  int left = atomic_load(&control->countdown);
  while (left > 0) {
    int next = left == 1 && atomic_load(&control->lasting) ? 1 : left - 1;
    if (!atomic_compare_exchange_weak(&control->countdown, &left, next)) continue;
    if (left > 1) return 0;
    atomic_fetch_add(&control->failed, 1);
    errno = atomic_load(&control->error);
    return 1;
  }
  return 0;
}

static int armed(void) { return control != NULL && atomic_load(&control->countdown) > 0; }

/* A disk that is full for long still lets files be opened and removed. */
static int spared(int creates) { return !creates && armed() && atomic_load(&control->lasting); }

static int fails_at_path(const char *path) {
  char full[PATH_MAX];
  if (!armed() || path == NULL) return 0;
  if (path[0] == '/') return is_ours(path) && fails();
  return getcwd(full, sizeof full) != NULL && is_ours(full) && fails();
}

static int fails_at_fd(int fd) {
  char link[64], path[PATH_MAX];
  if (!armed()) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_ours(path) && fails();
}

#define REAL(type, name, ...)                              \
  static type (*real)(__VA_ARGS__);                        \
  if (real == NULL) real = dlsym(RTLD_NEXT, #name)

#define ON_FD(type, name, params, args)                    \
  type name params {                                       \
    static type(*real) params;                             \
    if (real == NULL) real = dlsym(RTLD_NEXT, #name);      \
    if (fails_at_fd(fd)) return -1;                        \
    return real args;                                      \
  }

ON_FD(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
ON_FD(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
ON_FD(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
ON_FD(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
ON_FD(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
ON_FD(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
ON_FD(int, fsync, (int fd), (fd))
ON_FD(int, fdatasync, (int fd), (fd))
ON_FD(int, ftruncate, (int fd, off_t size), (fd, size))
ON_FD(int, ftruncate64, (int fd, off64_t size), (fd, size))

#define OPEN(name)                                         \
  int name(const char *path, int flags, ...) {             \
    va_list rest;                                          \
    va_start(rest, flags);                                 \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                          \
    REAL(int, name, const char *, int, ...);               \
    if (!spared(flags & O_CREAT) && fails_at_path(path)) return -1; \
    return real(path, flags, mode);                        \
  }

OPEN(open)
OPEN(open64)

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  if (fails_at_path(to)) return -1;
  return real(from, to);
}

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  if (!spared(0) && fails_at_path(path)) return -1;
  return real(path);
}
