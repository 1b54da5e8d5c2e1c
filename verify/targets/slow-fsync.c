/* Preloaded into a server: delays each fsync and fdatasync by the milliseconds in a file. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Waits as long as the file of SLOW_FSYNC_FILE specifies. Does nothing if there is no such file. */
static void delay(void) {
  const char *path = getenv("SLOW_FSYNC_FILE");
  FILE *file = path ? fopen(path, "re") : NULL;
  unsigned int ms = 0;
  if (file == NULL) return;
  if (fscanf(file, "%u", &ms) == 1) usleep(ms * 1000);
  fclose(file);
}

int fsync(int fd) {
  delay();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
  delay();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
