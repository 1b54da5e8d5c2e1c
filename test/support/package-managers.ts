/** Real package managers, pinned in test/managers, and builds by them as a server makes them. */

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { zstdDecompressSync } from 'node:zlib'

import { onTestFinished } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { buildRemotely, packSources, platformHere } from '../../src/revision/index.ts'
import type { Manifest } from '../../src/revision/index.ts'
import { buildEnvironment } from '../../src/revision/remote/build-environment.ts'
import { installPackages } from './installed-packages.ts'

const folder = resolve(import.meta.dirname, '../managers')
const env = systemEnv({ level: 'silent' })

/** A package manager, as its users type it. */
export interface Manager {
  readonly title: string
  readonly program: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** In the folder of packages; npm is that of Node.js. */
  readonly file?: string
  readonly lockFile: string
  /** Installs, and writes the lock file. */
  readonly install: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

const cpu = process.arch
const yarnTwo = { YARN_NODE_LINKER: 'node-modules', YARN_ENABLE_IMMUTABLE_INSTALLS: '0',
  YARN_ENABLE_SCRIPTS: '1' }
const pnpmInstall = ['install', '--no-frozen-lockfile', '--ignore-scripts']

/** Those that a server builds with. Npm is that of Node.js. */
export const managers: readonly Manager[] = [
  { title: 'npm', program: 'npm', lockFile: 'package-lock.json',
    install: ['install', '--ignore-scripts', '--no-audit', '--no-fund'] },
  { title: 'pnpm 10', program: 'pnpm', file: 'pnpm-10/bin/pnpm.cjs', lockFile: 'pnpm-lock.yaml',
    install: pnpmInstall },
  { title: 'pnpm 12', program: 'pnpm', file: `@pnpm/exe.linux-${cpu}/pnpm`,
    lockFile: 'pnpm-lock.yaml', install: pnpmInstall },
  { title: 'yarn 1', program: 'yarn', file: 'yarn/bin/yarn.js', lockFile: 'yarn.lock',
    install: ['install', '--ignore-scripts', '--non-interactive'] },
  { title: 'yarn 4', program: 'yarn', file: '@yarnpkg/cli-dist/bin/yarn.js', lockFile: 'yarn.lock',
    install: ['install', '--mode=skip-build'], variables: yarnTwo },
  { title: 'bun', program: 'bun',
    file: `@oven/bun-linux-${cpu === 'arm64' ? 'aarch64' : cpu}/bin/bun`, lockFile: 'bun.lock',
    install: ['install', '--ignore-scripts'] },
]

/** Installs them once. */
export async function installManagers(): Promise<void> {
  await installPackages(folder, 'package managers')
}

/** A folder that has the program, and nothing else. Resolves with its path. */
export async function programFolder({ program, file }: Manager, root: string): Promise<string> {
  const place = await mkdtemp(join(root, 'program-'))
  if (file !== undefined) await symlink(join(folder, 'node_modules', file), join(place, program))
  return place
}

/** Installs as a user of the package manager does. Rejects with what it printed. */
export async function installWith(manager: Manager, project: string,
  registry: string): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'heddle-home-'))
  const program = await programFolder(manager, home)
  // An empty lock file makes it a project of its own.
  if (manager.title === 'yarn 4') await writeFile(join(project, 'yarn.lock'), '', { flag: 'a' })
  const { YARN_RC_FILENAME: _, ...variables } = buildEnvironment({ ...process.env,
    PATH: `${program}:${process.env['PATH']}`, npm_config_registry: registry }, home)
  try {
    await promisify(execFile)(manager.program, manager.install, { cwd: project,
      env: { ...variables, ...manager.variables } })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string;
      readonly stderr?: string }
    throw new Error(`${manager.title} failed:\n${stdout}\n${stderr}`, { cause: error })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** What was built. */
export interface Built {
  readonly manifest: Manifest
  readonly lines: readonly string[]
  /** The contents of all archives, one after another. */
  readonly text: string
}

/** Builds a project as a server does, which has the package manager. */
export async function buildWith(manager: Manager, project: string, registry: string,
  directory?: string): Promise<Built> {
  const root = await freshRoot()
  const program = await programFolder(manager, root)
  const { archive, chunks, config, wantsEnv, source } = await packSources(project)
  const lines: string[] = []
  return await buildRemotely({ source: { kind: 'archive', archive }, config,
    said: { wantsEnv, source }, platform: platformHere(), scope: 'acme',
    directory: directory ?? join(root, 'builds'), env, say: (line) => void lines.push(line),
    variables: { ...process.env, PATH: `${program}:${process.env['PATH']}`,
      npm_config_registry: registry }, signal: new AbortController().signal, fetch: async (to) => {
      await mkdir(to)
      for (const { sha256, data } of chunks) await writeFile(join(to, sha256), data)
    } }, async ({ manifest, chunk }) => {
    const all = manifest.archives.flatMap((each) => each.chunks)
    const texts = await Promise.all(
      all.map(async ({ sha256 }) => zstdDecompressSync(await chunk(sha256)).toString('latin1')),
    )
    return { manifest, lines, text: texts.join('') }
  })
}

/** A folder without links in its path, removed after the test. */
export async function freshRoot(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'heddle-managers-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return root
}
