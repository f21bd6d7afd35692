/*
 * Preloaded before the C library: while the file FAULT_SWITCH exists, writes to paths that match one of its patterns fail.
 * Its first line is the error number, the others are patterns. Each failed call adds a line to FAULT_HITS, so that a test
 * can check that it happened.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char fault_switch[PATH_MAX], fault_hits[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
  const char *given = getenv("FAULT_SWITCH"), *hits = getenv("FAULT_HITS");
  if (given) snprintf(fault_switch, sizeof fault_switch, "%s", given);
  if (hits) snprintf(fault_hits, sizeof fault_hits, "%s", hits);
  /* Do not affect child processes. */
  unsetenv("LD_PRELOAD");
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int raw_open(const char *path, int flags) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0644);
}

static void record(const char *what, const char *path) {
  char line[PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "%s %s\n", what, path);
  int fd = raw_open(fault_hits, O_WRONLY | O_APPEND | O_CREAT);
  if (fd < 0) return;
  syscall(SYS_write, fd, line, (size_t)length);
  syscall(SYS_close, fd);
}

/* The error for this path, or 0. */
static int fault_of(const char *what, const char *path) {
  int saved = errno, fault = 0, fd = fault_switch[0] ? raw_open(fault_switch, O_RDONLY) : -1;
  if (fd >= 0) {
    char text[4 * PATH_MAX], *rest = text;
    ssize_t length = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    text[length > 0 ? length : 0] = 0;
    int number = atoi(strsep(&rest, "\n"));
    for (char *pattern; !fault && (pattern = strsep(&rest, "\n"));)
      if (*pattern && fnmatch(pattern, path, 0) == 0) fault = number;
    if (fault) record(what, path);
  }
  errno = saved;
  return fault;
}

static int fault_of_fd(const char *what, int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fault_of(what, path);
}

/* Resolves a path relative to an open folder. */
static int fault_at(const char *what, int folder, const char *path) {
  char link[64], whole[PATH_MAX];
  if (path[0] == '/') return fault_of(what, path);
  if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, whole, sizeof whole - 1);
  if (length < 0) return 0;
  snprintf(whole + length, sizeof whole - (size_t)length, "/%s", path);
  return fault_of(what, whole);
}

#define FAIL_IF(fault) \
  do { \
    int found = (fault); \
    if (found) { \
      errno = found; \
      return -1; \
    } \
  } while (0)

static int is_writing(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)); }

#define OPENS(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    if (is_writing(flags)) FAIL_IF(fault_at("open", AT_FDCWD, path)); \
    return NEXT(name)(path, flags, mode); \
  }
OPENS(open)
OPENS(open64)

int openat(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (is_writing(flags)) FAIL_IF(fault_at("open", folder, path));
  return NEXT(openat)(folder, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  FAIL_IF(fault_of_fd("write", fd));
  return NEXT(write)(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  FAIL_IF(fault_of_fd("write", fd));
  return NEXT(writev)(fd, parts, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  FAIL_IF(fault_of_fd("write", fd));
  return NEXT(pwrite)(fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  FAIL_IF(fault_of_fd("write", fd));
  return NEXT(pwrite64)(fd, bytes, length, at);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  FAIL_IF(fault_of_fd("write", fd));
  return NEXT(pwritev)(fd, parts, count, at);
}

int fsync(int fd) {
  FAIL_IF(fault_of_fd("sync", fd));
  return NEXT(fsync)(fd);
}

int fdatasync(int fd) {
  FAIL_IF(fault_of_fd("sync", fd));
  return NEXT(fdatasync)(fd);
}

int ftruncate64(int fd, off64_t length) {
  FAIL_IF(fault_of_fd("truncate", fd));
  return NEXT(ftruncate64)(fd, length);
}

int rename(const char *from, const char *to) {
  FAIL_IF(fault_at("rename", AT_FDCWD, from));
  FAIL_IF(fault_at("rename", AT_FDCWD, to));
  return NEXT(rename)(from, to);
}

int link(const char *from, const char *to) {
  FAIL_IF(fault_at("link", AT_FDCWD, to));
  return NEXT(link)(from, to);
}

int symlink(const char *target, const char *path) {
  FAIL_IF(fault_at("link", AT_FDCWD, path));
  return NEXT(symlink)(target, path);
}

int unlink(const char *path) {
  FAIL_IF(fault_at("unlink", AT_FDCWD, path));
  return NEXT(unlink)(path);
}

int rmdir(const char *path) {
  FAIL_IF(fault_at("unlink", AT_FDCWD, path));
  return NEXT(rmdir)(path);
}

int mkdir(const char *path, mode_t mode) {
  FAIL_IF(fault_at("mkdir", AT_FDCWD, path));
  return NEXT(mkdir)(path, mode);
}

char *mkdtemp(char *path) {
  int fault = fault_at("mkdir", AT_FDCWD, path);
  if (!fault) return NEXT(mkdtemp)(path);
  errno = fault;
  return NULL;
}
