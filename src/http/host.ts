/** Whether a text is a name or an address, with or without a port. */
export function isHost(text: string): boolean {
  if (text === lastHost) return true
  const parts = HOST.exec(text)
  if (!parts || Number(parts[1] ?? 0) > MAX_PORT) return false
  lastHost = text
  return true
}

/** The name of a host as names are compared: in lower case, without a port or a dot at its end. */
export function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}

/** Nearly every request names the same. */
let lastHost = ''

const HOST = /^(?:\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9_][A-Za-z0-9_.-]{0,252})(?::(\d{1,5}))?$/
const MAX_PORT = 65_535
