/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of railhead that trials of kernel arguments go through, called on a disk in memory:
 * boot_arrived(), boot_ended(), the kind bootenv (look and set), witness_count(), boot_settle() and
 * boot_env_reset(), all of the objects that railhead itself is linked from. The linker (--wrap, see
 * the Makefile) puts this file where they call the kernel or look at the machine. GRUB is
 * env_grub_boot(), which tests/grub_reader.bats and tests/histories.bats hold against GRUB.
 *
 * A call depends on its struct facts alone, so each is made once and remembered. Files, command
 * lines and kept health are interned: equal contents have equal numbers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets of arguments that a profile can want. ARGS_OTHER: none of them, a torn or changed slot. */
enum args { ARGS_NONE, ARGS_ONE, ARGS_TWO, ARGS_COUNT, ARGS_OTHER = ARGS_COUNT };
enum { KERNELS = 2, BOOT_IDS = 3 };

extern const char *const args_text[ARGS_COUNT];
extern const char *const kernel_name[KERNELS];

enum op { OP_GRUB, OP_ARRIVE, OP_ROOT, OP_STAGE, OP_COUNT, OP_SETTLE, OP_RESET, OP_STOP, OP_TIMER };

enum fact_flag {
	FACT_CAN_SAVE = 1,   /* GRUB can write to the disk (OP_GRUB) */
	FACT_COUNTER = 2,    /* an updater's counter is armed */
	FACT_RETRY = 4,	     /* apply --retry */
	FACT_FAILS = 8,	     /* an item fails in this boot */
	FACT_FAILS_TOO = 16, /* ... and another one */
	FACT_PANICKED = 32,  /* pstore has a panic since the trial was armed */
	FACT_ALONE = 64,     /* railhead=off is on the line */
};
enum { RETRY_AFTER = 2 }; /* retry_kernel_args_after of the site */

struct facts {
	uint32_t file;		/* 0: absent */
	uint16_t before, trial; /* health that is kept; 0: none */
	uint16_t line;
	uint8_t op, wanted, kernel, boot, flags;
	uint8_t witness; /* railhead's reboots, twice; 1 more: this boot asked for the last */
	uint8_t counted; /* /run/railhead/healthy is there */
	uint8_t unused;
};

/* What a power cut or a kill leaves. */
struct snap {
	uint32_t file;
	uint16_t before, trial;
	uint8_t witness, counted;
	uint16_t unused; /* 0 */
};

struct call {
	struct snap end;
	const struct snap *cut, *kill; /* distinct ones */
	uint16_t n_cuts, n_kills;
	uint16_t line;	  /* OP_GRUB: with the arguments that GRUB gives */
	uint8_t note;	  /* OP_SETTLE: enum trial_note */
	uint8_t decision; /* OP_STAGE, OP_SETTLE: enum change_state of the look */
	bool reboot;	  /* railhead reboots */
	bool same;	  /* the look found the arguments in force */
	bool blocked;	  /* the settlement keeps work out */
	bool failed;	  /* the call returned an error */
	bool loads;	  /* OP_GRUB: the file counts for GRUB */
	bool left_out;
};

const struct call *machine_call(const struct facts *f);
/* Calls that were made, files that were seen: for the report. */
size_t machine_calls(void);
size_t machine_files(void);
const char *machine_file(uint32_t file, size_t *len);
uint32_t machine_intern(const char *text, size_t len);

/* The same file, written in an earlier boot: only whether this boot wrote it is ever asked. */
uint32_t machine_aged(uint32_t file);
/* As it was written, to the byte. */
bool machine_sound(uint32_t file);
bool machine_armed(uint32_t file);
/* The kernel that the trial of that file counts for; otherwise, where the file says none. */
uint8_t machine_trial_kernel(uint32_t file, uint8_t otherwise);
/* What the file stands for, for people: X(name, its word, what the operator sees) */
#define RESTS(X)                                                                                \
	X(ABSENT, "absent", "no railhead.env: nothing was ever tried")                          \
	X(GOOD, "good", "the good args boot, or none are good")                                 \
	X(ARMED, "armed", "`a trial is armed`; the next boot is the trial")                     \
	X(TAKEN, "taken", "a trial runs (`railhead.trial=` on its line), or has died")          \
	X(BACK, "back",                                                                         \
	  "an item failed in the trial: the next boot shows which items fail without the args") \
	X(AGAIN, "again", "the trial that decides is armed")                                    \
	X(OUT, "out",                                                                           \
	  "two boots with the good args did not reach stage early: GRUB leaves the args out")   \
	X(DAMAGED, "damaged", "two bytes or more were changed: `railhead kargs --reset`")
enum resting {
#define X(name, word, text) REST_##name,
	RESTS(X)
#undef X
		REST_COUNT
};
enum resting machine_rest(uint32_t file);
/* The first boot id that is nowhere in the file. */
uint8_t machine_free_boot(uint32_t file);

struct line {
	const char *text;
	uint8_t args; /* enum args: those on the line, whole and in order */
	bool slot, trial, left_out;
};
enum { LINE_BARE, LINE_NETWORK }; /* without our variable; not brought by GRUB */
const struct line *machine_line(uint16_t line);
/* The kernel loses the last of these arguments. */
uint16_t machine_drop(uint16_t line, enum args args);

/* One byte changed: 0 when the class has no such byte. */
struct flip {
	const char *name;
	uint16_t offset;
	char to; /* 0: the lowest bit */
};
extern const struct flip flips[];
extern const size_t n_flips;
uint32_t machine_flip(uint32_t file, size_t which);
