import { expect, test } from 'vitest'
import { toHtml } from './markdown.js'

test('Markdown becomes HTML: embedded HTML stays, and tables, lists and code are supported', () => {
  expect(toHtml('# T\n\n- a\n- `b`\n\n<b onclick="x">c</b>\n\n|x|y|\n|-|-|\n|1|2|')).toEqual({
    html: [
      '<h1>T</h1>\n<ul>\n<li>a</li>\n<li><code>b</code></li>\n</ul>\n<p><b onclick="x">c</b></p>',
      '<table>\n<thead>\n<tr>\n<th>x</th>\n<th>y</th>\n</tr>\n</thead>',
      '<tbody><tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody></table>',
    ].join('\n'),
  })
  expect(toHtml('-'.repeat(80))).toEqual({ html: '<hr>' })
  expect(toHtml('')).toEqual({ html: '' })
})

const WORST = [
  ...[
    '*',
    '[',
    '>',
    '`',
    '_',
    '~',
    '![',
    '<',
    '(',
    '- ',
    '1. ',
    'a**a',
    '*a ',
    '[a](',
    '> ',
    '\\',
    '|',
    '&',
    'a_',
    '`a',
    '~~a',
  ],
  ...[
    '![](',
    '<!--',
    '<a ',
    '*a_b',
    '[a]: b\n',
    '||\n|-|\n',
    '- a\n  ',
    '<div>\n',
    'a@b.c ',
    'http://a',
    '](',
    '\t- ',
    '[[a]',
    '*\n',
  ],
]

test.each([30_000, 300_000])(
  'a run of %i characters of any mark is rendered within the timeout of the test',
  (length) => {
    for (const mark of WORST) {
      expect([mark, toHtml(mark.repeat(length / mark.length)).html.length <= 1_000_000]).toEqual([mark, true])
    }
  },
)

test.each(['', '> ', '1. '])(
  'a table that would expand to millions of cells is kept as text, also after %j',
  (before) => {
    const inner = before && '   '
    const bomb = `${before}|${'a|'.repeat(2_500)}\n${inner}|${'-|'.repeat(2_500)}\n${`${inner}a\n`.repeat(4_000)}`
    expect(toHtml(bomb.replaceAll('\n', '\r')).kept).toBe('plain')
    const { html, kept } = toHtml(before === '> ' ? bomb.replaceAll('\n   ', '\n> ') : bomb)
    expect(kept).toBe('plain')
    expect(html.length).toBeLessThan(100_000)
    expect(html).not.toContain('<table')
  },
)

test('a link definition that would expand to a huge description is kept as text', () => {
  expect(toHtml(`[a]: http://${'x'.repeat(14_000)}\n\n${'[a]'.repeat(5_000)}`).kept).toBe('plain')
})

test('text too long, too marked up or too deep for Markdown is kept as plain text; text past the limit is left out', () => {
  const long = '<script>&'.repeat(6_000)
  expect(toHtml(long)).toEqual({ html: `<pre>${'&lt;script&gt;&amp;'.repeat(6_000)}</pre>`, kept: 'plain' })
  expect(toHtml('a_'.repeat(3_001)).kept).toBe('plain')
  expect(toHtml('> '.repeat(60)).kept).toBe('plain')
  expect(toHtml('x'.repeat(1_000_001))).toEqual({ html: '', kept: 'out' })
})
