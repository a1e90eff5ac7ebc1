#!/usr/bin/env bats
# railhead-bench on the machine it is built on. $RAILHEAD_BENCH is the program.
bats_require_minimum_version 1.5.0
load lib/eventually

setup() {
	bench=${RAILHEAD_BENCH:-$BATS_TEST_DIRNAME/../build/railhead-bench}
	pool=/sys/devices/system/node/node0/hugepages/hugepages-1048576kB
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

@test "memory bandwidth on small pages: numbers, windows, the page size used" {
	run --separate-stderr "$bench" memory_bandwidth --node 0 --page 4K --size 64M --budget 300
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	holds '.bench == "memory_bandwidth" and .result == "measured" and .node == 0'
	holds '.page == "4K" and .unit == "B/s" and .size == 67108864'
	holds '.value > 0 and .value == .copy and .read > 0 and .write > 0'
	holds '.windows >= 4 and .threads >= 1 and .spread_pct >= 0'
}

# Only on a machine that has a free 1G page is it measured; else the reason is exact.
@test "memory bandwidth on a 1G page, or the exact reason why not" {
	free=$(cat $pool/free_hugepages 2>/dev/null || echo none)
	nr=$(cat $pool/nr_hugepages 2>/dev/null || echo none)
	run --separate-stderr "$bench" memory_bandwidth --node 0 --page 1G --size 64M --budget 300
	free_after=$(cat $pool/free_hugepages 2>/dev/null || echo none)
	[ "$status" -eq 0 ]
	case $free in
	none) holds '.result == "cannot measure" and .reason == "this machine has no pages of 1G"' ;;
	0) holds ".reason == \"no free 1G page on node 0: $nr reserved, 0 free\"" ;;
	*)
		holds '.result == "measured" and .page == "1G" and .value > 0 and .windows >= 4'
		[ "$free_after" -eq "$free" ] # given back
		;;
	esac
}

@test "a list of page sizes: the first that can be had is used and named" {
	run --separate-stderr "$bench" memory_bandwidth --node 0 --page 16G,4K --size 64M --budget 100
	[ "$status" -eq 0 ]
	holds '.result == "measured" and .page == "4K"'
}

@test "memory bandwidth from the CPUs of a node: whose memory, whose CPUs, time that was taken" {
	run --separate-stderr "$bench" memory_bandwidth --node 0 --from 0 --page 4K --size 64M --budget 100
	[ "$status" -eq 0 ]
	holds '.node == 0 and .from == 0 and .own_pct > 0 and .own_pct <= 100 and .whole > 0'
	run --separate-stderr "$bench" memory_bandwidth --node 0 --from 1000 --page 4K
	holds '.result == "cannot measure" and .reason == "there is no NUMA node 1000"'
}

# The nice value of an autogroup is the session's, and would stay after the measurement.
@test "what takes precedence is a session of its own, and jitter takes none" {
	local pid child
	for words in "memory_latency --node 0 --page 4K" "jitter --cpus 0"; do
		# shellcheck disable=SC2086
		"$bench" $words --budget 60000 >"$BATS_TEST_TMPDIR/line" 3>&- &
		pid=$!
		child=$(wait_for_child "$pid")
		case $words in
		memory*) eventually is_session "$child" ;;
		*) run ! is_session "$child" ;;
		esac
		kill -TERM "$pid"
		wait "$pid"
	done
}

# CAP_DAC_OVERRIDE, CAP_IPC_LOCK, CAP_SYS_NICE; for what loads a GPU's library (tests/gpu.bats) more.
@test "what measures has the capabilities that it needs, and no program that it starts gets others" {
	local pid child own set
	for set in CapPrm CapEff CapBnd; do
		own=0x$(awk "/^$set/ { print \$2 }" /proc/self/status)
		eval "local $set=$(printf %016x $((own & 0x804002)))"
	done
	"$bench" jitter --cpus 0 --budget 60000 >"$BATS_TEST_TMPDIR/line" 3>&- &
	pid=$!
	child=$(wait_for_child "$pid")
	grep '^Cap' "/proc/$child/status" >"$BATS_TEST_TMPDIR/caps"
	kill -TERM "$pid"
	wait "$pid"
	cat "$BATS_TEST_TMPDIR/caps"
	grep -q "CapPrm:.$CapPrm" "$BATS_TEST_TMPDIR/caps"
	grep -q "CapEff:.$CapEff" "$BATS_TEST_TMPDIR/caps"
	[ "$(id -u)" -ne 0 ] || grep -q "CapBnd:.$CapBnd" "$BATS_TEST_TMPDIR/caps"
}

is_session() { # PID
	[ "$(ps -o sid= -p "$1" | tr -d ' ')" = "$1" ]
}

@test "memory latency on small pages: nanoseconds a hop, windows, the CPU that measured" {
	run --separate-stderr "$bench" memory_latency --node 0 --page 4K --size 64M --budget 200
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	holds '.bench == "memory_latency" and .result == "measured" and .unit == "ns"'
	holds '.node == 0 and .from == 0 and .page == "4K" and .size == 67108864'
	holds '.value > 0 and .windows >= 8 and .cpu >= 0 and .spread_pct >= 0'
}

@test "memory latency: what can't be measured has a reason" {
	run --separate-stderr "$bench" memory_latency --node 0 --page 4K --size 1M
	[ "$status" -eq 0 ]
	holds '.result == "cannot measure" and .reason == "--size: at least 2048 KiB are needed"'
	run --separate-stderr "$bench" memory_latency --node 1000
	holds '.result == "cannot measure" and .reason == "there is no NUMA node 1000"'
}

