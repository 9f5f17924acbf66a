import { execFileSync } from 'node:child_process'

export const OPENSSL = 'openssl'

/** Whether the machine can make certificates. */
export function hasOpenssl(): boolean {
  try {
    execFileSync(OPENSSL, ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
