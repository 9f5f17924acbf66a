import { execFile, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Run } from './palmares.js'
import { freePort } from './servers/child.js'

const ROOT = join(import.meta.dirname, '..')

/** One instruction of a Dockerfile. */
interface Step {
  name: string
  flags: Record<string, string>
  /** The text after the flags. */
  text: string
  words: string[]
}

interface Stage {
  from: string
  name: string | undefined
  steps: Step[]
}

/** The part of the Dockerfile syntax that ours uses. */
export class Image {
  constructor(readonly stages: Stage[]) {}

  static parse(dockerfile: string): Image {
    const stages: Stage[] = []
    const lines = dockerfile.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, '')
    for (const line of lines.split('\n').filter(Boolean)) {
      const [, name = '', marks = '', text = ''] = /^([A-Z]+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? []
      const flags = Object.fromEntries(marks.split(/\s+/).map((mark) => mark.slice(2).split(/=(.*)/)))
      const step = { name, flags, text, words: text.split(/\s+/) }
      if (name === 'FROM') stages.push({ from: step.words[0]!, name: step.words[2], steps: [] })
      else stages.at(-1)!.steps.push(step)
    }
    return new Image(stages)
  }

  /** The last value of an instruction in the final stage. */
  last(name: string): string {
    const text = this.stages.at(-1)!.steps.findLast((step) => step.name === name)?.text
    if (text === undefined) throw new Error(`the Dockerfile has no ${name}`)
    return text
  }

  env(): Record<string, string> {
    const { steps } = this.stages.at(-1)!
    const pairs = steps.filter(({ name }) => name === 'ENV').flatMap(({ words }) => words)
    return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/)))
  }

  entrypoint(): string[] {
    return JSON.parse(this.last('ENTRYPOINT'))
  }

  command(): string[] {
    return JSON.parse(this.last('CMD'))
  }
}

/**
 * Runs the steps of a build in folders that stand for the roots of its stages, each stage as soon as those it needs are
 * done. Returns the folder of the last one.
 */
export async function replay(image: Image, folder: string): Promise<string> {
  const built: Record<string, Promise<Place>> = {}
  const all = image.stages.map((stage, index) => {
    const done = replayStage(stage, join(folder, stage.name ?? `stage-${index}`), built)
    if (stage.name) built[stage.name] = done
    return done
  })
  return (await Promise.all(all)).at(-1)!.root
}

async function replayStage(
  { from, steps }: Stage,
  root: string,
  built: Record<string, Promise<Place>>,
): Promise<Place> {
  const base = await built[from]
  const place: Place = { root, workdir: base?.workdir ?? '/' }
  if (base) copy(base.root, root)
  else mkdirSync(root)
  for (const step of steps) await take(step, place, (await built[step.flags.from ?? ''])?.root)
  return place
}

interface Place {
  root: string
  workdir: string
}

/** Runs one step of a stage. `source` is the root of the stage that it copies from, or undefined for the build context. */
async function take({ name, flags, text, words }: Step, place: Place, source: string | undefined): Promise<void> {
  const { root, workdir } = place
  if (name === 'WORKDIR') {
    place.workdir = text
    mkdirSync(join(root, text), { recursive: true })
  } else if (name === 'RUN') {
    const { status, stdout, stderr } = await execute('sh', ['-c', text], { cwd: join(root, workdir), env: npm() })
    if (status !== 0) throw new Error(`${text}: ${stdout}${stderr}`)
  } else if (name === 'COPY') {
    const target = words.at(-1)!
    const ignores = source ? () => false : readIgnore(readFileSync(join(ROOT, '.dockerignore'), 'utf8'))
    for (const word of words.slice(0, -1)) {
      const to = join(root, target.startsWith('/') ? '' : workdir, target, target.endsWith('/') ? word : '')
      copy(join(source ?? ROOT, word), to, (path) => !ignores(relative(ROOT, path)))
      if (flags.chmod) chmodSync(to, Number.parseInt(flags.chmod, 8))
      if (flags.chown && isRoot) await execute('chown', ['-R', flags.chown, to])
    }
  }
}

