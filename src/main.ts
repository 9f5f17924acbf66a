#!/usr/bin/env node
import { run } from './cli/program.js'

// Whoever reads our output may stop early, as `head` does; that is not a failure of ours.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0)
  process.stderr.write(`error: cannot write to standard output (${code}); what the command changed is changed\n`)
  process.exit(1)
})

process.exitCode = await run(process.argv)
