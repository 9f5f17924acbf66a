import Type from 'typebox'
import { Count, endpoint, Text } from '../../contract.js'
import { LIVE_TYPES } from '../../model/kinds.js'
import { Id } from '../../parameters.js'

const tag = { name: 'validations', description: 'Solves and other changes, as they come.' }

const RESULTS = ['appliquee', 'connue', 'refusee', 'gelee'] as const

const LineResult = Type.Object({
  ligne: Type.Integer({ minimum: 1, description: 'The number of the line in the body, from 1.' }),
  resultat: Type.Enum([...RESULTS], {
    description: 'Applied, already stored, refused, or stored but not shown while the rankings are frozen.',
  }),
  raison: Type.Optional(Text('Why it is refused.')),
  champs_inconnus: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Of a refused line: fields that a record of the type does not have, ten at most.',
    }),
  ),
  reessayer: Type.Optional(
    Type.Boolean({ description: 'True where there was no time for it: send it again as it is.' }),
  ),
})

export const postValidations = endpoint({
  method: 'POST',
  path: '/validations',
  tag,
  summary: 'Apply validations and other records as they come',
  description:
    'Lines of the dump, NDJSON, or one of them as a JSON object. They are applied in their order and in one transaction; a refused line does not affect the others. A line replaces its record whole, unless it has `partiel`. Validations may be sent again. Scores, places, counts and first validations are right in the next request.',
  scope: 'ecriture',
  requestBody: {
    schema: Type.Object(
      {
        type: Type.Enum([...LIVE_TYPES]),
        id_auteur: Type.Optional(Id),
        id_challenge: Type.Optional(Id),
        date: Type.Optional(
          Type.String({ format: 'date-time', description: 'When it was solved; unknown where absent.' }),
        ),
        supprime: Type.Optional(Type.Boolean({ description: 'True removes the record.' })),
        partiel: Type.Optional(
          Type.Boolean({ description: 'True changes the named fields of an existing record and no other.' }),
        ),
        gelee: Type.Optional(
          Type.Boolean({ description: 'True stores a validation without showing it, while the rankings are frozen.' }),
        ),
      },
      { additionalProperties: true, description: 'One line of the dump; docs/DUMP.md lists the fields of each type.' },
    ),
    contentTypes: ['application/x-ndjson', 'application/json'],
    example: '{"type":"validation","id_auteur":1,"id_challenge":1,"date":"2026-01-31T12:00:00Z"}',
    isBulk: true,
  },
  response: Type.Object({
    appliquees: Count,
    connues: Count,
    refusees: Count,
    lignes: Type.Array(LineResult),
    gelees: Count,
  }),
  errors: ['invalid_body', 'foreign_origin', 'scope_required', 'body_too_large', 'unsupported_media_type'],
})
