/** What an address is counted as: an IPv4 address itself, an IPv6 address by its /64. A client that left has none. */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return ''
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1]) return mapped[1]
  if (!address.includes(':')) return address
  const [head = '', tail] = (address.split('%')[0] as string).split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const missing = tail === undefined ? 0 : 8 - groups.length - after.length
  const all = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...after]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
