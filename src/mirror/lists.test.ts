import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MAX_LIST_ROWS } from './lists.js'

test('the longest list is as documented, and fits in a Map', () => {
  const docs = readFileSync(new URL('../../docs/CONFIGURATION.md', import.meta.url), 'utf8')
  expect(docs).toContain(`| a list | ${MAX_LIST_ROWS.toLocaleString('en')} rows |`)
  expect(MAX_LIST_ROWS).toBeLessThan(2 ** 24)
})
