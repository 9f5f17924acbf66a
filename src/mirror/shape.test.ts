import { expect, test } from 'vitest'
import { contractSource } from './contract-source.js'

const read = (date: unknown) =>
  contractSource('').readAuteur(
    1,
    { base: '', path: '/auteurs/1' },
    { id_auteur: '1', nom: 'a', validations: [{ id_challenge: 1, date }] },
  )

test.each(['2026-01-31T12:00:00Z', '2026-99-99T00:00:00Z', null])(
  'a date is accepted as a text or null, because the store checks it: %j',
  (date) => {
    expect(read(date)).toMatchObject({ validations: [{ date }] })
  },
)

test('a date of another type is reported with its place', () => {
  expect(() => read(5)).toThrow(/^\/auteurs\/1: validations\.0\.date must /)
})
