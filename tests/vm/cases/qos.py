"""QoS on a double of the vendor's kernel interfaces (../dcbdouble), and on soft-RoCE.

igb has no DCB at all, and no DCQCN: the double, a kernel module, gives both to its PFs, with the
rules of mlx5. What it does is looked at first, with dcb of iproute2, since all else is measured
with it.
"""

import json

from harness import (DEVICES_SNAPSHOT, case, contains, equal, eventually, exits, expect,
                     expect_fault, load_igb, status_json)

from cases.sriov import APPLY, HEAD, NICS, PCI, PROFILE

FAULTS = "/sys/module/dcbdouble/parameters"
PLAN = "railhead plan --stage devices 2>&1"  # exit 0: there is nothing left to do
READ_FIRST = ("buffer", "ets", "pfc")  # what dcb reads before it changes a part of it


# --- the double, and what it has come to know ---------------------------------------

def _load(vm, faults=""):
    vm.sh(f"insmod /run/payload/dcbdouble.ko {faults}")


def _fault(vm, name, value):
    vm.sh(f"echo '{value}' >{FAULTS}/{name}")


def _netdev(vm, pf=NICS[0]):
    return vm.sh(f"ls {PCI}/{pf}/net")


def _of(vm, file, pf=NICS[0]):
    """A file of a PF's netdev, like ecn/roce_np/cnp_dscp or dcbdouble/trust."""
    return vm.read(f"{PCI}/{pf}/net/*/{file}")


def _link_up(vm, pf=NICS[0]):
    name = _netdev(vm, pf)
    vm.sh(f"ip link set {name} up", 60)
    eventually(vm, f"grep -q 1 /sys/class/net/{name}/carrier")


def _link_changes(vm, pf=NICS[0]):
    """How often the link has come and gone, once it is up."""
    _link_up(vm, pf)
    return int(_of(vm, "carrier_changes", pf))


def _dcb(vm, what, pf=NICS[0]):
    """The state of one DCB object as dcb shows it."""
    return json.loads(vm.sh(f"dcb -j {what} show dev {_netdev(vm, pf)}"))


def _dcb_set(vm, what, pf=NICS[0]):
    """Run dcb, like "pfc set dev IF prio-pfc 3:on"; returns how it ended."""
    return vm.run(f"dcb {what.replace('IF', _netdev(vm, pf))} 2>&1")


def _takes(vm, what):
    """A change that the kernel takes. dcb numbers its requests by the second, and that of Debian 12
    takes the acknowledgement of its reading for the answer (see _leaves()): where a new second has
    begun in between, it reports EPROTO, and the change was sent all the same."""
    result = _dcb_set(vm, what)
    if what.split()[0] in READ_FIRST and "Attribute write: Protocol error" in result.output:
        return
    equal(f"dcb {what} ({result.output})", result.status, 0)


def _refuses(vm, what, why):
    result = _dcb_set(vm, what)
    expect(result.status != 0, f"dcb {what} was not refused")
    contains(f"dcb {what}", result.output, why)


def _leaves(vm, what):
    """A refused change of something that dcb reads before. That dcb of Debian 12 then takes the
    acknowledgement of its reading for the answer, and says nothing of the refusal."""
    shown = _dcb(vm, what.split()[0])
    _dcb_set(vm, what)
    equal(f"what dcb {what} leaves", _dcb(vm, what.split()[0]), shown)


def _writes(vm, file, text):
    """Write a text to a file below ecn/; returns what can be read there then."""
    vm.sh(f"printf '%s' '{text}' >$(echo {PCI}/{NICS[0]}/net/*/ecn/{file})")
    return _of(vm, f"ecn/{file}")


def _wont_take(vm, file, text):
    result = vm.run(f"printf '%s' '{text}' >$(echo {PCI}/{NICS[0]}/net/*/ecn/{file})")
    expect(result.status != 0, f"{file} took {text!r}")
    contains(file, result.output, "Invalid argument")


# --- does it do as mlx5 does? ------------------------------------------------------------

def _pfc(*on, delay=7):
    return {"pfc_cap": 8, "macsec_bypass": False, "delay": delay,
            "requests": [0] * 8, "indications": [0] * 8,
            "prio_pfc": [prio in on for prio in range(8)]}


def _shown_pfc(vm, pf=NICS[0]):
    shown = _dcb(vm, "pfc", pf)
    return {key: shown.get(key, [0] * 8) for key in _pfc()}


