"""All cases. Importing a module declares its states and cases; the order of the
imports is the order in which the guest runs through the states."""

from cases import boots      # noqa: F401
from cases import package    # noqa: F401
from cases import units      # noqa: F401
from cases import quiet      # noqa: F401
from cases import memory     # noqa: F401
from cases import profiles   # noqa: F401
from cases import authoring  # noqa: F401
from cases import bootpart   # noqa: F401
from cases import drivers    # noqa: F401
from cases import faults     # noqa: F401
from cases import sriov      # noqa: F401
from cases import pcie       # noqa: F401
from cases import block      # noqa: F401
from cases import qos        # noqa: F401
from cases import rdma       # noqa: F401
from cases import gpu        # noqa: F401
from cases import mounts     # noqa: F401
from cases import device_return  # noqa: F401
from cases import waiting    # noqa: F401
from cases import link       # noqa: F401
from cases import reboots    # noqa: F401
from cases import gate       # noqa: F401
from cases import layouts    # noqa: F401
from cases import no_trial   # noqa: F401
from cases import powercut   # noqa: F401
from cases import trials     # noqa: F401
from cases import trial_cost  # noqa: F401
from cases import boot_counters  # noqa: F401
from cases import hangs     # noqa: F401
from cases import other_kernel  # noqa: F401
from cases import reboot_budget  # noqa: F401
from cases import cores     # noqa: F401
from cases import p2p       # noqa: F401
from cases import soft_reboot  # noqa: F401
from cases import initramfs_tools  # noqa: F401
