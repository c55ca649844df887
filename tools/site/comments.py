#!/usr/bin/env python3
"""Prints a header with its comments as doxygen wants them: "// text" in front of a declaration becomes "/// text", and
one behind it on the same line "///< text". Private parts of classes, up to the brace at the first column, are hidden.
The sources keep the plain form."""

import re
import sys

BEHIND = re.compile(r'^(?P<code>.*\S.*?[;,{}]\s*)//(?P<text> .*)$')
BEFORE = re.compile(r'^(?P<indent>\s*)//(?P<text>( .*)?)$')

RULE = '----'  # a heading between declarations, which is about none of them


def converted(line):
    """One line."""
    before = BEFORE.match(line)
    if before and RULE in line:
        return line
    if before:
        return '%s///%s' % (before.group('indent'), before.group('text'))
    behind = BEHIND.match(line)
    if behind and '"' not in behind.group('text'):
        return '%s///<%s' % (behind.group('code'), behind.group('text'))
    return line


def main(path):
    """The whole header."""
    hidden = False
    with open(path, encoding='utf-8') as file:
        for line in file.read().splitlines():
            if line == ' private:':
                print('/// \\cond')
                hidden = True
            elif hidden and line.startswith('}'):
                print('/// \\endcond')
                hidden = False
            print(line if hidden else converted(line))


if __name__ == '__main__':
    main(sys.argv[1])
