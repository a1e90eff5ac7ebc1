# SPDX-License-Identifier: GPL-2.0-or-later
#
# One makefile, no recursion but for another CPU (arm64) and for what runs side by side. Object
# trees per flavour: build/release, build/test (with sanitizers). V=1 shows commands, DEV=1 turns
# warnings into errors. CROSS_COMPILE=aarch64-linux-gnu- builds for the CPU of that compiler.

VERSION := $(shell cat VERSION)
PREFIX ?= /usr
SBINDIR ?= $(PREFIX)/sbin
LIBEXECDIR ?= $(PREFIX)/libexec/railhead
UNITDIR ?= $(PREFIX)/lib/systemd/system
UDEVRULESDIR ?= $(PREFIX)/lib/udev/rules.d
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d
INSTALL ?= install

# --- which CPU -----------------------------------------------------------------------

# What of all this makes goes below BUILD. For another CPU CROSS_COMPILE is, as in the kernel's
# kbuild, what its compiler's name begins with; its libraries are those of the machine's own
# packages (Debian's multiarch), or of packages that were unpacked below SYSROOT, a whole path.
CROSS_COMPILE ?=
BUILD := build$(addprefix /,$(CROSS_COMPILE:%-=%))
CC ?= cc
ifneq ($(CROSS_COMPILE),)
CC := $(CROSS_COMPILE)gcc $(SYSROOT:%=--sysroot=%)
AR := $(CROSS_COMPILE)ar
PKG_CONFIG ?= PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(MACHINE)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
endif
PKG_CONFIG ?= pkg-config
# Without a compiler, which set-up can bring, the machine's own.
MACHINE := $(or $(shell $(CC) -dumpmachine 2>/dev/null),$(shell uname -m))
ARCH := $(firstword $(subst -, ,$(MACHINE)))

.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

# --- flags ---------------------------------------------------------------------------

LIBS := yaml-0.1 libmnl jansson
BASE_LIBS := jansson
BENCH_LIBS := $(BASE_LIBS) libibverbs mount
TEST_LIBS := cmocka
SIM_LIBS := fuse3
# Only their headers: opened at run time, by what needs them (src/sys/libraries.c).
HEADER_LIBS := libarchive libkmod libpci mount blkid libsystemd

# Parts of glibc; before 2.34 each is a library of its own.
LIBC := -lm -ldl -pthread

# Asked once, and only by goals that compile.
pkg = $(shell $(PKG_CONFIG) $(1) $(2))
CPPFLAGS += -D_GNU_SOURCE -DRAILHEAD_VERSION='"$(VERSION)"' -Isrc
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wwrite-strings -Wvla -Wformat=2 -Wno-format-nonliteral -Wundef $(if $(DEV),-Werror)
# Held by tests/lint/hardening. Level 3 of FORTIFY needs gcc 12 or clang, and glibc 2.34; where one is
# older, glibc warns, and takes 2.
FORTIFY := $(if $(shell $(CC) -O -D_FORTIFY_SOURCE=3 -include stdlib.h -xc -E /dev/null 2>&1 >/dev/null || :),2,3)
HARDEN_x86_64 := -fcf-protection
HARDEN_aarch64 := -mbranch-protection=standard
HARDEN := -fPIE -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY) \
	$(HARDEN_$(ARCH))
CFLAGS ?= -O2 -g
REL_CFLAGS := -std=gnu11 $(WARN) $(CFLAGS) $(HARDEN)
REL_LDFLAGS := $(LDFLAGS) -pie -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,-z,separate-code -Wl,--as-needed
TEST_CFLAGS := -std=gnu11 $(WARN) -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
TEST_LDFLAGS := -fsanitize=address,undefined
UNIT := test
# The tests of another CPU run under qemu-user, with pages of 64K as many kernels for arm64 have
# them. There they can't have the sanitizers (the search for leaks is by ptrace, which QEMU lacks),
# and so take the objects that the programs are made of. They find the libraries below SYSROOT by
# themselves: by QEMU's own way (-L) they would see that in the place of "/".
ifneq ($(CROSS_COMPILE),)
UNIT := release
EMULATOR := qemu-$(ARCH) -p 65536
TEST_LDFLAGS :=
endif
ifneq ($(SYSROOT),)
TEST_LDFLAGS := -Wl,--dynamic-linker=$(wildcard $(SYSROOT)/lib/ld-linux-*.so.*) \
	-Wl,--disable-new-dtags -Wl,-rpath=$(SYSROOT)/lib/$(MACHINE):$(SYSROOT)/usr/lib/$(MACHINE)