def _double_pfc(vm):
    before = _link_changes(vm)
    equal("PFC at first", _shown_pfc(vm), _pfc())
    _takes(vm, "pfc set dev IF prio-pfc 3:on delay 100")
    equal("PFC", _shown_pfc(vm), _pfc(3, delay=100))
    after = _link_changes(vm)
    expect(after >= before + 2, f"the link did not go down and up: {before}, {after}")
    _takes(vm, "pfc set dev IF prio-pfc 3:on delay 1000")
    equal("PFC, with a cable that is too long", _shown_pfc(vm), _pfc(3, delay=100))
    equal("changes of the link by the same PFC", _link_changes(vm), after)
    equal("calls", _of(vm, "dcbdouble/setpfc_calls"), "2")
    equal("PFC of the other PF", _shown_pfc(vm, NICS[1]), _pfc())
    equal("calls for the other PF", _of(vm, "dcbdouble/set_calls", NICS[1]), "0")


def _entries(vm, pf=NICS[0]):
    # iproute2 6.15 adds what it prints between two entries, a blank, to each of them.
    return sorted((dscp, priority)
                  for dscp, priority, *_ in _dcb(vm, "app", pf).get("dscp_prio", []))


def _double_trust(vm):
    equal("trust at first", _of(vm, "dcbdouble/trust"), "pcp")
    _refuses(vm, "app add dev IF ethtype-prio 0x8915:3", "Invalid argument")
    _takes(vm, "app add dev IF dscp-prio 26:3")
    equal("trust", _of(vm, "dcbdouble/trust"), "dscp")
    _takes(vm, "app add dev IF dscp-prio 26:4 48:6")
    equal("entries", _entries(vm), [(26, 4), (48, 6)])
    equal("priority of DSCP 26", _of(vm, "dcbdouble/dscp2prio").split()[26], "4")
    _refuses(vm, "app del dev IF dscp-prio 26:3", "No such file")
    _takes(vm, "app del dev IF dscp-prio 26:4")
    equal("trust with one entry", _of(vm, "dcbdouble/trust"), "dscp")
    _takes(vm, "app del dev IF dscp-prio 48:6")
    equal("trust with none", _of(vm, "dcbdouble/trust"), "pcp")
    equal("entries that are left", _entries(vm), [])
    _refuses(vm, "apptrust set dev IF order dscp", "")


def _double_ets(vm):
    shown = _dcb(vm, "ets")
    equal("TCs at first", shown["tc_tsa"], ["vendor"] * 8)
    equal("priorities' TCs at first", shown["prio_tc"], [1, 0, 2, 3, 4, 5, 6, 7])
    _leaves(vm, "ets set dev IF tc-tsa 0:cbs tc-bw all:0")
    _takes(vm, "ets set dev IF tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:60"
           " prio-tc all:0 3:3")
    shown = _dcb(vm, "ets")
    equal("TCs", shown["tc_tsa"], ["ets", "strict", "strict", "ets"] + ["strict"] * 4)
    equal("shares", shown["tc_bw"], [40, 100, 100, 60] + [100] * 4)
    equal("priorities' TCs", shown["prio_tc"], [0, 0, 0, 3, 0, 0, 0, 0])


def _double_dcbx(vm):
    equal("DCBX at first", sorted(_dcb(vm, "dcbx")), ["cee", "host", "ieee"])
    _refuses(vm, "dcbx set dev IF lld-managed host", "")
    _takes(vm, "dcbx set dev IF host ieee")
    equal("DCBX", sorted(_dcb(vm, "dcbx")), ["host", "ieee"])
    _takes(vm, "buffer set dev IF prio-buffer all:0 3:1 buffer-size all:0 0:100000 1:1000")
    shown = _dcb(vm, "buffer")
    equal("buffers", shown["buffer_size"], [99968, 896] + [0] * 6)
    equal("priorities' buffers", shown["prio_buffer"], [0, 0, 0, 1, 0, 0, 0, 0])
    _leaves(vm, "buffer set dev IF buffer-size 2:262144")


@case(DEVICES_SNAPSHOT, "the double answers dcb as mlx5 would: PFC, trust by APP entries, ETS, buffers")
def double_dcb(vm):
    contains("dcb without the double", _dcb_set(vm, "pfc show dev IF").output,
             "Operation not supported")
    _load(vm)
    _double_pfc(vm)
    _double_trust(vm)
    _double_ets(vm)
    _double_dcbx(vm)


