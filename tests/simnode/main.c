/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options, the mount, threads and the end; see simnode.h for the whole. */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "simnode.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "sys/clock.h"

enum {
	THREADS_MAX = 1000, /* as many requests may sleep in a driver at once */
	FILES_MIN = 4096,   /* an open descriptor for each file that the kernel remembers */
	SLICE_USEC = 20000, /* how soon a sleeper sees that all is to end */
};

static atomic_bool ends;
struct fuse_session *sim_session;
static VEC(pthread_t) threads;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;

void sim_die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "simnode: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(3);
}

bool sim_ends(void)
{
	return ends;
}

int sim_sleep(uint64_t usec, const struct device *dev)
{
	uint64_t started = clock_usec();

	for (;;) {
		uint64_t passed = clock_usec() - started, left = usec - passed;
		struct timespec slice = {0};

		if (passed >= usec)
			return 0;
		if (sim_ends())
			return -EINTR;
		if (dev && dev->gone)
			return -EIO;
		slice.tv_nsec = (long)(left < SLICE_USEC ? left : SLICE_USEC) * 1000;
		nanosleep(&slice, NULL);
	}
}

void sim_background(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, arg) != 0)
		sim_die("no thread can be made");
	pthread_mutex_lock(&threads_lock);
	vec_push(&threads, thread);
	pthread_mutex_unlock(&threads_lock);
}

/* One that ends may have begun another. */
static void join_all(void)
{
	for (size_t i = 0;; i++) {
		pthread_t thread;

		pthread_mutex_lock(&threads_lock);
		if (i == threads.n) {
			pthread_mutex_unlock(&threads_lock);
			break;
		}
		thread = threads.v[i];
		pthread_mutex_unlock(&threads_lock);
		pthread_join(thread, NULL);
	}
	vec_free(&threads);
}

static void on_signal(int sig)
{
	(void)sig;
	ends = true;
	fuse_session_exit(sim_session);
}

static void catch_signals(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};

	for (size_t i = 0; i < array_len(signals); i++)
		sigaction(signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int raise_limits(struct err *err)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return err_errno(err, -errno, "open files");
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return err_errno(err, -errno, "open files");
	if (files.rlim_max < FILES_MIN)
		return err_set(err, -EMFILE,
			       "%llu open files are too few, %d are needed: ulimit -n",
			       (unsigned long long)files.rlim_max, FILES_MIN);
	return 0;
}

static int serve(const char *mountpoint, struct err *err)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int r = -EIO;

	if (fuse_opt_add_arg(&args, "simnode") < 0 ||
	    fuse_opt_add_arg(&args, "-ofsname=simnode,subtype=simnode") < 0)
		sim_die("out of memory");
	sim_session = fuse_session_new(&args, &fs_ops, sizeof(fs_ops), NULL);
	fuse_loop_cfg_set_max_threads(config, THREADS_MAX);
	if (!sim_session || fuse_session_mount(sim_session, mountpoint) < 0) {
		err_set(err, r, "%s can't be mounted; is /dev/fuse there, and may it be opened?",
			mountpoint);
	} else {
		catch_signals();
		script_start();
		r = fuse_session_loop_mt(sim_session, config);
		ends = true;
		join_all();
		fuse_session_unmount(sim_session);
		r = r < 0 ? err_errno(err, r, "%s", mountpoint) : 0;
	}
	if (sim_session)
		fuse_session_destroy(sim_session);
	fuse_loop_cfg_destroy(config);
	fuse_opt_free_args(&args);
	return r;
}

static int run(const char *script, const char *log, const char *tree, const char *mountpoint,
	       struct err *err)
{
	int r = raise_limits(err);

	if (r == 0)
		r = tree_open(tree, err);
	if (r == 0 && script)
		r = script_load(script, err);
	if (r == 0 && log)
		r = log_open(log, err);
	if (r == 0)
		r = fs_start(err);
	if (r < 0)
		return r;
	netdev_start();
	pci_start();
	return serve(mountpoint, err);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"script", required_argument, NULL, 's'},
		{"log", required_argument, NULL, 'l'},
		{"with-parent", no_argument, NULL, 'p'},
		{0},
	};
	const char *script = NULL, *log = NULL;
	struct err err = {0};
	int c, r;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 's')
			script = optarg;
		else if (c == 'l')
			log = optarg;
		else if (c == 'p')
			prctl(PR_SET_PDEATHSIG, SIGTERM);
		else
			return 2;
	}
	if (argc - optind != 2) {
		fprintf(stderr, "usage: simnode [--script FILE] [--log FILE] [--with-parent] TREE "
				"MOUNTPOINT\n");
		return 2;
	}
	r = run(script, log, argv[optind], argv[optind + 1], &err);
	if (r < 0)
		fprintf(stderr, "simnode: %s\n", err.text);
	fs_stop();
	pci_stop();
	netdev_stop();
	script_free();
	log_close();
	tree_close();
	return r < 0 ? 1 : 0;
}
