/**
 * Links from a revision's own files to packages that lie deeper than at the root. Node looks for a
 * package beside the importing file first: a package of packages/app must not be one for others.
 */

import { lstat, readdir, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

import { makeReadable } from './readable-folder.ts'

const isRevision = /^[0-9a-f]{64}/

/**
 * Gives each folder of `own` links to the packages that the folder of packages has for it. Links
 * that `own` brings stay: they lead to packages of its workspace.
 */
export async function linkNestedPackages(packages: string, own: string): Promise<void> {
  for (const place of await nestedPlaces(packages, '')) {
    for (const name of await namesIn(join(packages, place))) {
      const link = join(own, place, name)
      if (await lstat(link).then(() => true, () => false)) continue
      await makeReadable(dirname(link))
      await symlink(relative(dirname(link), join(packages, place, name)), link)
    }
  }
}

/** The folders named node_modules below others than the root, which is above all own files. */
async function nestedPlaces(packages: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(packages, folder), { withFileTypes: true })
  const inner = entries.filter((entry) =>
    entry.isDirectory() && !(folder === '' && (entry.name === 'node_modules'
      || isRevision.test(entry.name)))
  )
  const found = await Promise.all(inner.map(({ name }) =>
    name === 'node_modules'
      ? [join(folder, name)]
      : nestedPlaces(packages, join(folder, name))
  ))
  return found.flat()
}

/** Names of packages, with their scopes. Names with a dot are the installer's own. */
async function namesIn(place: string): Promise<string[]> {
  const names = (await readdir(place)).filter((name) => !name.startsWith('.')).sort()
  const found = await Promise.all(names.map(async (name) =>
    name.startsWith('@')
      ? (await readdir(join(place, name))).sort().map((inner) => join(name, inner))
      : [name]
  ))
  return found.flat()
}
