import type { TestProject } from 'vitest/node'
import { migrateStore } from '../../src/store/open.js'
import { createDatabase, dropDatabase, findBinaries, runSql, startPrimary } from './postgres.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The superuser's address of the shared PostgreSQL. Without it, tests that need PostgreSQL are skipped. */
    postgresUrl: string | undefined
    /** The name of a database there with an empty store. Copying it takes a fraction of the time of the migrations. */
    postgresTemplate: string
  }
}

/** All test files share one PostgreSQL, where each store has its own database. */
export default async function provideServers(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.TEST_DATABASE_URL
  if (given) {
    await runSql(given, 'select 1').catch((error) => {
      throw new Error(`TEST_DATABASE_URL leads to no PostgreSQL that answers: ${error.message}`)
    })
    const template = await provideStores(project, given)
    return () => dropDatabase(template)
  }
  if (!findBinaries()) {
    if (isTrue(process.env.CI)) throw new Error(`There is no PostgreSQL. ${ADVICE}`)
    process.stderr.write(WARNING)
    project.provide('postgresUrl', undefined)
    return undefined
  }
  const server = await startPrimary()
  await provideStores(project, server.url())
  return server.destroy
}

/** Returns the address of the template. */
async function provideStores(project: TestProject, url: string): Promise<string> {
  const template = await createDatabase(url)
  await migrateStore(template, { withoutTrigrams: false })
  project.provide('postgresUrl', url)
  project.provide('postgresTemplate', new URL(template).pathname.slice(1))
  return template
}

const ADVICE =
  "Install its server, such as Debian's package postgresql, or set TEST_DATABASE_URL to a superuser's address of one."

const WARNING = `
${'!'.repeat(100)}
!! THE POSTGRESQL HALF OF THE TESTS IS SKIPPED: there is no PostgreSQL on this machine.
!! ${ADVICE.replace(', or', ',\n!! or')}
${'!'.repeat(100)}

`

function isTrue(variable: string | undefined): boolean {
  return !['', '0', 'false', 'no'].includes((variable ?? '').toLowerCase())
}
