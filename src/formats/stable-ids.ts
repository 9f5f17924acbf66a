import { createHash } from 'node:crypto'
import { FieldError } from '../model/readers.js'

/** Hexadecimal digits of an id: 52 bits, which JSON carries exactly. */
const ID_DIGITS = 13

/** An id made from a name alone, so that every import into any store makes the same one. */
export function stableId(name: string): number {
  return Number.parseInt(createHash('sha256').update(name).digest('hex').slice(0, ID_DIGITS), 16) || 1
}

/** Makes the ids of one kind of record; two names that come to one id are a `FieldError`. */
export function stableIds(idOf = stableId): (name: string) => number {
  const names = new Map<number, string>()
  return (name) => {
    const id = idOf(name)
    const before = names.get(id)
    if (before !== undefined && before !== name) throw new FieldError(`has the same id ${id} as another name`)
    names.set(id, name)
    return id
  }
}
