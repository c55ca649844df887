"""What an experiment needs of the machine, and whether it is there. A condition is answered by a text, why it is not
met, or by None."""

import glob
import os
import shutil
import subprocess
import time

MIB = 1 << 20


def free_bytes(folder):
    """Bytes that can be written below a folder."""
    return shutil.disk_usage(folder).free


def available_memory():
    """Bytes of memory that programs can have, or None where the system does not say."""
    try:
        with open('/proc/meminfo', encoding='utf-8') as file:
            for line in file:
                if line.startswith('MemAvailable:'):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def engine_missing(engine, options):
    """Why db_bench cannot run an engine."""
    program = os.path.join(options.bin, 'db_bench')
    if not os.access(program, os.X_OK):
        return 'no program db_bench in %s' % options.bin
    done = subprocess.run([program, '--version'], capture_output=True, text=True, check=False)
    if engine not in done.stdout:
        return 'db_bench finds no library of %s' % engine
    return None if engine == 'miodb' else no_release(program, engine)


def no_release(program, engine):
    """What db_bench says of the library of a peer if that is no release build: ratios to it would flatter. RocksDB's own
    binaries compute checksums in software."""
    done = subprocess.run([program, '--engine=' + engine, '--benchmarks=crc32c', '--num=1', '--progress_reports=false'],
                          capture_output=True, text=True, check=False)
    wrong = [' is no release build: '] + ([' computes checksums in software'] if engine == 'leveldb' else [])
    for line in done.stdout.splitlines():
        if line.startswith('WARNING: ') and any(text in line for text in wrong):
            return line[len('WARNING: '):] + '; test_sh/peers.sh brings a release build'
    return None


def dax_missing():
    """Why there is no real persistent memory."""
    if glob.glob('/sys/bus/nd/devices/namespace*'):
        return None
    return 'no persistent memory: no namespace of an nvdimm, real or virtual'


def memory_node_missing():
    """Why there is no node of slower memory. Persistent memory as RAM, and CXL memory, are nodes without CPUs."""
    for folder in glob.glob('/sys/devices/system/node/node[0-9]*'):
        with open(os.path.join(folder, 'cpulist'), encoding='utf-8') as file:
            if not file.read().strip():
                return None
    return 'no memory node without CPUs, which is how CXL and persistent memory appear'


def nodes_missing():
    """Why nothing can be placed."""
    if len(glob.glob('/sys/devices/system/node/node[0-9]*')) >= 2:
        return None
    return 'one NUMA node; placement needs two'


def busy_cpus(seconds=1.0):
    """How many CPUs other programs keep busy at the moment."""
    def ticks():
        with open('/proc/stat', encoding='utf-8') as file:
            fields = [int(word) for word in file.readline().split()[1:9]]
        return sum(fields), sum(fields[3:5])  # all, idle
    before = ticks()
    time.sleep(seconds)
    after = ticks()
    passed = after[0] - before[0]
    return (os.cpu_count() or 1) * (1 - (after[1] - before[1]) / passed) if passed > 0 else 0


def idle_missing():
    """Why threads would not have the CPUs for themselves."""
    busy = busy_cpus()
    return None if busy < 0.5 else 'other programs keep %.1f CPUs busy' % busy


def cpus_missing(count):
    """Why there are too few CPUs."""
    have = len(os.sched_getaffinity(0))
    return None if have >= count else '%d CPUs; %d are needed' % (have, count)


def unmet(need, options):
    """Why this need of an experiment is not met, or None."""
    kind, _, name = need.partition(' ')
    if kind == 'engine':
        return engine_missing(name, options)
    if kind == 'program':
        path = os.path.join(options.bin, name)
        return None if os.access(path, os.X_OK) else 'no program %s in %s' % (name, options.bin)
    if kind == 'command':
        return None if shutil.which(name) else '%s is not installed' % name
    if kind == 'cpus':
        return cpus_missing(int(name))
    known = {'idle': idle_missing, 'persistent-memory': dax_missing, 'memory-node': memory_node_missing,
             'nodes': nodes_missing}
    if kind not in known:
        raise ValueError('unknown need "%s"' % need)
    return known[kind]()


def why_not(experiment, options):
    """Why an experiment cannot be run here, or None."""
    for need in experiment['needs']:
        reason = unmet(need, options)
        if reason:
            return reason
    memory = available_memory()
    if memory is not None and memory < experiment['memory_mib'] * MIB:
        return '%d MiB of memory are free, %d are needed' % (memory // MIB, experiment['memory_mib'])
    for folder, needed in ((options.db, experiment['memory_mib']), (options.out, experiment['disk_mib'])):
        if free_bytes(folder) < needed * MIB:
            return '%s has %d MiB free, %d are needed' % (folder, free_bytes(folder) // MIB, needed)
    return None
