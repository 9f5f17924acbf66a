import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DCLinter } from 'dclint'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { VERSION } from '../../src/config.js'
import { PROBES } from '../../src/http/health.js'
import { SERVE_OPTIONS } from '../../src/options.js'
import { makeFolder } from '../harness.js'
import { Container, execute, Image, readIgnore, registryFault, replay } from '../image.js'
import { palmares } from '../palmares.js'
import { petitPortail } from '../wire.js'

const ROOT = join(import.meta.dirname, '../..')
const DEPLOY = join(ROOT, 'deploy')
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8')
const PINNED = /^[a-z]+(\/[a-z]+)?:\d+(\.\d+)*(-[a-z]+)*$/
const COMPOSE = read('deploy', 'compose.yaml')

describe('compose.yaml', () => {
  const compose: Compose = parse(COMPOSE, { merge: true })
  const services = Object.entries(compose.services)

  test('is valid in the schema of the Compose Specification', () => {
    // A proxy must be reachable from outside, and the order of keys is our choice.
    const off = ['no-unbound-port-interfaces', 'service-keys-order', 'services-alphabetical-order']
    const rules = Object.fromEntries([...off, 'top-level-properties-order'].map((rule) => [rule, 0]))
    const linter = new DCLinter({ rules, quiet: false, debug: false, exclude: [] })
    const results = linter.lintFiles([join(DEPLOY, 'compose.yaml')], false)
    expect(results.flatMap(({ messages }: { messages: unknown[] }) => messages)).toEqual([])
    expect(results).toHaveLength(1)
  })

  test.skipIf(!runs('docker', ['compose', 'version']))(
    'is accepted by docker compose with the variables of .env',
    () => {
      const env = { ...process.env, ...filledEnv() }
      const run = spawnSync('docker', ['compose', '-f', 'compose.yaml', 'config', '--quiet'], { cwd: DEPLOY, env })
      expect(String(run.stderr)).toBe('')
      expect(run.status).toBe(0)
    },
  )

  test('refers only to what exists: services, networks, volumes, files, variables', () => {
    for (const [, service] of services) {
      for (const name of Object.keys(service.depends_on ?? {})) expect(compose.services).toHaveProperty(name)
      for (const name of service.networks) expect(compose.networks).toHaveProperty(name)
      for (const volume of service.volumes ?? []) {
        const [source = ''] = volume.split(':')
        if (source.startsWith('.')) expect(existsSync(join(DEPLOY, source)), source).toBe(true)
        else expect(compose.volumes).toHaveProperty(source)
      }
    }
    const used = COMPOSE.matchAll(/(?<!\$)\$\{([A-Z_]+)/g)
    expect(new Set(Object.keys(filledEnv()))).toEqual(new Set([...used].map(([, name]) => name)))
  })

  test('requires each secret, and contains none', () => {
    for (const [variable] of COMPOSE.matchAll(/\$\{[A-Z_]*PASSWORD[^}]*\}/g)) expect(variable).toContain(':?')
    const secrets = variablesOf(read('deploy', '.env.example')).filter(([name]) => name.endsWith('PASSWORD'))
    expect(secrets.map(([, value]) => value)).toEqual(['', '', '', ''])
    expect(read('deploy', '.gitignore').split('\n')).toContain('.env')
  })

  test.each(services)('%s is pinned, hardened, limited and monitored', (name, service) => {
    expect(service.image).toMatch(PINNED)
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], restart: 'unless-stopped' })
    expect(service.security_opt).toEqual(['no-new-privileges:true'])
    expect(service.cap_add ?? []).toEqual(name === 'proxy' ? ['NET_BIND_SERVICE'] : [])
    expect(service.deploy.resources.limits).toMatchObject({
      cpus: expect.any(String),
      memory: expect.any(String),
      pids: expect.any(Number),
    })
    // The image of Palmarès has its own health check.
    if (service.build) expect(service).not.toHaveProperty('healthcheck')
    else expect(service.healthcheck?.test[0]).toMatch(/^CMD/)
    const user = service.build ? Image.parse(read('Dockerfile')).last('USER') : service.user
    if (name !== 'proxy') expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  })

  test('publishes only the proxy, and isolates everything else', () => {
    expect(services.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['proxy'])
    expect(services.filter(([, { networks }]) => networks.includes('edge')).map(([name]) => name)).toEqual(['proxy'])
    expect(compose.networks.front?.internal && compose.networks.back?.internal).toBe(true)
    expect(services.some(([, { networks }]) => networks.includes('front') && networks.includes('edge'))).toBe(true)
  })

  test('has two nodes of this version, with accepted options, behind a proxy that they trust', async () => {
    const nodes = services.filter(([, { build }]) => build)
    expect(nodes.map(([name]) => name)).toEqual(['node1', 'node2'])
    for (const [, node] of nodes) {
      expect(node.image).toBe(`palmares:${VERSION}`)
      expect(node.environment).toMatchObject({ PALMARES_TRUST_PROXY: compose.networks.front?.ipam?.config[0]?.subnet })
      const env = Object.fromEntries(
        Object.entries(node.environment ?? {}).map(([name, text]) => [name, interpolated(text)]),
      )
      expect(await palmares(['serve', '--help'], { cwd: ROOT, env })).toMatchObject({ status: 0, stderr: '' })
    }
    const caddy = read('deploy', 'Caddyfile')
    const exposed = Image.parse(read('Dockerfile')).last('EXPOSE')
    expect(caddy).toContain(`reverse_proxy ${nodes.map(([name]) => `${name}:${exposed}`).join(' ')} {`)
    expect(caddy).toContain(`health_uri ${PROBES[1]}\n`)
    expect(Object.keys(compose.services.proxy?.environment ?? {})).toEqual(
      [...new Set(caddy.match(/(?<=\{\$)\w+/g))].sort(),
    )
  })

  test.each(['primary.sh', 'replica.sh'])('%s is a shell script', (name) => {
    expect(runs('sh', ['-n', join(DEPLOY, 'postgres', name)])).toBe(true)
    expect(lstatSync(join(DEPLOY, 'postgres', name)).mode & 0o111).toBe(0o111)
  })
})

