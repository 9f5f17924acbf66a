import { demoNames, type Random } from './demo-names.js'

const PLAYERS = 4000
const HIDDEN = 36
const RANKED = PLAYERS - HIDDEN
// The demo account belongs to author 1, who has a good row without being a champion.
const DEMO_ROW = 240

// The lower ranking is built from the bottom up, because two rows of it are promised: the tie of 2,500th place starts
// at row 2499 exactly and ends on the page of 100 rows that starts at row 2450, whose first place is below 2451.
const TIE_ROW = 2499
const STEPS = [
  { score: 35, players: 53 },
  { score: 30, players: 42 },
  { score: 25, players: 51 },
  { score: 20, players: 68 },
  { score: 15, players: 97 },
  { score: 10, players: 149 },
  { score: 5, players: 214 },
]
const FIRST_STEP_ROW = TIE_ROW - STEPS[0]!.players
// Everybody above has more than the highest step.
const MIN_SCORE_ABOVE = STEPS[0]!.score + 5

/**
 * An author and what to expect of it: its zero-based row in the ranking, about (hidden authors come last), its
 * strength from 0 to 1, and the score to reach, exactly or at least.
 */
export interface Player {
  /** Its dump line; without a `score`, the author has no base. */
  auteur: { type: 'auteur'; id_auteur: number; nom: string; statut: string; lang: string }
  row: number
  strength: number
  target: number
  isExact: boolean
}

/** The 4,000 authors by id. The rows of the ranking are dealt out, so that an id says nothing about a score. */
export function demoPlayers(random: Random): Player[] {
  const names = demoNames(PLAYERS, random)
  const others = [...Array(PLAYERS).keys()].filter((row) => row !== DEMO_ROW)
  const rows = [DEMO_ROW, ...shuffled(others, random)]
  return rows.map((row, i) => {
    const statut = i === 0 ? '0minirezo' : statutOf(row)
    const auteur = { type: 'auteur' as const, id_auteur: i + 1, nom: names[i]!, statut, lang: drawLang(random) }
    const strength = Math.max(0, 1 - row / FIRST_STEP_ROW)
    const target = targetOf(row, strength, random)
    return { auteur, row, strength, target, isExact: row >= FIRST_STEP_ROW && row < RANKED }
  })
}

function targetOf(row: number, strength: number, random: Random): number {
  // A third of the hidden authors were hidden for scores too good to be true, the others for what they wrote.
  if (row >= RANKED) return row % 3 === 0 ? 200 + 1500 * random() : 0
  // Above the steps: many who play a little, a few who solve nearly everything, some of whom solve it all.
  if (row < FIRST_STEP_ROW) return MIN_SCORE_ABOVE + 100 * strength + 1700 * strength ** 12
  let rest = row - FIRST_STEP_ROW
  const step = STEPS.find(({ players }) => {
    rest -= players
    return rest < 0
  })
  return step?.score ?? 0
}

function statutOf(row: number): string {
  if (row >= RANKED) return '5poubelle'
  if ([4, 17, 58].includes(row)) return '0minirezo'
  if (row < 90 && row % 8 === 2) return '1comite'
  return row > 3200 && row % 20 === 0 ? 'nouveau' : '6forum'
}

function drawLang(random: Random): string {
  const drawn = random()
  if (drawn < 0.82) return 'fr'
  return drawn < 0.91 ? 'en' : drawn < 0.96 ? 'es' : 'de'
}

/** Shuffles a list in place. */
function shuffled<T>(list: T[], random: Random): T[] {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[list[i], list[j]] = [list[j]!, list[i]!]
  }
  return list
}
