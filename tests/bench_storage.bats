#!/usr/bin/env bats
# railhead-bench storage_read: files of this machine, and of a server that never answers (a file
# of simnode's). $RAILHEAD_BENCH is the program.
bats_require_minimum_version 1.5.0

setup() {
	dir= sim=
	. "$BATS_TEST_DIRNAME/lib/gate.bash"
	# beside the programs, not in /tmp: that may be this node's memory
	dir=$(mktemp -d "$BATS_TEST_DIRNAME/../build/storage.XXXXXX")
	dir=$(realpath "$dir")
}

teardown() {
	[ -z "$sim" ] || sim_stop
	[ -z "$dir" ] || rm -rf "$dir"
}

# Asserts that a jq filter holds for the one line that was printed.
holds() {
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	jq -e "$1" <<<"$output" || {
		echo "does not hold: $1"
		echo "$output"
		return 1
	}
}

@test "a file: rate, windows, the mount that it is on, and how often it was read" {
	head -c 1M /dev/urandom >"$dir/data"
	run --separate-stderr "$bench" storage_read --path "$dir/data" --budget 200 --size 64K
	# a disk that others keep busy may give less than the file in that time
	holds '.result == "measured" and .unit == "B/s" and .value > 0 and .bytes >= 65536'
	holds '.size == 65536 and .depth == 16 and .file_size == 1048576 and .windows >= 1'
	holds ".type == \"$(findmnt -no FSTYPE -T "$dir")\""
	holds '(.bytes > .file_size) == ((.note // "") | test("^the file was read [0-9.]+ times over, so that a cache of the server"))'
}

@test "requests of another size and number" {
	head -c 1M /dev/urandom >"$dir/data"
	run --separate-stderr "$bench" storage_read --path "$dir/data" --budget 50 --size 16K --depth 3
	holds '.result == "measured" and .size == 16384 and .depth == 3 and .bytes % 16384 == 0'
	run "$bench" storage_read --path "$dir/data" --size 5K
	holds '.result == "cannot measure" and (.reason | test("5120 is not a multiple of 4K"))'
}

@test "what the requests took: the median, the slowest of a hundred and the slowest of all" {
	head -c 4M /dev/urandom >"$dir/data"
	run --separate-stderr "$bench" storage_read --path "$dir/data" --budget 100 --size 64K --depth 4
	holds '.result == "measured" and .p50 > 0 and .p50 <= .p99 and .p99 <= .max'
	# no longer than all of them together, which were four at once
	holds '.p50 * .bytes / .size / 8 <= (.windows_ms + 1) * 1000000 and .max <= (.windows_ms + 1) * 1000000'
}

@test "each boot begins at another place of the file, all runs of a boot at the same" {
	local offsets=()
	head -c 32M /dev/urandom >"$dir/data"
	for boot in 1 2 3 4 1; do # bound over the kernel's, in namespaces of their own
		echo "$boot-5d5e-4c66-9a7b-2f6d1e8c9b10" >"$dir/boot"
		run --separate-stderr unshare -m sh -ec '
			mount --make-rprivate /
			mount --bind "$1" /proc/sys/kernel/random/boot_id
			shift
			exec "$@"' sh "$dir/boot" "$bench" storage_read --path "$dir/data" --budget 20 --size 64K
		holds '.result == "measured" and .offset % 65536 == 0 and .offset < 33554432'
		offsets+=("$(jq .offset <<<"$output")")
	done
	[ "${offsets[0]}" = "${offsets[4]}" ]
	[ "$(printf '%s\n' "${offsets[@]}" | sort -u | wc -l)" = 4 ]
}

@test "a run is repeated where it began; a place that the file has not is named" {
	head -c 1M /dev/urandom >"$dir/data"
	run --separate-stderr "$bench" storage_read --path "$dir/data" --budget 20 --size 64K --offset 131072
	holds '.result == "measured" and .offset == 131072'
	for offset in 65535 1048576; do
		run --separate-stderr "$bench" storage_read --path "$dir/data" --size 64K --offset "$offset"
		holds ".result == \"cannot measure\" and (.reason | test(\"^--offset: $offset is not a multiple of 65536, .* within the file\"))"
	done
	# of one request there is no choice
	run --separate-stderr "$bench" storage_read --path "$dir/data" --budget 20 --size 1M
	holds '.result == "measured" and .offset == 0'
}

