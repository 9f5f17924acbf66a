/** The address of the portal's own pages, as the store keeps what lies below it. */
export function storedUrl(portalUrl: string): (address: string, idChallenge: number) => string {
  const base = portalUrl.endsWith('/') ? portalUrl : `${portalUrl}/`
  return (address, idChallenge) => {
    const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(address)
    if (isAbsolute && !address.startsWith(base)) return address
    const path = isAbsolute ? address.slice(base.length) : address.replace(/^\/+/, '')
    // What stands for a challenge without an address.
    if (path === `challenges/${idChallenge}`) return ''
    const isKept = path !== '' && !path.startsWith('/') && !/^[a-z][a-z0-9+.-]*:/i.test(path)
    return isKept ? path : address
  }
}
