/**
 * Names that tell challenges apart, by id: the title, and `title (id)` where others have that name too, as translations do.
 */
export function taskNames(challenges: readonly { id_challenge: number; titre: string }[]): Map<number, string> {
  const names = new Map(challenges.map(({ id_challenge, titre }) => [id_challenge, titre]))
  const titled = new Set(challenges.map(({ id_challenge }) => id_challenge))
  for (let shared = sharedNames(names); shared.size > 0; shared = sharedNames(names)) {
    // A title may itself be `another (3)`. Two names that end in ids always differ, so there is one that is a title still.
    for (const { id_challenge, titre } of challenges) {
      if (shared.has(names.get(id_challenge) as string) && titled.delete(id_challenge))
        names.set(id_challenge, `${titre} (${id_challenge})`)
    }
  }
  return names
}

function sharedNames(names: ReadonlyMap<number, string>): Set<string> {
  const seen = new Set<string>()
  return new Set([...names.values()].filter((name) => seen.has(name) || !seen.add(name)))
}
