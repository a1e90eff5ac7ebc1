/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The start of a process, and nothing else: what tests/bench/start holds railhead's against. */
int main(void)
{
	return 0;
}
