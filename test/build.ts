import { execFileSync } from 'node:child_process'

/** The command-line tests run the built program, those of the client its package, and the page is served as it is built. */
export default function build(): void {
  if (!process.argv.some((word) => word.includes('browser'))) process.stderr.write(NOT_HERE)
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}

const NOT_HERE = '\nNot part of this run: the journeys through the page in a browser, `npm run test:browser`.\n\n'
