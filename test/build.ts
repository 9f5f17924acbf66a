import { execFileSync } from 'node:child_process'

/** The command-line tests run the built program, those of the client its package, and the page is served as it is built. */
export default function build(): void {
  if (process.argv.includes('fast')) process.stderr.write(NOT_HERE)
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}

const NOT_HERE = `
Not part of this run: real processes, crashes and large stores, \`npm run test:system\`; the page in a browser, \`npm run test:browser\`.

`