@case(DEVICES_SNAPSHOT, "the double's ecn files take and give what DOCA-OFED's do")
def double_ecn(vm):
    _load(vm)
    equal("files", vm.sh(f"cd {PCI}/{NICS[0]}/net/*/ecn && find . -type f | wc -l"), "35")
    for file, text, wanted in (
            ("roce_np/enable/3", "1", "1"), ("roce_np/enable/3", "2", "0"),
            ("roce_rp/enable/7", "-1", "1"),
            ("roce_np/cnp_dscp", "46", "46"), ("roce_np/cnp_dscp", "64", "0"),
            ("roce_np/cnp_802p_prio", "5", "5"), ("roce_np/cnp_802p_prio", " ", "7"),
            ("roce_np/min_time_between_cnps", "garbage", "-1"),
            ("roce_rp/rpg_gd", "10", "10"),
            ("roce_rp/rate_reduce_monitor_period", "4294967295", "-1"),
            ("roce_rp/clamp_tgt_rate", "garbage", "1")):
        equal(f"{file} after {text!r}", _writes(vm, file, text), wanted)
    for file, text in (("roce_np/enable/0", "on"), ("roce_rp/rpg_gd", "12"),
                       ("roce_rp/rpg_min_dec_fac", "101"), ("roce_rp/rpg_min_rate", "0"),
                       ("roce_rp/dce_tcp_g", "garbage"), ("roce_rp/dce_tcp_rtt", "131072")):
        _wont_take(vm, file, text)
    equal("writes", _of(vm, "dcbdouble/ecn_stores"), "17")
    equal("writes to the other PF", _of(vm, "dcbdouble/ecn_stores", NICS[1]), "0")


@case(DEVICES_SNAPSHOT, "the double's faults: on one PF or all, and it leaves nothing behind")
def double_faults(vm):
    _load(vm, f"stubborn=roce_rp/rpg_gd,ets empty=roce_np/enable/3 faulty={NICS[0]}")
    equal("what does not change", _writes(vm, "roce_rp/rpg_gd", "10"), "11")
    equal("what reads as nothing", _of(vm, "ecn/roce_np/enable/3"), "")
    equal("the same of the other PF", _of(vm, "ecn/roce_np/enable/3", NICS[1]), "0")
    _takes(vm, "ets set dev IF tc-tsa all:strict tc-bw all:0")
    equal("TCs that do not change", _dcb(vm, "ets")["tc_tsa"], ["vendor"] * 8)
    _fault(vm, "pfc_errno", 95)
    _leaves(vm, "pfc set dev IF prio-pfc 3:on")
    _fault(vm, "no_setpfc", 1)
    _leaves(vm, "pfc set dev IF prio-pfc 3:on")
    equal("calls", _of(vm, "dcbdouble/setpfc_calls"), "1")
    _fault(vm, "firmware_dcbx", 1)
    expect("host" not in _dcb(vm, "dcbx"), "the host is in charge of DCBX")
    _refuses(vm, "dcbx set dev IF host ieee", "")
    _fault(vm, "faulty", NICS[1])
    _takes(vm, "dcbx set dev IF host ieee")
    _takes(vm, "app add dev IF dscp-prio 26:3")
    # The netdev goes, and one comes: it has the double, and nothing is left of what was set.
    vm.sh("modprobe -r igb", 60)
    load_igb(vm)
    vm.sh("udevadm settle", 120)
    equal("entries of a new netdev", _entries(vm), [])
    equal("calls for a new netdev", _of(vm, "dcbdouble/set_calls"), "0")
    _takes(vm, "app add dev IF dscp-prio 26:3")
    vm.sh("rmmod dcbdouble")
    contains("dcb without the double", _dcb_set(vm, "app show dev IF").output,
             "Operation not supported")
    vm.sh(f"cd {PCI}/{NICS[0]}/net/* && test ! -e ecn && test ! -e dcbdouble")
    _load(vm)
    equal("entries after all", _entries(vm), [])
    # A slow machine alone makes this kernel print traces of what its CPUs are at.
    warnings = vm.run("dmesg | grep -E 'WARNING: CPU|Oops|kobject|[[]dcbdouble[]]'").output
    equal("warnings of the kernel", warnings, "")


# --- railhead on the double ---------------------------------------------------------------

