import type { Kind } from '../model/kind.js'
import { FieldError } from '../model/readers.js'

/** Names in one refusal, and the characters of each: a line may have thousands of both. */
const MAX_NAMES = 10
const MAX_NAME_CHARACTERS = 50

/** A line has fields that no record of its type has. */
export class UnknownFieldsError extends FieldError {
  /** The first of them, long ones cut. */
  readonly names: string[]

  constructor(kind: Kind, unknown: readonly string[]) {
    const names = unknown.slice(0, MAX_NAMES).map(shortened)
    const faults = names.map((name) => {
      const meant = closest(name, kind)
      return `${name} is not a field of ${kind.type}${meant ? ` (did you mean ${meant}?)` : ''}`
    })
    const rest = unknown.length - names.length
    super([...faults, ...(rest > 0 ? [`${rest} more are not`] : [])].join('; '))
    this.names = names
  }
}

function shortened(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS).toWellFormed()}…` : name
}

/** What other APIs call these fields. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  removed: 'supprime',
  remove: 'supprime',
  deleted: 'supprime',
  delete: 'supprime',
  partial: 'partiel',
  patch: 'partiel',
  name: 'nom',
  title: 'titre',
  subtitle: 'soustitre',
  description: 'descriptif',
  difficulty: 'difficulte',
  category: 'id_rubrique',
  rubrique: 'id_rubrique',
  challenge: 'id_challenge',
  author: 'id_auteur',
  auteur: 'id_auteur',
  authors: 'auteurs',
  points: 'score',
  value: 'score',
  status: 'statut',
  language: 'lang',
  langue: 'lang',
  url: 'url_challenge',
  time: 'date',
  timestamp: 'date',
}

/** The field that a name was probably meant to be. */
function closest(name: string, { fields }: Kind): string | undefined {
  const known = [...Object.keys(fields), 'type', 'supprime', 'partiel']
  const word = name.toLowerCase()
  const same = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined
  if (same && known.includes(same)) return same
  return known.find((field) => {
    const allowed = Math.min(2, Math.floor(field.length / 3))
    return Math.abs(word.length - field.length) <= allowed && distance(word, field) <= allowed
  })
}

/** How many characters are to be added, removed or replaced to make one text of another. */
function distance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const row = [i + 1]
    for (let j = 0; j < b.length; j++) {
      row.push(Math.min(row[j]! + 1, before[j + 1]! + 1, before[j]! + (letter === b[j] ? 0 : 1)))
    }
    before = row
  }
  return before[b.length]!
}
