/*
 * Replaces bwrap and executes it. While the file HOLD exists, bwrap creates the sandbox and waits (`--block-fd`) for a byte
 * from the pipe GATE before it starts the program inside.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **args) {
  char number[16];
  /* Opens both ends, so that it does not wait for a writer. The program does not inherit it. */
  if (access(HOLD, F_OK) != 0) return execv(REAL, args), 127;
  int gate = open(GATE, O_RDWR);
  char **more = calloc((size_t)count + 3, sizeof *more);
  if (gate < 0 || !more) return 126;
  snprintf(number, sizeof number, "%d", gate);
  more[0] = args[0];
  more[1] = "--block-fd";
  more[2] = number;
  for (int n = 1; n < count; n++) more[n + 2] = args[n];
  execv(REAL, more);
  return 127;
}
