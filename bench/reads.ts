import { CHALLENGES, NEEDLES } from './generate.js'
import type { FreshPaths } from './load.js'

/** A read whose time is compared across portal sizes. Its requests never repeat. */
export interface ReadKind {
  name: string
  path(authors: number): FreshPaths
  /** Number of connections. Few, so that times are service times; one if the target is a time, so that no request waits for another. */
  connections: number
  /** Maximum ratio of median and p99 at a larger size to those at the smallest. */
  medianRatio?: number
  p99Ratio?: number
  p99Milliseconds?: number
}

const FLAT = { connections: 4, medianRatio: 1.5, p99Ratio: 3 } as const
const SEARCH = { connections: 1, p99Milliseconds: 100 } as const

/** Pages at random offsets in a list with at least `share` of the authors, so that none is past its end. */
const page = (path: string, parameter: string, share: number) => (authors: number) => ({
  before: `${path}${path.includes('?') ? '&' : '?'}${parameter}=`,
  min: 0,
  max: Math.floor(authors * share),
  after: '&limite=50&x=',
})

const search = (needle: string) => () => ({ before: `/auteurs?nom=${needle}&x=`, min: 0, max: 9, after: '-' })

/** The reads of the scale table, in order. Add a new kind only here. */
export const READ_KINDS: readonly ReadKind[] = [
  { ...FLAT, name: 'flat-classement', path: page('/classement', 'debut_classement', 0.99) },
  { ...FLAT, name: 'flat-auteur', path: (authors) => ({ before: '/auteurs/', min: 1, max: authors, after: '?x=' }) },
  { ...FLAT, name: 'flat-auteurs', path: page('/auteurs', 'debut_auteurs', 0.99) },
  { ...FLAT, name: 'flat-validations', path: page('/challenges/1/validations', 'debut_validations', 0.2) },
  { ...FLAT, name: 'flat-rubrique', path: page('/classement?id_rubrique=2', 'debut_classement', 0.3) },
  { ...FLAT, name: 'flat-annee', path: page('/classement?periode=2023', 'debut_classement', 0.6) },
  { ...FLAT, name: 'flat-mois', path: page('/classement?periode=2023-05', 'debut_classement', 0.1) },
  { ...SEARCH, medianRatio: 2, name: 'search-rare', path: search(NEEDLES.rare) },
  { ...SEARCH, name: 'search-common', path: search(NEEDLES.common) },
  { ...SEARCH, name: 'search-third', path: search(NEEDLES.third) },
  { ...SEARCH, name: 'search-none', path: search(NEEDLES.none) },
]

/** A mix of repeated pages and unique reads. */
export function mixedPaths(authors: number): (string | FreshPaths)[] {
  const fresh = READ_KINDS.filter(({ name }) => name.startsWith('flat-') || name === 'search-rare')
  return ['/classement?limite=50', `/challenges/${CHALLENGES}`, ...fresh.map(({ path }) => path(authors))]
}
