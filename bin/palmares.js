#!/usr/bin/env node
/** The command. It stands outside the build, so that it can be linked before there is one, and then says what to do. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = new URL('../dist/main.js', import.meta.url)
if (existsSync(main)) await import(main.href)
else {
  const folder = fileURLToPath(new URL('..', import.meta.url))
  process.stderr.write(`error: palmares is not built yet; run \`npm ci && npm run build\` in ${folder}\n`)
  process.exitCode = 1
}
