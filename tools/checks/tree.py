"""The files of the tree, for the checks beside this one."""

import os
import subprocess


def tree_files(root, suffixes=''):
    """All files of the tree whose names end so, relative to root, sorted; what git ignores is left out."""
    if os.path.exists(os.path.join(root, '.git')):
        git = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], cwd=root,
                             stdout=subprocess.PIPE, universal_newlines=True)
        if git.returncode == 0:
            return sorted(p for p in git.stdout.splitlines()
                          if p.endswith(suffixes) and os.path.isfile(os.path.join(root, p)))
    paths = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [s for s in subfolders if s not in ('.git', '.cache') and not s.startswith('build')]
        paths += [os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith(suffixes)]
    return sorted(paths)