describe('Dockerfile', () => {
  const image = Image.parse(read('Dockerfile'))

  test('uses pinned images, and ends with a numeric, unprivileged user', () => {
    const names = image.stages.flatMap(({ name }) => name ?? [])
    const outside = image.stages.map(({ from }) => from).filter((from) => !names.includes(from))
    for (const from of outside) expect(from).toMatch(PINNED)
    expect(image.last('USER')).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/)
    expect(image.last('STOPSIGNAL')).toBe('SIGTERM')
    expect(image.last('HEALTHCHECK')).toContain(PROBES[0])
    expect(image.env()).toMatchObject({ NODE_ENV: 'production', PALMARES_HOST: '0.0.0.0' })
  })

  test('has a context of exactly what it copies', () => {
    const ignores = readIgnore(read('.dockerignore'))
    const copied = image.stages.flatMap(({ steps }) => steps.filter(({ name }) => name === 'COPY'))
    const sources = copied.filter(({ flags }) => !flags.from).flatMap(({ words }) => words.slice(0, -1))
    expect(new Set(sources.map((source) => source.replace('./', '').split('/')[0]))).toEqual(
      new Set(readdirSync(ROOT).filter((name) => !ignores(name))),
    )
    for (const name of ['node_modules', '.git', 'data', 'deploy/.env', '.env', 'data/palmares.db', 'key.pem']) {
      expect(ignores(name), name).toBe(true)
    }
    expect(ignores('src/text.test.ts')).toBe(true)
    expect(ignores('src/http/server.test.ts')).toBe(true)
    expect(ignores('src/http/server.ts')).toBe(false)
  })

  describe('a replay of the build without a container', () => {
    let folder: string
    let root: string
    let missing: string | undefined

    beforeAll(async () => {
      folder = makeFolder()
      // Another user must be able to read it.
      chmodSync(folder, 0o755)
      try {
        root = await replay(image, folder)
        readOnly(join(root, 'app'), true)
      } catch (error) {
        missing = registryFault(String(error))
        if (missing === undefined || process.env.CI) throw error
        process.stderr.write(`\n!! THE IMAGE IS NOT BUILT: the npm registry cannot be reached (${missing})\n\n`)
      }
    })
    afterAll(() => {
      if (root) readOnly(join(root, 'app'), false)
      rmSync(folder, { recursive: true, force: true })
    })

    test('contains a program that runs as an unprivileged user, becomes healthy, and writes only to /data', async (context) => {
      context.skip(missing !== undefined, 'the npm registry cannot be reached')
      const container = await Container.of(image, root)
      const before = listing(join(root, 'app'))
      const dump = petitPortail.map((line) => `${JSON.stringify(line)}\n`).join('')
      expect(await container.run(['import', '-'], dump)).toMatchObject({ status: 0 })
      const add = ['accounts', 'add', 'alice', '--id-auteur', '1', '--password-stdin']
      expect(await container.run(add, 'correct horse battery\n')).toMatchObject({ status: 0 })
      const { stdout: key } = await container.run(['keys', 'create', 'alice', '--quiet'])
      expect((await container.healthcheck()).status).not.toBe(0)

      const server = container.spawn(image.command())
      const ended = new Promise((resolve) => server.on('close', resolve))
      try {
        const url = `http://127.0.0.1:${container.port}`
        await expect.poll(() => statusOf(`${url}${PROBES[1]}`)).toBe(200)
        expect(await container.healthcheck()).toMatchObject({ status: 0, stdout: '' })
        const headers = { authorization: `Bearer ${key.trim()}` }
        expect(await statusOf(`${url}/challenges`, headers)).toBe(200)
        expect(await container.run(['backup', 'copie.db'])).toMatchObject({ status: 0 })
      } finally {
        server.kill(image.last('STOPSIGNAL') as NodeJS.Signals)
      }
      expect(await ended).toBe(0)
      expect(listing(join(root, 'app'))).toEqual(before)
      expect(readdirSync(root).sort()).toEqual(['app', 'data'])
      const written = readdirSync(join(root, 'data')).filter((name) => !name.startsWith('palmares.db-'))
      expect(written.sort()).toEqual(['copie.db', 'palmares.db'])
    })

    test('contains only the program, without development dependencies', (context) => {
      context.skip(missing !== undefined, 'the npm registry cannot be reached')
      expect(readdirSync(join(root, 'app')).sort()).toEqual(['dist', 'node_modules', 'package.json'])
      const { dependencies, devDependencies } = JSON.parse(read('package.json'))
      const { packages } = JSON.parse(read('package-lock.json'))
      for (const name of Object.keys(dependencies)) expect(existsSync(join(root, 'app/node_modules', name))).toBe(true)
      // A development dependency that is also needed in production is present.
      for (const name of Object.keys(devDependencies).filter((name) => packages[`node_modules/${name}`].dev)) {
        expect(existsSync(join(root, 'app/node_modules', name)), name).toBe(false)
      }
    })
  })
})

