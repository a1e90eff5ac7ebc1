#!/usr/bin/env bats
# The benchmarks of GPUs against stand-ins for NVIDIA's libraries (tests/gpu/model.h).
# $RAILHEAD_BENCH is the program.
bats_require_minimum_version 1.5.0
load lib/eventually

setup() {
	root=$BATS_TEST_DIRNAME/..
	bench=${RAILHEAD_BENCH:-$root/build/railhead-bench}
	lib=$BATS_TEST_TMPDIR/lib
	a=0000:3b:00.0
	b=0000:86:00.0
	use "$root/build/gpu-standin"
	model "$a gpu 1" "$b gpu 0" # not in the order of addresses
}

# The libraries of a directory, or one of them; in the place of the other is an empty file, so that
# a real one is not found on a machine with GPUs.
use() { # DIRECTORY [NAME]
	local name
	rm -rf "$lib"
	mkdir -p "$lib"
	for name in libcuda libnvidia-ml; do
		if [ "${2:-$name}" = "$name" ]; then
			cp "$1/$name.so.1" "$lib"
		else
			: >"$lib/$name.so.1"
		fi
	done
}

model() { printf '%s\n' "$@" >>"$lib/node"; }

# What $2... measures; asserts its exit status.
measures() { # STATUS BENCHMARK [OPTIONS]
	local want=$1
	shift
	run --separate-stderr env LD_LIBRARY_PATH="$lib" timeout 300 "$bench" "$@"
	[ "$status" -eq "$want" ] || {
		echo "status $status: $output $stderr"
		return 1
	}
}

# Asserts that a jq filter holds for the one line that was printed.
holds() {
	[ "${#lines[@]}" -eq 1 ]
	jq -e "$1" <<<"$output" || {
		echo "does not hold: $1"
		echo "$output"
		return 1
	}
}

# --- copies to and from the host -----------------------------------------------------------

@test "copies: each way measured, the lower is the value, set-up outside the windows" {
	model "$a h2d 20000000000" "$a d2h 16000000000" "$a context_us 300000" "$b h2d 1" "$b d2h 1"
	measures 0 gpu_copy --gpu $a --node 0 --budget 400
	holds '.bench == "gpu_copy" and .result == "measured" and .gpu == "0000:3b:00.0"'
	holds '.unit == "B/s" and .value == .d2h and (.d2h - 16e9 | fabs) < 1e6'
	holds '(.h2d - 20e9 | fabs) < 1e6'
	holds '.setup_ms >= 300 and .node == 0 and .size == 134217728 and .windows >= 8'
	holds '.pcie_generation_max == 5 and .pcie_width == 16'
	holds 'has("setup_note") | not'
}

@test "copies: what the environment hides from CUDA is measured all the same" {
	run --separate-stderr env LD_LIBRARY_PATH="$lib" CUDA_VISIBLE_DEVICES=7 CUDA_DEVICE_ORDER=x \
		"$bench" gpu_copy --gpu $a --budget 100
	holds '.result == "measured"'
}

@test "copies: persistence mode off is named with the set-up" {
	model "$a persistence 0"
	measures 0 gpu_copy --gpu $a --budget 100
	holds '.result == "measured" and (.setup_note | test("nvidia-persistenced"))'
}

@test "copies: other processes on the GPU are named, our own is not" {
	measures 0 gpu_copy --gpu $a --budget 100
	holds 'has("gpu_users") | not'
	model "$a user $$"
	measures 0 gpu_copy --gpu $a --budget 100
	holds ".gpu_users == [\"$(cat /proc/$$/comm), PID $$\"]"
	model "$a user 4194305" # ended since: no process has this number
	measures 0 gpu_copy --gpu $a --budget 100
	holds '.gpu_users == ["PID 4194305"]'
	model "$a user 0" "$b user $$" "$a $b 1000000000" "$b $a 1000000000"
	measures 0 gpu_peer --gpu $a --peer $b --budget 100
	holds '.gpu_users | length == 1'
}

@test "copies: libcuda is enough; without NVML the link is not told" {
	use "$root/build/gpu-standin" libcuda
	model "$a gpu 0"
	measures 0 gpu_copy --gpu $a --budget 100
	holds '.result == "measured" and (has("pcie_width") | not)'
}

