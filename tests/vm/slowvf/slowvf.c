// SPDX-License-Identifier: GPL-2.0
/*
 * A driver of igb's VFs that takes its time, as those of large NICs do, for benchmarks.
 *
 *   insmod slowvf.ko probe_ms=500
 *
 * Each VF gets an interface that goes nowhere; nothing is done with the function itself, so a
 * PF whose link is down is as good as any. igbvf must not be there: the kernel offers a
 * function to its drivers in the order in which they were loaded.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/pci.h>

static unsigned int probe_ms = 500;
module_param(probe_ms, uint, 0444);

static netdev_tx_t slowvf_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops slowvf_ops = {
	.ndo_start_xmit = slowvf_xmit,
};

static int slowvf_probe(struct pci_dev *dev, const struct pci_device_id *id)
{
	struct net_device *netdev = alloc_etherdev(0);
	int r;

	if (!netdev)
		return -ENOMEM;
	msleep(probe_ms);
	netdev->netdev_ops = &slowvf_ops;
	SET_NETDEV_DEV(netdev, &dev->dev);
	eth_hw_addr_random(netdev);
	r = register_netdev(netdev);
	if (r < 0) {
		free_netdev(netdev);
		return r;
	}
	pci_set_drvdata(dev, netdev);
	return 0;
}

static void slowvf_remove(struct pci_dev *dev)
{
	struct net_device *netdev = pci_get_drvdata(dev);

	unregister_netdev(netdev);
	free_netdev(netdev);
}

static const struct pci_device_id slowvf_ids[] = {{PCI_VDEVICE(INTEL, 0x10ca)}, {}};

static struct pci_driver slowvf = {
	.name = "slowvf",
	.id_table = slowvf_ids,
	.probe = slowvf_probe,
	.remove = slowvf_remove,
};
module_pci_driver(slowvf);

MODULE_DESCRIPTION("Tests: a driver of VFs with a slow probe");
MODULE_LICENSE("GPL");
