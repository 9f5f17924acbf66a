/** A PostgreSQL address as an operator gives it, read into what the driver takes. */
export interface Address {
  /** The address for the driver; it may hold a password. */
  url: string
  /** The same for people: user, server and database, never a password. */
  shown: string
  user: string
  database: string
}

/** What may stand behind the question mark. */
const PARAMETERS = new Set(['host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'options', 'application_name'])

/** Encrypted and verified, whatever weaker word asks for it; `no-verify` says that it verifies nothing. */
const TLS_MODES: Record<string, string> = {
  disable: 'disable',
  prefer: 'verify-full',
  require: 'verify-full',
  'verify-ca': 'verify-full',
  'verify-full': 'verify-full',
  'no-verify': 'no-verify',
}

const PASSWORD_FORM = 'in a password write %40 for @, %2F for /, %3A for :, %23 for #, %3F for ? and %25 for %'
const ADDRESS_FORM = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:/i.test(url)
}

/** Reads an address; a text is the reason why it is none, and never holds what was given. */
export function readAddress(url: string): Address | string {
  // What stands behind the host is shown, so it must not be the end of a password.
  if (/^[^:]*:\/\/[^/?#]*[/?#].*@/.test(url)) return `has an @ behind the host; ${PASSWORD_FORM}`
  // With ?host= for the folder of a socket, no host stands before the slash.
  const whole = url.replace('@/', '@localhost/')
  const parsed = /^postgres(ql)?:\/\//i.test(whole) && URL.canParse(whole) ? new URL(whole) : undefined
  if (!parsed) return `takes ${ADDRESS_FORM}; ${PASSWORD_FORM}`
  if (parsed.hash !== '') return 'holds a #; in a password write %23'
  for (const name of parsed.searchParams.keys()) {
    if (!PARAMETERS.has(name))
      return `does not take the parameter ${JSON.stringify(name)}; it takes ${[...PARAMETERS].join(', ')}`
  }
  const mode = parsed.searchParams.get('sslmode')
  if (mode !== null && !TLS_MODES[mode]) return `takes as sslmode one of ${Object.keys(TLS_MODES).join(', ')}`
  if (mode !== null) parsed.searchParams.set('sslmode', TLS_MODES[mode] as string)
  const [user, database] = [decoded(parsed.username), decoded(parsed.pathname.slice(1))]
  if (user === undefined || database === undefined || decoded(parsed.password) === undefined)
    return 'has a % that no two hex digits follow; write %25'
  if (database.includes('/')) return `names a database with a slash; ${PASSWORD_FORM}`
  if (database === '') return `names no database; it takes ${ADDRESS_FORM}`
  const server = parsed.searchParams.get('host') ?? (parsed.host || 'localhost')
  return { url: parsed.href, shown: `postgres://${user === '' ? '' : `${user}@`}${server}/${database}`, user, database }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
