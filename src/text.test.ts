import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countCodePoints, fold, lowerAscii } from './text.js'

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom(...'ÉéeςΣσİIıßẞﬁ한ㅎ\u1112\u1161\u11abÅ\u0301\u20ddǄǅ①Ａ９½ﷺ'), { maxLength: 8 })
    .map((x) => x.join('')),
)

describe('fold', () => {
  test.each([
    ['Élodie', 'elodie'],
    ['E\u0301lodie', 'elodie'],
    ['ÅNGSTRÖM', 'angstrom'],
    ['Σίσυφος', 'σισυφοσ'],
    ['ΣΊΣΥΦΟΣ', 'σισυφοσ'],
    ['İstanbul', 'istanbul'],
    ['ISTANBUL', 'istanbul'],
    ['ıstanbul', 'ıstanbul'],
    ['ﬁﬂ ﬀ', 'fifl ff'],
    ['Straße', 'straße'],
    ['ＡＢ①½', 'ab11⁄2'],
    ['한글', '\u1112\u1161\u11ab\u1100\u1173\u11af'],
    ['é\u20dd', 'e'],
    ['नि', 'न'],
    ['50%_\'"\\', '50%_\'"\\'],
    ['\u0301', ''],
    ['', ''],
    ['Ж🚩', 'ж🚩'],
  ])('%j is %j', (text, folded) => {
    expect(fold(text)).toBe(folded)
  })

  test('is NFKD without marks, in lower case, with a final sigma as sigma, code point by code point', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let restated = ''
        for (const character of text.normalize('NFKD')) {
          if (!/^\p{M}$/u.test(character)) restated += character
        }
        expect(fold(text)).toBe(restated.toLowerCase().split('ς').join('σ'))
      }),
      { numRuns: 3_000 },
    )
  })

  test('is the same for every normal form of a text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) expect(fold(text.normalize(form))).toBe(fold(text))
      }),
      { numRuns: 1_000 },
    )
  })

  test('finds every part of an ASCII text, in any letter case', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), fc.nat(), fc.nat(), (text, a, b) => {
        const part = text.slice(Math.min(a, b) % (text.length + 1), Math.max(a, b) % (text.length + 1))
        expect(fold(text)).toContain(fold(part.toUpperCase()))
        expect(fold(text)).toBe(text.toLowerCase())
      }),
    )
  })
})

test('lowerAscii changes the letters A to Z and nothing else', () => {
  expect(lowerAscii('ABZ[@`ÉİΣ fr-FR')).toBe('abz[@`ÉİΣ fr-fr')
  fc.assert(
    fc.property(anyText, (text) => {
      const restated = [...text].map((c) => (c >= 'A' && c <= 'Z' ? String.fromCharCode(c.charCodeAt(0) + 32) : c))
      expect(lowerAscii(text)).toBe(restated.join(''))
    }),
  )
})

test('countCodePoints counts an astral character once', () => {
  expect(countCodePoints('a🚩é')).toBe(3)
  fc.assert(fc.property(anyText, (text) => countCodePoints(text) === [...text].length))
})
