/** Runs the named scripts of package.json, as many at once as there are cores, and fails if any fails. npm runs it. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

process.chdir(import.meta.dirname)
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const waiting = process.argv.slice(2)
const failed = []

await Promise.all(Array.from({ length: availableParallelism() }, runWaiting))
if (failed.length > 0) {
  process.stderr.write(`error: failed: ${failed.join(', ')}\n`)
  process.exit(1)
}

async function runWaiting() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await run(name)
}

/** The output of a script is printed once it has ended, so that those of several do not mix. */
function run(name) {
  const started = Date.now()
  const child = spawn(scripts[name] ?? `echo "package.json has no script ${name}"; exit 1`, { shell: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve) => {
    child.on('close', (status) => {
      if (status !== 0) failed.push(name)
      const seconds = ((Date.now() - started) / 1000).toFixed(1)
      process.stdout.write(`${status === 0 ? '✔' : '✘'} ${name}: ${scripts[name]} (${seconds} s)\n${output}`)
      resolve()
    })
  })
}
