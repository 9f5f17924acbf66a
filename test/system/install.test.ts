import { readFileSync } from 'node:fs'
// @ts-expect-error: its types are in a separate package
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

test('every locked package supports every Node version in package.json, so npm prints no warning', () => {
  const wanted = locked.flatMap(([path, { engines }]) => (engines?.node ? [[path, engines.node] as const] : []))
  expect(wanted.length).toBeGreaterThan(50)
  expect(wanted.filter(([, range]) => !subset(own.engines.node, range))).toEqual([])
})

test('the first pages name the oldest Node of each line that package.json supports', () => {
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

test('every install script of a dependency is disallowed explicitly, so npm asks no question', () => {
  const scripts = locked.flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript ? [path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)] : [],
  )
  expect(own.allowScripts).toEqual(Object.fromEntries(scripts.map((name) => [name, false])))
})

test('the lock file contains no registry host', () => {
  expect(locked.filter(([, entry]) => 'resolved' in entry && !('link' in entry))).toEqual([])
  expect(read('package-lock.json')).not.toMatch(/"resolved": "[a-z+]+:/)
})
