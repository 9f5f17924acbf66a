#!/usr/bin/env node
import { run } from './cli/program.js'

// Whoever reads our output may stop early, as `head` does; that is not a failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

process.exitCode = await run(process.argv)
