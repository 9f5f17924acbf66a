/** The eight ranks, and the score that each begins at. */
const RANGS = [
  [10_000, 'legend'],
  [5_000, 'elite'],
  [2_500, 'hacker'],
  [1_000, 'enthusiast'],
  [500, 'insider'],
  [200, 'trainee'],
  [1, 'curious'],
] as const

/** The rank of a score; everybody has one. */
export function rangOf(score: number): string {
  return RANGS.find(([from]) => score >= from)?.[1] ?? 'visitor'
}
