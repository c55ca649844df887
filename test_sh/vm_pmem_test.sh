#!/usr/bin/env bash
# Runs MioDB on persistent memory, CXL memory and NUMA nodes of virtual machines, and cuts their power.
#
#   test_sh/vm_pmem_test.sh [--build=FOLDER] [--log=FILE] [--machine=NAME] [--accel=NAME] [--seconds=N]
#                          [--keep]
#
#   --build=FOLDER   programs of this build folder (build)
#   --log=FILE       also write what is shown to this file
#   --machine=NAME   nvdimm or cxl: only this one (both)
#   --accel=NAME     tcg: emulate the processor, which every machine can; kvm: use its virtualization (tcg)
#   --seconds=N      the longest that one boot may take (240)
#   --keep           keep the scratch folder: images, consoles of every boot
#   --help           this text
#
# It installs what it needs (qemu, Debian's kernel, busybox, ndctl, daxctl, mkfs.ext4) where it may. The first machine
# has two nodes with a CPU each, one without CPUs, and two nvdimms, one on the second node and one, the first that Linux
# finds, on the latter, whose files outlive it: a killed machine is a power cut. It boots six times:
#
#   1 fsdax: pmem_setup.sh makes a namespace with ext4 -o dax; a database that insists on MAP_SYNC; its node verified, a
#     wrong one refused; tmpfs on the node without CPUs, which overflows into the next one; a pool of two regions on two
#     nodes; hugetlbfs; then writes until the machine is killed
#   2 every acknowledged put is there; again writes until it is killed
#   3 the same; then devdax: a database on the character device, written until the machine is killed
#   4 every acknowledged put is there, on the device too; then a pool of two regions, a small file on fsdax and the
#     whole device, each on its node, written until the machine is killed
#   5 every acknowledged put is there, though the region is not named; then a volatile pool on the node without CPUs, in
#     front of an SSD tier and log files on fsdax, written until the machine is killed
#   6 every put that was acknowledged with a sync is there; pmem_teardown.sh takes the namespaces away
#
# The second machine has two CXL memory devices in place of the nvdimms, each behind a host bridge and a window of its
# own. It boots three times:
#
#   7 makes a region of each device; fsdax with ext4 on one, devdax on the other; a database that insists on MAP_SYNC;
#     then one on the character device, written until the machine is killed
#   8 makes the regions again, where they were; every acknowledged put is there; then the second device is system memory,
#     a NUMA node without CPUs: tmpfs on that node, a wrong node refused, and a volatile pool on the node in front of an
#     SSD tier and log files on fsdax, written until the machine is killed
#   9 every put that was acknowledged with a sync is there; pmem_teardown.sh takes the namespaces away
#
# Takes a few minutes and 4 GiB of memory and scratch space. Exit status 0: everything held.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
exit_on_signals

build_folder=build
log_file=""
boot_seconds=240
machine=both
accel=tcg
keep=false
while (($# > 0)); do
  take_option "--keep" "$@"
  case $option in
    --build) build_folder=$value ;;
    --log) log_file=$value ;;
    --machine)
      [[ $value =~ ^(nvdimm|cxl|both)$ ]] || die "--machine=$value: nvdimm, cxl or both"
      machine=$value
      ;;
    --accel) accel=$value ;;
    --seconds)
      [[ $value =~ ^[1-9][0-9]{0,5}$ ]] || die "--seconds=$value: not a number of seconds"
      boot_seconds=$value
      ;;
    --keep) keep=true ;;
    *) die "unknown argument $1; see --help" ;;
  esac
  shift "$option_words"
done

puts_before_cut=30000

tell() {
  say "$*"
  if [[ -n $log_file ]]; then say "$*" >>"$log_file"; fi
}

