import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildSync } from 'esbuild'

/**
 * Writes a script that imports sources by their path from the root, as a program that Node runs. `remove` deletes it. It lies
 * in `dist/`, where the imports of the package lead to what was built.
 */
export function makeScript(source: string): { path: string; remove(): void } {
  const path = resolve(`dist/test-${randomUUID()}.mjs`)
  const stdin = { contents: source, resolveDir: resolve('.'), loader: 'ts' as const }
  buildSync({ stdin, outfile: path, bundle: true, platform: 'node', format: 'esm', packages: 'external' })
  return { path, remove: () => rmSync(path) }
}