# Also CAP_CHOWN, CAP_FOWNER, CAP_SYS_MODULE and CAP_MKNOD: nvidia-modprobe(1) needs them.
@test "copies: what measures has the capabilities that it and its library need" {
	local pid own
	own=0x$(awk '/^CapPrm/ { print $2 }' /proc/self/status)
	model "$a context_us 60000000"
	LD_LIBRARY_PATH=$lib "$bench" gpu_copy --gpu $a --budget 400 >"$BATS_TEST_TMPDIR/line" 3>&- &
	pid=$!
	eventually keeps_capabilities "$pid" "$(printf %016x $((own & 0x881400b)))"
	kill -KILL "$pid"
	wait "$pid" || [ $? -eq 137 ]
}

keeps_capabilities() { # PID SET
	local child
	child=$(pgrep -P "$1") && grep -q "CapPrm:.$2" "/proc/$child/status"
}

# --- between two GPUs ----------------------------------------------------------------------

@test "peers: each way measured, the lower is the value, the link is told" {
	model "$a $b 80000000000" "$b $a 60000000000" "$a nvlink 1"
	measures 0 gpu_peer --gpu $a --peer $b --budget 400
	holds '.result == "measured" and .peer == "0000:86:00.0" and .link == "nvlink"'
	holds '.value == .from_peer and (.from_peer - 60e9 | fabs) < 1e6'
	holds '(.to_peer - 80e9 | fabs) < 1e6 and .peer_access'
	model "$a nvlink 0"
	measures 0 gpu_peer --gpu $a --peer $b --budget 100
	holds '.link == "pcie"'
}

@test "peers: no access by design is unsupported, access taken away is not" {
	model "$a p2p 2"
	measures 0 gpu_peer --gpu $a --peer $b
	holds '.result == "unsupported" and (.reason | test("this model of GPU"))'
	model "$a p2p 4"
	measures 0 gpu_peer --gpu $a --peer $b
	holds '.result == "cannot measure" and (.reason | test("NVreg_RegistryDwords"))'
	model "$a p2p 0"
	measures 0 gpu_peer --gpu $a --peer $b
	holds '.result == "cannot measure" and (.reason | test("fabricmanager"))'
	use "$root/build/gpu-standin" libcuda
	model "$a gpu 0" "$b gpu 1"
	measures 0 gpu_peer --gpu $a --peer $b
	holds '.result == "cannot measure" and (.reason | test("NVML reports no reason"))'
	measures 0 gpu_peer --gpu $a --peer $a
	holds '.result == "cannot measure" and (.reason | test("be its own peer"))'
}

# --- health ---------------------------------------------------------------------------------

@test "health: a healthy GPU has no fault, and an idle link is none" {
	measures 0 gpu_health --gpu $a
	holds '.result == "measured" and .value == 0 and .faults == [] and .unit == "faults" and (has("fault") | not)'
	holds '.ecc and .pcie_generation == 1 and .pcie_generation_max == 5'
	holds '.not_shown == ["retired pages"]'
}

@test "health: each fault is counted and says what to do" {
	while IFS='|' read -r facts code words; do
		: >"$lib/node"
		model "$a gpu 0"
		for fact in $facts; do model "$a ${fact/=/ }"; done
		measures 0 gpu_health --gpu $a
		holds ".result == \"measured\" and .value == 1 and (.faults[0] | test(\"$words\")) and .fault == \"$code\""
	done <<'END'
ecc=0 ecc_next=0|RH-GPU-ECC-OFF|ECC is off
ecc=0 ecc_next=1|RH-GPU-ECC-OFF|reset the GPU, or reboot
ecc_next=0|RH-GPU-ECC-OFF|ECC will be off after
uncorrected=1|RH-GPU-MEMORY|^1 uncorrectable memory error since
remap_pending=1|RH-GPU-MEMORY|waits to be remapped: reset the GPU
remap_failed=1|RH-GPU-WORN|no spare rows are left; replace
retire_pending=1|RH-GPU-MEMORY|waits to be retired: reset
width=8|RH-GPU-LINK-WIDTH|8 lanes of 16: reseat
clocks=128|RH-GPU-CLOCKS|power brake: the chassis
clocks=136|RH-GPU-CLOCKS|power brake: the chassis
clocks=64|RH-GPU-CLOCKS|by temperature
clocks=32|RH-GPU-CLOCKS|by temperature
clocks=8|RH-GPU-CLOCKS|held down by the hardware
END
}

