import type { TSchema } from 'typebox'
import type { Access, Endpoint } from '../contract.js'
import { catalogue, type ErrorCode } from '../errors.js'
import type { Parameter } from '../parameters.js'
import { PROBLEM_TYPE } from './problems.js'
import { samplesOf } from './samples.js'

export interface Operation {
  endpoint: Endpoint
  access: Access
  /** Whether responses are tagged and cached. */
  isHeld: boolean
}

/** The OpenAPI 3.1 document of the operations, in the order in which they were registered. */
export function describe(operations: readonly Operation[], version: string, serverUrl?: string): object {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    paths[operation.endpoint.path] ??= {}
    const path = paths[operation.endpoint.path] as Record<string, unknown>
    path[operation.endpoint.method.toLowerCase()] = describeOperation(operation, serverUrl)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Palmarès',
      version,
      summary:
        'The public data of a security-challenge portal: challenges, authors, the ranking, virtual environments.',
      description:
        'Every body is minified ASCII JSON. Lists are paged by a zero-based row and described by Link and X-Total-Count. ' +
        'Every answer has X-Request-Id, API-Version, X-Content-Type-Options and, where limits are on, RateLimit and RateLimit-Policy. ' +
        'A path answers a method that it does not take with 405 and Allow.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl ?? '/' }],
    security: [{ service_session: [] }, { api_key: [] }, { bearer: [] }],
    tags: [...new Map(operations.map(({ endpoint: { tag } }) => [tag.name, tag])).values()],
    paths,
    components: {
      securitySchemes: {
        service_session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'service_session',
          description: 'A session, from /login.',
        },
        api_key: {
          type: 'apiKey',
          in: 'cookie',
          name: 'api_key',
          description: 'An API key, from /cles_api or the operator.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
      },
      schemas: { Problem: problemSchema },
      responses: Object.fromEntries(
        [...new Set(operations.flatMap(problemStatuses))]
          .sort()
          .map((status) => [`Problem${status}`, problemResponse(status)]),
      ),
      headers: { ETag: textHeader('A strong tag of the body.'), ...pageHeaders, [IGNORED]: ignoredHeader },
    },
  }
}

function describeOperation(operation: Operation, serverUrl: string | undefined): object {
  const { endpoint, access, isHeld } = operation
  return {
    operationId: operationId(endpoint),
    tags: [endpoint.tag.name],
    summary: endpoint.summary,
    ...describeText(endpoint),
    ...(access === 'open' ? { security: [] } : access === 'session' ? { security: [{ service_session: [] }] } : {}),
    parameters: [
      ...Object.entries(endpoint.pathParameters).map(([name, parameter]) => describeParameter(name, 'path', parameter)),
      ...Object.entries(endpoint.query).map(([name, parameter]) => describeParameter(name, 'query', parameter)),
    ],
    ...(endpoint.requestBody ? { requestBody: describeBody(endpoint.requestBody) } : {}),
    responses: {
      [endpoint.status]: describeSuccess(endpoint, isHeld),
      ...(isHeld ? { '304': notModified } : {}),
      ...Object.fromEntries(
        problemStatuses(operation).map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
      ),
    },
    'x-codeSamples': samplesOf(endpoint, access, serverUrl),
  }
}

function describeText({ description, scope }: Endpoint): object {
  const parts = [...(description ? [description] : []), ...(scope ? [`Takes the scope \`${scope}\`.`] : [])]
  return parts.length > 0 ? { description: parts.join(' ') } : {}
}

function describeParameter(name: string, place: 'path' | 'query', parameter: Parameter<unknown>): object {
  const isList = parameter.maxValues !== undefined
  return {
    name,
    in: place,
    description: parameter.description,
    required: place === 'path' || parameter.isRequired === true,
    ...(isList ? { style: 'form', explode: false } : {}),
    schema: isList ? { type: 'array', items: parameter.schema, maxItems: parameter.maxValues } : parameter.schema,
  }
}

function describeBody({ schema, contentTypes }: { schema: TSchema; contentTypes: string[] }): object {
  return { required: true, content: Object.fromEntries(contentTypes.map((type) => [type, { schema }])) }
}

function describeSuccess(endpoint: Endpoint, isHeld: boolean): object {
  const names = [...(isHeld ? ['ETag'] : []), ...(endpoint.paged ? Object.keys(pageHeaders) : []), IGNORED]
  return {
    description: endpoint.status === 204 ? 'Done; there is no body.' : 'Success.',
    headers: describeHeaders(names),
    ...(endpoint.response ? { content: describeContent(endpoint) } : {}),
  }
}

function describeHeaders(names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function describeContent({ response, otherResponses }: Endpoint): object {
  const bodies = Object.entries({ 'application/json': response, ...otherResponses })
  return Object.fromEntries(bodies.map(([type, schema]) => [type, { schema }]))
}

/** What every operation can answer besides its own errors. */
const common: ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'internal_error',
  'store_unavailable',
  'overloaded',
  'transfer_coding_unsupported',
  'http_version_unsupported',
]
const refusals: ErrorCode[] = [
  'credential_missing',
  'credential_invalid',
  'credential_expired',
  'credential_revoked',
  'rate_limited',
]

function problemStatuses({ endpoint, access }: Operation): number[] {
  const codes = [...endpoint.errors, ...common, 'address_limited' as const, ...(access === 'open' ? [] : refusals)]
  return [...new Set(codes.map((code) => catalogue[code].status))].sort()
}

function problemResponse(status: number): object {
  const codes = Object.entries(catalogue).filter(([, entry]) => entry.status === status)
  const headers: Record<string, object> = {}
  if (status === 429 || status === 503)
    headers['Retry-After'] = { description: 'Seconds.', schema: { type: 'integer' } }
  if (status === 401) headers['WWW-Authenticate'] = textHeader('The scheme to use.')
  return {
    description: codes.map(([code, entry]) => `\`${code}\`: ${entry.detail}`).join(' '),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
  }
}

const problemSchema = {
  type: 'object',
  description: 'A problem of RFC 9457.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(catalogue) },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      description: 'Present with status 400.',
      items: {
        type: 'object',
        required: ['parameter', 'message'],
        properties: { parameter: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

const pageHeaders = {
  Link: textHeader('first, prev, next and last, as RFC 8288 has them.'),
  'X-Total-Count': {
    description: 'Rows in all; absent for a text filter with more than 1,000.',
    schema: { type: 'integer' },
  },
}

const IGNORED = 'X-Parametres-Ignores'
const ignoredHeader = textHeader(
  'Query parameters that the operation does not know, separated by commas, each percent-encoded; absent if it knows all. ' +
    'At most 10, each cut after 30 characters.',
)

const notModified = {
  description: 'If-None-Match names the body that the client has.',
  headers: describeHeaders([IGNORED]),
}

function textHeader(description: string): object {
  return { description, schema: { type: 'string' } }
}

function operationId({ method, path }: Endpoint): string {
  return `${method.toLowerCase()}_${path.replace(/[{}]/g, '').split('/').filter(Boolean).join('_')}`
}