QOS = HEAD + """devices:
  nics: {pci: "8086:10c9", expect: 2, link: ethernet}
qos:
  nics:
    trust: dscp
    dscp_map: {26: 3, 48: 6}
    pfc: [3]
    cable_length: 30m
    ets:
      priorities: {0: 0, 3: 3, 6: 6}
      scheduling: {0: ets, 3: ets, 6: strict}
      bandwidth: {0: 40%, 3: 60%}
    buffers: {sizes: {0: 128K, 1: 64K}, priorities: {3: 1}}
    dcqcn:
      priorities: [3]
      np: {cnp_dscp: 46, cnp_802p_prio: 5, min_time_between_cnps: 8us}
      rp:
        clamp_tgt_rate: true
        clamp_tgt_rate_after_time_inc: false
        rpg_time_reset: 301us
        rpg_byte_reset: 32766
        rpg_threshold: 2
        rpg_max_rate: 100Gb/s
        rpg_ai_rate: 10Mb/s
        rpg_hai_rate: 60Mb/s
        rpg_min_dec_fac: 40%
        rpg_min_rate: 2Mb/s
        rate_to_set_on_first_cnp: 3Mb/s
        dce_tcp_g: 1018
        dce_tcp_rtt: 2us
        rate_reduce_monitor_period: 5us
        initial_alpha_value: 1022
        rpg_gd: 10
"""
# None of them the double's own value.
DCQCN = {"roce_np/enable/3": 1, "roce_rp/enable/3": 1, "roce_np/enable/2": 0,
         "roce_np/cnp_dscp": 46, "roce_np/cnp_802p_prio": 5,
         "roce_np/min_time_between_cnps": 8, "roce_rp/clamp_tgt_rate": 1,
         "roce_rp/clamp_tgt_rate_after_time_inc": 0, "roce_rp/rpg_time_reset": 301,
         "roce_rp/rpg_byte_reset": 32766, "roce_rp/rpg_threshold": 2,
         "roce_rp/rpg_max_rate": 100000, "roce_rp/rpg_ai_rate": 10, "roce_rp/rpg_hai_rate": 60,
         "roce_rp/rpg_min_dec_fac": 40, "roce_rp/rpg_min_rate": 2,
         "roce_rp/rate_to_set_on_first_cnp": 3, "roce_rp/dce_tcp_g": 1018,
         "roce_rp/dce_tcp_rtt": 2, "roce_rp/rate_reduce_monitor_period": 5,
         "roce_rp/initial_alpha_value": 1022, "roce_rp/rpg_gd": 10}


def _profile(vm, text):
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{text}PROFILE\nrailhead check {PROFILE}")


def _expect_qos(vm, pf):
    """What the profile asks for, as dcb and the files of DCQCN show it."""
    equal(f"PFC of {pf}", _shown_pfc(vm, pf), _pfc(3, delay=30))
    equal(f"trust of {pf}", _of(vm, "dcbdouble/trust", pf), "dscp")
    equal(f"entries of {pf}", _entries(vm, pf), [(26, 3), (48, 6)])
    shown = _dcb(vm, "ets", pf)
    equal(f"priorities' TCs of {pf}", shown["prio_tc"], [0, 0, 2, 3, 4, 5, 6, 7])
    equal(f"TCs of {pf}", [shown["tc_tsa"][tc] for tc in (0, 3, 6)], ["ets", "ets", "strict"])
    equal(f"shares of {pf}", [shown["tc_bw"][tc] for tc in (0, 3)], [40, 60])
    shown = _dcb(vm, "buffer", pf)
    equal(f"buffers of {pf}", shown["buffer_size"][:2], [128 << 10, 64 << 10])
    equal(f"priorities' buffers of {pf}", shown["prio_buffer"], [0, 0, 0, 1, 0, 0, 0, 0])
    files = vm.sh(f"cd {PCI}/{pf}/net/*/ecn && grep -H . {' '.join(DCQCN)}").split()
    equal(f"DCQCN of {pf}", files, [f"{file}:{value}" for file, value in DCQCN.items()])


def _written(vm):
    """All that has ever been set, and the links' changes, of each PF."""
    return [(_of(vm, "dcbdouble/set_calls", pf), _of(vm, "dcbdouble/ecn_stores", pf),
             _link_changes(vm, pf)) for pf in NICS]


