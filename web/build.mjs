/** Builds dist/web: assets named by content hash, their compressed variants, and the HTML shells that load them. */
import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'esbuild'
import { docsShell, pageShell } from './shells.mjs'

const source = join(dirname(fileURLToPath(import.meta.url)), 'src')
const out = join(source, '../../dist/web')
const assets = join(out, 'assets')
const swagger = dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui/static/swagger-ui.css')))

await rm(out, { recursive: true, force: true })
await mkdir(assets, { recursive: true })

const [page, docs, icon, swaggerScript, swaggerStyle] = await Promise.all([
  bundle('main.tsx'),
  bundle('docs/docs.ts'),
  copy(join(source, 'icon.svg')),
  copy(join(swagger, 'swagger-ui-bundle.js')),
  copy(join(swagger, 'swagger-ui.css')),
])
for (const lang of ['fr', 'en']) await writeFile(join(out, `${lang}.html`), pageShell(lang, { ...page, icon }))
await writeFile(join(out, 'docs.html'), docsShell({ ...docs, icon, swaggerScript, swaggerStyle }))

/** Bundles one entry. Returns the URLs of its script, its style, and the scripts it imports statically. */
async function bundle(entry) {
  const { metafile, outputFiles } = await build({
    entryPoints: [join(source, entry)],
    outdir: assets,
    absWorkingDir: out,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    write: false,
    legalComments: 'none',
  })
  await Promise.all(outputFiles.map(({ path, contents }) => write(basename(path), contents)))
  const [script, output] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry))
  const first = output.imports.filter(({ kind }) => kind === 'import-statement')
  return {
    script: address(script),
    style: output.cssBundle && address(output.cssBundle),
    first: first.map(({ path }) => address(path)),
  }
}

/** Copies a file to a name with its content hash. Returns its URL. */
async function copy(path) {
  const contents = await readFile(path)
  const hash = createHash('sha256').update(contents).digest('base64url').replace(/[-_]/g, '').slice(0, 8)
  const name = `${basename(path, extname(path))}-${hash}${extname(path)}`
  await write(name, contents)
  return address(name)
}

/** Writes a file and its compressed variants. */
async function write(name, contents) {
  const path = join(assets, name)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: contents.length }
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(contents, { params }),
    promisify(gzip)(contents, { level: 9 }),
  ])
  await Promise.all([writeFile(path, contents), writeFile(`${path}.br`, brotli), writeFile(`${path}.gz`, gzipped)])
}

function address(path) {
  return `/assets/${basename(path)}`
}
