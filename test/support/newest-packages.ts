/**
 * The newest packages of the ecosystem, pinned in test/newest. With HEDDLE_TEST_ENGINE=newest the
 * projects of tests run on these. The default setup of the vitest project `newest` installs them.
 */

import { execFile } from 'node:child_process'
import { cp, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const newest = resolve(import.meta.dirname, '../newest')
const projects = join(import.meta.dirname, 'projects')

/**
 * Copies of the projects. A graph resolves its packages from where its file is, so these find the
 * newest ones.
 */
const copies = join(newest, 'node_modules/.projects')

/** The folder that holds the projects that tests serve. */
export function projectsFolder(): string {
  return process.env['HEDDLE_TEST_ENGINE'] === 'newest' ? copies : projects
}

/** Installs the packages unless they are there, and copies the projects beside them. */
export async function setup(): Promise<() => Promise<void>> {
  const [wanted, present] = await Promise.all(
    ['package-lock.json', 'node_modules/.package-lock.json'].map((name) => versionsIn(name)),
  )
  if (wanted !== present) {
    console.log('Installing the newest packages of the ecosystem (once) …')
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--loglevel=error'], {
      cwd: newest,
    })
  }
  await rm(copies, { recursive: true, force: true })
  await cp(projects, copies, { recursive: true })
  return () => rm(copies, { recursive: true, force: true })
}

/** Every package of a lock file with its version, as one text; none where there is no file. */
async function versionsIn(name: string): Promise<string> {
  const text = await readFile(join(newest, name), 'utf8').catch(() => '{"packages":{}}')
  const { packages } = JSON.parse(text) as {
    packages: Readonly<Record<string, { readonly version?: string }>>
  }
  return Object.entries(packages).filter(([path]) => path !== '')
    .map(([path, { version }]) => `${path} ${version}`).sort().join('\n')
}
