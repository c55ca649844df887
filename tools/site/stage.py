#!/usr/bin/env python3
"""Puts together the pages that mkdocs makes a site of.

  stage.py ROOT STAGE

All of docs/ goes there, README.md and CONTRIBUTING.md as pages, and the list of decisions, which has to name each of them. Links to files
outside of docs/ lead to the API reference, for public headers, or to a copy of the file below sources/.
"""

import glob
import os
import re
import shutil
import sys

LINK = re.compile(r'(\]\()([^)#\s]*)(#[^)\s]*)?(\))')
PAGES = {'README.md': 'readme.md', 'CONTRIBUTING.md': 'contributing.md', 'docs/decisions/README.md': 'decisions.md'}


class Stage:
    """A folder that is filled with pages and what they link to."""

    def __init__(self, root, folder):
        self.root = root
        self.folder = folder

    def target_of(self, target, page):
        """Where a link of a page of the tree leads, as a path from the top of the tree."""
        return os.path.normpath(os.path.join(os.path.dirname(page), target))

    def place_of(self, path):
        """Where a path of the tree is on the site; what is linked and no page is copied."""
        if path in PAGES:
            return PAGES[path]
        if path == 'docs/decisions':
            return 'decisions.md'
        if path == 'docs' or path.startswith('docs/'):
            return path[5:]
        if path == 'include/miodb':
            return 'api/index.html'
        header = re.match(r'include/miodb/(\w+)\.h$', path)
        if header:
            return 'api/%s_8h.html' % header.group(1).replace('_', '__')
        source = os.path.join(self.root, path)
        place = os.path.join('sources', path)
        if os.path.isdir(source):
            place += '/index.txt'
            self.write(place, ''.join(name + '\n' for name in sorted(os.listdir(source))))
        elif os.path.exists(source):
            place += '' if os.path.splitext(path)[1] in ('.txt', '.html', '.svg') else '.txt'
            with open(source, encoding='utf-8', errors='replace') as file:
                self.write(place, file.read())
        return place

    def write(self, place, text):
        """One file of the site's sources."""
        path = os.path.join(self.folder, place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def relinked(self, text, page):
        """A page with its links as they are on the site."""
        here = os.path.dirname(self.place_of(page))

        def replaced(match):
            target = match.group(2)
            if not target or re.match(r'[a-z]+:', target):
                return match.group(0)
            place = os.path.relpath(self.place_of(self.target_of(target, page)), here or '.')
            return match.group(1) + place + (match.group(3) or '') + match.group(4)
        return LINK.sub(replaced, text)

    def add_page(self, page):
        """One Markdown page of the tree."""
        with open(os.path.join(self.root, page), encoding='utf-8') as file:
            self.write(self.place_of(page), self.relinked(file.read(), page))

    def fill(self):
        """Everything."""
        docs = os.path.join(self.root, 'docs')
        for path in sorted(glob.glob(os.path.join(docs, '**', '*'), recursive=True)):
            page = os.path.relpath(path, self.root)
            if path.endswith('.md'):
                self.add_page(page)
            elif os.path.isfile(path):
                os.makedirs(os.path.dirname(os.path.join(self.folder, self.place_of(page))), exist_ok=True)
                shutil.copyfile(path, os.path.join(self.folder, self.place_of(page)))
        for page in PAGES:
            self.add_page(page)
        shutil.copyfile(os.path.join(self.root, 'tools', 'site', 'palette.css'), os.path.join(self.folder, 'palette.css'))
        with open(os.path.join(docs, 'decisions', 'README.md'), encoding='utf-8') as file:
            listed = file.read()
        for path in sorted(glob.glob(os.path.join(docs, 'decisions', '[0-9]*.md'))):
            if '(%s)' % os.path.basename(path) not in listed:
                sys.exit('docs/decisions/README.md does not list ' + os.path.basename(path))


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Stage(sys.argv[1], sys.argv[2]).fill()
