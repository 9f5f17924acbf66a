import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildSync } from 'esbuild'

/**
 * Writes a program for Node that imports sources by their path from the root. It is in `dist/`, where the imports of the
 * package resolve to the build. `remove` deletes it.
 */
export function makeScript(source: string): { path: string; remove(): void } {
  const path = resolve(`dist/test-${randomUUID()}.mjs`)
  const stdin = { contents: source, resolveDir: resolve('.'), loader: 'ts' as const }
  buildSync({ stdin, outfile: path, bundle: true, platform: 'node', format: 'esm', packages: 'external' })
  return { path, remove: () => rmSync(path) }
}
