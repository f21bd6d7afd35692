/*
 * Runs before the program of an image, as the first process of its container, and then becomes that program. It
 *  - waits for the call, so that a container started ahead of its call does nothing before it,
 *  - hands the parameters over as a variable or a file, if the manifest asks for it,
 *  - leaves a child behind that forwards connections from the cell's loopback to the gateway's unix socket.
 * It is not part of the wall: a program that stops the child only cuts itself off from the network.
 *
 * It uses no library, because an image need not have any; `scripts/make-launcher.ts` builds it.
 *
 *     launch PARAMS PORT FILTER PROGRAM [ARGUMENT…]
 *
 * PARAMS is "stdin", "env:NAME" or "file:/path"; PORT is 0 without a gateway; FILTER is a seccomp filter in hex, or "-".
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long word;

#if defined(__x86_64__)
enum { SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_socket = 41, SYS_connect = 42, SYS_sendto = 44, SYS_recvfrom = 45,
  SYS_shutdown = 48, SYS_bind = 49, SYS_listen = 50, SYS_setsockopt = 54, SYS_clone = 56, SYS_execve = 59, SYS_exit = 231,
  SYS_setsid = 112, SYS_prctl = 157, SYS_openat = 257, SYS_mkdirat = 258, SYS_ppoll = 271, SYS_accept4 = 288 };

static long call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call run\n");
#elif defined(__aarch64__)
enum { SYS_mkdirat = 34, SYS_openat = 56, SYS_close = 57, SYS_read = 63, SYS_write = 64, SYS_ppoll = 73, SYS_exit = 94,
  SYS_setsid = 157, SYS_prctl = 167, SYS_socket = 198, SYS_bind = 200, SYS_listen = 201, SYS_connect = 203,
  SYS_sendto = 206, SYS_recvfrom = 207, SYS_setsockopt = 208, SYS_shutdown = 210, SYS_clone = 220, SYS_execve = 221,
  SYS_accept4 = 242 };

static long call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  bl run\n");
#else
#error "There is no table of system calls for this architecture"
#endif

enum { EINTR = 4, ENOENT = 2, ENOEXEC = 8, EAGAIN = 11, EACCES = 13, EEXIST = 17 };
enum { FAILED = 125, NOT_EXECUTED = 127 };
enum { POLLIN = 1, POLLOUT = 4 };

/* Parameters in a variable: the kernel's limit for one string of an environment. */
enum { MAX_STRING = 131072, MAX_VARIABLES = 4096, MAX_FILTER = 4096 };
/* Each takes two of the process's 128 descriptors; further connections wait in the backlog. */
enum { MAX_PAIRS = 24, CHUNK = 16384, BACKLOG = 64 };

static const char GATEWAY[] = "/run/gateway/socket";

struct waiting { int fd; short events; short revents; };

static word length(const char *text) {
  word at = 0;
  while (text[at]) at++;
  return at;
}

static int starts(const char *text, const char *with) {
  while (*with) if (*text++ != *with++) return 0;
  return 1;
}

static void say(const char *text) { call(SYS_write, 2, (long)text, length(text), 0, 0, 0); }

/* A cell without what its call needs must not run the program. */
__attribute__((noreturn)) static void fail(const char *what) {
  say("skillcell: the launcher of this container cannot ");
  say(what);
  say("\n");
  for (;;) call(SYS_exit, FAILED, 0, 0, 0, 0, 0);
}

/* --- the filter ------------------------------------------------------------------------------------------------- */

static u8 filter[MAX_FILTER];
static word filter_bytes;

static int digit(char one) { return one <= '9' ? one - '0' : one - 'a' + 10; }

static void read_filter(const char *hex) {
  if (hex[0] == '-') return;
  filter_bytes = length(hex) / 2;
  if (filter_bytes == 0 || filter_bytes > MAX_FILTER) fail("read its filter");
  for (word at = 0; at < filter_bytes; at++) filter[at] = (u8)(digit(hex[2 * at]) << 4 | digit(hex[2 * at + 1]));
}

/* Programs that may start no process: enforced from here on, because the forwarder is one. */
static void install_filter(void) {
  struct { u16 length; u8 *code; } program = { (u16)(filter_bytes / 8), filter };
  if (filter_bytes && call(SYS_prctl, 22, 2, (long)&program, 0, 0, 0) != 0) fail("install its filter");
}

/* --- the forwarder ---------------------------------------------------------------------------------------------- */

/* Moves bytes from one socket to the other; reads no more before the last ones are sent. */
struct direction { u32 at, left; int is_over; u8 bytes[CHUNK]; };
struct pair { int is_open; int fds[2]; struct direction ways[2]; };

static struct pair pairs[MAX_PAIRS];

