const STORED_AS = 'palmares.scroll'
const SETTLED_AFTER_MS = 2000

/**
 * Goes back to where the reader was. The browser does it too early here: a page is drawn after the event, and its
 * list comes later still. So each address keeps its offset, and gets it back as the page grows, until the reader moves.
 */
export function keepScroll(): void {
  const offsets = new Map<string, number>(JSON.parse(sessionStorage.getItem(STORED_AS) ?? '[]'))
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
  addEventListener('scroll', () => !isRestoring && offsets.set(location.href, scrollY), { passive: true })
  addEventListener('popstate', restore)
  addEventListener('pagehide', () => sessionStorage.setItem(STORED_AS, JSON.stringify([...offsets].slice(-50))))
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (entry && entry.type !== 'navigate') restore()
}
