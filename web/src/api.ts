import type { ApiKey, Reads } from './wire.js'

/** What a read asks besides its path; what is undefined or empty is left out. */
export interface Asked {
  id?: string | number
  query?: Record<string, string | number | undefined>
}

export interface Answer<T> {
  body: T
  /** Rows in all, where the server knows. */
  total: number | undefined
  /** The row that the next page starts at; undefined on the last one. */
  next: number | undefined
}

/** A problem that the server told, or `unreachable` where it told nothing. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(detail)
  }
}

export function addressOf(path: keyof Reads, { id, query = {} }: Asked = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return path.replace('{id}', encodeURIComponent(id ?? '')) + (search && `?${search}`)
}

/** Throws ApiError, or an AbortError where `signal` says so. */
export async function get<P extends keyof Reads>(
  path: P,
  asked?: Asked,
  signal?: AbortSignal,
): Promise<Answer<Reads[P]>> {
  const response = await send('GET', addressOf(path, asked), { signal: signal ?? null })
  const total = response.headers.get('x-total-count')
  return {
    body: (await response.json()) as Reads[P],
    total: total === null ? undefined : Number(total),
    next: nextRow(response.headers.get('link')),
  }
}

/** Sets the session's cookie, which scripts cannot read. */
export async function signIn(login: string, password: string): Promise<void> {
  await send('POST', '/login', jsonBody({ login, password }))
}

export async function signOut(): Promise<void> {
  await send('DELETE', '/login')
}

export async function createKey(nom: string, expiration?: string): Promise<ApiKey & { api_key: string }> {
  const response = await send('POST', '/cles_api', jsonBody({ nom, ...(expiration ? { expiration } : {}) }))
  return (await response.json()) as ApiKey & { api_key: string }
}

export async function revokeKey(id: number): Promise<void> {
  await send('DELETE', `/cles_api/${id}`)
}

async function send(method: string, address: string, init: RequestInit = {}): Promise<Response> {
  let response: Response
  try {
    response = await fetch(address, { method, ...init })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'unreachable', '')
  }
  if (!response.ok) throw await readProblem(response)
  return response
}

function jsonBody(body: object): RequestInit {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

async function readProblem(response: Response): Promise<ApiError> {
  const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string }
  const wait = Number(response.headers.get('retry-after'))
  return new ApiError(
    response.status,
    problem.code ?? 'unreachable',
    problem.detail ?? '',
    Number.isFinite(wait) && wait > 0 ? wait : undefined,
  )
}

/** The offset in the address that `Link` gives for the next page. */
function nextRow(link: string | null): number | undefined {
  const address = /<([^>]*)>;\s*rel="?next"?/.exec(link ?? '')?.[1]
  if (address === undefined) return undefined
  for (const [name, value] of new URL(address, location.origin).searchParams) {
    if (name.startsWith('debut_')) return Number(value)
  }
  return undefined
}