static int move(struct pair *pair, int from) {
  struct direction *way = &pair->ways[from];
  const long dont_wait = 0x40, no_signal = 0x4000;
  if (!way->left && !way->is_over) {
    long got = call(SYS_recvfrom, pair->fds[from], (long)way->bytes, CHUNK, dont_wait, 0, 0);
    if (got > 0) { way->at = 0; way->left = (u32)got; }
    else if (got == 0) { way->is_over = 1; call(SYS_shutdown, pair->fds[!from], 1, 0, 0, 0, 0); }
    else if (got != -EAGAIN && got != -EINTR) return 0;
  }
  if (way->left) {
    long sent = call(SYS_sendto, pair->fds[!from], (long)(way->bytes + way->at), way->left, dont_wait | no_signal, 0, 0);
    if (sent > 0) { way->at += (u32)sent; way->left -= (u32)sent; }
    else if (sent != -EAGAIN && sent != -EINTR) return 0;
  }
  return 1;
}

static void advance(struct pair *pair) {
  int works = move(pair, 0) && move(pair, 1);
  if (works && !(pair->ways[0].is_over && pair->ways[1].is_over && !pair->ways[0].left && !pair->ways[1].left)) return;
  call(SYS_close, pair->fds[0], 0, 0, 0, 0, 0);
  call(SYS_close, pair->fds[1], 0, 0, 0, 0, 0);
  pair->is_open = 0;
}

static int to_gateway(void) {
  struct { u16 family; char path[108]; } address = { 1, { 0 } };
  for (word at = 0; at < sizeof GATEWAY; at++) address.path[at] = GATEWAY[at];
  int fd = (int)call(SYS_socket, 1, 1, 0, 0, 0, 0);
  if (fd >= 0 && call(SYS_connect, fd, (long)&address, 2 + sizeof GATEWAY, 0, 0, 0) == 0) return fd;
  if (fd >= 0) call(SYS_close, fd, 0, 0, 0, 0, 0);
  return -1;
}

static void accept_one(int listener, struct pair *pair) {
  int client = (int)call(SYS_accept4, listener, 0, 0, 0, 0, 0);
  if (client < 0) return;
  int gateway = to_gateway();
  if (gateway < 0) { call(SYS_close, client, 0, 0, 0, 0, 0); return; }
  int on = 1;
  call(SYS_setsockopt, client, 6, 1, (long)&on, sizeof on, 0);
  pair->fds[0] = client;
  pair->fds[1] = gateway;
  for (int way = 0; way < 2; way++) pair->ways[way].left = 0, pair->ways[way].is_over = 0;
  pair->is_open = 1;
}

static short wanted(const struct pair *pair, int side) {
  const struct direction *from = &pair->ways[side], *to = &pair->ways[!side];
  return (short)((!from->left && !from->is_over ? POLLIN : 0) | (to->left ? POLLOUT : 0));
}

__attribute__((noreturn)) static void forward(int listener) {
  static struct waiting polled[1 + 2 * MAX_PAIRS];
  for (;;) {
    struct pair *unused = 0;
    for (int at = 0; at < MAX_PAIRS; at++) {
      if (!pairs[at].is_open) unused = &pairs[at];
      for (int side = 0; side < 2; side++) {
        short events = pairs[at].is_open ? wanted(&pairs[at], side) : 0;
        /* Without events the kernel would still report a hang-up, again and again. */
        struct waiting one = { events ? pairs[at].fds[side] : -1, events, 0 };
        polled[1 + 2 * at + side] = one;
      }
    }
    struct waiting door = { unused ? listener : -1, POLLIN, 0 };
    polled[0] = door;
    if (call(SYS_ppoll, (long)polled, 1 + 2 * MAX_PAIRS, 0, 0, 0, 0) < 0) continue;
    for (int at = 0; at < MAX_PAIRS; at++)
      if (pairs[at].is_open && (polled[1 + 2 * at].revents || polled[2 + 2 * at].revents)) advance(&pairs[at]);
    if (unused && polled[0].revents) accept_one(listener, unused);
  }
}

static int listen_on(u32 port) {
  struct { u16 family; u8 port[2]; u8 address[4]; u8 zero[8]; } address = {
    2, { (u8)(port >> 8), (u8)port }, { 127, 0, 0, 1 }, { 0 } };
  /* Closed on exec: only the child serves it. */
  int listener = (int)call(SYS_socket, 2, 1 | 02000000, 0, 0, 0, 0);
  if (listener < 0) fail("open a socket");
  if (call(SYS_bind, listener, (long)&address, sizeof address, 0, 0, 0) != 0) fail("bind its port");
  if (call(SYS_listen, listener, BACKLOG, 0, 0, 0, 0) != 0) fail("listen");
  return listener;
}

