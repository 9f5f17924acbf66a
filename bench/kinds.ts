import { CHALLENGES } from './generate.js'
import type { FreshPaths } from './load.js'

/** One row of the table: a request and its baseline. */
export interface Kind {
  name: string
  /** The baseline server. */
  against: 'bare' | 'hand-written'
  /** The path, for a portal with this number of authors. */
  path(authors: number): string | FreshPaths
  /** The expected status. */
  status: number
  /** Sent without a credential. */
  isAnonymous?: boolean
  /** Sent with the ETag of the last response. */
  isConditional?: boolean
  /** The minimum ratio. */
  target: number
}

const REPEATED = { against: 'bare', status: 200, target: 0.75 } as const
const FRESH = { against: 'hand-written', status: 200 } as const
const PAGE_ROWS = 50

/** All kinds, in the order of the table. Add a new kind only here. */
export const KINDS: readonly Kind[] = [
  { ...REPEATED, name: 'classement', path: (authors) => rankingPage(Math.floor(authors / 2)) },
  { ...REPEATED, name: 'challenge', path: () => `/challenges/${Math.floor(CHALLENGES / 2)}` },
  { ...REPEATED, name: 'auteur', path: (authors) => `/auteurs/${Math.floor(authors / 3)}` },
  { ...REPEATED, name: 'challenges', path: () => '/challenges' },
  { ...REPEATED, name: 'search', path: () => '/auteurs?nom=brimi' },
  {
    ...REPEATED,
    name: '304',
    path: (authors) => rankingPage(Math.floor(authors / 2)),
    status: 304,
    isConditional: true,
  },
  { ...REPEATED, name: '401', path: (authors) => rankingPage(Math.floor(authors / 2)), status: 401, isAnonymous: true },
  {
    ...FRESH,
    name: 'fresh-classement',
    target: 0.8,
    path: (authors) => ({
      before: '/classement?debut_classement=',
      min: 0,
      max: Math.floor(authors * 0.9),
      after: `&limite=${PAGE_ROWS}&x=`,
    }),
  },
  {
    ...FRESH,
    name: 'fresh-auteur',
    target: 0.65,
    path: (authors) => ({ before: '/auteurs/', min: 1, max: authors, after: '?x=' }),
  },
]

function rankingPage(debut: number): string {
  return `/classement?debut_classement=${debut}&limite=${PAGE_ROWS}`
}
