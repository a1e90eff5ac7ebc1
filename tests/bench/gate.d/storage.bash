# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Reads of storage: ours against fio, both past the page cache, of one file in requests of 1M of
# which 16 are under way. The file of STORAGE_MIB=256 is below build/, and is removed.

fio_of() { jq ".jobs[0].read.$1" "$work/fio.out"; }

# shellcheck disable=SC2154 # refs and rounds are the frame's
part_storage() {
  local file=$refs/storage.data mib=${STORAGE_MIB:-256} i key
  note "storage: a file of $mib MiB on $(findmnt -no FSTYPE -T "$refs"), requests of 1M, 16 at once." \
    "Ours has a thread each and is the median of windows of 16 requests a thread or so, from" \
    "another place of the file in each boot; fio (libaio, 3 s) is the mean of its run from the" \
    "file's begin. Times are of whole requests, from before their submission."
  head_line
  have fio fio || return 0
  head -c "${mib}M" /dev/urandom >"$file"
  trap 'rm -rf "$work" "$refs/storage.data"' EXIT
  for ((i = 0; i < rounds; i++)); do
    peer fio fio --name=peer --filename="$file" --readonly --rw=read --direct=1 --bs=1M \
      --ioengine=libaio --iodepth=16 --time_based --runtime=3 --lat_percentiles=1 \
      --clat_percentiles=0 --percentile_list=50:99 --output-format=json
    ours storage storage_read --path "$file"
    figures rate "$(jq .value "$work/storage.out")" "$(fio_of bw_bytes)"
    for key in 50 99; do
      figures p$key "$(jq ".p$key" "$work/storage.out")" "$(fio_of "lat_ns.percentile[\"$key.000000\"]")"
    done
  done
  row rate "rate / fio" higher GB/s 1e9 storage fio
  row p50 "p50 / fio's" - ms 1e6
  row p99 "p99 / fio's" - ms 1e6
}