# Stopped for 200 ms, a thread has a gap of that length, and work waits for it.
@test "jitter: a CPU that is taken away is seen, with what else happened on it" {
	cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	"$bench" jitter --cpus "$cpu" --budget 60000 >"$BATS_TEST_TMPDIR/line" &
	program=$!
	measuring=$(wait_for_child $program)
	kill -STOP "$measuring"
	sleep 0.2
	kill -CONT "$measuring"
	time_is_over $program
	holds ".bench == \"jitter\" and .result == \"measured\" and .unit == \"ns\" and .cpu == $cpu"
	holds '.value > 190e6 and .max >= .value and .policy == "other"'
	holds '.interrupts > 0 and .top_interrupt_count > 0 and (.top_interrupt | length > 3)'
	holds '(.steal_ms == "unknown" or .steal_ms >= 0) and (.smi == "unknown" or .smi >= 0)'
	run --separate-stderr "$bench" jitter --cpus "$cpu" --budget 100
	holds '.result == "measured" and .windows_ms == 100'
}

# The child that measures, once it is in its loop: it has used 20 ms of CPU, or so many ticks.
wait_for_child() { # PID [TICKS]
	local child i
	for ((i = 0; i < 24000; i++)); do
		child=$(pgrep -P "$1" || true) # none yet: looked for again, and missed at the end
		[ -z "$child" ] || [ "$(awk '{ print $14 + $15 }' "/proc/$child/stat")" -lt "${2:-2}" ] || {
			echo "$child"
			return
		}
		sleep 0.005
	done
	echo "no child of $1 measures" >&2
	return 1
}

# SIGTERM, which the gate sends shortly before a deadline, as that reaches the program and its group.
time_is_over() { # PID
	kill -TERM "$1"
	wait "$1"
	output=$(cat "$BATS_TEST_TMPDIR/line")
	lines=("$output")
}

@test "when its time is over, each measurement ends with what it has" {
	local cpu program
	cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	"$bench" jitter --cpus "$cpu" --budget 600000 >"$BATS_TEST_TMPDIR/line" &
	program=$!
	wait_for_child $program
	time_is_over $program
	holds '.bench == "jitter" and .result == "measured" and .windows_ms < 600000'
	for what in bandwidth latency; do
		"$bench" memory_$what --node 0 --page 4K --size 64M --budget 600000 >"$BATS_TEST_TMPDIR/line" &
		program=$!
		wait_for_child $program 200 # two seconds of CPU time, of which the memory takes a tenth
		time_is_over $program
		holds ".bench == \"memory_$what\" and .result == \"measured\" and .value > 0"
		holds '.windows_ms < 600000 and .windows > 0'
	done
}

# The signal comes when the memory's node is chosen, before its first page is touched.
@test "a time that is over before the memory is there: not yet, and why" {
	local what
	for what in bandwidth latency; do
		run -0 --separate-stderr strace -f -qq -o /dev/null -e trace=mbind -e inject=mbind:signal=TERM \
			"$bench" memory_$what --node 0 --page 4K --size 2G --budget 100
		holds '.result == "not yet"'
		holds '.reason | startswith("its time was over while 2048 MiB of node 0 were touched first: ")'
	done
}

@test "jitter: CPUs that are not there are named" {
	run --separate-stderr "$bench" jitter --cpus 8000 --budget 10
	[ "$status" -eq 0 ]
	holds '.result == "cannot measure" and .reason == "no requested CPU is online and permitted"'
	run --separate-stderr "$bench" jitter --cpus 0,8000 --budget 10
	holds '.reason == "only 1 of the 2 CPUs 0,8000 are online and permitted"'
}

@test "what can't be measured has a reason and exits with 0" {
	run --separate-stderr "$bench" memory_bandwidth --node 1000 --page 4K
	[ "$status" -eq 0 ]
	holds '.result == "cannot measure" and .reason == "there is no NUMA node 1000"'
	run --separate-stderr "$bench" memory_bandwidth --node 0 --page 4K --size 900T
	[ "$status" -eq 0 ]
	holds '.result == "cannot measure" and (.reason | test("^node 0 has only [0-9]+ MiB to spare"))'
}

@test "an RDMA device that is not there: named, with those that are" {
	run --separate-stderr "$bench" rdma_loopback --device no_such0
	[ "$status" -eq 0 ]
	holds '.bench == "rdma_loopback" and .result == "cannot measure"'
	holds '.reason | test("^there is no RDMA device no_such0; found: .+; check whether")'
	run --separate-stderr "$bench" rdma_pairs --device no_such0 --peer no_such1
	[ "$status" -eq 0 ]
	holds '.bench == "rdma_pairs" and (.reason | test("^there is no RDMA device no_such0"))'
}

@test "wrong usage exits with 2 and prints nothing on stdout" {
	for words in "" "no_such" "memory_bandwidth" "memory_bandwidth --node x" \
		"memory_bandwidth --node 0 --page 1g" "memory_bandwidth --node 0 --fast 1" \
		"jitter" "jitter --cpus 3-2" "memory_latency --page 4K" \
		"rdma_loopback" "rdma_loopback --device a --port 0" "rdma_loopback --device=" \
		"rdma_loopback --device a --peer b" "rdma_loopback --device a --sl 16" \
		"rdma_pairs --device a" "rdma_pairs --device a --peer b --traffic-class 256"; do
		run --separate-stderr "$bench" $words
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
}

@test "the usage text names every option" {
	run "$bench" --help
	[ "$status" -eq 0 ]
	[[ $output == *memory_bandwidth:* && $output == *--node* && $output == *--budget* ]]
	[[ $output == *memory_latency:* && $output == *--from* && $output == *jitter:* && $output == *--cpus* ]]
	[[ $output == *rdma_loopback:* && $output == *rdma_pairs:* && $output == *--peer-port* ]]
}
