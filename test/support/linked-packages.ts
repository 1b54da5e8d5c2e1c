/** Packages of a project, linked from those that are installed here, so no registry is asked. */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

interface Package {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const house = resolve(import.meta.dirname, '../..')

/** Links the files of what a project needs into `node_modules` of a folder. */
export async function linkPackages(project: string, folder: string): Promise<void> {
  const { dependencies: wanted = {} } = await packageIn(project)
  const names = new Set(Object.keys(wanted))
  for (const name of names) {
    const from = join(house, 'node_modules', name)
    if (!existsSync(join(from, 'package.json'))) continue
    const { dependencies, optionalDependencies, peerDependencies } = await packageIn(from)
    for (const each of [dependencies, optionalDependencies, peerDependencies]) {
      for (const needed of Object.keys(each ?? {})) names.add(needed)
    }
    const to = join(folder, 'node_modules', name)
    mkdirSync(dirname(to), { recursive: true })
    await promisify(execFile)('cp', ['-al', from, to])
  }
}

async function packageIn(folder: string): Promise<Package> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Package
}
