/** Installs the packages of a project that may come from anyone. */

import { spawn } from 'node:child_process'
import { access } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { dirname, join } from 'node:path'

import { readProject } from '../../graph/index.ts'
import { workspaceOf } from '../closure/workspace.ts'
import { platformName } from '../closure/platform.ts'
import { RevisionError } from '../revision-error.ts'
import { inWork } from './build-mail.ts'
import type { BuildTask } from './build-mail.ts'
import { requireRegistryLock } from './foreign-packages.ts'
import { installFor, isYarnTwo } from './install-command.ts'
import type { FoundInstall } from './install-command.ts'
import { installedKey, takeInstalled } from './installed-packages.ts'
import { openInstallerProxy } from './installer-proxy.ts'
import { withInstallerView } from './installer-view.ts'
import { managerProgram } from './manager-program.ts'
import { closedPlace, openHosts } from './open-hosts.ts'
import type { OpenHosts } from './open-hosts.ts'
import { filesNamed } from './project-files.ts'

/** Result of an installation: the key under which its packages are kept. */
export interface Installation {
  /** Undefined if they must not be kept. */
  readonly key: string | undefined
}

/** Installs, or takes what an earlier build installed. Throws RevisionError. */
export async function installPackages(
  { config, platform, scope, installed, work, ignoreAuth, allowed }: BuildTask,
  say: (text: string) => void,
): Promise<Installation> {
  const folder = join(work, inWork.project)
  const { root: projectFolder, configFile } = await readProject(join(folder, config), {
    ignoreAuth,
  })
  const { root } = await workspaceOf(projectFolder)
  if (root !== folder && !root.startsWith(`${folder}/`)) throw strayWorkspace()
  const found = await installFor([dirname(configFile), root], platform)
  const { command: { program, args }, lock } = found
  const hosts = openHosts(process.env['npm_config_registry'], allowed)
  requireRegistryLock(lock, hosts)
  const key = await installedKey(folder,
    await filesNamed(folder, (name) => /^(package\.json|pnpm-.*|\.yarnrc\.yml)$/.test(name)), {
    scope,
    platform: platformName(platform),
    command: [program, ...args],
    lockText: lock.text,
  })
  if (key !== undefined && await takeInstalled(installed, key, folder, work)) {
    say('The packages are those of an earlier build: the lock file is the same.')
    return { key }
  }
  const file = await managerProgram(found, { path: process.env['PATH'] ?? '',
    empty: join(work, inWork.empty) })
  say(`${program} ${args.join(' ')}`)
  await withInstallerView({ root: folder, lock, hosts, aside: join(work, inWork.aside) },
    async () => await guarded(hosts, (variables) => run(file, found, variables, say)))
  return { key }
}

/** Options that protect the server, as the project may have code that the package manager runs. */
async function shieldOf({ command: { program }, lock }: FoundInstall): Promise<readonly string[]> {
  if (program === 'yarn' && !isYarnTwo(lock.text)) return ['--no-default-rc']
  if (program !== 'pnpm') return []
  // Otherwise one is looked for in the folders of the server.
  const isAlone = await access(join(lock.folder, 'pnpm-workspace.yaml')).then(() => false,
    () => true)
  return ['--ignore-pnpmfile', ...isAlone ? ['--ignore-workspace'] : []]
}

/**
 * Runs a package manager with a proxy, so that it reaches open hosts only. If the server has a
 * proxy of its own, that one decides.
 */
async function guarded(hosts: OpenHosts,
  run: (variables: Readonly<Record<string, string>>) => Promise<void>): Promise<void> {
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']
  if (proxies.some((name) => process.env[name])) return await run({})
  const proxy = await openInstallerProxy(hosts)
  try {
    await run({ ...Object.fromEntries(proxies.map((name) => [name, proxy.url])), NO_PROXY: '',
      no_proxy: '', YARN_HTTP_PROXY: proxy.url, YARN_HTTPS_PROXY: proxy.url })
  } catch (error) {
    const [where] = proxy.refused
    throw where === undefined ? error : closedPlace(where)
  } finally {
    await proxy.close()
  }
}

async function run(file: string, found: FoundInstall, guard: Readonly<Record<string, string>>,
  say: (text: string) => void): Promise<void> {
  const { command: { program, args, variables }, lock } = found
  const child = spawn(file, [...args, ...await shieldOf(found)], { cwd: lock.folder,
    env: { ...process.env, ...guard, ...variables }, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = Promise.withResolvers<number | string>()
  child.once('error', ended.reject)
  child.once('close', (code, signal) => ended.resolve(code ?? signal ?? 'nothing'))
  const last: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
      if (line.trim() === '') return
      say(line)
      last.push(line)
      if (last.length > 5) last.shift()
    })
  }
  if (await ended.promise === 0) return
  throw new RevisionError('no_install', `${program} ${args[0]} could not install the packages:\n` +
    last.join('\n'))
}

function strayWorkspace(): RevisionError {
  return new RevisionError('outside_project', 'The project is a part of a workspace that was not ' +
    'uploaded with it.')
}
