import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The code blocks of a page in one language. */
export function blocks(page: string, language: string): string[] {
  const text = readFileSync(page, 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, block]) => block as string,
  )
}

/** Runs a block in a folder like a reader, with the built program under the name that the page uses. */
export async function paste(
  folder: string,
  block: string,
  env: Record<string, string> = {},
): Promise<{ stdout: string; stderr: string }> {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const npx = join(bin, 'npx')
  writeFileSync(npx, `#!/bin/sh\nshift\nexec ${process.execPath} ${resolve('dist/main.js')} "$@"\n`)
  chmodSync(npx, 0o755)
  const options = { cwd: folder, env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, ...env } }
  return run('bash', ['-euo', 'pipefail', '-c', block], options)
}
