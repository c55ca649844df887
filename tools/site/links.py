#!/usr/bin/env python3
"""Checks that every link of a site leads somewhere: files, and the places in them.

  links.py FOLDER        check the site in this folder
  links.py --self-test   prove on made-up pages that each kind of broken link is found

Links to other sites are not followed; only their form is looked at. Fails as well where there is no page or no link.
"""

import html.parser
import os
import sys
import tempfile
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links of a page, and the places in it that can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        with open(path, encoding='utf-8', errors='replace') as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if values.get('id'):
            self.places.add(values['id'])
        if tag == 'a' and values.get('name'):
            self.places.add(values['name'])
        for name in ('href', 'src', 'data-md-source'):
            if values.get(name):
                self.links.append(values[name])


def pages_of(folder):
    """Pages by path."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.endswith('.html'):
                found[os.path.join(parent, name)] = Page(os.path.join(parent, name))
    return found


def problem_of(link, path, pages, folder):
    """What is wrong with a link of the page at a path, or None."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme in ('http', 'https'):
        return None if parts.netloc else 'no host'
    if parts.scheme in ('mailto', 'data', 'javascript'):
        return None
    if parts.scheme:
        return 'unknown scheme'
    target = path
    if parts.path:
        name = urllib.parse.unquote(parts.path)
        above = folder if name.startswith('/') else os.path.dirname(path)
        target = os.path.normpath(os.path.join(above, name.lstrip('/')))
        if os.path.isdir(target):
            target = os.path.join(target, 'index.html')
        if not os.path.exists(target):
            return 'no such file'
    place = urllib.parse.unquote(parts.fragment)
    if place and target in pages and place not in pages[target].places and place != '__top':
        return 'no such place in the file'
    return None


def check(folder):
    """(problems, number of links)."""
    pages = pages_of(folder)
    problems, links = [], 0
    for path, page in sorted(pages.items()):
        # What a server shows for a wrong address has links from its root.
        if os.path.basename(path) == '404.html':
            continue
        for link in page.links:
            links += 1
            problem = problem_of(link, path, pages, folder)
            if problem:
                problems.append('%s: %s: %s' % (os.path.relpath(path, folder), link, problem))
    if not links:
        problems.append('nothing was looked at: no links in %s' % folder)
    return sorted(set(problems)), links


def self_test():
    """Small sites, each with one broken link or none."""
    cases = [('<a href="b.html#here">', 0), ('<a href="c.html">', 1), ('<a href="b.html#there">', 1),
             ('<img src="x.png">', 1), ('<a href="https:///x">', 1), ('<a href="odd:x">', 1), ('', 1),
             ('<a href="https://example.org/#x">', 0)]
    right = 0
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (('a.html', text), ('b.html', '<p id="here">')):
                with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                    file.write(content)
            right += len(check(folder)[0]) == expected
    print('self-test: %d of %d cases right' % (right, len(cases)))
    return 0 if right == len(cases) else 1


def main(arguments):
    """The command."""
    if arguments == ['--self-test']:
        return self_test()
    if len(arguments) != 1 or arguments[0].startswith('-'):
        sys.stderr.write(__doc__)
        return 2
    problems, links = check(arguments[0])
    for problem in problems:
        print(problem)
    print('%d links looked at, %d problems' % (links, len(problems)))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
