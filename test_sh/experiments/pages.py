"""The look of every page of HTML and of every plot: colours, style sheet, frame with contents and filter."""

import html
import re

# Colour-blind safe (Okabe and Ito), one for each engine; further engines and the parts of stacks take what follows.
ENGINE_COLORS = {'miodb': '#0072b2', 'leveldb': '#e69f00', 'rocksdb': '#009e73'}
COLORS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#555555', '#f0e442']
GOOD, BAD, NEUTRAL = '#067a4e', '#b3261e', '#666666'

# Plots are drawn on white. In the dark they are turned over, which keeps their hues.
STYLE = '''
:root{color-scheme:light dark;--ink:#222;--paper:#fff;--faint:#555;--line:#ddd;--box:#f6f6f6;--link:#0b57a4}
@media(prefers-color-scheme:dark){:root{--ink:#ddd;--paper:#161616;--faint:#aaa;--line:#3a3a3a;--box:#222;--link:#8ab8ea}
figure svg{filter:invert(.91) hue-rotate(180deg)}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;max-width:76rem;margin:0 auto;padding:1rem;color:var(--ink);background:var(--paper)}
a{color:var(--link)}h1,h2,h3{line-height:1.2}.faint{color:var(--faint)}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;list-style:none}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dl.facts dt{font-weight:600}dl.facts dd{margin:0}
.wide{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0 1.5rem}
td,th{padding:.2rem .8rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
td:first-child,th:first-child{text-align:left}
code,pre{font-size:.85rem;overflow-wrap:anywhere;white-space:pre-wrap}pre{background:var(--box);padding:.7rem;border-radius:6px}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(28rem,100%),1fr));gap:1rem}
figure{margin:0}.plots>*{min-width:0;overflow-wrap:anywhere}main.plots h2{font-size:1.2rem}figure svg{width:100%;height:auto;display:block}
article{border:1px solid var(--line);border-radius:6px;padding:.7rem 1rem;margin:.8rem 0}article h3{margin:0 0 .3rem}
.mark{color:#fff;border-radius:4px;padding:.1rem .5rem;font-size:.85rem;white-space:nowrap}
.filter{display:flex;flex-wrap:wrap;gap:.5rem;margin:1rem 0}.filter input{flex:1 1 12rem}
.filter>*{font:inherit;padding:.3rem .6rem}
'''

# Hides the articles that have neither the kind nor the words that were asked for. Without scripts all are shown.
FILTER_SCRIPT = '''
const kind=document.querySelector('.filter select'),words=document.querySelector('.filter input');
function filter(){const wanted=words.value.toLowerCase().split(/\\s+/);
for(const article of document.querySelectorAll('article[data-kind]')){const text=article.textContent.toLowerCase();
article.hidden=(kind.value&&article.dataset.kind!==kind.value)||!wanted.every(word=>text.includes(word));}}
kind.addEventListener('change',filter);words.addEventListener('input',filter);
'''


def anchor(title):
    """The name of a section in a link."""
    return re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')


def contents(titles):
    """Links to sections."""
    return '<nav aria-label="Contents"><ul>%s</ul></nav>\n' % ''.join(
        '<li><a href="#%s">%s</a></li>' % (anchor(title), html.escape(title)) for title in titles)


def page(title, top, sections=(), kinds=(), layout='one'):
    """A document: what stands at its top, contents, and sections of a title and HTML. kinds: the filter's choices, for
    sections of articles with data-kind. layout: "plots" for sections side by side where there is room."""
    parts = ['<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>%s</title>' % html.escape(title),
             '<meta name="viewport" content="width=device-width,initial-scale=1"><style>%s</style></head>' % STYLE,
             '<body>\n<h1>%s</h1>\n%s' % (html.escape(title), top)]
    if len(sections) > 1:
        parts.append(contents([name for name, _ in sections]))
    if kinds:
        parts.append('<div class="filter"><select aria-label="Show"><option value="">All</option>%s</select>'
                     '<input type="search" placeholder="Words" aria-label="Words"></div>'
                     % ''.join('<option>%s</option>' % html.escape(kind) for kind in kinds))
    parts.append('<main class="%s">' % layout)
    parts += ['<section id="%s"><h2>%s</h2>\n%s</section>' % (anchor(name), html.escape(name), body)
              for name, body in sections]
    parts.append('</main>')
    if kinds:
        parts.append('<script>%s</script>' % FILTER_SCRIPT)
    return '\n'.join(parts) + '\n</body></html>\n'


def facts(pairs):
    """Names and what they are, in two columns."""
    return '<dl class="facts">%s</dl>\n' % ''.join(
        '<dt>%s</dt><dd>%s</dd>' % (html.escape(name), html.escape(str(text))) for name, text in pairs)


def table(heading, rows):
    """A table, which scrolls by itself where it is wider than the page."""
    lines = ['<tr>' + ''.join('<th>%s</th>' % html.escape(cell) for cell in heading) + '</tr>']
    lines += ['<tr>' + ''.join('<td>%s</td>' % html.escape(cell) for cell in row) + '</tr>' for row in rows]
    return '<div class="wide"><table>\n%s\n</table></div>\n' % '\n'.join(lines)


def figures(svgs, first=0):
    """The texts of SVG files as a part of a page, side by side where there is room. first: how many the page has before."""
    drawn = [re.sub(r'\s+\n', '\n', svg[svg.index('<svg'):]).replace('gnuplot_', 'plot%d_' % i)
             for i, svg in enumerate(svgs, first)]
    return '<div class="plots">%s</div>\n' % '\n'.join('<figure>%s</figure>' % svg.strip() for svg in drawn)
