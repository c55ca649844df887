#!/usr/bin/env python3
"""Prints a JSON object that describes this machine and how an experiment was called, without the machine's name.

  machine.py --db FOLDER --programs TEXT --script NAME --options TEXT --memtable BYTES --scale F

FOLDER is where the databases lie: its file system is described.
"""

import argparse
import glob
import json
import os
import platform
import subprocess
import time


def read(path, default=None):
    """The stripped content of a small file of the system, or the default."""
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            return file.read().strip()
    except OSError:
        return default


def cpu_info():
    """The first values of /proc/cpuinfo by name."""
    values = {}
    for line in (read('/proc/cpuinfo') or '').splitlines():
        name, _, value = line.partition(':')
        values.setdefault(name.strip(), value.strip())
    return values


def chosen(text):
    """The word in brackets of a setting like 'always [madvise] never'."""
    if text and '[' in text:
        return text[text.index('[') + 1:text.index(']')]
    return text


def mount_of(folder):
    """File system type, mount options and mount point of a folder."""
    best = ('', 'unknown', '')
    path = os.path.realpath(folder)
    for line in (read('/proc/mounts') or '').splitlines():
        _, point, kind, options = line.split()[:4]
        point = point.replace('\\040', ' ')
        if (path == point or path.startswith(point.rstrip('/') + '/')) and len(point) >= len(best[0]):
            best = (point, kind, options)
    return {'mount_point': best[0], 'type': best[1], 'options': best[2]}


def first_line(command):
    """The first line that a command prints, or None."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


def busy_cpus():
    """How many CPUs other programs keep busy at the moment, or 0 where the system does not say."""
    def ticks():
        fields = [int(word) for word in (read('/proc/stat') or 'cpu 0 0 0 0').splitlines()[0].split()[1:9]]
        return sum(fields), sum(fields[3:5])  # all, idle
    before = ticks()
    time.sleep(0.5)
    after = ticks()
    passed, idle = after[0] - before[0], after[1] - before[1]
    return round((os.cpu_count() or 1) * (1 - idle / passed), 2) if passed > 0 else 0


def memory():
    """Totals of /proc/meminfo in MiB."""
    values = dict(line.split(':') for line in (read('/proc/meminfo') or '').splitlines() if ':' in line)
    return {name: int(values[name].split()[0]) // 1024 for name in ('MemTotal', 'MemAvailable', 'SwapTotal')
            if name in values}


def nodes():
    """NUMA nodes: their CPUs and memory in MiB. A node without CPUs is how much persistent and CXL memory appears."""
    found = {}
    for folder in sorted(glob.glob('/sys/devices/system/node/node[0-9]*')):
        total = [line.split() for line in (read(folder + '/meminfo') or '').splitlines() if 'MemTotal' in line]
        found[os.path.basename(folder)] = {'cpus': read(folder + '/cpulist', ''),
                                           'memory_mib': int(total[0][3]) // 1024 if total else 0}
    return found


def main():
    """Prints the object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('db', 'programs', 'script', 'options', 'memtable', 'scale'):
        parser.add_argument('--' + name, required=True)
    options = parser.parse_args()
    cpu = cpu_info()
    system = '/sys/devices/system/cpu/cpu0/cpufreq/'
    machine = {
        'date_utc': time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime()),
        'cpu': {
            'model': cpu.get('model name', platform.machine()),
            'count': os.cpu_count(),
            'mhz': cpu.get('cpu MHz'),
            'cache': cpu.get('cache size'),
            'governor': read(system + 'scaling_governor', 'not visible'),
            'persistent_memory_instructions': [flag for flag in ('clflush', 'clflushopt', 'clwb')
                                               if flag in cpu.get('flags', '').split()],
        },
        'memory_mib': memory(),
        'nodes': nodes(),
        'kernel': platform.system() + ' ' + platform.release(),
        'transparent_huge_pages': chosen(read('/sys/kernel/mm/transparent_hugepage/enabled')),
        'transparent_huge_pages_tmpfs': chosen(read('/sys/kernel/mm/transparent_hugepage/shmem_enabled')),
        'filesystem': mount_of(options.db),
        'load_before': read('/proc/loadavg'),
        'busy_cpus_before': busy_cpus(),
        'versions': {
            'engines': options.programs,
            'system': next((line.split('=', 1)[1].strip('"') for line in (read('/etc/os-release') or '').splitlines()
                            if line.startswith('PRETTY_NAME=')), None),
            'compiler': first_line(['c++', '--version']),
            'gnuplot': first_line(['gnuplot', '--version']),
            'revision': first_line(['git', '-C', os.path.dirname(os.path.abspath(__file__)), 'describe', '--always',
                                    '--dirty']),
        },
        'script': options.script,
        'options': options.options,
        'memtable_bytes': int(options.memtable),
        'scale': float(options.scale),
    }
    print(json.dumps(machine, indent=2))


if __name__ == '__main__':
    main()
