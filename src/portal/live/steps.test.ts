import { expect, test } from 'vitest'
import { LIVE_TYPES } from '../../model/kinds.js'
import { parseLiveLine } from '../parse.js'
import { halvesOf, type Step, stepsOf } from './steps.js'

type Fields = Record<string, unknown>

/** Each step as the type of its lines, with a minus for removals, and the numbers of its lines and of its repeats. */
function shown(steps: Step[]): [type: string, lines: number[], repeats?: number[]][] {
  return steps.map(({ kind, isRemoval, lines, repeats }) => {
    const numbers = lines.map(({ number }) => number)
    const type = `${isRemoval ? '-' : ''}${kind.type}`
    return repeats.length > 0 ? [type, numbers, repeats.map(({ number }) => number)] : [type, numbers]
  })
}

function steps(...lines: Fields[]): Step[] {
  return stepsOf(
    lines.map((line, i) => ({
      ...parseLiveLine({ number: i + 1, text: JSON.stringify(line) }, LIVE_TYPES)!,
      number: i + 1,
    })),
  )
}

const auteur = (id_auteur: number, fields: Fields = {}) => ({ type: 'auteur', id_auteur, nom: 'a', ...fields })
const solve = (id_auteur: number, id_challenge = 1, fields: Fields = {}) => ({
  ...{ type: 'validation', id_auteur, id_challenge, ...fields },
})
const challenge = (score: number) => ({ type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 'c', score })
const rubrique = (id_rubrique: number) => ({ type: 'rubrique', id_rubrique, nom: 'r' })

test('new authors, each followed by their solves, make two steps', () => {
  expect(shown(steps(auteur(1), solve(1), auteur(2), solve(2), solve(2, 2), auteur(3), solve(3)))).toEqual([
    ['auteur', [1, 3, 6]],
    ['validation', [2, 4, 5, 7]],
  ])
})

test('a line stays after earlier ones about the same author', () => {
  expect(shown(steps(solve(1), auteur(1), solve(1, 2), solve(2)))).toEqual([
    ['validation', [1]],
    ['auteur', [2]],
    ['validation', [3, 4]],
  ])
  expect(shown(steps(solve(1), solve(1, 2, { supprime: true }), solve(1, 3), solve(2, 3)))).toEqual([
    ['validation', [1]],
    ['-validation', [2]],
    ['validation', [3, 4]],
  ])
})

test('a line about a challenge keeps its position', () => {
  expect(shown(steps(solve(1), challenge(5), solve(2), challenge(4), rubrique(1), solve(3)))).toEqual([
    ['validation', [1]],
    ['challenge', [2]],
    ['validation', [3]],
    ['challenge', [4]],
    ['rubrique', [5]],
    ['validation', [6]],
  ])
})

test('categories and solves are grouped independently', () => {
  expect(shown(steps(solve(1), rubrique(1), solve(2), rubrique(2), solve(3)))).toEqual([
    ['validation', [1, 3, 5]],
    ['rubrique', [2, 4]],
  ])
})

test('a repeated line is marked as a repeat, and a line that changes the record goes into a later step', () => {
  const later = { date: '2026-01-01T00:00:00Z' }
  expect(shown(steps(solve(1), solve(2), solve(1), solve(1, 1, later), solve(1)))).toEqual([
    ['validation', [1, 2], [3]],
    ['validation', [4]],
    ['validation', [5]],
  ])
  expect(shown(steps(auteur(1), solve(2), auteur(1)))).toEqual([
    ['auteur', [1], [3]],
    ['validation', [2]],
  ])
})

test('a partial line is not a repeat of a whole one, even with the same fields', () => {
  const partial = { ...rubrique(1), partiel: true }
  expect(shown(steps(rubrique(1), partial, partial, rubrique(1)))).toEqual([
    ['rubrique', [1]],
    ['rubrique', [2], [3]],
    ['rubrique', [4]],
  ])
})

test('the removal of an author stays after their solves and before what they solve next', () => {
  expect(shown(steps(solve(1), auteur(2), { ...auteur(1), supprime: true }, auteur(1), solve(1)))).toEqual([
    ['validation', [1]],
    ['auteur', [2]],
    ['-auteur', [3]],
    ['auteur', [4]],
    ['validation', [5]],
  ])
})

test('both halves together have all lines in order, and each repeat stays with the line it repeats', () => {
  const [step] = steps(solve(1), solve(2), solve(3), solve(3), solve(1))
  expect(shown(halvesOf(step!))).toEqual([
    ['validation', [1], [5]],
    ['validation', [2, 3], [4]],
  ])
})
