import Type from 'typebox'
import { endpoint, Text } from '../../contract.js'
import { oneOf } from '../../parameters.js'
import { FORMATS, type Format } from './formats.js'
import { RESSOURCES } from './tables.js'

const tag = { name: 'export', description: 'The portal, or all of a resource, in one answer.' }

export const CONTENT_TYPES: Record<Format, string> = {
  ndjson: 'application/x-ndjson',
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
}

export const getExport = endpoint({
  path: '/export',
  tag,
  summary: 'Read the whole portal, or all rows of a resource',
  description:
    'One version of the data, whole, in one answer; without `ressource` the dump that `palmares import` takes, never with accounts. Compressed where Accept-Encoding takes gzip. An answer that was cut off ends without the end of its encoding: drop it.',
  query: {
    format: oneOf(FORMATS, 'NDJSON, one JSON array or, for a resource, CSV; ndjson where it is absent.'),
    ressource: oneOf(RESSOURCES, 'Flat rows of this resource instead of the dump.'),
  },
  response: Type.Array(Type.Object({}, { additionalProperties: true }), {
    description: 'The records of the dump, or the rows of the resource; docs/API.md lists their fields.',
  }),
  otherResponses: {
    'application/x-ndjson': Text('The same, one a line.'),
    'text/csv': Text('The rows of the resource, with a header.'),
  },
  maxAtOnce: 2,
  scope: 'export',
  errors: ['invalid_parameter', 'scope_required', 'overloaded', 'http_1_1_required'],
})
