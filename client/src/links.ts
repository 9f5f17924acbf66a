export type Links = Record<'first' | 'prev' | 'next' | 'last', string | undefined>

/** The URLs in a Link header (RFC 8288), resolved against the URL of the page. */
export function parseLinks(header: string | null, address: string): Links {
  const links: Links = { first: undefined, prev: undefined, next: undefined, last: undefined }
  for (const [, target, parameters] of (header ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(parameters!)
    for (const rel of (relations?.[1] ?? relations?.[2] ?? '').split(/\s+/)) {
      if (isRelation(rel) && URL.canParse(target!, address)) links[rel] ??= new URL(target!, address).href
    }
  }
  return links
}

function isRelation(text: string): text is keyof Links {
  return text === 'first' || text === 'prev' || text === 'next' || text === 'last'
}