@case(DEVICES_SNAPSHOT, "qos sets PFC, trust, ETS, buffers and DCQCN; a second run sets nothing at all")
def applied(vm):
    _load(vm)
    _profile(vm, QOS)
    said = vm.run(PLAN, 60).output
    contains("railhead plan", said, *(f"qos/{pf}/{key}" for pf in NICS
                                      for key in ("pfc", "dscp_map", "ets", "dcqcn/rp/rpg_gd")))
    equal("what the plan has set", [state[:2] for state in _written(vm)], [("0", "0")] * 2)
    exits(vm, APPLY, 0, 120)
    for pf in NICS:
        _expect_qos(vm, pf)
    before = _written(vm)
    exits(vm, PLAN, 0)
    exits(vm, APPLY, 0, 120)
    equal("what has been set", _written(vm), before)


def _fails(vm, change, *words):
    """Apply; one change of the first NIC fails, which the report and the verdict name."""
    said = exits(vm, APPLY, 6, 120)
    contains("railhead apply", said, f"qos/{NICS[0]}/{change}: failed", *words)
    changes = status_json(vm)["stages"]["devices"]["changes"]
    equal("failed changes", [entry["id"] for entry in changes if entry["state"] == "failed"],
          [f"qos/{NICS[0]}/{change}"])


@case(DEVICES_SNAPSHOT, "a value that is not kept, and what a driver refuses, is named with its reason")
def refused(vm):
    _load(vm, f"faulty={NICS[0]} stubborn=roce_rp/rpg_gd")
    _profile(vm, QOS)
    _fails(vm, "dcqcn/rp/rpg_gd", "roce_rp/rpg_gd", "11")
    expect_fault(vm, "RH-NIC-QOS-FAILED", "rpg_gd")
    _expect_qos(vm, NICS[1])
    _fault(vm, "stubborn", "")
    for fault, value, change, words in (
            ("empty", "roce_np/cnp_dscp", "dcqcn/np/cnp_dscp", ("roce_np/cnp_dscp", "empty")),
            ("pfc_errno", 95, "pfc", ("rejects pfc 3", "Operation not supported")),
            ("no_setpfc", 1, "pfc", ("but kept none",)),
            ("firmware_dcbx", 1, "dcbx", ("firmware",))):
        _dcb_set(vm, "pfc set dev IF prio-pfc all:off")
        _fault(vm, fault, value)
        _fails(vm, change, *words)
        _fault(vm, fault, "" if fault == "empty" else 0)
    exits(vm, APPLY, 0, 120)
    _expect_qos(vm, NICS[0])


# --- soft-RoCE -----------------------------------------------------------------------------

TOS = "/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos"


def _soft_roce(vm, pf=NICS[0]):
    """An RDMA device on a PF's netdev: the real kernel's, with its real configfs."""
    vm.sh("modprobe -a rdma_rxe rdma_cm configfs && mountpoint -q /sys/kernel/config"
          " || mount -t configfs none /sys/kernel/config")
    vm.sh(f"rdma link add rxe0 type rxe netdev {_netdev(vm, pf)}")


@case(DEVICES_SNAPSHOT, "soft-RoCE has the default ToS of RDMA-CM, which outlives its directory")
def soft_roce(vm):
    _soft_roce(vm)
    directory = TOS.split("/ports")[0]
    vm.sh(f"mkdir {directory} && echo 104 >{TOS}")
    equal("ToS", vm.read(TOS), "104")
    vm.sh(f"rmdir {directory} && mkdir {directory}")
    equal("ToS after its directory was made anew", vm.read(TOS), "104")
    equal("netdev of the RDMA device", vm.read("/sys/class/infiniband/rxe0/parent"), _netdev(vm))
    expect(vm.run("test -e /sys/class/infiniband/rxe0/device").status != 0,
           "rxe0 has a device")


@case(DEVICES_SNAPSHOT, "qos sets the ToS of soft-RoCE, and leaves no directory in configfs")
def roce_tos(vm):
    _soft_roce(vm)
    _profile(vm, HEAD + f"""devices:
  nic0: {{pci: "8086:10c9", address: "{NICS[0]}", expect: 1, link: ethernet}}
qos: {{nic0: {{roce_tos: 106}}}}
""")
    contains("railhead plan", vm.run(PLAN, 60).output, f"qos/{NICS[0]}/roce_tos")
    exits(vm, APPLY, 0, 120)
    directory = TOS.split("/ports")[0]
    expect(vm.run(f"test -e {directory}").status != 0, f"{directory} is still there")
    exits(vm, PLAN, 0)
    equal("ToS", vm.sh(f"mkdir {directory} && cat {TOS}"), "106")
