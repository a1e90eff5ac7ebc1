/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of railhead that trials of kernel arguments go through, called on a disk in memory:
 * boot_arrive(), the kind bootenv, boot_settle(), boot_arm() in the order of the gate, and what
 * people and units call, all of the objects that railhead itself is linked from. The linker
 * (--wrap, see the Makefile) puts this file where they call the kernel or look at the machine. GRUB
 * is env_grub_boot(), which tests/grub_reader.bats and tests/histories.bats hold against GRUB.
 *
 * A call depends on its struct facts alone, so each is made once and remembered. Files, records and
 * command lines are interned: equal contents have equal numbers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets of arguments that a profile can want. ARGS_OTHER: none of them, a torn or changed slot. */
enum args { ARGS_NONE, ARGS_ONE, ARGS_TWO, ARGS_COUNT, ARGS_OTHER = ARGS_COUNT };
enum { KERNELS = 2 };

extern const char *const args_text[ARGS_COUNT];
extern const char *const kernel_name[KERNELS];

enum op {
	OP_GRUB,
	OP_GATE,     /* a whole gate, up to its verdict and the request to reboot */
	OP_NO_JUDGE, /* a gate without a profile */
	OP_STOP,     /* the units of a trial: an orderly shutdown */
	OP_TIMER,    /* ... or their timer */
	OP_RETRY,    /* apply --retry */
	OP_RESET,    /* kargs --reset */
	OP_KERNEL,   /* a kernel is installed */
};

enum fact_flag {
	FACT_CAN_SAVE = 1,    /* GRUB can write to the disk (OP_GRUB) */
	FACT_COUNTER = 2,     /* an updater's counter is armed */
	FACT_WAITS = 4,	      /* the verdict waits for something */
	FACT_FAILS = 8,	      /* an item fails in this boot */
	FACT_MISSES = 16,     /* a measurement does */
	FACT_NO_CARRIER = 32, /* a function has no carrier */
	FACT_BROKEN = 64,     /* others of each sort do */
};

struct facts {
	uint32_t file;	 /* 0: absent */
	uint16_t record; /* of attempts; 0: absent */
	uint16_t line;
	uint8_t op, wanted, kernel, boot, flags;
	uint8_t end; /* enum trial_end */
	uint8_t unused[2];
};

/* The word on its end that a boot that armed a trial, or was one, leaves for the next boot. */
enum trial_end { END_NONE, END_LEFT, END_TIMER, END_STOP, END_JUDGED };

/* What a power cut or a kill leaves. */
struct snap {
	uint32_t file;
	uint16_t record;
	uint8_t end, unused; /* 0 */
};

struct call {
	struct snap end;
	const struct snap *cut, *kill; /* distinct ones */
	uint16_t n_cuts, n_kills;
	uint16_t line;	  /* OP_GRUB: with the arguments that GRUB gives */
	uint8_t decision; /* OP_GATE: enum kargs_decision */
	uint8_t result;	  /* OP_GATE: enum trial_result */
	bool reboot;	  /* railhead reboots */
	bool same;	  /* the look found the arguments in force */
	bool blocked;	  /* the settlement keeps work out */
	bool failed;	  /* the call returned an error */
	bool settled; /* a verdict that does not wait, and neither ends in a reboot nor lacks one */
	bool waits;
	bool measured;
	bool loads; /* OP_GRUB: the file counts for GRUB */
	bool left_out;
};

const struct call *machine_call(const struct facts *f);
/* Calls that were made, files that were seen: for the report. */
size_t machine_calls(void);
size_t machine_files(void);
const char *machine_file(uint32_t file, size_t *len);
uint32_t machine_intern(const char *text, size_t len);

/* The same record, written in an earlier boot: only whether this boot wrote it is ever asked. */
uint16_t machine_aged(uint16_t record);
/* As it was written, to the byte. */
bool machine_sound(uint32_t file);
/* The text of a record; "" for 0. */
const char *machine_record(uint16_t record);
/* The refusals in a record: bits of machine_refusal(). */
enum refusal_why { WHY_DIED, WHY_UNFIT, WHY_LOST, WHY_COUNT };
uint32_t machine_refusal(enum refusal_why why, enum args args, uint8_t kernel);
uint32_t machine_refusals(uint16_t record);
/* The record says that a trial is armed. */
bool machine_armed(uint16_t record);
/* The record expects the first verdict of another kernel. */
bool machine_expects_other(uint16_t record, uint8_t kernel);
/* Reboots in a row, by the file and the record: the larger count. */
unsigned int machine_counted(uint32_t file, uint16_t record);
/* What the file stands for, for people: X(name, its word, what the operator sees) */
#define RESTS(X)                                                                           \
	X(ABSENT, "absent", "no railhead.env: nothing was ever tried")                     \
	X(GOOD, "good", "the good args boot, or none are good")                            \
	X(ARMED, "armed", "`a trial is armed`; the next boot is the trial")                \
	X(TAKEN, "taken", "a trial runs (`railhead.trial=` on its line), or has died")     \
	X(COUNTED, "counted",                                                              \
	  "a kernel was installed: GRUB counts boots (`railhead.begun=`) until a verdict") \
	X(OUT, "out", "two such boots had no verdict: GRUB leaves the args out")           \
	X(DAMAGED, "damaged", "a program other than railhead and GRUB edited the file")
enum resting {
#define X(name, word, text) REST_##name,
	RESTS(X)
#undef X
		REST_COUNT
};
enum resting machine_rest(uint32_t file);
/* The args that boot without a trial. */
enum args machine_good(uint32_t file);
/* A trial is armed, or GRUB counts boots, whatever else the file stands for. */
bool machine_marked(uint32_t file);
struct line {
	const char *text;
	uint8_t args; /* enum args: those on the line, whole and in order */
	bool slot, trial, counted, left_out;
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
