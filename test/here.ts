import { vi } from 'vitest'
import { run } from '../src/cli/program.js'
import type { Run } from './palmares.js'

/** Runs a command in this process, which saves half a second, and captures its output. For commands that end on their own. */
export async function palmaresHere(...args: string[]): Promise<Run> {
  const ran: Run = { status: null, stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      ran[name] += text
      return true
    }),
  )
  try {
    ran.status = await run([process.execPath, 'palmares', ...args])
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  return ran
}
