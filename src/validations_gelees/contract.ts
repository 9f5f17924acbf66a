import Type, { type Static } from 'typebox'
import { endpoint, IdText, Instant, OrNull, presentInstant, Text } from '../contract.js'
import { UNKNOWN_DATE } from '../instant.js'
import { Id, offset, pageSize } from '../parameters.js'

const tag = { name: 'validations_gelees', description: 'What is stored but not shown while the rankings are frozen.' }

const Gelee = Type.Object({
  id_auteur: IdText,
  nom: OrNull(Text("The author's name; null if the author was removed.")),
  id_challenge: Id,
  titre: OrNull(Text("The challenge's title; null if the challenge was removed.")),
  date: OrNull(Instant),
})

export const listGelees = endpoint({
  path: '/validations/gelees',
  tag,
  summary: 'List the validations that are stored but not shown',
  description: "For an operator's own session. By date, unknown dates last, then by author and challenge.",
  query: { debut_gelees: offset('the list'), limite: pageSize },
  response: Type.Array(Gelee),
  paged: true,
  errors: ['invalid_parameter', 'session_required', 'operator_required'],
})

export interface GeleeRow {
  id_auteur: number
  nom: string | null
  id_challenge: number
  titre: string | null
  date: number
}

export function presentGelee({ id_auteur, nom, id_challenge, titre, date }: GeleeRow): Static<typeof Gelee> {
  const known = presentInstant(date === UNKNOWN_DATE ? null : date)
  return { id_auteur: String(id_auteur), nom, id_challenge, titre, date: known }
}
