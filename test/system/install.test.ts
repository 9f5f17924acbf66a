import { readFileSync } from 'node:fs'
// @ts-expect-error: its types are a package of their own
import { subset } from 'semver'
import { expect, test } from 'vitest'

interface Package {
  engines?: { node?: string }
  hasInstallScript?: boolean
}

const read = (path: string) => readFileSync(path, 'utf8')
const own = JSON.parse(read('package.json')) as { engines: { node: string }; allowScripts: Record<string, boolean> }
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Package> }
const locked = Object.entries(packages).filter(([path]) => path !== '')

test('every locked package takes every Node that package.json promises, so npm warns of none', () => {
  const wanted = locked.flatMap(([path, { engines }]) => (engines?.node ? [[path, engines.node] as const] : []))
  expect(wanted.length).toBeGreaterThan(50)
  expect(wanted.filter(([, range]) => !subset(own.engines.node, range))).toEqual([])
})

test('the oldest Node of each line that package.json promises is the one that the first pages name', () => {
  const oldest = [...own.engines.node.matchAll(/\d+\.\d+(?=\.0)/g)].map(([version]) => version.replace(/\.0$/, ''))
  const promise = `Node ${oldest[0]}+, ${oldest[1]}+ or ${oldest[2]}+`
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'docs/start/operator.md',
    'docs/start/contributor.md',
    'deploy/README.md',
  ]
  expect(pages.filter((page) => !read(page).includes(promise))).toEqual([])
})

test('every install script of a dependency is decided upon, so npm asks a newcomer nothing; none may run', () => {
  const scripts = locked.flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript ? [path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)] : [],
  )
  expect(own.allowScripts).toEqual(Object.fromEntries(scripts.map((name) => [name, false])))
})

test('the lock file names no host that packages come from', () => {
  expect(locked.filter(([, entry]) => 'resolved' in entry && !('link' in entry))).toEqual([])
  expect(read('package-lock.json')).not.toMatch(/"resolved": "[a-z+]+:/)
})
