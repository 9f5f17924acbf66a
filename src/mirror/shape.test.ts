import { expect, test } from 'vitest'
import { getAuteur } from '../auteurs/contract.js'
import { shaped } from './shape.js'

const auteur = (date: unknown) => ({
  ...{ nom: 'a', score: 1, position: 1, challenges: [], id_auteur: '1', statut: '', lang: '', nb_validations: 1 },
  validations: [{ id_challenge: 1, titre: 't', id_rubrique: 1, score: 1, date }],
})
const shape = (date: unknown) => shaped(getAuteur.response!, { base: '', path: '/auteurs/1' }, auteur(date))

test.each(['2026-01-31T12:00:00Z', '2026-99-99T00:00:00Z', null])(
  'a date is a text or null here, and read by whoever keeps it: %j',
  (date) => {
    expect(shape(date)).toMatchObject({ validations: [{ date }] })
  },
)

test('a date that is neither is told with its place', () => {
  expect(() => shape(5)).toThrow(/^\/auteurs\/1: validations\.0\.date must /)
})
