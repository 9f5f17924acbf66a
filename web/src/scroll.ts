import { keep, recall } from './storage.js'

const STORED_AS = 'palmares.scroll'
const SETTLED_AFTER_MS = 2000
const MAX_OFFSETS = 50

/**
 * Restores the scroll position on back and forward. The browser would do it too early: the page is rendered after the
 * event, and its list is loaded later still. So the offset is stored per URL and applied each time the page grows, until
 * the reader scrolls or types.
 */
export function keepScroll(): void {
  const offsets = offsetsKept()
  let stop = () => {}
  let isRestoring = false

  const restore = () => {
    stop()
    const offset = offsets.get(location.href) ?? 0
    const sizes = new ResizeObserver(tryNow)
    const timer = setTimeout(() => stop(), SETTLED_AFTER_MS)
    const interruptions = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const
    isRestoring = true
    stop = () => {
      isRestoring = false
      sizes.disconnect()
      clearTimeout(timer)
      for (const name of interruptions) removeEventListener(name, stop)
    }
    function tryNow() {
      if (document.documentElement.scrollHeight < offset + innerHeight) return
      scrollTo(0, offset)
    }
    for (const name of interruptions) addEventListener(name, stop, { passive: true })
    sizes.observe(document.body)
  }

  history.scrollRestoration = 'manual'
  addEventListener('scroll', () => !isRestoring && remember(offsets), { passive: true })
  addEventListener('popstate', restore)
  addEventListener('pagehide', () => keep('sessionStorage', STORED_AS, [...offsets]))
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (entry && entry.type !== 'navigate') restore()
}

function offsetsKept(): Map<string, number> {
  const kept = recall('sessionStorage', STORED_AS)
  return new Map(Array.isArray(kept) ? kept.filter(isOffset) : [])
}

function isOffset(entry: unknown): entry is [string, number] {
  return Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number'
}

/** Moves the current URL to the end, so that the least recently used one is evicted. */
function remember(offsets: Map<string, number>): void {
  offsets.delete(location.href)
  offsets.set(location.href, scrollY)
  if (offsets.size > MAX_OFFSETS) offsets.delete(offsets.keys().next().value as string)
}
