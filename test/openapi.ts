/** The parts of an OpenAPI document that the tests of the documentation read. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
}

export interface Operation {
  security?: object[]
  parameters: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

export interface Schema {
  type?: string
  anyOf?: Schema[]
  enum?: string[]
  format?: string
  pattern?: string
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  default?: number
  minimum?: number
  maximum?: number
  maxLength?: number
  title?: string
  maxItems?: number
}

/** Who may call an operation, in the words of docs/API.md. */
export function accessOf({ security }: Operation): string {
  if (security === undefined) return 'credential'
  return security.length === 0 ? 'open' : Object.keys(security[0]!).join() === 'service_session' ? 'session' : 'other'
}

/** The values that a parameter accepts, in the words of docs/API.md. */
export function takenBy(schema: Schema): string {
  if (schema.type === 'array') return `list of ids, ${schema.maxItems} at most`
  if (schema.title) return schema.title
  if (schema.type === 'string') return `text, ${schema.maxLength?.toLocaleString('en')} at most`
  const isUnbounded = schema.maximum === Number.MAX_SAFE_INTEGER
  if (isUnbounded && schema.minimum === 1) return 'id'
  const range = isUnbounded ? `${schema.minimum} or more` : `${schema.minimum} to ${schema.maximum}`
  return `integer, ${range}${schema.default === undefined ? '' : `, default ${schema.default}`}`
}

/** The fields of a body or of the items of a list, with their types, in the words of docs/API.md. */
export function fieldsOf(schema: Schema, prefix = ''): [name: string, type: string][] {
  const object = schema.items ?? Object.values(schema.patternProperties ?? {})[0] ?? schema
  return Object.entries(object.properties ?? {}).flatMap(([name, field]) => {
    const isOptional = !object.required?.includes(name)
    const inner = field.anyOf?.find(({ type }) => type !== 'null') ?? field
    return [
      [prefix + name, typeOf(field) + (isOptional ? ', optional' : '')],
      ...fieldsOf(inner, `${prefix}${name}${inner.type === 'array' ? '[]' : ''}.`),
    ]
  })
}

function typeOf(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.type === 'integer') return 'number'
  if (schema.type !== 'string' && !schema.enum) return String(schema.type)
  if (schema.format === 'date-time') return 'instant'
  if (schema.format === 'uri') return 'address'
  return schema.pattern?.includes('[0-9]') ? 'digits' : 'text'
}
