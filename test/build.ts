import { execFileSync } from 'node:child_process'

/** The command-line tests run the built program, so it is built once before all tests. */
export default function build(): void {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
}
