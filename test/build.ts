import { execFileSync } from 'node:child_process'

/** The command-line tests run the built program, and those of the client its package, so both are built once before all tests. */
export default function build(): void {
  for (const project of ['tsconfig.build.json', 'client']) {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], { stdio: 'inherit' })
  }
}