describe('palmares.service', () => {
  const unit = read('deploy', 'palmares.service')
  const lines = unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

  test.skipIf(!runs('systemd-analyze', ['--version']))('is accepted by systemd-analyze', async () => {
    const folder = makeFolder()
    try {
      // Its programs may be elsewhere on this machine.
      const file = join(folder, 'palmares.service')
      writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
      const { status, stderr } = await execute('systemd-analyze', ['verify', file])
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('allows the supervisor to stop its workers, and V8 to compile', () => {
    expect(lines.filter((line) => line.startsWith('['))).toEqual(['[Unit]', '[Service]', '[Install]'])
    for (const line of lines) expect(line).toMatch(/^(\[[A-Z][a-z]+\]|[A-Z][A-Za-z]+=.*)$/)
    expect(lines).toEqual(expect.arrayContaining(['KillMode=mixed', 'TimeoutStopSec=15', 'User=palmares']))
    expect(lines.some((line) => line.startsWith('MemoryDenyWriteExecute'))).toBe(false)
  })

  test('has an example of its variables that the program accepts, commented ones included', async () => {
    const env = Object.fromEntries(variablesOf(read('deploy', 'palmares.env.example').replace(/^#(?=[A-Z_]+=)/gm, '')))
    expect(Object.keys(env)).toContain('PALMARES_REPLICA')
    expect(await palmares(['serve', '--help'], { cwd: ROOT, env })).toMatchObject({ status: 0, stderr: '' })
  })
})

test('every Palmarès variable in these files is an option of serve', () => {
  const known = Object.keys(SERVE_OPTIONS).map((name) => name.replace(/(?=[A-Z])/g, '_').toUpperCase())
  const files = readdirSync(DEPLOY, { recursive: true, encoding: 'utf8' }).filter((name) => name !== '.env')
  const texts = files.filter((name) => lstatSync(join(DEPLOY, name)).isFile()).map((name) => read('deploy', name))
  const named = [...texts, read('Dockerfile')].flatMap((text) => text.match(/(?<=\bPALMARES_)[A-Z_]+\b/g) ?? [])
  expect(named.length).toBeGreaterThan(10)
  expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([])
})

interface Compose {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } }>
  volumes: Record<string, unknown>
}

interface Service {
  image: string
  build?: unknown
  user?: string
  environment?: Record<string, string>
  networks: string[]
  volumes?: string[]
  ports?: string[]
  depends_on?: Record<string, unknown>
  security_opt: string[]
  cap_add?: string[]
  healthcheck?: { test: string[] }
  deploy: { resources: { limits: unknown } }
}

/** A completed .env file. */
function filledEnv(): Record<string, string> {
  const variables = variablesOf(read('deploy', '.env.example'))
  return Object.fromEntries(variables.map(([name, value]) => [name, value || randomBytes(24).toString('hex')]))
}

function interpolated(text: string): string {
  const env = filledEnv()
  return text.replace(/\$\{([A-Z_]+)[^}]*\}/g, (_, name: string) => env[name] ?? '')
}

function variablesOf(text: string): [string, string][] {
  return text
    .split('\n')
    .filter((line) => /^[A-Z_]+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
}

/** Whether a program exists and accepts the arguments. */
function runs(program: string, args: string[]): boolean {
  return spawnSync(program, args).status === 0
}

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return fetch(url, { headers }).then(
    ({ status }) => status,
    () => undefined,
  )
}

/** Every file below a folder, with its size and modification time. */
function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { size, mtimeMs } = lstatSync(join(folder, name))
    return `${name} ${size} ${mtimeMs}`
  })
}

function readOnly(folder: string, on: boolean): void {
  spawnSync('chmod', ['-R', on ? 'a-w' : 'u+w', folder])
}
