/** The arrows of the house: main → cli → app → noun/routes → noun/queries → store. docs/ARCHITECTURE.md draws them. */
const { existsSync, readdirSync } = require('node:fs')

/** The folders of the nouns: those with a contract. */
const nouns = readdirSync('src')
  .filter((name) => existsSync(`src/${name}/contract.ts`))
  .join('|')

/** A library that one file names, and no other but for its types. */
const oneFile = (name, file, library) => ({
  name: `${name}-in-one-file`,
  severity: 'error',
  from: { path: '^src/', pathNot: file },
  to: { path: library, dependencyTypesNot: ['type-only'] },
})

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'nouns-are-islands',
      severity: 'error',
      comment: 'the one bridge: an author shows the place that the ranking defines',
      from: { path: `^src/(${nouns})/` },
      to: { path: `^src/(${nouns})/`, pathNot: ['^src/$1/', '^src/classement/rank[.]ts$'] },
    },
    {
      name: 'nouns-know-no-edge',
      severity: 'error',
      from: { path: `^src/(${nouns})/`, pathNot: '[.]test[.]ts$' },
      to: { path: '^src/(app|main|cli/|http/|portal/)' },
    },
    {
      name: 'contracts-know-no-store',
      severity: 'error',
      comment: 'src/contract.ts names the type of the snapshot that a handler reads from, and nothing else of it',
      from: { path: '/contract[.]ts$' },
      to: { path: '(^src/store/|[/-]queries[.]ts$|/routes[.]ts$)', pathNot: '^src/store/store[.]ts$' },
    },
    {
      name: 'store-knows-no-noun',
      severity: 'error',
      from: { path: '^src/store/' },
      to: { path: `^src/(${nouns}|http|cli|app|portal)` },
    },
    {
      name: 'trees-are-read-by-their-orders',
      severity: 'error',
      comment: 'an order finds rows and ranks; how its tree does that is known inside the folder',
      from: { path: '^src/', pathNot: '^src/store/counted/' },
      to: { path: '^src/store/counted/(tree|key)[.]ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'model-at-the-bottom',
      severity: 'error',
      comment: 'the description of the records is imported by all that must know it, the store included',
      from: { path: '^src/model/', pathNot: '[.]test[.]ts$' },
      to: { path: '^src/', pathNot: '^src/(model/|text[.]ts$|instant[.]ts$)' },
    },
    {
      name: 'portal-knows-no-edge',
      severity: 'error',
      from: { path: '^src/portal/', pathNot: '[.]test[.]ts$' },
      to: { path: '^src/(app|main|cli/|http/)' },
    },
    {
      name: 'formats-know-the-dump-alone',
      severity: 'error',
      comment: 'a foreign format becomes lines of a dump; how those get into a store is no matter of its own',
      from: { path: '^src/formats/', pathNot: '[.]test[.]ts$' },
      to: { path: '^src/', pathNot: '^src/(formats/|portal/|model/|text[.]ts$|instant[.]ts$)' },
    },
    {
      name: 'formats-known-to-the-command-line-alone',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(formats|cli)/' },
      to: { path: '^src/formats/' },
    },
    {
      name: 'mirror-knows-the-dump-and-the-contracts',
      severity: 'error',
      comment: 'it is a client of other portals: it reads as they write, and writes as an import does',
      from: { path: '^src/mirror/', pathNot: '[.]test[.]ts$' },
      to: { path: `^src/(app|main|cli/|http/|limits/|(${nouns})/(.*queries|routes|rank))` },
    },
    {
      name: 'only-the-command-line-mirrors',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(mirror|cli)/' },
      to: { path: '^src/mirror/' },
    },
    {
      name: 'http-knows-no-contract',
      severity: 'error',
      from: { path: '^src/http/', pathNot: '[.]test[.]ts$' },
      to: { path: `^src/(${nouns})/contract[.]ts$` },
    },
    {
      name: 'http-knows-no-query',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '([/-]queries[.]ts$|/routes[.]ts$|^src/(cli|portal)/)' },
    },
    {
      name: 'dialect-known-to-the-app-alone',
      severity: 'error',
      comment: 'the dialect of existing clients uses the contract and its queries, and can be deleted with one line',
      from: { path: '^src/', pathNot: '^src/(app[.]ts|rootme/)' },
      to: { path: '^src/rootme/' },
    },
    {
      name: 'dialect-knows-no-command',
      severity: 'error',
      from: { path: '^src/rootme/', pathNot: '[.]test[.]ts$' },
      to: { path: '^src/(app|main|cli/|portal/)' },
    },
    oneFile('csv-writer', '^src/portal/export/formats[.]ts$', 'node_modules/csv-stringify/'),
    oneFile('sqlite-driver', '^src/store/sqlite/driver[.]ts$', 'node_modules/@photostructure/'),
    oneFile('postgres-driver', '^src/store/postgres/driver[.]ts$', 'node_modules/pg(-copy-streams)?/'),
    oneFile('zip-reader', '^src/formats/ctfd/archive[.]ts$', 'node_modules/yauzl/'),
    oneFile('redis-client', '^src/limits/redis[.]ts$', 'node_modules/ioredis/'),
    {
      name: 'engines-know-not-each-other',
      severity: 'error',
      from: { path: '^src/store/(sqlite|postgres)/' },
      to: { path: '^src/store/(sqlite|postgres)/', pathNot: '^src/store/$1/' },
    },
    {
      name: 'framework-at-the-edge',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(app[.]ts|http/)' },
      to: { path: 'node_modules/(fastify|@fastify)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'config-read-at-the-top',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main|config|cli/)' },
      to: { path: '^src/(config|options)[.]ts$' },
    },
    {
      name: 'client-and-server-know-only-the-wire',
      severity: 'error',
      from: { path: '^(src|client/src)/' },
      to: { path: '^(src|client)/', pathNot: '^$1/' },
    },
    {
      name: 'page-knows-the-client-alone',
      severity: 'error',
      comment: 'the page reads the API as everybody does; the server knows its files only',
      from: { path: '^web/src/' },
      to: { path: '^src/' },
    },
    {
      name: 'pages-above-parts',
      severity: 'error',
      comment: 'routes bring the pages; what the pages share knows none of them',
      from: { path: '^web/src/', pathNot: '^web/src/(pages/|routes[.]tsx$)' },
      to: { path: '^web/src/pages/' },
    },
    {
      name: 'pages-are-islands',
      severity: 'error',
      from: { path: '^web/src/pages/([^/.]+)' },
      to: { path: '^web/src/pages/', pathNot: '^web/src/pages/$1[/.]' },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '([.]test|/main|/request)[.]ts$' },
      to: {},
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
