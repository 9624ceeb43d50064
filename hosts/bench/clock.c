// SPDX-License-Identifier: GPL-2.0-only
/* Counting, and saying what came of it. */
#include <stdarg.h>
#include <stdio.h>
#include <x86intrin.h>

#include "bench.h"

#define SAMPLES 300
#define FEW_SAMPLES 5
#define ENOUGH 30000000	/* ticks for one measurement, after the few samples */
#define TIMES 8		/* calls in a sample */

uint64_t ticks(void)
{
	uint64_t now;

	_mm_lfence();
	now = __rdtsc();
	_mm_lfence();
	return now;
}

static void nothing(void *arg)
{
	__asm__ volatile("" : : "r"(arg) : "memory");
}

/* The fewest ticks: in the others, an interrupt came. */
static uint64_t fewest(void (*op)(void *arg), void *arg)
{
	uint64_t start = ticks(), best = UINT64_MAX;
	int sample, i;

	for (sample = 0; sample < SAMPLES; sample++) {
		uint64_t took, before = ticks();

		for (i = 0; i < TIMES; i++)
			op(arg);
		took = ticks() - before;
		if (took < best)
			best = took;
		if (sample >= FEW_SAMPLES && ticks() - start > ENOUGH)
			break;
	}
	return best;
}

double cost(void (*op)(void *arg), void *arg)
{
	static uint64_t empty;

	if (!empty)
		empty = fewest(nothing, NULL);
	return ((double)fewest(op, arg) - empty) / TIMES;
}

void result(const char *unit, double value, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	vprintf(name, args);
	va_end(args);
	printf("\t%.10g\t%s\n", value, unit);
	fflush(stdout);
}

void result_cost(double value, const char *name, ...)
{
	char text[80];
	va_list args;

	va_start(args, name);
	vsnprintf(text, sizeof(text), name, args);
	va_end(args);
	result("ticks", value, "%s", text);
}