static void start_forwarder(const char *text) {
  u32 port = 0;
  while (*text) port = 10 * port + (u32)(*text++ - '0');
  if (port == 0) return;
  int listener = listen_on(port);
  /* No exit signal: the program neither waits for this child nor hears of it. */
  long child = call(SYS_clone, 0, 0, 0, 0, 0, 0);
  if (child < 0) fail("start its forwarder");
  if (child > 0) return;
  install_filter();
  /* Not dumpable: the program cannot open its memory. */
  call(SYS_prctl, 4, 0, 0, 0, 0, 0);
  call(SYS_setsid, 0, 0, 0, 0, 0, 0);
  /* The streams of the call end with its program. */
  for (int fd = 0; fd < 3; fd++) call(SYS_close, fd, 0, 0, 0, 0, 0);
  forward(listener);
}

/* --- the parameters --------------------------------------------------------------------------------------------- */

static char variable[MAX_STRING + 1];
static char *variables[MAX_VARIABLES + 2];

static long read_input(char *to, word most) {
  for (;;) {
    long got = call(SYS_read, 0, (long)to, (long)most, 0, 0, 0);
    if (got != -EINTR) return got;
  }
}

/* A container that was started ahead and is not needed sees the end of its input without a byte. */
static void wait_for_call(void) {
  struct waiting input = { 0, POLLIN, 0 };
  while (call(SYS_ppoll, (long)&input, 1, 0, 0, 0, 0) < 0) {}
  /* A socket is readable at its end, a pipe is not; of a pipe this reads nothing. */
  char first;
  long got = call(SYS_recvfrom, 0, (long)&first, 1, 2 | 0x40, 0, 0);
  if (!(input.revents & POLLIN) || got == 0) call(SYS_exit, 0, 0, 0, 0, 0, 0);
}

static char **with_variable(const char *name, char **env) {
  word used = length(name), count = 0;
  if (used + 2 > MAX_STRING) fail("name the variable of its parameters");
  for (word at = 0; at < used; at++) variable[at] = name[at];
  variable[used++] = '=';
  for (long got; (got = read_input(variable + used, MAX_STRING - used)) != 0; used += (word)got) {
    if (got < 0) fail("read the parameters");
    if (used + (word)got >= MAX_STRING) fail("pass parameters of this size in a variable");
  }
  while (used > 0 && variable[used - 1] == '\n') used--;
  variable[used] = 0;
  word prefix = length(name) + 1;
  for (; *env; env++) {
    word same = 0;
    while (same < prefix && (*env)[same] == variable[same]) same++;
    if (same == prefix) continue;
    if (count == MAX_VARIABLES) fail("pass so many variables");
    variables[count++] = *env;
  }
  variables[count++] = variable;
  return variables;
}

static void write_file(char *path) {
  const long here = -100, create = 01 | 0100 | 0200;
  for (word at = 1; path[at]; at++) {
    if (path[at] != '/') continue;
    path[at] = 0;
    long made = call(SYS_mkdirat, here, (long)path, 0755, 0, 0, 0);
    path[at] = '/';
    if (made != 0 && made != -EEXIST && made != -EACCES && made != -30) fail("create the folder of its parameters");
  }
  int fd = (int)call(SYS_openat, here, (long)path, create, 0600, 0, 0);
  if (fd < 0) fail("create the file of its parameters");
  for (long got; (got = read_input(variable, MAX_STRING)) != 0;) {
    if (got < 0) fail("read the parameters");
    for (long done = 0; done < got;) {
      long wrote = call(SYS_write, fd, (long)(variable + done), got - done, 0, 0, 0);
      if (wrote <= 0 && wrote != -EINTR) fail("write the file of its parameters");
      if (wrote > 0) done += wrote;
    }
  }
  call(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* --- the program ------------------------------------------------------------------------------------------------ */

/* In the words of an OCI runtime, which reports the same mistakes of an image when it starts a program itself. */
__attribute__((noreturn)) static void not_executed(const char *program, long error) {
  say("exec container process `");
  say(program);
  say(error == -ENOEXEC ? "`: Exec format error\n" : error == -ENOENT ? "`: No such file or directory\n"
      : error == -EACCES ? "`: Permission denied\n" : "`: it cannot be executed\n");
  for (;;) call(SYS_exit, NOT_EXECUTED, 0, 0, 0, 0, 0);
}

__attribute__((noreturn, used)) void run(word *stack) {
  long count = (long)stack[0];
  char **arguments = (char **)(stack + 1);
  char **env = arguments + count + 1;
  if (count < 5) fail("read its arguments");
  char *params = arguments[1];
  read_filter(arguments[3]);
  start_forwarder(arguments[2]);
  wait_for_call();
  if (starts(params, "env:")) env = with_variable(params + 4, env);
  else if (starts(params, "file:")) write_file(params + 5);
  install_filter();
  not_executed(arguments[4], call(SYS_execve, (long)arguments[4], (long)(arguments + 4), (long)env, 0, 0, 0));
}