endif

# --- sources -------------------------------------------------------------------------

ROOMS := base sys node profile plan kargs loader boot bake kinds sections checks gate engine report cmd
ROOM_SRC := $(foreach r,$(ROOMS),$(sort $(wildcard src/$(r)/*.c)))
BASE_SRC := $(sort $(wildcard src/base/*.c))
# What one architecture alone can do is in NAME_ARCH.c; NAME_generic.c is for all others.
BENCH_SRC := $(filter-out $(if $(filter x86_64,$(ARCH)),%_generic.c,%_x86_64.c), \
	$(sort $(wildcard src/bench/*.c)))
SIM_SRC := $(sort $(wildcard tests/simnode/*.c))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/test/%)
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_REPLAY := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/test/%)
GRUB_READER_SRC := tests/lib/grub_reader.c tests/lib/grub_sample.c
FUZZ_LIB_SRC := $(ROOM_SRC) tests/lib/env_grub.c
HISTORIES_SRC := $(sort $(wildcard tests/histories/*.c)) tests/lib/env_grub.c

obj = $(patsubst %.c,$(BUILD)/$(1)/%.o,$(2))

##@ Building
all: $(BUILD)/railhead $(BUILD)/railhead-bench $(BUILD)/05_railhead ## build the two programs

$(BUILD)/railhead: $(call obj,release,src/main.c $(ROOM_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(REL_LDFLAGS) -o $@ $^ $(call pkg,--libs,$(LIBS)) $(LIBC)

$(BUILD)/railhead-bench: $(call obj,release,$(BENCH_SRC) $(BASE_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(REL_LDFLAGS) -o $@ $^ $(call pkg,--libs,$(BENCH_LIBS)) $(LIBC)

# With stalls that no accounting shows, and load to measure beside: for tests/bench/gate-load.
$(BUILD)/test/railhead-bench-stalls: $(call obj,release,$(BENCH_SRC) $(BASE_SRC) tests/lib/stalls.c)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(REL_LDFLAGS) -Wl,--wrap=chain_walk,--wrap=stream_pick -o $@ $^ \
		$(call pkg,--libs,$(BENCH_LIBS)) $(LIBC)
$(BUILD)/test/load: $(call obj,release,tests/lib/load.c)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(REL_LDFLAGS) -o $@ $^

# The simulated node of the tests (a FUSE file system): no part of what is installed.
SIM_OBJ := $(call obj,release,$(SIM_SRC)) $(call obj,lint,$(SIM_SRC)) $(call obj,tsan,$(SIM_SRC))

$(BUILD)/simnode: $(call obj,release,$(SIM_SRC) $(BASE_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(REL_LDFLAGS) -o $@ $^ $(call pkg,--libs,$(SIM_LIBS) $(BASE_LIBS)) -pthread

# With the thread sanitizer: SIMNODE=build/simnode-tsan bats tests/simnode.bats
$(BUILD)/simnode-tsan: $(call obj,tsan,$(SIM_SRC) $(BASE_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -fsanitize=thread -o $@ $^ $(call pkg,--libs,$(SIM_LIBS) $(BASE_LIBS)) -pthread

$(BUILD)/tsan/%.o: %.c | $(BUILD)/deps-ok
	$(call say,CC,$< (tsan))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O1 -g -fsanitize=thread -MMD -MP -c -o $@ $<

$(SIM_OBJ): CPPFLAGS += $(call pkg,--cflags,$(SIM_LIBS))
$(SIM_OBJ): | $(BUILD)/fuse-ok

# Stand-ins for NVIDIA's libraries (tests/gpu/model.h), today's and older ones.
GPU_STANDINS := $(foreach l,libcuda libnvidia-ml,$(BUILD)/gpu-standin/$(l).so.1 \
	$(BUILD)/gpu-standin/old/$(l).so.1)

$(BUILD)/gpu-standin/libcuda.so.1 $(BUILD)/gpu-standin/old/libcuda.so.1: tests/gpu/libcuda.c
$(BUILD)/gpu-standin/libnvidia-ml.so.1 $(BUILD)/gpu-standin/old/libnvidia-ml.so.1: tests/gpu/libnvidia_ml.c
$(BUILD)/gpu-standin/old/%: CPPFLAGS += -DOLD

$(GPU_STANDINS): tests/gpu/model.h Makefile | $(BUILD)/deps-ok
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(filter-out -Wmissing-prototypes,$(WARN)) -O1 -g -fPIC -shared \
		-Wl,-soname,$(@F) -o $@ $(filter %.c,$^) -ldl

# The snippet's names come from the header that defines the file's layout.
$(BUILD)/05_railhead: src/loader/gen-snippet.sh src/kargs/env_layout.h dracut/grub.d/05_railhead.in | $(BUILD)/deps-ok
	$(call say,GEN,$@)
	$(Q)mkdir -p $(BUILD) && sh src/loader/gen-snippet.sh >$@.tmp && chmod 755 $@.tmp && mv $@.tmp $@

$(BUILD)/release/%.o: %.c | $(BUILD)/deps-ok
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(REL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/test/%.o: %.c | $(BUILD)/deps-ok
	$(call say,CC,$< (test))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

# What a goal needs of Debian's packages, by the parts of tests/lib/deps.sh: root gets it installed.
# Plain make and `make install` only report, since package builds call them.
SETUP_check := test arm64 vm
SETUP_check-fast := test
SETUP_check-long := $(SETUP_check)
SETUP_check-vm := vm
SETUP_check-pictures := pictures
SETUP_check-arm64 := arm64
SETUP_build-tests-arm64 := arm64
SETUP_arm64 := arm64
SETUP_demo-sim := sim
SETUP_bench := bench
SETUP_bench-gate := bench
SETUP_bench-gate-load := build
SETUP_bench-fleet := build
SETUP_fuzz := fuzz
SETUP_kernel-names := sim
SETUP_deb := deb
SETUP_rpm := rpm
$(foreach g,lint format lies seeded-bugs check-unit check-fuzz check-bats build-tests schema keys,\
	$(eval SETUP_$(g) := test))
SETUP := $(if $(CROSS_COMPILE),,$(sort $(foreach g,$(MAKECMDGOALS),$(or $(SETUP_$(g)),$(if $(filter test-%,$(g)),test)))))

# On all CPUs, in a make without -j as well.
parallel = $(Q)+$(MAKE) $(if $(V),,-s) --no-print-directory $(if $(findstring --jobserver,$(MAKEFLAGS)),,-j$(shell nproc)) $(1)

set-up:
	$(Q)tests/lib/deps.sh $(SETUP)

ifneq ($(SETUP),)
$(BUILD)/deps-ok $(BUILD)/fuse-ok $(BUILD)/fuzz/clang-ok build/arm64/root ahead $(MAKECMDGOALS): | set-up
endif

# All that is missing in one line, instead of a hundred missing headers: $(call need,PART,LIBRARY...).
# On Debian by its own names (tests/lib/deps.sh PART), unless its packages are all there.
define need
	$(Q)missing=; $(CC) -dumpmachine >/dev/null 2>&1 || missing=', a C compiler ($(CC))'; \
	if $(PKG_CONFIG) --version >/dev/null 2>&1; then \
		for l in $(2); do $(PKG_CONFIG) --exists $$l || missing="$$missing, $$l"; done; \
	else missing="$$missing, pkg-config, which then finds $(2)"; fi; \
	[ "$$missing" ] || exit 0; \
	remedy='install the packages that have them'; \
	if [ '$(CROSS_COMPILE)' ]; then remedy='make arm64 brings those of arm64'; \
	elif command -v dpkg-query >/dev/null && [ -x tests/lib/deps.sh ]; then \
		RAILHEAD_DEPS=check tests/lib/deps.sh $(1) || exit 1; \
	elif command -v dnf >/dev/null; then remedy='run: dnf builddep packaging/rpm/railhead.spec'; fi; \
	echo "railhead needs $${missing#, }; $$remedy" >&2; exit 1
endef

$(BUILD)/deps-ok: Makefile
	$(call need,build,$(sort $(LIBS) $(BENCH_LIBS) $(HEADER_LIBS)))
	$(Q)mkdir -p $(BUILD) && touch $@

$(BUILD)/fuse-ok: Makefile
	$(call need,sim,$(SIM_LIBS))
	$(Q)mkdir -p $(BUILD) && touch $@

-include $(patsubst %.o,%.d,$(call obj,release,src/main.c $(ROOM_SRC) $(BENCH_SRC)) \
	$(call obj,$(UNIT),$(ROOM_SRC) $(BENCH_SRC) $(UNIT_SRC) tests/unit/hooks.c tests/lib/clock.c \
		tests/lib/env_grub.c) \
	$(call obj,test,$(FUZZ_SRC) tests/fuzz/replay.c $(GRUB_READER_SRC)) \
	$(call obj,fuzz,$(FUZZ_LIB_SRC) $(FUZZ_SRC)) $(call obj,release,$(HISTORIES_SRC)) $(SIM_OBJ))

# With Debian's cross compiler, and libraries that are unpacked and installed nowhere.
FOR_ARM64 := BUILD=build/arm64 SYSROOT=$(CURDIR)/build/arm64/root CROSS_COMPILE=aarch64-linux-gnu-

arm64: build/arm64/root ## the two programs for arm64, in build/arm64: on any machine
	$(call parallel,$(FOR_ARM64) all)

build/arm64/root:
	$(Q)command -v aarch64-linux-gnu-gcc >/dev/null || { echo "there is no aarch64-linux-gnu-gcc" >&2; exit 1; }
	$(Q)tests/lib/sysroot arm64 $@

##@ Testing
# A make without -j builds what the checks run before the first of them, on all CPUs. In one with -j
# there is nothing to do: the checks depend on all of it, and two makes must not build one file.
AHEAD_check := build-tests build-tests-arm64
AHEAD_check-unit := $(UNIT_BIN)
AHEAD_check-fuzz := $(FUZZ_REPLAY)
AHEAD := $(or $(foreach g,$(MAKECMDGOALS),$(or $(AHEAD_$(g)),build-tests)),build-tests)

ahead:
	$(if $(findstring --jobserver,$(MAKEFLAGS)),@:,$(call parallel,$(sort $(AHEAD))))

check: export GRUB_READER_FILES ?= 10000
check: export GRUB_READER_SCRIPT ?= 1000
check: check-units check-fuzz check-bats lies bench-fleet check-vm ## all tests, the VM included
	$(Q)tests/lib/tally

# Side by side, since each of the two waits for half of its time.
check-units: ahead build-tests build-tests-arm64
	$(call parallel,--output-sync=target check-unit check-arm64)

check-fast: check-unit check-fuzz check-bats lies bench-fleet ## cmocka, fuzz corpora and bats, without the VM

# All that the fast tests are made of, so that it can be made side by side (make -j).
# Those for another CPU are the unit tests.
TEST_PROGRAMS := $(UNIT_BIN) $(GPU_STANDINS) $(if $(CROSS_COMPILE),,$(BUILD)/simnode \
	$(FUZZ_REPLAY) $(BUILD)/histories $(BUILD)/test/grub_reader \
	$(BUILD)/test/clock.so)

build-tests: all $(TEST_PROGRAMS) ## build the fast tests, and run none

# Variables that nothing sets stay as they are (tests/unit/hex.h).
$(call obj,test,$(wildcard src/sys/*.c)): TEST_CFLAGS += -O0

TEST_OBJ := $(call obj,$(UNIT),$(ROOM_SRC) $(filter-out src/bench/main.c,$(BENCH_SRC)) tests/unit/hooks.c tests/lib/clock.c \
	tests/lib/env_grub.c)
# The doors of tests/unit/hooks.h and tests/lib/clock.h.
comma := ,
HOOKED := clock_gettime poll __poll_chk nanosleep write netlink_talk syscall ioctl parse_u64 parse_size \
	parse_duration parse_latency parse_rate parse_message_rate parse_gts cpus_parse journal_verdict journal_admitted journal_unreadable \
	service_trial_gate_begins service_trial_over service_retry service_window_over machine_overwrite
HOOKS := $(addprefix -Wl$(comma)--wrap=,$(HOOKED))

$(BUILD)/test/libtest.a: $(TEST_OBJ)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/test/test_%: $(BUILD)/$(UNIT)/tests/unit/test_%.o $(BUILD)/test/libtest.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(TEST_LDFLAGS) $(HOOKS) -o $@ $^ $(call pkg,--libs,$(LIBS) $(BENCH_LIBS) $(TEST_LIBS)) $(LIBC)

# The same clock for a whole program.
$(BUILD)/test/clock.so: tests/lib/clock.c tests/lib/clock.h Makefile | $(BUILD)/deps-ok
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -DPRELOAD -std=gnu11 $(WARN) -O1 -g -fPIC -shared -o $@ $<

$(BUILD)/test/test_bench_gpu: | $(GPU_STANDINS)

check-unit: ahead $(UNIT_BIN) ## unit tests, with address and undefined-behaviour sanitizers
	$(Q)tests/lib/run-unit $(if $(EMULATOR),-s unit-$(ARCH) -e '$(EMULATOR)') $(UNIT_BIN)

test-%: ## build and run the tests of one subject: test-link
	$(Q)+MAKE='$(MAKE)' tests/lib/subject '$*'

build-tests-arm64: build/arm64/root
	$(call parallel,$(FOR_ARM64) build-tests)

check-arm64: build-tests-arm64 ## the unit tests for arm64, under qemu-user
	$(Q)$(MAKE) --no-print-directory $(FOR_ARM64) check-unit

# Each target over its corpus, and over inputs made of the corpus. The random search is `make fuzz`.
$(BUILD)/test/fuzz_%: $(BUILD)/test/tests/fuzz/fuzz_%.o $(BUILD)/test/tests/fuzz/replay.o $(BUILD)/test/libtest.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(TEST_LDFLAGS) -o $@ $^ $(call pkg,--libs,$(LIBS)) $(LIBC)

# Drives GRUB's own readers in tests/grub_reader.bats.
$(BUILD)/test/grub_reader: $(call obj,test,$(GRUB_READER_SRC)) $(BUILD)/test/libtest.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(TEST_LDFLAGS) -o $@ $^ $(call pkg,--libs,$(LIBS)) $(LIBC)

# All histories of a trial: railhead's own objects, on a disk in memory.
HISTORIES_DOORS := root_open_at fstat pwrite pread fsync read_fd read_attr machine_create_durable bootpart_open \
	bootpart_close boot_is_of_machine counters_why_held seal_why_refused gate_why_absent state_keep state_kept \
	state_forget state_boot_id root_exists uname

$(BUILD)/release/libroom.a: $(call obj,release,$(ROOM_SRC))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/histories: $(call obj,release,$(HISTORIES_SRC)) $(BUILD)/release/libroom.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(REL_LDFLAGS) $(addprefix -Wl$(comma)--wrap=,$(HISTORIES_DOORS)) -o $@ $^ \
		$(call pkg,--libs,$(LIBS)) $(LIBC)

seeded-bugs: $(BUILD)/histories ## seed bugs into copies of railhead: each must break an invariant of its trials
	$(Q)tests/lib/sandbox tests/seeded/run

check-fuzz: ahead $(FUZZ_REPLAY) ## fuzz targets over their corpora, and inputs made of them
	$(Q)tests/lib/run-fuzz replay $(FUZZ_REPLAY)

check-bats: ahead all $(BUILD)/histories $(BUILD)/test/grub_reader $(BUILD)/simnode $(GPU_STANDINS) $(BUILD)/test/clock.so ## the programs, from outside
	$(Q)tests/lib/run-bats $(sort $(wildcard tests/*.bats))

lies: ahead all $(GPU_STANDINS) $(BUILD)/test/clock.so ## incidents in which "ready" would be a lie, and their healthy twins (tests/lies)
	$(Q)SANDBOX_ADMIN=1 tests/lib/sandbox tests/lies/run # mounts in a namespace of its own

check-vm: all ## boot a real Debian in QEMU (DIST=trixie: Debian 13 instead of 12; bullseye, forky)
	$(Q)tests/vm/run

check-pictures: all $(BUILD)/simnode ## open the pages of --html in Chromium: layout, completeness, accessibility
	$(Q)tests/pictures/run

# Each part is run, whatever came of those before.
check-long: export RAILHEAD_POWER_CUTS ?= 5
check-long: all $(BUILD)/histories ## what check has no time for: Debian 11, 13 and the next, power cuts at any moment, bare Debians, Slurm
	$(Q)failed=; for part in 'tests/lib/sandbox build/histories --depth 6 --faults 0' \
			'tests/lib/sandbox build/histories --depth 5 --faults 1' \
			'tests/lib/sandbox build/histories --depth 4' \
			'tests/lib/sandbox build/histories --depth 8 --incidents 3' 'env DIST=trixie tests/vm/run' 'tests/vm/run --long' \
			'env DIST=bullseye tests/vm/run' 'env DIST=forky tests/vm/run' tests/long/blscfg \
			'tests/lib/sandbox tests/long/faults' tests/long/bare tests/long/images \
			tests/long/integrations; do \
		echo "# $$part"; $$part || failed="$$failed, $$part"; done; \
		[ -z "$$failed" ] || { echo "failed: $${failed#, }"; exit 1; }

demo: ## see a node boot to ready, from nothing
	$(Q)tests/vm/demo

demo-sim: all $(BUILD)/simnode ## see 128 VFs come up on a simulated node (simnode, needs /dev/fuse)
	$(Q)tests/simnode/demo

bench: ## tables of what railhead costs, beside other programs (tests/bench/all; quiet machine)
	$(Q)tests/bench/all

bench-boot: ## what railhead adds to a boot in the VM: 20 pairs of boots, an hour (tests/bench/boot)
	$(Q)tests/bench/boot

bench-gate: all ## what the gate measures, beside STREAM, mbw, cyclictest and fio in turn: figures, times, ratios
	$(Q)tests/bench/gate

bench-gate-load: ## what the gate makes of healthy and slow memory beside load; hours, goes on where it was
	$(Q)tests/bench/gate-load 40

bench-fleet: $(BUILD)/bench/fleet ## false blocks and misses of calibrated thresholds, over a simulated fleet
	$(Q)$<

$(BUILD)/bench/fleet: $(call obj,release,tests/bench/fleet.c src/gate/fleet.c src/gate/tolerance.c $(BASE_SRC))
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(REL_LDFLAGS) -o $@ $^ $(call pkg,--libs,$(BASE_LIBS)) -lm

# Programs of the benchmarks. Those that tests/bench/gate holds the measurements against are built as
# their users build them, for this CPU; a guest runs the others, too.
$(BUILD)/bench/stream_kernels $(BUILD)/bench/chase: FOR_THIS_CPU := -march=native
$(BUILD)/bench/%: tests/bench/%.c | $(BUILD)/deps-ok
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 $(WARN) -O3 $(FOR_THIS_CPU) -pthread -o $@ $<

$(BUILD)/bench/ordinary.so: tests/bench/ordinary.c | $(BUILD)/deps-ok
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 $(filter-out -Wmissing-prototypes,$(WARN)) -O2 -fPIC -shared -o $@ $<

# --- fuzzing: clang's libFuzzer; nothing else needs clang ----------------------------

FUZZ_CC ?= clang
FUZZ_SECONDS ?= 60
FUZZ_CFLAGS := -std=gnu11 $(WARN) -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)

fuzz: $(FUZZ_BIN) ## search with libFuzzer, FUZZ_SECONDS=60 a target (FUZZ_BIN=build/fuzz/fuzz_X: one)
	$(Q)tests/lib/run-fuzz fuzz $(FUZZ_SECONDS) $^

$(BUILD)/fuzz/clang-ok:
	$(Q)mkdir -p $(@D)
	$(Q)command -v $(FUZZ_CC) >$@.tmp || { echo "make fuzz needs clang with libFuzzer; on Debian:" \
		"apt install clang. Without it, make check-fuzz runs the corpora." >&2; exit 1; }
	$(Q)mv $@.tmp $@

$(BUILD)/fuzz/%.o: %.c | $(BUILD)/deps-ok $(BUILD)/fuzz/clang-ok
	$(call say,CC,$< (fuzz))
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,address,undefined \
		-MMD -MP -c -o $@ $<

$(BUILD)/fuzz/fuzz_%: $(BUILD)/fuzz/tests/fuzz/fuzz_%.o $(call obj,fuzz,$(FUZZ_LIB_SRC))
	$(call say,LINK,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(call pkg,--libs,$(LIBS)) $(LIBC)

lint: all ## rooms, warnings, shell and Python scripts, privileges of tests, formatting, man pages, words, what follows from tables
	$(Q)tests/lint/rooms
	$(Q)tests/lint/opens
	$(Q)tests/lint/findings
	$(Q)tests/lint/drivers
	$(Q)tests/lint/shell
	$(Q)tests/lint/python
	$(Q)tests/lint/privileges
	$(Q)tests/lint/hardening $(BUILD)/railhead $(BUILD)/railhead-bench
	$(Q)tests/lint/format
	$(Q)tests/lint/man
	$(Q)tests/lint/words
	$(Q)tests/lint/keys
	$(Q)tests/lint/seeds
	$(Q)tests/lint/faults
	$(Q)$(MAKE) --no-print-directory -s DEV=1 CFLAGS='-O2' \
		$(patsubst $(BUILD)/release/%,$(BUILD)/lint/%,$(call obj,release,src/main.c $(ROOM_SRC) \
		$(sort $(BENCH_SRC) $(wildcard src/bench/*_generic.c)) $(SIM_SRC)))

$(BUILD)/lint/%.o: %.c | $(BUILD)/deps-ok
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(REL_CFLAGS) -MMD -MP -c -o $@ $<

# The commands that make would run, those of a source's first object.
compile-commands: ## write compile_commands.json, for editors (clangd)
	$(Q)MAKEFLAGS='' $(MAKE) -n -B V=1 all $(TEST_PROGRAMS) | grep -e ' -c -o ' | jq -Rn --arg directory '$(CURDIR)' \
		'[inputs | {$$directory, command: ., file: (split(" ") | last)}] | unique_by(.file)' >compile_commands.json

schema: $(BUILD)/railhead ## rewrite the JSON Schema of profiles from the tables
	$(Q)$(BUILD)/railhead check --schema >$(BUILD)/schema.tmp
	$(Q)mv $(BUILD)/schema.tmp profiles/railhead-profile.schema.json

keys: $(BUILD)/railhead $(BUILD)/test/test_flow ## rewrite railhead.profile(5) and docs/{evidence,seeds,faults,runbook,verdict}.md from the tables
	$(Q)tests/lint/keys --write
	$(Q)tests/lint/seeds --write
	$(Q)tests/lint/faults --write
	$(Q)GOLDEN=1 $(BUILD)/test/test_flow >/dev/null

kernel-names: ## rewrite src/sys/kernel_names.inc from the documents of Debian's kernels
	$(Q)src/sys/gen-kernel-names

format: ## rewrite C sources by .clang-format
	$(Q)clang-format -i $$(git ls-files 'src/*.[ch]' 'tests/*.[ch]')

##@ Shipping
# One target for each package.
install: install-railhead install-gate install-profiles ## into DESTDIR

# All or nothing: no file is installed before all are built.
ifneq ($(filter install,$(MAKECMDGOALS)),)
install-railhead install-gate install-profiles: | all
endif

install-gate: $(BUILD)/railhead-bench
	$(INSTALL) -D -m 755 $(BUILD)/railhead-bench $(DESTDIR)$(LIBEXECDIR)/railhead-bench
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man8 packaging/man/railhead-bench.8

install-profiles:
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/railhead/profiles profiles/*.yaml \
		profiles/*.schema.json

install-railhead: $(BUILD)/railhead $(BUILD)/05_railhead
	$(INSTALL) -D -m 755 $(BUILD)/railhead $(DESTDIR)$(SBINDIR)/railhead
	$(INSTALL) -D -m 755 -t $(DESTDIR)$(LIBEXECDIR) units/irqbalance-policy \
		packaging/integrations/slurm-health packaging/integrations/node-problem
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(PREFIX)/share/railhead packaging/integrations/*.json \
		packaging/integrations/*.yaml
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(UNITDIR) units/*.service units/*.target \
		units/*.timer
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(UNITDIR)/railhead-.service.d \
		units/railhead-.service.d/*.conf
	$(INSTALL) -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/systemd/system-generators \
		units/railhead-generator
	$(INSTALL) -d $(DESTDIR)$(UNITDIR)/sysinit.target.wants
	ln -sf ../railhead-trial-stop.service \
		$(DESTDIR)$(UNITDIR)/sysinit.target.wants/
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(UDEVRULESDIR) units/*.rules
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/systemd/system-preset units/*.preset
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/systemd/catalog units/*.catalog
	$(INSTALL) -D -m 644 units/railhead.tmpfiles $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/railhead.conf
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man8 packaging/man/railhead.8
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man5 packaging/man/*.5
	$(INSTALL) -D -m 644 packaging/completions/railhead.bash $(DESTDIR)$(BASHCOMPDIR)/railhead
	$(INSTALL) -D -m 644 packaging/completions/_railhead $(DESTDIR)$(ZSHCOMPDIR)/_railhead
	$(INSTALL) -D -m 644 packaging/completions/railhead.fish $(DESTDIR)$(FISHCOMPDIR)/railhead.fish
	$(INSTALL) -D -m 755 dracut/90railhead/module-setup.sh \
		$(DESTDIR)$(PREFIX)/lib/dracut/modules.d/90railhead/module-setup.sh
	$(INSTALL) -m 755 dracut/90railhead/railhead-pre-pivot.sh \
		$(DESTDIR)$(PREFIX)/lib/dracut/modules.d/90railhead/
	$(INSTALL) -m 644 dracut/90railhead/railhead-initrd.service \
		$(DESTDIR)$(PREFIX)/lib/dracut/modules.d/90railhead/
	$(INSTALL) -D -m 755 $(BUILD)/05_railhead $(DESTDIR)/etc/grub.d/05_railhead
	$(INSTALL) -D -m 644 dracut/grub.d/railhead.cfg $(DESTDIR)/etc/default/grub.d/railhead.cfg
	$(INSTALL) -D -m 755 packaging/rpm/95-railhead.install \
		$(DESTDIR)$(PREFIX)/lib/kernel/install.d/95-railhead.install

dist: ## build/railhead-VERSION.tar.gz: the last commit, the same bytes each time
	$(Q)packaging/dist

deb: ## build/deb/*.deb: railhead, railhead-gate, railhead-profiles
	$(Q)packaging/deb/build

rpm: ## build/rpm/*.rpm, the source package too
	$(Q)packaging/rpm/build

clean: ## remove what was built, keep the caches of the VM and of arm64's libraries
	$(Q)rm -rf --one-file-system $(foreach b,$(sort build build/arm64 $(BUILD)),$(addprefix $(b)/,release test gpu-standin fuzz \
		lint tsan bench histories seeded railhead* simnode* sandbox 05_railhead deps-ok fuse-ok)) \
		build/deb build/rpm build/tally.d

distclean: ## remove build/ whole
	$(Q)rm -rf --one-file-system build compile_commands.json

help: ## this list
	$(Q)awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9%-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: all ahead arm64 set-up bench bench-boot bench-fleet bench-gate bench-gate-load build-tests build-tests-arm64 build/arm64/root check check-arm64 check-fast \
	check-units check-unit check-fuzz check-bats seeded-bugs lies check-vm check-pictures check-long demo demo-sim fuzz lint compile-commands schema keys kernel-names format install \
	install-railhead install-gate install-profiles dist deb rpm clean distclean help
