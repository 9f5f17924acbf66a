import { CHALLENGES } from './generate.js'
import type { FreshPaths } from './load.js'

/** One row of the table: what is asked, and of whom besides Palmarès. */
export interface Kind {
  name: string
  /** What Palmarès is measured against. */
  against: 'bare' | 'hand-written'
  /** What is sent, to a portal of a number of authors. */
  path(authors: number): string | FreshPaths
  /** What it must be answered with. */
  status: number
  /** Sent without a credential. */
  isAnonymous?: boolean
  /** Sent with the tag that the last answer had. */
  isConditional?: boolean
  /** The least ratio that is wanted. */
  target: number
}

const REPEATED = { against: 'bare', status: 200, target: 0.75 } as const
const FRESH = { against: 'hand-written', status: 200 } as const
const PAGE_ROWS = 50

/** What is served, in the order of the table. A kind is added here and nowhere else. */
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
