import { CHALLENGES, NEEDLES } from './generate.js'
import type { FreshPaths } from './load.js'

/** A read whose time is compared across sizes of the portal. No request of it repeats. */
export interface ReadKind {
  name: string
  path(authors: number): FreshPaths
  /** Few, so that a time is what a request takes; one where the target is a time, so that none waits for another. */
  connections: number
  /** What the median and the p99 at a larger size may be at most, over those at the smallest. */
  medianRatio?: number
  p99Ratio?: number
  p99Milliseconds?: number
}

const FLAT = { connections: 4, medianRatio: 1.5, p99Ratio: 3 } as const
const SEARCH = { connections: 1, p99Milliseconds: 100 } as const

/** Of the portal's rankings and lists, the shortest that is asked for at any depth holds this share of the authors. */
const page = (path: string, parameter: string, share: number) => (authors: number) => ({
  before: `${path}${path.includes('?') ? '&' : '?'}${parameter}=`,
  min: 0,
  max: Math.floor(authors * share),
  after: '&limite=50&x=',
})

const search = (needle: string) => () => ({ before: `/auteurs?nom=${needle}&x=`, min: 0, max: 9, after: '-' })

/** The reads of the scale table, in its order. A kind is added here and nowhere else. */
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

/** What a portal is asked in a mix: pages that repeat, and reads that do not. */
export function mixedPaths(authors: number): (string | FreshPaths)[] {
  const fresh = READ_KINDS.filter(({ name }) => name.startsWith('flat-') || name === 'search-rare')
  return ['/classement?limite=50', `/challenges/${CHALLENGES}`, ...fresh.map(({ path }) => path(authors))]
}
