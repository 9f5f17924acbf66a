import { execFileSync } from 'node:child_process'

/** Tests of the command line, the client and the page use the build. */
export default function build(): void {
  if (process.argv.includes('fast')) process.stderr.write(NOT_HERE)
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}

const NOT_HERE = `
Not part of this run: real processes, crashes and large stores, \`npm run test:system\`; the page in a browser, \`npm run test:browser\`.

`