function copy(from: string, to: string, filter: (path: string) => boolean = () => true): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter })
}

/** The environment of npm in the build: none of the npm that runs the tests, and its cache preferred. */
function npm(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_(cache|registry|userconfig))|NODE_ENV|VITEST|PALMARES_)/i.test(name),
  )
  return { ...Object.fromEntries(own), npm_config_prefer_offline: 'true', npm_config_fetch_retries: '1' }
}

export function registryFault(output: string): string | undefined {
  return /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/.exec(output)?.[0]
}

const isRoot = process.getuid?.() === 0

/** A container of an image, as far as an ordinary process can act as one: its user, its variables, its folder. */
export class Container {
  private constructor(
    private readonly image: Image,
    private readonly root: string,
    readonly port: number,
  ) {}

  static async of(image: Image, root: string): Promise<Container> {
    return new Container(image, root, await freePort())
  }

  spawn(args: string[]): ReturnType<typeof spawn> {
    const [program, ...before] = this.image.entrypoint()
    return spawn(this.program(program!), [...before.map((word) => this.inside(word)), ...args], this.options())
  }

  run(args: string[], input = ''): Promise<Run> {
    const [program, ...before] = this.image.entrypoint()
    const words = [...before.map((word) => this.inside(word)), ...args]
    return execute(this.program(program!), words, { ...this.options(), input })
  }

  healthcheck(): Promise<Run> {
    const [program, ...args]: string[] = JSON.parse(this.image.last('HEALTHCHECK').replace(/^CMD /, ''))
    return execute(this.program(program!), args, this.options())
  }

  private options() {
    const env = Object.entries(this.image.env()).map(([name, value]) => [
      name,
      value.replace('/data/', this.inside('/data/')),
    ])
    const [uid, gid] = this.image.last('USER').split(':').map(Number)
    return {
      cwd: this.inside(this.image.last('WORKDIR')),
      env: {
        ...Object.fromEntries(env),
        ...{ PALMARES_HOST: '127.0.0.1', PALMARES_PORT: String(this.port), PALMARES_METRICS_PORT: '0' },
        // The root of a container may be read-only, and so may its temporary folder.
        ...{ PATH: process.env.PATH, HOME: '/nonexistent', TMPDIR: this.inside('/app') },
      },
      ...(isRoot ? { uid: uid!, gid: gid! } : {}),
    }
  }

  private program(name: string): string {
    return name === 'node' ? process.execPath : name
  }

  private inside(path: string): string {
    return path.startsWith('/') ? join(this.root, path) : path
  }
}

/** Which paths of the context a .dockerignore excludes. The last line that matches a path or its parent folder decides. */
export function readIgnore(text: string): (path: string) => boolean {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const rules = lines.map((line) => ({ out: !line.startsWith('!'), pattern: globOf(line.replace(/^!/, '')) }))
  return (path) => path !== '' && (rules.findLast(({ pattern }) => pattern.test(path))?.out ?? false)
}

function globOf(glob: string): RegExp {
  const parts = { '**/': '(.*/)?', '*': '[^/]*', '.': '[.]' }
  return new RegExp(`^${glob.replace(/\*\*\/|[*.]/g, (part) => parts[part as keyof typeof parts])}(/|$)`)
}

interface ExecuteOptions {
  cwd?: string
  env?: NodeJS.ProcessEnv
  uid?: number
  gid?: number
  input?: string
}

/** Runs a program to its end. */
export function execute(program: string, args: string[], { input, ...options }: ExecuteOptions = {}): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { ...options, maxBuffer: 1e8 }, (error, stdout, stderr) => {
      resolve({ status: error ? (child.exitCode ?? 1) : 0, stdout, stderr })
    })
    child.stdin?.on('error', () => undefined).end(input ?? '')
  })
}
