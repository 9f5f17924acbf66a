/** Makes dist/: the server with its dependencies in few files, as to find and read hundreds takes most of the time of a start. */
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const out = at('../dist')

await rm(out, { recursive: true, force: true })
await build({
  // A thread of SQLite begins with a file of its own.
  entryPoints: [at('main.ts'), at('store/sqlite/thread-entry.ts')],
  outbase: at('.'),
  outdir: out,
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Programs compiled for each system, which are found beside their packages.
  external: ['@node-rs/argon2', '@photostructure/sqlite', 'pg-native', '#web/*', '#sqlite-thread'],
  // A dependency that is CommonJS asks for Node's modules by `require`.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'\nconst require = requireFrom(import.meta.url)",
  },
  logLevel: 'warning',
})
