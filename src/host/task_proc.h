/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_proc.h - what /proc says of a task: the system call that it is in, its state, where it sleeps and since when, its files.
 *
 * The parsers take the files' texts and trust none of them: false, or NULL, is "not known". Strings that are returned are the caller's.
 * No reader here asks a file system for anything: one that hangs would keep us, too. What takes a lock of the process is waited for briefly.
 */
#ifndef BT_HOST_TASK_PROC_H
#define BT_HOST_TASK_PROC_H

#include <stdbool.h>
#include <stdint.h>

struct task_call {
	bool running; /* on a CPU: which system call it is in, if it is in one, can't be told */
	long nr;      /* -1: it is in none */
	uint64_t arg[6];
	uint64_t sp; /* of user space */
};

/* Is it a call of a 32-bit program, which numbers them in another way? Its stack lies within the first 4 GiB. */
bool task_call_is_32bit(const struct task_call *c);

struct task_stat {
	char comm[16];
	char state; /* 'R', 'S', 'D', ... */
	int parent;
	uint64_t threads; /* of its process */
	bool kernel_thread;
	uint64_t start; /* tells it from a later task with its number */
	uint32_t cpu;	/* that it runs on, or ran on last */
};

bool task_call_parse(const char *text, struct task_call *out); /* /proc/T/syscall */
bool task_stat_parse(const char *text, struct task_stat *out); /* /proc/T/stat */
char **task_stack_parse(const char *text);		       /* /proc/T/stack: names of functions, innermost first */
bool task_on_cpu_parse(const char *text, uint64_t *ns);	       /* /proc/T/sched: see task_asleep_ns() */
bool task_switches_parse(const char *text, uint64_t *n);       /* /proc/T/status: how often it lost the CPU */
bool task_capable_parse(const char *text, unsigned int capability); /* /proc/T/status */

struct task_file {
	uint32_t flags; /* O_DSYNC etc. */
	int mount;	/* its number in mountinfo */
};

bool task_file_parse(const char *text, struct task_file *out); /* /proc/P/fdinfo/N */

/* The mapping that holds an address: its file and kernel dev_t. /proc/P/maps */
bool task_mapping_parse(const char *text, uint64_t address, char **path, uint32_t *dev);

/* ---- readers; a task is named by its process and its own number ---- */

/* May we see which calls the tasks of others are in? */
bool task_may_look(void);

bool task_call_read(uint32_t pid, uint32_t tid, struct task_call *out);
bool task_stat_read(uint32_t pid, uint32_t tid, struct task_stat *out);
char **task_stack_read(uint32_t pid, uint32_t tid);
bool task_switches_read(uint32_t pid, uint32_t tid, uint64_t *n);
char *task_cmdline(uint32_t pid); /* arguments with blanks between them; NULL: it has none */
char *task_fd_path(uint32_t pid, uint32_t fd);
bool task_fd_read(uint32_t pid, uint32_t fd, struct task_file *out);
bool task_mapping_read(uint32_t pid, uint64_t address, char **path, uint32_t *dev);

/* The kernel dev_t of the file system that a mount of a process shows; 0: not known. */
uint32_t task_mount_dev(uint32_t pid, int mount);

/*
 * How long a task that sleeps has slept, at least: 0 where it can't be told. Its CPU's scheduler notes when it last ran, by a clock of
 * that CPU that stands still while the hypervisor or interrupts have the CPU: never faster than time. It is read by running there.
 */
uint64_t task_asleep_ns(uint32_t pid, uint32_t tid);

/* Calls `each` for every thread of every process, until it returns false. */
void task_each(bool (*each)(void *ctx, uint32_t pid, uint32_t tid), void *ctx);

#endif
