// SPDX-License-Identifier: GPL-2.0
/*
 * A driver that spins on the second CPU with interrupts off, as one that waits for a device that
 * does not answer.
 *
 *   insmod irqsoff.ko
 *
 * There is no way back and no unloading.
 */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>

static int spin(void *unused)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
	return 0;
}

static int __init irqsoff_init(void)
{
	struct task_struct *task;

	if (num_online_cpus() < 2)
		return -ENODEV;
	task = kthread_create(spin, NULL, "irqsoff");
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, 1);
	wake_up_process(task);
	return 0;
}
module_init(irqsoff_init);

MODULE_DESCRIPTION("test only: a CPU with interrupts off");
MODULE_LICENSE("GPL");
