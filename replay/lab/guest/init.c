#include "init.h"
#include "loop/clock.h"
#include "loop/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/run", "PYTHONDONTWRITEBYTECODE=1",
                                    NULL};

static void mount_on(const char *type, const char *folder) {
    if (mount(type, folder, type, 0, NULL) < 0) die(folder);
}

static void mount_all(void) {
    mount_on("proc", "/proc");
    mount_on("tmpfs", "/run");
}

/* Load FILE[:PARAMETERS],... one after the other: later modules need earlier ones. */
static void load_modules(char *list) {
    for (char *path = strtok(list, ","); path; path = strtok(NULL, ",")) {
        char *colon = strchr(path, ':');
        if (colon) *colon = 0;
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor < 0 || syscall(SYS_finit_module, descriptor, colon ? colon + 1 : "", 0) < 0) die(path);
        close(descriptor);
    }
}

static void loopback_up(void) {
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (any < 0 || ioctl(any, SIOCSIFFLAGS, &request) < 0) die("lo");
    close(any);
}

/* Python's -I and -S: without the user's packages and the search for them. */
static pid_t start_driver(const char *folder, const char *work, const sigset_t *signals) {
    char driver[4096];
    snprintf(driver, sizeof driver, "%s/driver.py", folder);
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid) return pid;
    sigprocmask(SIG_UNBLOCK, signals, NULL);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    execle("/usr/bin/python3", "python3", "-I", "-S", driver, work, NULL, environment);
    die("python3");
}

/* The driver's exit status as a shell reports it; other processes are reaped meanwhile. */
static int await(pid_t driver, const sigset_t *children, long virtual_seconds) {
    nanoseconds end = look_at_clock() + (nanoseconds)virtual_seconds * SECOND;
    for (;;) {
        int status;
        pid_t ended;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == driver) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        nanoseconds left = end - look_at_clock();
        struct timespec wait = {.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
        if (left <= 0 || (sigtimedwait(children, NULL, &wait) < 0 && errno == EAGAIN)) {
            printf("the guest's %ld virtual seconds are over\n", virtual_seconds);
            return 124;
        }
    }
}

static long number_in(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

_Noreturn void first_process(void) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL); /* none is missed before `await` waits for it */
    mount_all();
    char *modules = getenv("MODULES");
    if (modules) load_modules(modules);
    loopback_up();
    printf("@{\"step\": \"kernel booted\"}\n");
    fflush(stdout);
    pid_t driver = start_driver(getenv("GUEST"), getenv("WORK"), &children);
    printf("@{\"ended\": %d}\n", await(driver, &children, number_in("VIRTUAL_SECONDS")));
    fflush(stdout);
    reboot(RB_POWER_OFF);
    die("reboot");
}