@test "what can't be read is named, with what to do" {
	run "$bench" storage_read --path "$dir"
	holds '.result == "cannot measure" and (.reason | test("is a directory; write a file of some GiB into it"))'
	run "$bench" storage_read --path "$dir/none"
	holds '.result == "cannot measure" and (.reason | test("/none does not exist; write a file"))'
	echo short >"$dir/short"
	run "$bench" storage_read --path "$dir/short"
	holds '.result == "cannot measure" and (.reason | test("has 6 bytes, fewer than a request"))'
	mkfifo "$dir/fifo"
	run "$bench" storage_read --path "$dir/fifo"
	holds '.result == "cannot measure" and (.reason | test("is neither a file nor a block device"))'
	head -c 2M /dev/zero >"$BATS_TEST_TMPDIR/data" # the sandbox's /tmp is memory
	run "$bench" storage_read --path "$BATS_TEST_TMPDIR/data"
	holds '.result == "cannot measure" and (.reason | test("tmpfs|O_DIRECT"))'
}

@test "a file that holds nothing is no measure of the disk" {
	truncate -s 64M "$dir/none"
	fallocate -l 64M "$dir/allocated"
	head -c 4M /dev/urandom >"$dir/part"
	truncate -s 64M "$dir/part"
	for name in none:0 allocated:0 part:4; do
		run "$bench" storage_read --path "$dir/${name%:*}" --budget 50
		holds '.result == "cannot measure"'
		holds ".reason | test(\"is sparse: ${name#*:} of its 64 MiB hold data, .* write the file whole\")"
	done
	head -c 64M /dev/urandom >"$dir/whole" # one hole of 64K in it is no matter
	dd if=/dev/zero of="$dir/whole" bs=64K count=1 seek=100 conv=notrunc status=none
	fallocate -p -o 6553600 -l 65536 "$dir/whole"
	run "$bench" storage_read --path "$dir/whole" --budget 50
	holds '.result == "measured"'
}

@test "a mount that has not come is waited for; a missing file on one that has is not" {
	run "$bench" storage_read --path "$dir/none" --mount "$dir"
	holds '.result == "not yet" and (.reason | test("nothing is mounted on .* yet"))'
	run "$bench" storage_read --path /no-such-file --mount /
	holds '.result == "cannot measure" and (.reason | test("/no-such-file does not exist"))'
}

@test "another transport than was asked for is a cause; of a local file there is none" {
	head -c 2M /dev/zero >"$dir/data"
	run "$bench" storage_read --path "$dir/data" --budget 50 --transport rdma
	holds '.result == "measured" and (.transport != null or .cause == null)'
}

@test "the gate records what requests took, and judges it where the profile has a threshold" {
	. "$BATS_TEST_DIRNAME/lib/fakenode.bash"
	gate_need
	root=$dir/root gate_out=$dir/out
	fake_node "$root"
	head -c 4M /dev/urandom >"$dir/data"
	profile "$root" site <<-Y
		schema: 1
		name: site
		match: {dmi: {sys_vendor: Supermicro}}
		gate:
		  checks:
		    told: {run: storage_read, path: $dir/data, min: 1MB/s, timeout: 20s}
		    fine: {run: storage_read, path: $dir/data, min: 1MB/s, p50: 20000ms, p99: 20000ms, max: 20000ms, timeout: 20s}
		    late: {run: storage_read, path: $dir/data, min: 1MB/s, p99: 1ns, timeout: 20s}
	Y
	status=0
	gate --root "$root" || status=$?
	[ "$status" -eq 7 ]
	measured "gate/told$dir/data" same
	measured "gate/fine$dir/data" same
	measured "gate/late$dir/data" slow "p99 measured [0-9.]+ [mun]s, required at most 1ns"
	jq -e '[.measurements[].readings | keys == ["max", "min", "p50", "p99"]] | all' "$gate_out"
}

@test "a server that never answers costs its deadline, and the other checks nothing" {
	. "$BATS_TEST_DIRNAME/lib/simnode.bash"
	. "$BATS_TEST_DIRNAME/lib/clock.bash"
	sim_need
	gate_need
	sim=$dir/sim
	gate_out=$dir/out
	mkdir -p "$sim"
	sim_tree "$sim"
	mkdir -p "$sim/node/mnt/data"
	head -c 4M /dev/zero >"$sim/node/mnt/data/file"
	sim_start <<<"at /mnt/data/file read hang"
	sim_profile <<Y
gate:
  budget: 240s
  checks:
    data: {run: storage_read, path: $root/mnt/data/file, min: 1MB/s, timeout: 100s}
    here: {run: storage_read, path: $bench, size: 4K, min: 1MB/s, timeout: 200s}
Y
	status=0
	pass_when 100000 sim_wait "hang "
	on_clock gate --root "$root" || status=$?
	[ "$status" -eq 7 ]
	measured "gate/data$root/mnt/data/file" failed \
		"no result, killed, but did not end; abandoned .waits in the kernel: [a-z]"
	measured "gate/here$bench" same
}
