import { execFileSync } from 'node:child_process'

/** The command-line tests run the built program, those of the client its package, and the page is served as it is built. */
export default function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}