@test "health: several faults are all told" {
	model "$a width 4" "$a uncorrected 3" "$a remap_pending 1"
	measures 0 gpu_health --gpu $a
	holds '.value == 3 and (.faults | length) == 3 and .fault == "RH-GPU-LINK-WIDTH"'
}

@test "health: a slowdown that passes, as while clocks change, is none" {
	model "$a clocks 8" "$a clocks_later 1"
	measures 0 gpu_health --gpu $a
	holds '.value == 0 and .clocks_reasons == 0'
}

@test "health: what must not be shown is named where it is hidden, and not judged" {
	model "$a ecc -1" "$a uncorrected -1" "$a width -1"
	measures 0 gpu_health --gpu $a
	holds '.value == 0 and .not_shown == ["ECC mode","ECC errors","retired pages","PCIe width"]'
	model "nvmlDeviceGetPersistenceMode fails 13"
	measures 0 gpu_health --gpu $a
	holds '.value == 0 and (.not_shown | index("persistence mode"))'
	use "$root/build/gpu-standin/old"
	model "$a gpu 0" "$a retire_pending 0" "$a clocks 64" "$a persistence 0"
	measures 0 gpu_health --gpu $a
	holds '.not_shown == ["remapped rows"] and .value == 1'
	holds '(.faults[0] | test("temperature")) and (.note | test("nvidia-persistenced"))'
	holds '.retired_pages == 0'
}

@test "health: each question can be required, and an unknown one is rejected" {
	while IFS='|' read -r word facts name; do
		: >"$lib/node"
		model "$a gpu 0"
		for fact in $facts; do model "$a ${fact/=/ }"; done
		measures 0 gpu_health --gpu $a --must_show "clocks,$word"
		holds ".value == 1 and .fault == \"RH-GPU-NOT-SHOWN\" and (.faults[0] | test(\"^does not show $name, \"))"
		measures 0 gpu_health --gpu $a --must_show none
		holds '.value == 0'
	done <<'END'
ecc|ecc=-1|ECC mode
ecc_errors|uncorrected=-1|ECC errors
remapped_rows|rows_corrected=-1|remapped rows
retired_pages||retired pages
pcie_width|width=-1|PCIe width
pcie_width|width_max=-1|PCIe width
clocks|clocks=-1|clocks' reasons
END
	measures 0 gpu_health --gpu $a --must_show ecc,rows
	holds '.result == "cannot measure" and (.reason | test("unknown fact .rows.$"))'
}

@test "health: that a question fails is a fault by itself, and no answer that is missing" {
	model "nvmlDeviceGetRemappedRows fails 999"
	measures 0 gpu_health --gpu $a --must_show remapped_rows
	holds '.value == 1 and .fault == "RH-GPU-HEALTH" and (.faults[0] | test("^remapped rows: NVML error 999"))'
}

@test "fabric: one line for each GPU, with what it is in" {
	model "$a fabric 3" "$a clique 4026" "$a cluster 77" "$b fabric 3" "$b clique 4026" "$b cluster 77"
	measures 0 gpu_fabric --gpu $a --mode multinode --others $b
	holds '.result == "measured" and .value == 0 and .unit == "faults" and .mode == "multinode"'
	holds '.cluster == "00000000-0000-0000-0000-00000000004d" and .clique == 4026'
	holds '.health | keys == ["access_timeout_recovery","bandwidth","configuration","route_recovery","routes"]'
	holds '.health | all(. == "not supported")'
	measures 0 gpu_fabric --gpu $a --mode rack
	holds '.result == "cannot measure" and (.reason | test("expected one of: none, node, multinode"))'
	measures 2 gpu_fabric --gpu $a
	measures 2 gpu_fabric --mode node
}

@test "fabric: another that can't be asked, or is not in the fabric, is its own matter" {
	model "$a fabric 3" "$a clique 1" "$a cluster 1" "$b fabric 1" "$b clique 2"
	measures 0 gpu_fabric --gpu $a --mode multinode --others "$b,0000:01:00.0"
	holds '.value == 0'
	model "$b fabric 3" "$b fabric_status 3"
	measures 0 gpu_fabric --gpu $a --mode multinode --others $b
	holds '.value == 0'
	model "$b fabric_status 0" # of two that differ nobody knows which is right
	measures 0 gpu_fabric --gpu $a --mode multinode --others $b
	holds '.value == 1 and .fault == "RH-GPU-FABRIC-CLIQUE"'
}

