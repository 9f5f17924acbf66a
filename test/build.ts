import { execFileSync } from 'node:child_process'

/** The command-line tests run the built program, and the page is served as it is built: both once before all tests. */
export default function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}