install_tools() {
  local missing=() package command
  for package in qemu-system-x86:qemu-system-x86_64 busybox-static:busybox ndctl:ndctl daxctl:daxctl e2fsprogs:mkfs.ext4 \
    kmod:depmod cpio:cpio; do
    command=${package#*:}
    command -v "$command" >/dev/null || missing+=("${package%%:*}")
  done
  compgen -G "/boot/vmlinuz-*-amd64" >/dev/null || missing+=(linux-image-amd64)
  if ((${#missing[@]} == 0)); then return; fi
  [[ $(id -u) == 0 ]] || die "install ${missing[*]}, or run this as root"
  say "Installing ${missing[*]}"
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null </dev/null
}

# copy_program FILE: the program and its libraries into the initramfs.
copy_program() {
  local library
  install -D "$1" "$scratch/root/bin/$(basename "$1")"
  # A static program has none.
  { ldd "$1" 2>/dev/null | grep -o '/[^ ]*' || true; } | while read -r library; do
    install -D "$library" "$scratch/root$library"
  done
}

make_initramfs() {
  local version=$1 module file program
  local modules="libnvdimm nfit nd_pmem dax_pmem device_dax kmem cxl_acpi cxl_pci cxl_mem cxl_pmem ext4 crc32c_generic"
  mkdir -p "$scratch/root"/{bin,dev,proc,sys,tmp,pmem,etc}
  copy_program "$(command -v busybox)"
  for program in ndctl daxctl mkfs.ext4 bash findmnt blkid; do copy_program "$(command -v "$program")"; done
  copy_program "$power_cut"
  mkdir -p "$scratch/root/miodb" "$scratch/root/usr/bin"
  cp -r "$MIODB_ROOT/test_sh" "$scratch/root/miodb/"
  ln -s /bin/env "$scratch/root/usr/bin/env"
  for module in $modules; do
    # A line of modules.dep names a module and all that it needs.
    grep "/$module.ko:" "/lib/modules/$version/modules.dep" | tr -d ':' | tr ' ' '\n'
  done | sort -u | while read -r file; do
    install -D -m 644 "/lib/modules/$version/$file" "$scratch/root/lib/modules/$version/$file"
  done
  cp "/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$scratch/root/lib/modules/$version/"
  depmod -b "$scratch/root" "$version"
  guest_script >"$scratch/root/init"
  chmod +x "$scratch/root/init"
  (cd "$scratch/root" && find . | cpio --quiet -o -H newc | gzip -1) >"$scratch/initramfs"
}

# What runs inside. The kernel's command line says which boot it is and how many puts were acknowledged before.
guest_script() {
  cat <<'GUEST'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
for word in $(cat /proc/cmdline); do
  case $word in vm_*) eval "$word" ;; esac
done
for module in nd_pmem dax_pmem device_dax crc32c_generic ext4 $(echo $vm_modules | tr , ' '); do
  modprobe $module || echo "vm: no module $module"
done

# end STATUS: says how it went, and off.
end() {
  echo "vm: exit $1"
  sync
  poweroff -f
}
must() {
  echo "vm: $*"
  "$@" || end 1
}
# refuses WORDS...: the command after -- fails, and says these words.
refuses() {
  words=$1
  shift
  echo "vm: $* # must fail"
  "$@" >/refusal 2>&1 && end 1
  cat /refusal
  grep -q "$words" /refusal || end 1
}

tear_down() {
  must /miodb/test_sh/pmem_teardown.sh --mount=/pmem --region=region0
  must /miodb/test_sh/pmem_teardown.sh --region=region1
  must ndctl list --namespaces
}

# cxl_region NUMBER: a region over the whole memory device behind the window of this number, at the window's begin. Linux
# 6.1 keeps no region when it is switched off, and takes the labels in it for those of the region with its UUID, which
# cxl-create-region of ndctl 76 cannot name.
cxl_region() {
  cxl=/sys/bus/cxl/devices
  window=$cxl/decoder0.$1
  bridge=$(printf 'pci0000:%02x' "$(cat $window/target_list)")
  for memory in $cxl/mem*; do
    case $(readlink -f $memory) in */$bridge/*) break ;; esac
  done
  memory=$(basename $memory)
  for endpoint in $cxl/endpoint*; do [ "$(basename $(readlink $endpoint/uport))" = "$memory" ] && break; done
  decoder=$(basename $endpoint/decoder*.0)
  bytes=$(($(cat $cxl/$memory/pmem/size)))
  region=$(cat $window/create_pmem_region)
  echo "vm: $region is window $1 over $memory of $bytes bytes"
  echo $region >$window/create_pmem_region
  echo 00000000-0000-4000-8000-00000000000$1 >$cxl/$region/uuid
  echo 1024 >$cxl/$region/interleave_granularity
  echo 1 >$cxl/$region/interleave_ways
  echo $bytes >$cxl/$region/size
  echo pmem >$cxl/$decoder/mode
  echo $bytes >$cxl/$decoder/dpa_size
  echo $decoder >$cxl/$region/target0
  echo 1 >$cxl/$region/commit
  must test "$(cat $cxl/$region/commit)" = 1
  echo $region >/sys/bus/cxl/drivers/cxl_region/bind || end 1
}

echo "vm: boot $vm_boot, nodes $(cat /sys/devices/system/node/online), with CPUs $(cat /sys/devices/system/node/has_cpu)"
if [ "$vm_boot" -ge 7 ]; then
  for i in 1 2 3 4 5 6 7 8 9 10; do [ -e /sys/bus/cxl/devices/endpoint4 ] && break; sleep 1; done
  cxl_region 0
  cxl_region 1
fi
for i in 1 2 3 4 5 6 7 8 9 10; do [ -e /sys/bus/nd/devices/region1 ] && break; sleep 1; done
ls /sys/bus/nd/devices/

if [ "$vm_boot" = 1 ] || [ "$vm_boot" = 7 ]; then
  # New nvdimms have an empty label area, and then one namespace over everything.
  must ndctl disable-region all
  must ndctl init-labels all
  must ndctl enable-region all
fi
# Made in the first boot, found again later.
must /miodb/test_sh/pmem_setup.sh --region=region0 --mode=fsdax --mount=/pmem
must /miodb/test_sh/pmem_setup.sh --region=region1 --mode=devdax
mount | grep pmem
echo "vm: region0 is of node $(cat /sys/bus/nd/devices/region0/numa_node), its memory of $(cat /sys/bus/nd/devices/region0/target_node)"

case $vm_boot in
  1)
    must power_cut_main fill /pmem/look 1
    must power_cut_main destroy /pmem/look
    refuses "no such NUMA node; there is node 0" power_cut_main fill /pmem/db 1 nvm_node=7
    refuses "nvm_node is 0, but its memory lies on node 2" power_cut_main fill /pmem/db 1 nvm_node=0
    mkdir /tmp/plain
    refuses "cannot map persistent memory with MAP_SYNC" power_cut_main fill /tmp/plain/db 1 persist_mode=pmem
    # tmpfs, bound to the node without CPUs; more than it has left goes to the next node, or fails.
    free=$(awk '/MemFree/ { print $4 }' /sys/devices/system/node/node2/meminfo)
    echo "vm: node 2 has $free KiB free"
    mkdir /tmp/numa
    mount -t tmpfs -o size=2g numa /tmp/numa
    must power_cut_main fill /tmp/numa/db $((64 << 20)) dram_node=1 nvm_node=2
    must power_cut_main destroy /tmp/numa/db
    refuses "NUMA node 2 has" power_cut_main fill /tmp/numa/db $((free * 1024 + (64 << 20))) nvm_node=2
    rm -r /tmp/numa/db
    must power_cut_main fill /tmp/numa/db $((free * 1024 + (32 << 20))) nvm_node=2 nvm_next_node=1
    rm -r /tmp/numa/db
    # Two regions on two nodes: the first is small, the second takes what it has no room for.
    must power_cut_main fill /tmp/numa/db $((64 << 20)) pool_size=$((32 << 20)) nvm_node=2 region=/tmp/numa/second:$((256 << 20)):1
    must power_cut_main fill /tmp/numa/db $((80 << 20)) nvm_node=2
    refuses "nvm_regions\[0\].node is 7" power_cut_main fill /tmp/numa/db 1 region=/tmp/numa/third:0:7
    refuses "is not empty and no region of this pool" power_cut_main fill /tmp/numa/db 1 region=/init
    must mv /tmp/numa/second /tmp/away
    refuses "region 1 (uuid .* is missing" power_cut_main fill /tmp/numa/db 1
    must mv /tmp/away /tmp/numa/moved
    must power_cut_main fill /tmp/numa/db 1 region=/tmp/numa/second::1
    must power_cut_main destroy /tmp/numa/db
    must test ! -e /tmp/numa/moved
    umount /tmp/numa
    # hugetlbfs: pages that node 1 keeps.
    echo 32 >/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages
    mkdir /tmp/huge
    mount -t hugetlbfs -o pagesize=2M huge /tmp/huge
    must power_cut_main fill /tmp/hugedb $((16 << 20)) pool_path=/tmp/huge/pool nvm_node=1
    must power_cut_main fill /tmp/hugedb $((20 << 20)) pool_path=/tmp/huge/pool nvm_node=1
    refuses "NUMA node 1 has" power_cut_main fill /tmp/hugedb $((80 << 20)) pool_path=/tmp/huge/pool nvm_node=1
    must power_cut_main destroy /tmp/hugedb pool_path=/tmp/huge/pool
    umount /tmp/huge
    echo 0 >/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages
    must power_cut_main write /pmem/db persist_mode=pmem nvm_node=2 dram_node=0
    ;;
  2)
    must power_cut_main verify /pmem/db "$vm_acknowledged" persist_mode=pmem
    must power_cut_main write /pmem/db persist_mode=pmem nvm_node=2
    ;;
  3)
    must power_cut_main verify /pmem/db "$vm_acknowledged" persist_mode=pmem
    must power_cut_main write /pmem/devdb persist_mode=pmem nvm_node=1 pool_path=/dev/dax1.0
    ;;
  4)
    must power_cut_main verify /pmem/db 1 persist_mode=pmem
    must power_cut_main verify /pmem/devdb "$vm_acknowledged" persist_mode=pmem pool_path=/dev/dax1.0
    must power_cut_main destroy /pmem/devdb pool_path=/dev/dax1.0
    must power_cut_main fill /pmem/devdb $((8 << 20)) pool_path=/dev/dax1.0
    must power_cut_main destroy /pmem/devdb pool_path=/dev/dax1.0
    refuses "nvm_node is 2, but its memory lies on node 1" power_cut_main fill /pmem/two 1 region=/dev/dax1.0::2
    must power_cut_main write /pmem/two persist_mode=pmem pool_size=$((8 << 20)) nvm_node=2 region=/dev/dax1.0::1
    ;;
  5)
    must power_cut_main verify /pmem/two "$vm_acknowledged" persist_mode=pmem nvm_node=2
    must power_cut_main destroy /pmem/two
    refuses "log_mode has to be kLogOff" power_cut_main fill /pmem/soft 1 pool_path=anonymous
    refuses "no such NUMA node" power_cut_main fill /pmem/soft 1 pool_path=anonymous nvm_node=7 ssd_path=/pmem/ssd
    must power_cut_main write /pmem/soft pool_path=anonymous nvm_node=2 pool_size=$((8 << 20)) ssd_path=/pmem/ssd
    ;;
  6)
    must power_cut_main verify /pmem/soft "$vm_acknowledged" pool_path=anonymous nvm_node=2 ssd_path=/pmem/ssd
    must power_cut_main destroy /pmem/soft pool_path=anonymous ssd_path=/pmem/ssd
    tear_down
    ;;
  7)
    must power_cut_main fill /pmem/look $((8 << 20)) persist_mode=pmem
    must power_cut_main destroy /pmem/look
    # Its node has no memory of its own before it is system memory.
    refuses "no such NUMA node; there is node 0" power_cut_main fill /pmem/db 1 nvm_node=3 pool_path=/dev/dax1.0
    must power_cut_main write /pmem/db persist_mode=pmem pool_path=/dev/dax1.0
    ;;
  8)
    must power_cut_main verify /pmem/db "$vm_acknowledged" persist_mode=pmem pool_path=/dev/dax1.0
    must power_cut_main destroy /pmem/db pool_path=/dev/dax1.0
    must /miodb/test_sh/pmem_setup.sh --region=region1 --mode=system-ram
    node=$(cat /sys/bus/nd/devices/region1/target_node)
    echo "vm: node $node of $(cat /sys/devices/system/node/online), with CPUs $(cat /sys/devices/system/node/has_cpu)"
    mkdir /tmp/numa
    mount -t tmpfs -o size=64m numa /tmp/numa
    must power_cut_main fill /tmp/numa/db $((16 << 20)) nvm_node="$node"
    refuses "nvm_node is 1, but its memory lies on node $node" power_cut_main fill /tmp/numa/db 1 nvm_node=1
    must power_cut_main destroy /tmp/numa/db
    umount /tmp/numa
    must power_cut_main write /pmem/soft pool_path=anonymous nvm_node="$node" pool_size=$((8 << 20)) ssd_path=/pmem/ssd
    ;;
  9)
    must power_cut_main verify /pmem/soft "$vm_acknowledged" pool_path=anonymous ssd_path=/pmem/ssd
    must power_cut_main destroy /pmem/soft pool_path=anonymous ssd_path=/pmem/ssd
    tear_down
    ;;
esac
end 0
GUEST
}

# acknowledged_in CONSOLE: how many puts the last whole line says.
acknowledged_in() { { tr -d '\r' <"$1" | grep -o 'acknowledged [0-9]* *$' || true; } | tail -n 1 | grep -o '[0-9]*' || say 0; }

# Sets what the machines have, under nvdimms and cxl_devices.
describe_machines() {
  # 2 MiB of each nvdimm are its label area.
  nvdimms=(
    -machine "pc,nvdimm=on"
    -object "memory-backend-ram,id=m0,size=512M" -numa "node,nodeid=0,cpus=0,memdev=m0"
    -object "memory-backend-ram,id=m1,size=640M" -numa "node,nodeid=1,cpus=1,memdev=m1"
    -object "memory-backend-ram,id=m2,size=384M" -numa "node,nodeid=2,memdev=m2"
    -object "memory-backend-file,id=n1,share=on,mem-path=$scratch/nvdimm1,size=514M"
    -object "memory-backend-file,id=n2,share=on,mem-path=$scratch/nvdimm2,size=258M"
    -device "nvdimm,id=nv1,memdev=n1,label-size=2M,node=1" -device "nvdimm,id=nv2,memdev=n2,label-size=2M,node=2"
  )
  # qemu 7.2 has one decoder a host bridge, and none that works where the bridge has a single port.
  cxl_devices=(
    -machine "q35,cxl=on,cxl-fmw.0.targets.0=bridge0,cxl-fmw.0.size=4G,cxl-fmw.1.targets.0=bridge1,cxl-fmw.1.size=4G"
    -object "memory-backend-ram,id=m0,size=768M" -numa "node,nodeid=0,cpus=0,memdev=m0"
    -object "memory-backend-ram,id=m1,size=768M" -numa "node,nodeid=1,cpus=1,memdev=m1"
  )
  local i
  for i in 0 1; do
    cxl_devices+=(
      -object "memory-backend-file,id=c$i,share=on,mem-path=$scratch/cxl$i,size=512M"
      -object "memory-backend-file,id=l$i,share=on,mem-path=$scratch/labels$i,size=1M"
      -device "pxb-cxl,id=bridge$i,bus=pcie.0,bus_nr=$((32 * i + 32))"
      -device "cxl-rp,id=port$i,bus=bridge$i,port=0,chassis=$i,slot=2"
      -device "cxl-rp,id=unused$i,bus=bridge$i,port=1,chassis=$i,slot=3"
      -device "cxl-type3,id=cxl$i,bus=port$i,memdev=c$i,lsa=l$i,sn=$((i + 1))"
    )
  done
}

# boot NUMBER ACKNOWLEDGED [PUTS]: runs the machine until it is off, or if PUTS is given until so many were acknowledged,
# and kills it then. Sets acknowledged.
boot() {
  local console="$scratch/console$1" pid waited=0 status
  local hardware=("${nvdimms[@]}") modules=nfit
  if (($1 >= 7)); then
    hardware=("${cxl_devices[@]}")
    modules=cxl_acpi,cxl_pci,cxl_mem,cxl_pmem
  fi
  qemu-system-x86_64 -accel "$accel" -cpu max -smp 2 -m 1536M,slots=4,maxmem=8G "${hardware[@]}" \
    -kernel "/boot/vmlinuz-$kernel" -initrd "$scratch/initramfs" -no-reboot -display none -monitor none \
    -serial "file:$console" -append "console=ttyS0 panic=-1 quiet vm_boot=$1 vm_acknowledged=$2 vm_modules=$modules" \
    </dev/null >"$scratch/qemu$1" 2>&1 &
  pid=$!
  local enough=${3:-0}
  acknowledged=0
  : >"$console"
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.5
    waited=$((waited + 1))
    if ((waited > 2 * boot_seconds)); then
      kill -9 "$pid"
      show_console "$console"
      die "boot $1 took more than $boot_seconds seconds"
    fi
    if [[ -f $console ]]; then acknowledged=$(acknowledged_in "$console"); fi
    if ((enough > 0 && acknowledged >= enough)); then
      kill -9 "$pid"
      break
    fi
  done
  wait "$pid" 2>/dev/null || true
  acknowledged=$(acknowledged_in "$console")
  show_console "$console"
  status=$({ tr -d '\r' <"$console" | grep -o '^vm: exit [0-9]*' || true; } | tail -n 1)
  if [[ -z $status ]] && ((enough > 0 && acknowledged >= enough)); then
    tell "boot $1: power cut after $acknowledged acknowledged puts, $((waited / 2)) seconds"
  elif [[ $enough == 0 && $status == "vm: exit 0" ]]; then
    tell "boot $1: done, $((waited / 2)) seconds"
  else
    tail -n 5 "$scratch/qemu$1" >&2
    die "boot $1 failed; its console is above"
  fi
}

# Without the repeated lines of writers.
show_console() {
  local line
  while IFS= read -r line; do
    tell "  $line"
  done < <(tr -d '\r' <"$1" | tr -cd '\n -~' | sed 's/ *$//' | grep -v 'power_cut: acknowledged')
}

install_tools
[[ $build_folder == /* ]] || build_folder="$MIODB_ROOT/$build_folder"
power_cut="$build_folder/tests/vm/power_cut_main"
[[ -x $power_cut ]] || die "$power_cut is not built; configure and build the tests"
kernel=$(find /boot -name 'vmlinuz-*-amd64' -printf '%f\n' | sort -V | tail -n 1)
kernel=${kernel#vmlinuz-}
scratch=$(mktemp -d "$(scratch_parent $((4 << 30)))/miodb_vm.XXXXXX")
if $keep; then say "Scratch folder: $scratch"; else trap 'rm -rf "$scratch"' EXIT; fi
if [[ -n $log_file ]]; then : >"$log_file"; fi
truncate -s 514M "$scratch/nvdimm1"
truncate -s 258M "$scratch/nvdimm2"
truncate -s 512M "$scratch/cxl0" "$scratch/cxl1"
truncate -s 1M "$scratch/labels0" "$scratch/labels1"
describe_machines
make_initramfs "$kernel"
tell "$(qemu-system-x86_64 --version | sed -n 1p), Linux $kernel, accelerator $accel"
if [[ $machine != cxl ]]; then
  boot 1 0 "$puts_before_cut"
  boot 2 "$acknowledged" $((acknowledged + puts_before_cut))
  boot 3 "$acknowledged" "$puts_before_cut"
  boot 4 "$acknowledged" "$puts_before_cut"
  boot 5 "$acknowledged" "$puts_before_cut"
  boot 6 "$acknowledged"
  tell "All held: MAP_SYNC, nodes, devdax, regions, hugetlbfs, a volatile pool, five power cuts."
fi
if [[ $machine != nvdimm ]]; then
  boot 7 0 "$puts_before_cut"
  boot 8 "$acknowledged" "$puts_before_cut"
  boot 9 "$acknowledged"
  tell "All held: regions of CXL memory, MAP_SYNC, devdax, a node without CPUs, two power cuts."
fi