@test "fabric: a state of tomorrow, a GPU that is lost, a call that fails" {
	model "$a fabric 4"
	measures 0 gpu_fabric --gpu $a --mode node
	holds '.value == 1 and .fault == "RH-GPU-FABRIC-DOWN" and (.faults[0] | test("is 4, unknown"))'
	model "nvmlDeviceGetGpuFabricInfoV fails 999"
	measures 0 gpu_fabric --gpu $a --mode node
	holds '.value == 1 and (.faults[0] | test("^NVLink fabric: NVML error 999"))'
	model "nvmlDeviceGetHandleByPciBusId_v2 fails 15"
	measures 0 gpu_fabric --gpu $a --mode none
	holds '.value == 1 and .fault == "RH-GPU-OFF-BUS"'
	rm "$lib"/*
	measures 0 gpu_fabric --gpu $a --mode none
	holds '.result == "cannot measure" and (.reason | test("^libnvidia-ml.so.1: "))'
}

@test "health: a GPU that is lost is a fault, a driver that isn't there is no answer" {
	model "nvmlDeviceGetHandleByPciBusId_v2 fails 15"
	measures 0 gpu_health --gpu $a
	holds '.result == "measured" and .value == 1 and (.faults[0] | test("fallen off the bus"))'
	model "nvmlDeviceGetHandleByPciBusId_v2 fails 0" "nvmlInit_v2 fails 9"
	measures 0 gpu_health --gpu $a
	holds '.result == "cannot measure" and (.reason | test("^start of NVML: .*nvidia module is not loaded"))'
	model "nvmlInit_v2 fails 18"
	measures 0 gpu_health --gpu $a
	holds '.result == "cannot measure" and (.reason | test("different versions"))'
}

# --- what can go wrong with each ------------------------------------------------------------

@test "no library: nothing was proven, and the reason names it" {
	rm "$lib"/*
	for words in "gpu_copy --gpu $a" "gpu_peer --gpu $a --peer $b"; do
		measures 0 $words
		holds '.result == "cannot measure" and (.reason | test("^libcuda.so.1: .* install"))'
	done
	measures 0 gpu_health --gpu $a
	holds '.result == "cannot measure" and (.reason | test("^libnvidia-ml.so.1: "))'
}

@test "a library too old: the missing symbol is named, and the driver's version" {
	use "$root/build/gpu-standin/old"
	model "driver cuda 10020"
	measures 0 gpu_copy --gpu $a
	holds '.result == "cannot measure"'
	holds '.reason | test("has no cuMemHostAlloc: the driver .*CUDA 10.2. is too old")'
}

@test "no such GPU" {
	measures 0 gpu_copy --gpu 0000:01:00.0
	holds '.result == "cannot measure" and (.reason | test("^0000:01:00.0: CUDA error 101"))'
	measures 0 gpu_health --gpu 0000:01:00.0
	holds '.result == "cannot measure" and (.reason | test("^0000:01:00.0: NVML error 6"))'
}

@test "CUDA's errors: the fabric manager is waited for, the others have their remedy" {
	model "cuInit fails 802"
	measures 0 gpu_copy --gpu $a
	holds '.result == "not yet" and (.reason | test("nvidia-fabricmanager"))'
	while read -r code words; do
		model "cuInit fails $code"
		measures 0 gpu_copy --gpu $a
		holds ".result == \"cannot measure\" and (.reason | test(\"error $code .*$words\"))"
	done <<'END'
100 no usable GPU
803 different versions
304 nvidia-modprobe
999 nvidia_uvm
34 stub
1 stand-in's 1
END
	model "cuInit fails 0" "cuMemAlloc_v2 fails 2"
	measures 0 gpu_copy --gpu $a
	holds '.reason | test("128 MiB of its memory: CUDA error 2 .*other processes use")'
	model "cuMemAlloc_v2 fails 0" "cuEventSynchronize fails 214"
	measures 0 gpu_copy --gpu $a
	holds '.result == "cannot measure" and (.reason | test("copy: CUDA error 214 .*replace"))'
}

@test "a library that crashes: exit 1, nothing on stdout, the signal on stderr" {
	model "cuMemcpyHtoDAsync_v2 crashes 0"
	measures 1 gpu_copy --gpu $a
	[ -z "$output" ]
	[[ $stderr == *"killed by signal 11"* ]]
}

# The gate ends it at its deadline (tests/unit/test_gate_bench.c). That `run` comes back says that
# no child of it holds the pipe any more.
@test "a library that hangs: ended from outside, and its child with it" {
	model "cuDevicePrimaryCtxRetain hangs 0"
	run --separate-stderr env LD_LIBRARY_PATH="$lib" timeout -s KILL 1 "$bench" gpu_copy --gpu $a
	[ "$status" -eq 137 ]
	[ -z "$output" ]
}

# --- several in one process ------------------------------------------------------------------

# The lines in the order of their tasks, as an array.
in_order() { jq -sc 'sort_by(.task)' <<<"$output"; }

@test "together: a line of each with its place, those of a round at the same time, one context" {
	model "$a $b 2000000000" "$b $a 2000000000" "$a context_us 5000000" "$b context_us 5000000"
	measures 0 together "60000 gpu_health --gpu $a & 60000 gpu_health --gpu $b; 60000 gpu_copy --gpu $a --budget 100 & 60000 gpu_copy --gpu $b --budget 100;60000 gpu_peer --gpu $a --peer $b --budget 100"
	in_order | jq -e 'map([.task, .bench, .gpu, .result]) == [
		[0, "gpu_health", "'$a'", "measured"], [1, "gpu_health", "'$b'", "measured"],
		[2, "gpu_copy", "'$a'", "measured"], [3, "gpu_copy", "'$b'", "measured"],
		[4, "gpu_peer", "'$a'", "measured"]]'
	in_order | jq -e '.[2].setup_ms >= 5000 and .[3].setup_ms >= 5000 and .[4].setup_ms < 5000'
	in_order | jq -e 'all(.took_us > 0 and .started_us > 0)'
}

@test "together: one that can't be measured is its own matter" {
	measures 0 together "60000 gpu_copy --gpu 0000:01:00.0 --budget 100 & 60000 gpu_copy --gpu $a --budget 100"
	in_order | jq -e '.[0].result == "cannot measure" and .[1].result == "measured"'
}

@test "together: one that takes longer than it may ends all that is not done" {
	model "$b context_us 600000000"
	measures 0 together "60000 gpu_health --gpu $a; 15000 gpu_copy --gpu $b --budget 100 & 60000 gpu_copy --gpu $a --budget 100; 60000 gpu_health --gpu $b"
	in_order | jq -e 'map(.task) == [0, 2]'
}

# Of which four warm up, and two are a round.
windows_are() { [ "$(stat -c %s "$lib/noted")" -ge "$1" ]; } # NUMBER

@test "together: told that its time is over, a round ends with what it has, and no other begins" {
	model "$a context_us 1000000" "cuEventSynchronize notes 0"
	measures 0 together "20000 gpu_copy --gpu $a --budget 60000; 60000 gpu_copy --gpu $b --budget 100"
	in_order | jq -e 'map(.task) == [0, 1] and .[0].result == "measured" and .[0].windows_ms < 19500'
	: >"$lib/noted"
	env LD_LIBRARY_PATH="$lib" "$bench" together "60000 gpu_copy --gpu $a --budget 50000; 60000 gpu_copy --gpu $b" >"$BATS_TEST_TMPDIR/lines" 3>&- &
	eventually windows_are 8
	kill -TERM $!
	wait $!
	output=$(<"$BATS_TEST_TMPDIR/lines")
	in_order | jq -e 'map(.task) == [0] and .[0].result == "measured" and .[0].windows_ms < 50000'
}

@test "together: a library that crashes takes the process, and what was printed before stays" {
	model "cuMemHostAlloc crashes 0"
	measures 1 together "60000 gpu_health --gpu $a; 60000 gpu_copy --gpu $a; 60000 gpu_health --gpu $b"
	in_order | jq -e 'map(.task) == [0]'
	[[ $stderr == *"together: killed by signal 11"* ]]
}

@test "together: words that are wrong" {
	local text
	for text in "" ";" "&" "9000" "gpu_health --gpu $a" "0 gpu_health --gpu $a" "-1 gpu_health --gpu $a" \
		"60000 gpu_health" "60000 gpu_healht --gpu $a" "60000 gpu_health --gpu $a;" "9000 jitter --cpus 0" \
		"99999999999999999999 gpu_health --gpu $a" "60000 gpu_health --gpu $a --gpu" "9000 together x"; do
		measures 2 together "$text"
		[ -z "$output" ]
		[[ $stderr == "railhead-bench: together: "* ]]
	done
	measures 2 together
	measures 2 together "60000 gpu_health --gpu $a" more
}
