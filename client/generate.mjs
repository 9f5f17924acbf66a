// Writes src/schema.ts from docs/openapi.json. With --check, fails if they differ. An argument names another document.
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'

const HEAD = '// Made from docs/openapi.json by `npm run client:types`; do not change it by hand.\n\n'
const target = new URL('src/schema.ts', import.meta.url)

const given = process.argv.slice(2).find((argument) => argument !== '--check')
const source = given ? pathToFileURL(given) : new URL('../docs/openapi.json', import.meta.url)
const made = HEAD + astToString(await openapiTS(source))

if (!process.argv.includes('--check')) {
  writeFileSync(target, made)
} else if (readFileSync(target, 'utf8') !== made) {
  process.stderr.write('client/src/schema.ts is not what docs/openapi.json gives: run `npm run client:types`.\n')
  process.exitCode = 1
}
